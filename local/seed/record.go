package seed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// recordName is the file in a world's folder that holds its Record.
const recordName = "seeded.json"

// Record remembers which objects a world was seeded with, in the world's folder, so that a restart leaves alone what
// the user has changed or deleted since.
type Record struct {
	path string
	// Objects maps each object that was seeded to the file it came from.
	Objects map[string]string `json:"objects"`
}

// OpenRecord reads the record of the world in dir; that of a new world is empty.
func OpenRecord(dir string) (*Record, error) {
	r := &Record{path: filepath.Join(dir, recordName), Objects: map[string]string{}}
	raw, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what this world was seeded with: %w", err)
	}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("what this world was seeded with: %s: %w", r.path, err)
	}
	return r, nil
}

// Has reports whether the world was seeded with this object before.
func (r *Record) Has(o Object) bool {
	_, ok := r.Objects[o.key()]
	return ok
}

// Foreign reports whether the world was seeded with anything but the built-in objects: it is then the user's own world, and
// the built-in ones have no place in it.
func (r *Record) Foreign() bool {
	for _, file := range r.Objects {
		if !strings.HasPrefix(file, builtinPrefix) {
			return true
		}
	}
	return false
}

// Add remembers an object. The file is replaced as a whole, so that a kill at any moment leaves the old or the new one.
func (r *Record) Add(o Object) error {
	r.Objects[o.key()] = o.File
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("what this world was seeded with: %w", err)
	}
	next := r.path + ".next"
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		return fmt.Errorf("what this world was seeded with: %w", err)
	}
	if err := os.Rename(next, r.path); err != nil {
		return fmt.Errorf("what this world was seeded with: %w", err)
	}
	return nil
}

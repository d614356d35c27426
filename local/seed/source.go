package seed

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxSource bounds one file of manifests; an API server takes no object above 1.5 MiB, and no file holds many such.
const maxSource = 32 << 20

// Stdin is the file name that selects standard input, as with kubectl.
const Stdin = "-"

// Source is the text of one file of manifests.
type Source struct {
	// Name identifies the source in messages: the path from the command line, or "standard input".
	Name string
	Text string
}

// Read collects sources from files, from directories (their .yaml, .yml and .json files by name, without subdirectories) and from standard
// input. It returns an error for a directory without any such file, because an empty one is always a mistake.
func Read(paths []string, stdin io.Reader) ([]Source, error) {
	var all []Source
	for _, p := range paths {
		found, err := readPath(p, stdin)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func readPath(path string, stdin io.Reader) ([]Source, error) {
	if path == Stdin {
		return readAll("standard input", stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	if !info.IsDir() {
		return readFile(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	var all []Source
	for _, e := range entries {
		if e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(e.Name()))) {
			continue
		}
		found, err := readFile(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("manifests: the directory %s holds no .yaml, .yml or .json file", path)
	}
	return all, nil
}

func readFile(path string) ([]Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	defer func() { _ = f.Close() }()
	return readAll(path, f)
}

func readAll(name string, r io.Reader) ([]Source, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err != nil {
		return nil, fmt.Errorf("manifests: %s: %w", name, err)
	}
	if len(text) > maxSource {
		return nil, fmt.Errorf("manifests: %s is larger than %d MiB", name, maxSource>>20)
	}
	return []Source{{Name: name, Text: string(text)}}, nil
}

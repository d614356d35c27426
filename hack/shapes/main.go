// Command shapes writes what services publish of the operations that the simulators serve, in the form of package sim/core/shapes:
//
//	shapes SOURCES...
//
// Each file of SOURCES lists descriptions to read, as SDKs and documents have them, and the files beside it that are written from them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/muster-project/muster/sim/core/shapes"
)

// source is a description of a service and what is written from it.
type source struct {
	// Reader names the form of the description.
	Reader string
	// Module is the Go module that has it, Version that of a module that go.mod does not require.
	Module, Version string
	// Document is a file of the module, or one beside the list of sources where no module is named. What is written from one that is not
	// there is left as it is.
	Document string
	// Out is the file that is written.
	Out string
	// Prefix is put before the IDs of operations.
	Prefix string
	// Operations are the IDs of those that are wanted, all where none is named; NEW=ID gives one another name.
	Operations []string
	// Bare is true if the types of bodies are left out.
	Bare bool
	// Structs is a Go file for the types of the operations as structs, "" for none. Code is the folder of the code that uses them, Whole are
	// types that it fills from requests by the names of fields.
	Structs, Code string
	Whole         []string
	// Zeros are the scalars, as Type.member, that are kept where they are zero; "*" is all.
	Zeros []string
	// Added are members that the service has published elsewhere.
	Added shapes.Types
}

func main() {
	log.SetFlags(0)
	for _, list := range os.Args[1:] {
		if err := run(list); err != nil {
			log.Fatalf("%s: %v", list, err)
		}
	}
}

func run(list string) error {
	text, err := os.ReadFile(filepath.Clean(list))
	if err != nil {
		return fmt.Errorf("read the sources: %w", err)
	}
	var sources []source
	if err := json.Unmarshal(text, &sources); err != nil {
		return fmt.Errorf("decode the sources: %w", err)
	}
	for _, s := range sources {
		err := s.run(filepath.Dir(list))
		if s.Module == "" && errors.Is(err, fs.ErrNotExist) {
			log.Printf("%s is left as it is: %v", s.Out, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.Out, err)
		}
	}
	return nil
}

// run writes the file of the source into a folder.
func (s source) run(folder string) error {
	read := readers[s.Reader]
	if read == nil {
		return fmt.Errorf("there is no reader %q", s.Reader)
	}
	at := folder
	if s.Module != "" {
		var err error
		if at, err = moduleDir(s.Module, s.Version); err != nil {
			return fmt.Errorf("find the module %s: %w", s.Module, err)
		}
	}
	if err := s.writeStructs(folder, at); err != nil {
		return err
	}
	published, err := read(filepath.Join(at, s.Document))
	if err != nil {
		return err
	}
	published.Types = published.Types.With(s.Added)
	wanted, err := s.wanted(published)
	if err != nil {
		return err
	}
	text, err := encode(wanted)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.Out), text, 0o644)
}

// writeStructs writes the file of Go structs into a folder, from the sources of a module.
func (s source) writeStructs(folder, module string) error {
	if s.Structs == "" {
		return nil
	}
	named, err := namedIn(filepath.Join(folder, s.Code))
	if err != nil {
		return err
	}
	text, err := structWriters[s.Reader](module, s.Operations, s.Whole, named)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, s.Structs), text, 0o644)
}

// moduleDir returns where the sources of a module are. What go.mod does not require is downloaded without a change of go.sum.
func moduleDir(module, version string) (string, error) {
	find := exec.Command("go", "mod", "download", "-json", module)
	if version != "" {
		find = exec.Command("go", "mod", "download", "-json", module+"@"+version)
		find.Dir = os.TempDir()
	}
	out, err := find.Output()
	if err != nil {
		return "", err
	}
	var at struct{ Dir string }
	err = json.Unmarshal(out, &at)
	return at.Dir, err
}

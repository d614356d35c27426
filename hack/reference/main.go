// Command reference writes a page for each kind of Muster to docs/reference, from the definitions in api/crd, with the examples that have
// an object of the kind. It runs in the root of the repository.
package main

import (
	"fmt"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const (
	definitionsFolder = "api/crd"
	pagesFolder       = "docs/reference"
	examplesFolder    = "examples"
)

func main() {
	log.SetFlags(0)
	if err := run("."); err != nil {
		log.Fatal(err)
	}
}

// run replaces all pages.
func run(root string) error {
	kinds, err := read(os.DirFS(root))
	if err != nil {
		return err
	}
	folder := filepath.Join(root, pagesFolder)
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove the old pages: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the folder of the pages: %w", err)
	}
	for name, text := range pages(kinds) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}

// kind is a kind with what its page links to.
type kind struct {
	apiextensionsv1.CustomResourceDefinitionSpec
	// Template is the kind with which a ClusterClass makes objects; empty if there is none.
	Template string
	// Examples are the files with an object of the kind.
	Examples []string
}

// read returns the kinds that an installation of Muster brings, ordered by name. A template is part of the kind that it makes.
func read(root fs.FS) ([]kind, error) {
	files, err := installed(root)
	if err != nil {
		return nil, err
	}
	examples, err := examplesOf(root)
	if err != nil {
		return nil, err
	}
	var kinds []kind
	templates := map[string]bool{}
	for _, file := range files {
		text, err := fs.ReadFile(root, path.Join(definitionsFolder, file))
		if err != nil {
			return nil, fmt.Errorf("read a definition: %w", err)
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if strings.HasSuffix(d.Spec.Names.Kind, "Template") {
			templates[d.Spec.Names.Kind] = true
			continue
		}
		kinds = append(kinds, kind{CustomResourceDefinitionSpec: d.Spec, Examples: examples[d.Spec.Names.Kind]})
	}
	for i, k := range kinds {
		if template := k.Names.Kind + "Template"; templates[template] {
			kinds[i].Template = template
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.Names.Kind, b.Names.Kind) })
	return kinds, nil
}

// installed returns the files of the definitions that an installation of Muster brings: not those of Cluster API and of the local world.
func installed(root fs.FS) ([]string, error) {
	text, err := fs.ReadFile(root, definitionsFolder+"/kustomization.yaml")
	if err != nil {
		return nil, fmt.Errorf("find the definitions: %w", err)
	}
	var list struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("find the definitions: %w", err)
	}
	return list.Resources, nil
}

// examplesOf returns the examples by the kinds of their objects.
func examplesOf(root fs.FS) (map[string][]string, error) {
	examples := map[string][]string{}
	err := fs.WalkDir(root, examplesFolder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if of, ok := strings.CutPrefix(strings.TrimSpace(line), "kind: "); ok && line[0] == 'k' && !slices.Contains(examples[of], file) {
				examples[of] = append(examples[of], file)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the examples: %w", err)
	}
	return examples, nil
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// latest is the image in config/, which a release replaces by its own.
const latest = defaultImage + ":" + latestTag

// components are the files that install Muster, with clusterctl's variables.
var components = []struct{ file, folder string }{
	{"infrastructure-components.yaml", "config/clusterctl"},
	{"infrastructure-components-full.yaml", "config/clusterctl/full"},
	{"infrastructure-components-namespaced.yaml", "config/clusterctl/namespaced"},
}

// manifests writes what clusterctl and kubectl install, and the cluster templates.
func (r *release) manifests() error {
	for _, c := range components {
		content, err := r.component(c.folder)
		if err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
		if err := r.write(c.file, content); err != nil {
			return err
		}
	}
	metadata, err := os.ReadFile(filepath.Join(r.root, "config", "metadata.yaml"))
	if err != nil {
		return err
	}
	if err := r.write("metadata.yaml", metadata); err != nil {
		return err
	}
	return r.templates()
}

// component builds a folder, with the image of this release.
func (r *release) component(folder string) ([]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(r.root, folder))
	if err != nil {
		return nil, err
	}
	content, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	return withImage(content, r.reference())
}

// reference names the image by its version, for people, and by its digest, which decides.
func (r *release) reference() string {
	if r.imageDigest == "" {
		return r.imageName + ":" + r.version
	}
	return r.imageName + ":" + r.version + "@" + r.imageDigest
}

// withImage replaces the manager's image. Manifests without the image, or without clusterctl's variables, are an error.
func withImage(content []byte, image string) ([]byte, error) {
	if bytes.Count(content, []byte(latest)) != 1 {
		return nil, fmt.Errorf("want one image with %s, found %d", latest, bytes.Count(content, []byte(latest)))
	}
	if !bytes.Contains(content, []byte(":=")) {
		return nil, errors.New("clusterctl's variables are missing")
	}
	return bytes.Replace(content, []byte(latest), []byte(image), 1), nil
}

// templates copies the cluster templates and cluster classes into the flat folder of a release.
func (r *release) templates() error {
	root := filepath.Join(r.root, "templates")
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := templateName(filepath.ToSlash(relative))
		if _, err := os.Stat(filepath.Join(r.out, name)); err == nil {
			return fmt.Errorf("two templates are called %s", name)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return r.write(name, content)
	})
}

// templateName returns the name that clusterctl looks for: a template below a folder gets the folder into its flavor. Names of cluster
// classes stay, because clusterctl finds a class by its own name.
func templateName(path string) string {
	const prefix = "cluster-template-"
	folder, name, ok := strings.Cut(path, "/")
	if !ok {
		return path
	}
	flavor, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return name
	}
	return prefix + folder + "-" + flavor
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// checkRelease verifies the checksums of a release and starts the manager of its image.
func checkRelease(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := checkSums(dir); err != nil {
		return err
	}
	images, err := filepath.Glob(filepath.Join(dir, imageFile("*")))
	if err != nil || len(images) != 1 {
		return fmt.Errorf("want one image in %s, found %d: %w", dir, len(images), err)
	}
	return startImage(dir, images[0])
}

// checkSums compares every file with checksums.txt. A file that is missing there is an error too.
func checkSums(dir string) error {
	list, err := os.ReadFile(filepath.Join(dir, checksumsFile))
	if err != nil {
		return err
	}
	want := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		want[name] = sum
	}
	names, err := files(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		sum, err := sha256File(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if want[name] != sum {
			return fmt.Errorf("%s: checksum %s, %s has %q", name, sum, checksumsFile, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		return fmt.Errorf("%s is in %s and not in %s", name, checksumsFile, dir)
	}
	fmt.Printf("checksums of %d files match\n", len(names))
	return nil
}

// readImage returns the image for this machine's architecture from an OCI archive. The archive is unpacked into scratch.
func readImage(archive, scratch string) (v1.Image, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if err := untar(f, scratch); err != nil {
		return nil, err
	}
	index, err := taggedIndex(scratch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, m := range manifest.Manifests {
		if m.Platform != nil && m.Platform.OS == "linux" && m.Platform.Architecture == runtime.GOARCH {
			return index.Image(m.Digest)
		}
	}
	return nil, fmt.Errorf("%s has no image for linux/%s", archive, runtime.GOARCH)
}

// unpackImage unpacks an image and compares its settings with what the Deployment demands.
func unpackImage(image v1.Image, root string) error {
	file, err := image.ConfigFile()
	if err != nil {
		return err
	}
	if file.Config.User != user || len(file.Config.Entrypoint) != 1 || file.Config.Entrypoint[0] != entrypoint {
		return fmt.Errorf("want user %s and entrypoint %s, the image has %s and %v", user, entrypoint, file.Config.User, file.Config.Entrypoint)
	}
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	return untar(content, root)
}

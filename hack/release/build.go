package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// commands are the binaries of a release, in cmd/.
var commands = []string{"manager", "muster"}

// checksumsFile lists every other file of a release, as sha256sum prints and reads it.
const checksumsFile = "checksums.txt"

// binaries builds each command for each platform.
func (r *release) binaries() error {
	for _, p := range r.platforms {
		for _, command := range commands {
			if err := r.binary(command, p); err != nil {
				return fmt.Errorf("%s for %s: %w", command, p, err)
			}
		}
	}
	return nil
}

// binary builds one command. Nothing of the machine that builds it is in the result: no paths, no build ID, no C library, and none of
// the machine's Go settings.
func (r *release) binary(command string, p platform) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid= -X main.release="+r.version,
		"-o", filepath.Join(r.out, p.binary(command)), "./cmd/"+command)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off",
		"GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// checksums writes the SHA-256 of each file.
func (r *release) checksums() error {
	names, err := files(r.out)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, name := range names {
		sum, err := sha256File(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return r.write(checksumsFile, text.Bytes())
}

// files returns the names of the files of a release in order, without the checksums.
func files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() != checksumsFile {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func sha256File(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// write writes one file of the release.
func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// list prints the files with their sizes.
func (r *release) list() error {
	names, err := files(r.out)
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Printf("%8.1f MB  %s\n", float64(info.Size())/1e6, name)
	}
	return nil
}

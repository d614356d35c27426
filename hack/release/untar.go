package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// untar unpacks files and folders into a folder. Any other entry, and any path that leads out of the folder, is an error.
func untar(from io.Reader, dir string) error {
	r := tar.NewReader(from)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(header.Name) {
			return fmt.Errorf("%s leads out of the archive", header.Name)
		}
		path := filepath.Join(dir, header.Name)
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			err = unpackFile(r, path, os.FileMode(header.Mode).Perm())
		default:
			err = fmt.Errorf("%s has the unexpected type %q", header.Name, header.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(from io.Reader, path string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

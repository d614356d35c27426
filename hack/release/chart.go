package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// chart writes the Helm chart as helm packages it. Its versions are those of the release.
func (r *release) chart() error {
	version := strings.TrimPrefix(r.version, "v")
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(compressed)
	root := filepath.Join(r.root, "charts")
	err = filepath.WalkDir(filepath.Join(root, "muster"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch e.Name() {
		case "Chart.yaml":
			content, err = withVersions(content, version)
		case "values.yaml":
			if content, err = replaceLine(content, "  repository: ", defaultImage, r.imageName); err == nil && r.imageDigest != "" {
				content, err = replaceLine(content, "  digest: ", `""`, r.imageDigest)
			}
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(content)), ModTime: r.created,
			Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	return r.write("muster-"+version+".tgz", packed.Bytes())
}

// withVersions replaces the versions in Chart.yaml by a version without its leading v.
func withVersions(content []byte, version string) ([]byte, error) {
	content, err := replaceLine(content, "version: ", "0.0.0", version)
	if err != nil {
		return nil, err
	}
	return replaceLine(content, "appVersion: ", latestTag, "v"+version)
}

// replaceLine replaces the value of a field in a file of the chart. The line has to be there once.
func replaceLine(content []byte, field, old, value string) ([]byte, error) {
	line := []byte("\n" + field + old + "\n")
	if bytes.Count(content, line) != 1 {
		return nil, fmt.Errorf("want one line %q in the chart", field+old)
	}
	return bytes.Replace(content, line, []byte("\n"+field+value+"\n"), 1), nil
}

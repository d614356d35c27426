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

// chartVersions are the lines of Chart.yaml that a release replaces.
var chartVersions = []struct{ line, field string }{
	{"version: 0.0.0\n", "version: "},
	{"appVersion: latest\n", "appVersion: v"},
}

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
		if e.Name() == "Chart.yaml" {
			if content, err = withVersions(content, version); err != nil {
				return err
			}
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
	for _, v := range chartVersions {
		if bytes.Count(content, []byte("\n"+v.line)) != 1 {
			return nil, fmt.Errorf("want one line %q in Chart.yaml", strings.TrimSpace(v.line))
		}
		content = bytes.Replace(content, []byte("\n"+v.line), []byte("\n"+v.field+version+"\n"), 1)
	}
	return content, nil
}

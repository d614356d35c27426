package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func TestVersionsAndPlatforms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, platforms, reason string
		ok                         bool
	}{
		{"v0.1.0", allPlatforms, "a release", true},
		{"v0.1.0-rc.1", "linux/amd64", "a release candidate for one platform", true},
		{"0.1.0", allPlatforms, "clusterctl demands the leading v", false},
		{"v0.1.0 -X main.x=y", allPlatforms, "the version goes to the linker and into file names", false},
		{"v0.1.0", "linux", "an architecture is missing", false},
		{"v0.1.0", "", "a release without platforms has no binaries", false},
	} {
		_, err := newRelease(c.version, "../..", t.TempDir(), c.platforms)
		if (err == nil) != c.ok {
			t.Errorf("%s: version %q, platforms %q: got %v", c.reason, c.version, c.platforms, err)
		}
	}
}

// TestManifests builds what config/ and templates/ hold today.
func TestManifests(t *testing.T) {
	t.Parallel()
	r := testRelease(t)
	if err := r.manifests(); err != nil {
		t.Fatal(err)
	}
	for _, c := range components {
		content := read(t, r, c.file)
		if !strings.Contains(content, " registry.example.com/muster:v0.1.0\n") {
			t.Errorf("%s: the image has not the version of the release", c.file)
		}
	}
	if full := read(t, r, "infrastructure-components-full.yaml"); !strings.Contains(full, "--controllers=machinepool,") {
		t.Error("the full components run no core controller")
	}
	if content := read(t, r, "metadata.yaml"); !strings.Contains(content, "releaseSeries") {
		t.Errorf("metadata.yaml has no release series:\n%s", content)
	}
	for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
		templates, err := fs.Glob(os.DirFS(filepath.Join(r.root, "templates")), pattern)
		if err != nil || len(templates) == 0 {
			t.Fatalf("want templates like %s, got %v, %v", pattern, templates, err)
		}
		for _, path := range templates {
			read(t, r, templateName(path))
		}
	}
}

func TestWithImage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content, want, reason string
	}{
		{"image: " + latest + "\n- --v=${V:=2}\n", "image: x/mirror:v0.1.0\n- --v=${V:=2}\n", "the image alone changes"},
		{"image: " + latest + "\n", "", "clusterctl init substitutes variables: none means the wrong folder was built"},
		{"image: ghcr.io/other/muster:latest\n- --v=${V:=2}\n", "", "a release must not install another image"},
	} {
		got, err := withImage([]byte(c.content), "x/mirror:v0.1.0")
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v", c.reason, got, err)
		}
	}
}

func TestTemplateNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"cluster-template-topology.yaml":     "cluster-template-topology.yaml",
		"far/cluster-template-topology.yaml": "cluster-template-far-topology.yaml",
		"far/clusterclass-far-pools.yaml":    "clusterclass-far-pools.yaml",
	} {
		if got := templateName(path); got != want {
			t.Errorf("%s: want %s, got %s", path, want, got)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	const changelog = "# Changes\n\n## [v0.2.0] - 2027-01-01\n\n* new\n\n## v0.1.0\n\n* old\n"
	for version, want := range map[string]string{"v0.2.0": "* new", "v0.1.0": "* old", "v0.3.0": ""} {
		if got := changesOf(changelog, version); got != want {
			t.Errorf("%s: want %q, got %q", version, want, got)
		}
	}
	if got, want := byArea("pool: b\nRename\napi: a\npool: c"), "* api\n  * a\n* other\n  * Rename\n* pool\n  * b\n  * c\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// TestImage writes an image twice, compares the bytes, and reads one back.
func TestImage(t *testing.T) {
	t.Parallel()
	var archives []string
	r := testRelease(t)
	for range 2 {
		r.out = t.TempDir()
		for _, p := range r.platforms {
			if err := os.WriteFile(filepath.Join(r.out, p.binary("manager")), []byte("the manager for "+p.String()), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.image(); err != nil {
			t.Fatal(err)
		}
		archives = append(archives, read(t, r, imageFile(r.version)))
	}
	if archives[0] != archives[1] {
		t.Error("two archives of the same files differ")
	}
	image, err := readImage(filepath.Join(r.out, imageFile(r.version)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := unpackImage(image, root); err != nil {
		t.Fatal(err)
	}
	manager, err := os.ReadFile(filepath.Join(root, entrypoint))
	if err != nil || string(manager) != "the manager for linux/"+runtime.GOARCH {
		t.Errorf("found manager %q, %v", manager, err)
	}
	if trusted, err := os.ReadFile(filepath.Join(root, certificates)); err != nil || countRoots(t, trusted) < 100 {
		t.Errorf("found %d root certificates, %v", countRoots(t, trusted), err)
	}
	content := tar.NewReader(mutate.Extract(image))
	for {
		h, err := content.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Mode&0o022 != 0 || !h.ModTime.Equal(r.created) {
			t.Errorf("%s: want an entry of root that no one else can write to, of %s; found user %d, mode %o, %s", h.Name, r.created, h.Uid, h.Mode,
				h.ModTime)
		}
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	r := testRelease(t)
	change := func(name, content string) {
		if err := r.write(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	change("a", "1")
	change("b", "2")
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	if err := checkSums(r.out); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}
	change("b", "3")
	if err := checkSums(r.out); err == nil {
		t.Error("a changed file passed")
	}
	change("b", "2")
	change("c", "4")
	if err := checkSums(r.out); err == nil {
		t.Error("a file without a checksum passed")
	}
	for _, name := range []string{"b", "c"} {
		if err := os.Remove(filepath.Join(r.out, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkSums(r.out); err == nil {
		t.Error("a missing file passed")
	}
}

func TestUntarStaysInside(t *testing.T) {
	t.Parallel()
	for _, h := range []tar.Header{{Name: "../x", Typeflag: tar.TypeReg}, {Name: "/x", Typeflag: tar.TypeReg},
		{Name: "x", Linkname: "/etc", Typeflag: tar.TypeSymlink}} {
		var content bytes.Buffer
		w := tar.NewWriter(&content)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if err := untar(&content, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", h.Name)
		}
	}
}

// testRelease returns a release of this repository that writes into a temporary folder.
func testRelease(t *testing.T) *release {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return &release{version: "v0.1.0", imageName: "registry.example.com/muster", root: root, out: t.TempDir(), commit: "0123456789abcdef", created: time.Unix(1700000000, 0).UTC(),
		platforms: []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}}}
}

func read(t *testing.T, r *release, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func countRoots(t *testing.T, content []byte) int {
	t.Helper()
	n := 0
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			t.Errorf("certificate %d: %v", n, err)
		}
		n++
	}
	return n
}

// TestChart packs the chart as it is today.
func TestChart(t *testing.T) {
	t.Parallel()
	r := testRelease(t)
	if err := r.chart(); err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(strings.NewReader(read(t, r, "muster-0.1.0.tgz")))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		content[header.Name] = string(file)
	}
	if got := content["muster/Chart.yaml"]; !strings.Contains(got, "\nversion: 0.1.0\n") || !strings.Contains(got, "\nappVersion: v0.1.0\n") {
		t.Errorf("want the versions of the release in\n%s", got)
	}
	if got := content["muster/values.yaml"]; !strings.Contains(got, "\n  repository: registry.example.com/muster\n") {
		t.Errorf("want the image of the release in\n%s", got)
	}
	for _, name := range []string{"muster/values.yaml", "muster/templates/deployment.yaml", "muster/templates/definitions.yaml"} {
		if content[name] == "" {
			t.Errorf("want %s in the chart", name)
		}
	}
	if _, err := withVersions([]byte("name: muster\nversion: 1.0.0\n"), "0.1.0"); err == nil {
		t.Error("want an error for a chart without the lines that a release replaces")
	}
}

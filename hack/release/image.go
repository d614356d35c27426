package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The image holds the manager, certificates and the name of its user. It has no shell and no folder that this user can write to.
const (
	entrypoint   = "/manager"
	user         = "65532:65532"
	certificates = "etc/ssl/certs/ca-certificates.crt"
	passwd       = "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"
	versionLabel = "org.opencontainers.image.version"
	group        = "root:x:0:\nnonroot:x:65532:\n"
)

// imageFile returns the name of the OCI archive of a version.
func imageFile(version string) string { return "manager-image-" + version + ".tar" }

// image writes an OCI archive with one image for each Linux platform.
func (r *release) image() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.imageFor(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	r.imageDigest = digest.String()
	dir, err := os.MkdirTemp("", "muster-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	named := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})
	if err := path.AppendIndex(index, named); err != nil {
		return err
	}
	return r.archive(dir, imageFile(r.version))
}

// imageFor returns the image of one platform.
func (r *release) imageFor(p platform) (v1.Image, error) {
	content, err := r.layer(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: r.created}, CreatedBy: "hack/release"}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = p.os, p.arch, v1.Time{Time: r.created}
	file.Config = v1.Config{
		User: user, Entrypoint: []string{entrypoint}, WorkingDir: "/", Env: []string{"SSL_CERT_FILE=/" + certificates},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "muster",
			versionLabel:                        r.version,
			"org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.created":  r.created.Format(time.RFC3339),
			"org.opencontainers.image.source":   "https://github.com/muster-project/muster",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, file)
}

// layer returns the only layer of an image: files that belong to root and that all users can read.
func (r *release) layer(p platform) ([]byte, error) {
	manager, err := os.ReadFile(filepath.Join(r.out, p.binary("manager")))
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, f := range []struct {
		name    string
		mode    int64
		content []byte
	}{
		{"etc/", 0o755, nil},
		{"etc/group", 0o644, []byte(group)},
		{"etc/passwd", 0o644, []byte(passwd)},
		{"etc/ssl/", 0o755, nil},
		{"etc/ssl/certs/", 0o755, nil},
		{certificates, 0o644, roots()},
		{"manager", 0o755, manager},
	} {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: r.created, Typeflag: tar.TypeReg,
			Format: tar.FormatUSTAR}
		if f.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return content.Bytes(), w.Close()
}

// roots returns Mozilla's root certificates as PEM, from the Go module that pins them. Roots that are trusted only for certificates
// issued before a date are left out, because PEM cannot express that.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

// archive writes a folder as a tar file whose bytes follow from names and contents alone.
func (r *release) archive(dir, name string) error {
	out, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return r.add(w, path, filepath.ToSlash(relative), e.IsDir())
	})
	if err != nil {
		_ = out.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Close()
}

func (r *release) add(w *tar.Writer, path, name string, dir bool) error {
	header := &tar.Header{Name: name, Mode: 0o644, ModTime: r.created, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
	if dir {
		header.Name, header.Mode, header.Typeflag = name+"/", 0o755, tar.TypeDir
		return w.WriteHeader(header)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	header.Size = int64(len(content))
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

const (
	// defaultImage is the image that config/ and charts/ name, without its tag.
	defaultImage = "ghcr.io/muster-project/muster"
	// latestTag is the newest release that is no candidate: config/ and charts/ name it.
	latestTag = "latest"
	// userVariable and passwordVariable are credentials of the registry. Without them those of "docker login" count.
	userVariable, passwordVariable = "REGISTRY_USER", "REGISTRY_PASSWORD"
	// pushTimeout bounds all requests of one push.
	pushTimeout = 15 * time.Minute
)

// push copies the image of the release in dir to a registry, under the release's version, and under latest if it is the newest
// release. It prints the image by its digest. A version that the registry has with other content is an error, and stays as it is.
func push(dir, image string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), pushTimeout)
	defer cancel()
	version, index, remove, err := imageOf(dir)
	if err != nil {
		return err
	}
	defer remove()
	repository, err := name.NewRepository(image)
	if err != nil {
		return fmt.Errorf("-image: %w", err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	options := []remote.Option{remote.WithContext(ctx), credentials()}
	tag := repository.Tag(version)
	found, err := remote.Head(tag, options...)
	switch {
	case err == nil && found.Digest != digest:
		return fmt.Errorf("%s is %s already, and this release has %s: a version is published once", tag, found.Digest, digest)
	case err == nil:
	case !missing(err):
		return fmt.Errorf("look for %s: %w", tag, err)
	default:
		if err := remote.WriteIndex(tag, index, options...); err != nil {
			return fmt.Errorf("push %s: %w", tag, err)
		}
	}
	newest, err := isNewest(repository, version, options)
	if err != nil {
		return err
	}
	if newest {
		if err := remote.WriteIndex(repository.Tag(latestTag), index, options...); err != nil {
			return fmt.Errorf("push %s: %w", repository.Tag(latestTag), err)
		}
	}
	_, err = fmt.Fprintln(out, repository.Digest(digest.String()))
	return err
}

// isNewest reports whether a version is no candidate, and no other release in the repository is newer.
func isNewest(repository name.Repository, version string, options []remote.Option) (bool, error) {
	pushed, err := semver.ParseTolerant(version)
	if err != nil || len(pushed.Pre) > 0 {
		return false, err
	}
	tags, err := remote.List(repository, options...)
	if err != nil {
		return false, fmt.Errorf("list the tags of %s: %w", repository, err)
	}
	for _, tag := range tags {
		if other, err := semver.ParseTolerant(tag); err == nil && len(other.Pre) == 0 && other.GT(pushed) {
			return false, nil
		}
	}
	return true, nil
}

// imageOf opens the archive of the release in dir. The function that it gives removes what was unpacked.
func imageOf(dir string) (version string, index v1.ImageIndex, remove func(), err error) {
	found, err := filepath.Glob(filepath.Join(dir, imageFile("*")))
	if err != nil || len(found) != 1 {
		return "", nil, nil, fmt.Errorf("want one image in %s, found %d: %w", dir, len(found), errors.Join(err, os.ErrNotExist))
	}
	prefix, suffix, _ := strings.Cut(imageFile("*"), "*")
	version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), prefix), suffix)
	archive, err := os.Open(found[0])
	if err != nil {
		return "", nil, nil, err
	}
	defer func() { _ = archive.Close() }()
	unpacked, err := os.MkdirTemp("", "muster-push-")
	if err != nil {
		return "", nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(unpacked) }
	if err = untar(archive, unpacked); err == nil {
		index, err = taggedIndex(unpacked)
	}
	if err != nil {
		remove()
		return "", nil, nil, fmt.Errorf("%s: %w", found[0], err)
	}
	return version, index, remove, nil
}

// taggedIndex returns the only index of an OCI layout.
func taggedIndex(dir string) (v1.ImageIndex, error) {
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("want one index, found %d", len(manifest.Manifests))
	}
	return all.ImageIndex(manifest.Manifests[0].Digest)
}

// credentials are those of the environment, or else of "docker login".
func credentials() remote.Option {
	if user := os.Getenv(userVariable); user != "" {
		return remote.WithAuth(&authn.Basic{Username: user, Password: os.Getenv(passwordVariable)})
	}
	return remote.WithAuthFromKeychain(authn.DefaultKeychain)
}

// missing reports whether a registry answered that it has no such image.
func missing(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

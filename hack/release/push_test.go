package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestPush pushes releases into a registry, and reads back what manifests and chart name.
func TestPush(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	image := strings.TrimPrefix(server.URL, "http://") + "/org/muster"
	for _, c := range []struct {
		version, content, latest, failure, reason string
	}{
		{"v0.1.0", "one", "v0.1.0", "", "the first release"},
		{"v0.1.0", "one", "v0.1.0", "", "the same release again, after a failure of a later step"},
		{"v0.1.0", "two", "v0.1.0", "published once", "a version whose content others may have installed"},
		{"v0.3.0-rc.1", "candidate", "v0.1.0", "", "a candidate is no release"},
		{"v0.2.0", "three", "v0.2.0", "", "a newer release"},
		{"v0.1.1", "four", "v0.2.0", "", "a fix of an older release"},
	} {
		r := builtImage(t, c.version, c.content)
		var out strings.Builder
		err := push(r.out, image, &out)
		if c.failure != "" {
			if err == nil || !strings.Contains(err.Error(), c.failure) {
				t.Errorf("%s: want a refusal with %q, got %v", c.reason, c.failure, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		pushed, latest := digestOf(t, image+":"+c.version), digestOf(t, image+":"+latestTag)
		if got := strings.TrimSpace(out.String()); got != image+"@"+pushed {
			t.Errorf("%s: want %s@%s printed, got %s", c.reason, image, pushed, got)
		}
		if got, want := r.reference(), r.imageName+":"+c.version+"@"+pushed; got != want {
			t.Errorf("%s: want manifests to name %s, got %s", c.reason, want, got)
		}
		if want := digestOf(t, image+":"+c.latest); latest != want {
			t.Errorf("%s: want %s to be %s", c.reason, latestTag, c.latest)
		}
	}
	index, err := remote.Index(mustTag(t, image+":v0.2.0"))
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err := index.IndexManifest(); err != nil || len(manifest.Manifests) != 2 {
		t.Errorf("want an image for both architectures, got %+v, %v", manifest, err)
	}
}

// TestWorkflow holds that the image is in the registry before the files that name it are published, and that both are given its name.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../.github/workflows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, workflow, _ := strings.Cut(string(content), "steps:")
	last := 0
	for _, step := range []string{`make release VERSION="$VERSION" IMAGE="$IMAGE"`, `make -s release-push VERSION="$VERSION" IMAGE="$IMAGE"`,
		"subject-checksums: bin/release/${{ github.ref_name }}/checksums.txt", "subject-digest: ${{ steps.push.outputs.digest }}",
		`gh release create "$VERSION"`} {
		at := strings.Index(workflow, step)
		if at <= last {
			t.Errorf("want %q after the steps before it", step)
		}
		last = at
	}
}

// builtImage is a release that has nothing but its image.
func builtImage(t *testing.T, version, content string) *release {
	t.Helper()
	r := testRelease(t)
	r.version = version
	for _, p := range r.platforms {
		if err := os.WriteFile(filepath.Join(r.out, p.binary("manager")), []byte(content+" for "+p.String()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.image(); err != nil {
		t.Fatal(err)
	}
	return r
}

func digestOf(t *testing.T, image string) string {
	t.Helper()
	found, err := remote.Head(mustTag(t, image))
	if err != nil {
		t.Fatal(err)
	}
	return found.Digest.String()
}

func mustTag(t *testing.T, image string) name.Tag {
	t.Helper()
	tag, err := name.NewTag(image)
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

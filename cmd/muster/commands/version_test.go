package commands

import (
	"bytes"
	"encoding/json"
	"maps"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersions(t *testing.T) {
	for _, tc := range []struct {
		reason string
		info   *debug.BuildInfo
		want   []string
	}{
		{reason: "a binary without build information still says something", want: []string{"muster      unreleased\n", "go          go"}},
		{reason: "a released one names its version and what it holds",
			want: []string{"muster      v0.1.0\n", "kubernetes  v1.36.3\n", "cluster-api v1.14.2\n"},
			info: &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Deps: []*debug.Module{
				{Path: "k8s.io/kubernetes", Version: "v1.36.3"}, {Path: "sigs.k8s.io/cluster-api", Version: "v1.14.2"},
				{Path: "other", Version: "v9"}}}},
		{reason: "a working tree is told from a release", want: []string{"muster      unreleased, revision 0123456789ab, modified\n"},
			info: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := versionOf(tc.info).text()
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("want %q in\n%s", want, got)
				}
			}
			if strings.Contains(got, "v9") {
				t.Errorf("want only what matters, got\n%s", got)
			}
		})
	}
}

// TestReleaseVersion sets what a release build sets: the release comes before what the build information has.
func TestReleaseVersion(t *testing.T) {
	release = "v0.1.0"
	t.Cleanup(func() { release = "" })
	if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}).text(); !strings.Contains(got, "muster      v0.1.0\n") {
		t.Errorf("want the release, got\n%s", got)
	}
}

func TestVersionJSON(t *testing.T) {
	var out bytes.Buffer
	cmd := root()
	cmd.SetArgs([]string{"version", "-o", "json"})
	cmd.SetOut(&out)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	var v buildVersion
	if err := json.Unmarshal(out.Bytes(), &v); err != nil || v.Version == "" || v.Go != runtime.Version() ||
		v.Platform != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("want one JSON object with version, go and platform, got %v and\n%s", err, out.String())
	}
	cmd = root()
	cmd.SetArgs([]string{"version", "-o", "yaml"})
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), `want text or json, found "yaml"`) {
		t.Errorf("want an unknown form rejected, got %v", err)
	}
}

// A script reads these fields: none is renamed or left out without need.
func TestVersionFields(t *testing.T) {
	text, err := json.Marshal(versionOf(&debug.BuildInfo{
		Main:     debug.Module{Version: "v0.1.0"},
		Deps:     []*debug.Module{{Path: "k8s.io/kubernetes", Version: "v1.36.3"}, {Path: "sigs.k8s.io/cluster-api", Version: "v1.14.2"}},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"version": "v0.1.0", "revision": "0123456789abcdef", "modified": true, "kubernetes": "v1.36.3", "clusterAPI": "v1.14.2",
		"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
	}
	if !maps.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
}

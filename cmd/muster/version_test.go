package main

import (
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
		{reason: "a released one names its version and what it holds", want: []string{"muster      v0.1.0\n", "kubernetes  v1.36.3\n", "cluster-api v1.14.2\n"},
			info: &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Deps: []*debug.Module{
				{Path: "k8s.io/kubernetes", Version: "v1.36.3"}, {Path: "sigs.k8s.io/cluster-api", Version: "v1.14.2"}, {Path: "other", Version: "v9"}}}},
		{reason: "a working tree is told from a release", want: []string{"muster      unreleased, revision 0123456789ab, modified\n"},
			info: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := versions(tc.info)
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

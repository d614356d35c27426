package partstest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/kube/tokens"
)

func zipped(text string) string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return packed.String()
}

// inIgnition returns a configuration with one file.
func inIgnition(source, compression string) string {
	return `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"path":"/etc/k","contents":{"compression":"` + compression + `","source":"` +
		source + `"}}]}}`
}

func TestContent(t *testing.T) {
	t.Parallel()
	rotated := func(text string) string {
		return strings.ReplaceAll(text, "abcdef.0123456789abcdef", "ghijkl.fedcba9876543210")
	}
	base64ed := func(text string) string { return "data:;base64," + base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, tc := range map[string]struct {
		why  string
		a, b string
		same bool
	}{
		"rotated":         {"a token is no content", joins, rotated(joins), true},
		"changed":         {"anything else is", joins, joins + "preKubeadmCommands: []\n", false},
		"both":            {"also beside a rotation", joins, rotated(joins) + "x", false},
		"no token":        {"a script has none", "#!/bin/sh\na", "#!/bin/sh\nb", false},
		"packed":          {"cloud-init takes data packed", zipped(joins), zipped(rotated(joins)), true},
		"packed, changed": {"and what is in it counts", zipped(joins), zipped(joins + "x"), false},
		"packed or not":   {"whatever way it comes", zipped(joins), joins, true},
		"ignition": {"its files are data URLs, and may be packed", inIgnition(base64ed(zipped(joins)), "gzip"),
			inIgnition(base64ed(zipped(rotated(joins))), "gzip"), true},
		"ignition, plain":   {"or not", inIgnition(base64ed(joins), ""), inIgnition(base64ed(rotated(joins)), ""), true},
		"ignition, changed": {"what is in a file counts", inIgnition(base64ed(joins), ""), inIgnition(base64ed(joins+"x"), ""), false},
		"ignition, remote":  {"where a file lies counts too", inIgnition("s3://bucket/a", ""), inIgnition("s3://bucket/b", ""), false},
		"other token": {"what has another form is what its provider made of it", "token: K10abc::server:def",
			"token: K10abc::server:xyz", false},
		"what looks alike": {"without the word for it, nothing is a token", "image: abcdef.0123456789abcdef",
			"image: ghijkl.fedcba9876543210", false},
	} {
		a, b := tokens.Content([]byte(tc.a)), tokens.Content([]byte(tc.b))
		if (a == b) != tc.same || len(a) != 16 {
			t.Errorf("%s: %s: want same=%t, got %s and %s", name, tc.why, tc.same, a, b)
		}
	}
	if got := tokens.IDs([]byte(zipped(joins))); !slices.Equal(got, []string{"abcdef"}) {
		t.Errorf("want the token of packed data found, got %v", got)
	}
}

func TestRefreshedAnd(t *testing.T) {
	t.Parallel()
	soon, later := tokens.Refreshed{Next: time.Minute, Until: now}, tokens.Refreshed{Next: time.Hour, Until: now.Add(time.Hour), Lost: true}
	want := tokens.Refreshed{Next: time.Minute, Until: now, Lost: true}
	for _, got := range []tokens.Refreshed{soon.And(later), later.And(soon), want.And(tokens.Refreshed{}), tokens.Refreshed{}.And(want)} {
		if got != want {
			t.Errorf("want the earlier of both, and what is lost of either, got %+v", got)
		}
	}
}

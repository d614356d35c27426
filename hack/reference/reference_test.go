package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestPagesAreThoseOfTheTypes holds that the pages are up to date with the definitions.
func TestPagesAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	kinds, err := read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	want := pages(kinds)
	if len(want) < 10 {
		t.Fatalf("want a page for each kind, got %d", len(want))
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, pagesFolder, name))
		if err != nil || string(got) != text {
			t.Errorf("docs/reference/%s is not what the definitions make: run make generate (%v)", name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, pagesFolder, "*"))
	if err != nil || len(files) != len(want) {
		t.Errorf("want %d files, got %d: %v", len(want), len(files), err)
	}
}

// TestPages holds what a page says of a field.
func TestPages(t *testing.T) {
	t.Parallel()
	kinds, err := read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	text := pages(kinds)["awsmachinepool.md"]
	for why, want := range map[string]string{
		"a required field, which comes first": "* **`awsLaunchTemplate`** (object, required)",
		"a default, limits":                   "Default: `1`. Values: at least 1.",
		"an enumeration":                      "One of: `public`, `private`, `all`.",
		"a list of objects and its section":   "Fields: [`spec.subnets[]`](#specsubnets).",
		"the section":                         "\n### `spec.subnets[]`\n",
		"a rule":                              "* Rule for `minSize`: minSize must not be above maxSize.",
		"a field of a small object":           "\n  * **`eksLookupType`** (string)",
		"older versions":                      "`v1beta1` is served too",
		"the kind of a ClusterClass":          "`AWSMachinePoolTemplate`",
		"its examples":                        "[spot](../../examples/aws/spot.yaml)",
		"the status":                          "\n## Status\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: want %q", why, want)
		}
	}
}

// Package messages lists what users read: condition types, reasons, the forms of messages and events. The list is a golden file, so that
// a change of the wording is reviewed as a text.
package messages

import (
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

const golden = "testdata/messages.txt"

var update = flag.Bool("update", false, "write the golden file")

// roots are the folders whose packages have their messages listed.
var roots = []string{"engine", "kube", "pool", "providers"}

// constantRoots are the folders whose constants are read, because messages name them.
var constantRoots = []string{"api", "cloud"}

// TestMessages compares the messages in the source with the list.
func TestMessages(t *testing.T) {
	folders, c := packages(t, roots), newCollector()
	c.read(t, folders, packages(t, constantRoots))
	lines := c.lines()
	var all []string
	for _, folder := range folders {
		if len(lines[folder]) == 0 {
			continue
		}
		all = append(all, "# "+folder)
		all = append(all, lines[folder]...)
		all = append(all, "")
	}
	got := strings.Join(all, "\n")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	before, after := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("not in the source any more: %s", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("not in the list: %s", line)
		}
	}
	t.Errorf("%s is out of date: read the new wording, then run the test with -args -update", golden)
}

// packages returns the folders below the roots.
func packages(t *testing.T, roots []string) []string {
	t.Helper()
	var folders []string
	for _, root := range roots {
		err := fs.WalkDir(os.DirFS("../.."), root, func(folder string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() != "testdata" {
				folders = append(folders, folder)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return folders
}

// TestEvents holds that events begin with a capital letter, or with what takes the place of a verb.
func TestEvents(t *testing.T) {
	list, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		if len(fields) == 3 && fields[0] == "event" && !unicode.IsUpper(rune(fields[2][0])) && !strings.ContainsAny(fields[2][:1], "<%") {
			t.Errorf("event %s begins with a small letter: %s", fields[1], fields[2])
		}
	}
}

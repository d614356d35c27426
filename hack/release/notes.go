package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// notes writes the release notes: the section of the version in CHANGELOG.md and the commits since the tag before.
func (r *release) notes() error {
	changelog, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	text := "# Muster " + r.version + "\n\n"
	if changes := changesOf(string(changelog), r.version); changes != "" {
		text += changes + "\n\n"
	}
	// Without an earlier tag the section is all there is: the commits are the whole history.
	if previous, err := r.git("describe", "--tags", "--abbrev=0", "--match", "v*", "--exclude", r.version); err == nil {
		log, err := r.git("log", "--no-merges", "--format=%s", previous+"..HEAD")
		if err != nil {
			return err
		}
		text += fmt.Sprintf("## Commits since %s\n\n%s", previous, byArea(log))
	}
	return r.write("release-notes.md", []byte(text))
}

// changesOf returns the section of a version in the change log, without its heading; empty if it has none.
func changesOf(changelog, version string) string {
	var section []string
	inside := false
	for line := range strings.SplitSeq(changelog, "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			name, _, _ := strings.Cut(heading, " ")
			inside = strings.Trim(name, "[]") == version
			continue
		}
		if inside {
			section = append(section, line)
		}
	}
	return strings.TrimSpace(strings.Join(section, "\n"))
}

// byArea lists commits below the area that their subject begins with.
func byArea(log string) string {
	areas := map[string][]string{}
	for subject := range strings.SplitSeq(log, "\n") {
		area, change, ok := strings.Cut(subject, ": ")
		if !ok {
			area, change = "other", subject
		}
		if change != "" {
			areas[area] = append(areas[area], change)
		}
	}
	var text strings.Builder
	for _, area := range slices.Sorted(maps.Keys(areas)) {
		fmt.Fprintf(&text, "* %s\n", area)
		for _, change := range areas[area] {
			fmt.Fprintf(&text, "  * %s\n", change)
		}
	}
	return text.String()
}

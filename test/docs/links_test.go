package docs

import (
	"fmt"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	// linked matches a link or an image without an address of another site. The title of a link is not used.
	linked = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// fence matches a block of code.
	fence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	// heading matches a heading of a page.
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
	// markup matches the text of a link with its address.
	markup = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// pages returns all pages of the repository, by their path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "bin" || d.Name() == "testdata"):
			return fs.SkipDir
		case slashpath.Ext(file) == ".md":
			text, err := fs.ReadFile(files, file)
			out[file] = fence.ReplaceAllString(string(text), "")
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// anchors returns the anchors of the headings of a page, as GitHub and the site make them.
func anchors(text string) []string {
	var list []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		var anchor strings.Builder
		for _, r := range strings.ToLower(markup.ReplaceAllString(found[1], "$1")) {
			switch {
			case r == ' ':
				anchor.WriteByte('-')
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				anchor.WriteRune(r)
			}
		}
		name := anchor.String()
		for n := 1; slices.Contains(list, name); n++ {
			name = fmt.Sprintf("%s-%d", anchor.String(), n)
		}
		list = append(list, name)
	}
	return list
}

// brokenLinks returns what the links of a page lead to that does not exist.
func brokenLinks(all map[string]string, page string) []string {
	var broken []string
	for _, found := range linked.FindAllStringSubmatch(code.ReplaceAllString(all[page], ""), -1) {
		target, anchor, _ := strings.Cut(found[1], "#")
		if strings.Contains(target, ":") {
			continue // another site
		}
		file := page
		if target != "" {
			file = slashpath.Join(slashpath.Dir(page), target)
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			broken = append(broken, found[1]+": no such file")
			continue
		}
		if text, is := all[file]; anchor != "" && is && !slices.Contains(anchors(text), anchor) {
			broken = append(broken, found[1]+": no such heading")
		}
	}
	return broken
}

// TestLinks holds that every link between the pages leads to a file and a heading that exist.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	links := 0
	for page, text := range all {
		links += len(linked.FindAllString(text, -1))
		for _, broken := range brokenLinks(all, page) {
			t.Errorf("%s: %s", page, broken)
		}
	}
	if len(all) < 50 || links < 300 {
		t.Errorf("want the pages with their links, found %d pages and %d links", len(all), links)
	}
}

// TestBrokenLinks holds that a link is noticed that leads nowhere.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"docs/README.md":  "# Documents\n## A `kind`, and [more](x.md)\n## Twice\n## Twice\n",
		"docs/testing.md": "",
	}
	for link, want := range map[string]string{
		"README.md#documents": "", "README.md#a-kind-and-more": "", "README.md#twice-1": "", "https://example.com/x#y": "", "../go.mod": "",
		"README.md#twice-2": "no such heading", "gone.md": "no such file", "#here": "no such heading",
	} {
		all["docs/testing.md"] = "[text](" + link + ") and `[code](gone.md)`"
		if got := brokenLinks(all, "docs/testing.md"); (want == "") != (len(got) == 0) || want != "" && !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: want %q, got %q", link, want, got)
		}
	}
}

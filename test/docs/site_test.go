package docs

import (
	"regexp"
	"strings"
	"testing"
)

// onSite matches what the generator of the site would not show as GitHub does: HTML, and its own shortcodes. Comments are left out.
var onSite = regexp.MustCompile(`<[a-zA-Z/]|\{\{[<%]`)

// siteProblems returns what keeps a page from being shown on the site: it needs a title, and plain Markdown.
func siteProblems(text string) []string {
	var problems []string
	if !strings.HasPrefix(text, "# ") {
		problems = append(problems, "want a heading # in the first line, which is the title")
	}
	plain := code.ReplaceAllString(strings.ReplaceAll(text, `\<`, ""), "")
	for line := range strings.Lines(plain) {
		if found := onSite.FindString(line); found != "" {
			problems = append(problems, "want neither HTML nor shortcodes, got "+strings.TrimSpace(line))
		}
	}
	return problems
}

// TestPagesFitTheSite holds what make docs needs of a page, because it is not part of go test.
func TestPagesFitTheSite(t *testing.T) {
	t.Parallel()
	found := 0
	for page, text := range pages(t) {
		if !strings.HasPrefix(page, "docs/") {
			continue
		}
		found++
		for _, problem := range siteProblems(text) {
			t.Errorf("%s: %s", page, problem)
		}
	}
	if found < 50 {
		t.Errorf("want the pages of docs, found %d", found)
	}
	for _, text := range []string{"text", "# Title\n<b>bold</b>", "# Title\n{{< figure >}}"} {
		if len(siteProblems(text)) == 0 {
			t.Errorf("want a problem of %q", text)
		}
	}
}

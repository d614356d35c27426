package docs

import (
	"regexp"
	"strings"
	"testing"
)

// The limits of a cell of a table: more is text, which reads better outside of the table.
const (
	cellSentences = 2
	cellLength    = 300
)

var (
	// code matches text between backticks, in which a dot does not end a sentence.
	code = regexp.MustCompile("`[^`]*`")
	// sentenceEnd matches the end of a sentence with another one after it.
	sentenceEnd = regexp.MustCompile("[.!?] +[A-Z`*\\[]")
)

// cells returns the cells of the tables of a page.
func cells(text string) (out []string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		row := strings.Trim(strings.TrimSpace(strings.ReplaceAll(line, `\|`, "/")), "|")
		for cell := range strings.SplitSeq(row, "|") {
			out = append(out, strings.TrimSpace(cell))
		}
	}
	return out
}

// sentences returns the number of sentences of a cell.
func sentences(cell string) int {
	if cell == "" {
		return 0
	}
	return 1 + len(sentenceEnd.FindAllString(code.ReplaceAllString(cell, "`x`"), -1))
}

// TestCellsAreShort holds that no cell of these pages has more than two sentences: a browser shows a longer one as a narrow column.
func TestCellsAreShort(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"docs/conditions.md", contract, "docs/exploration.md", "docs/scale.md", "docs/health.md",
		"docs/machines.md", "docs/scope.md"} {
		all := cells(read(t, page))
		if len(all) < 10 {
			t.Errorf("%s: want tables, got %d cells", page, len(all))
		}
		for _, cell := range all {
			if n := sentences(cell); n > cellSentences || len(cell) > cellLength {
				t.Errorf("%s: want at most %d sentences and %d characters in a cell, got %d and %d: %s", page, cellSentences, cellLength, n,
					len(cell), cell)
			}
		}
	}
}

// TestSentences holds what counts as a sentence.
func TestSentences(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]int{
		"": 0, "one": 1, "one. Two": 2, "one. `Two` and more. Three": 3, "`a. B. C`": 1, "0.5 s. It is short": 2, "ends here.": 1,
	} {
		if got := sentences(cell); got != want {
			t.Errorf("%q: want %d sentences, got %d", cell, want, got)
		}
	}
	if got := cells("text\n| a | b \\| c |\n| --- | --- |\n"); len(got) != 4 || got[1] != "b / c" {
		t.Errorf("want the cells of both rows, got %q", got)
	}
}

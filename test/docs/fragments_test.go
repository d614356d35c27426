package docs

import (
	"regexp"
	"strings"
	"testing"
)

// goBlock is a block of Go in a document.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestFragmentsAreInTheirFiles holds that each block of Go in the manual is copied from the file that its first line names, or is marked as
// a mistake.
func TestFragmentsAreInTheirFiles(t *testing.T) {
	t.Parallel()
	copied := 0
	for _, m := range goBlock.FindAllStringSubmatch(read(t, adding), -1) {
		first, code, _ := strings.Cut(m[1], "\n")
		file, named := strings.CutPrefix(first, "// ")
		switch {
		case strings.HasPrefix(file, "Wrong: "):
		case !named || !path.MatchString(file):
			t.Errorf("%s: want the file, or what is wrong, in the first line of the block that begins with %q", adding, first)
		case !strings.Contains(read(t, file), code):
			t.Errorf("%s: the block of %s is not in that file any more:\n%s", adding, file, code)
		default:
			copied++
		}
	}
	if copied < 10 {
		t.Errorf("want the manual to show code that is in the tree, found %d blocks", copied)
	}
}

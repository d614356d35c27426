package wire

import (
	"path"
	"strings"
)

// Glob matches AWS's patterns: * for any text and ? for one character. path.Match would let neither cross a slash.
func Glob(pattern, s string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == s
	}
	ok, err := path.Match(slashless.Replace(pattern), strings.ReplaceAll(s, "/", slash))
	return err == nil && ok
}

// slash stands for the one character that a pattern of package path treats apart and one of AWS does not; slashless puts
// it in place, and lets brackets be brackets, be they escaped or not.
const slash = "\x00"

var slashless = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "/", slash, "[", `\[`)

package wire

import (
	"strings"
	"unicode/utf8"
)

// Glob matches AWS's patterns: * for any text, ? for one character, and a backslash before a character that stands for itself. A pattern
// without * and ? is compared as it is.
func Glob(pattern, s string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == s
	}
	var afterStar, tried string
	starred := false
	for pattern != "" || s != "" {
		if strings.HasPrefix(pattern, "*") {
			pattern = pattern[1:]
			starred, afterStar, tried = true, pattern, s
			continue
		}
		if leftPattern, left, ok := matchOne(pattern, s); ok {
			pattern, s = leftPattern, left
			continue
		}
		if !starred || tried == "" {
			return false
		}
		// The last * stands for one character more.
		_, size := utf8.DecodeRuneInString(tried)
		tried = tried[size:]
		pattern, s = afterStar, tried
	}
	return true
}

// matchOne matches one character of a text with the first of a pattern that is no *, and returns what is left of both.
func matchOne(pattern, s string) (leftPattern, left string, ok bool) {
	want, size := utf8.DecodeRuneInString(pattern)
	have, length := utf8.DecodeRuneInString(s)
	if length == 0 || size == 0 {
		return "", "", false
	}
	switch want {
	case '?':
		return pattern[size:], s[length:], true
	case '\\':
		pattern = pattern[size:]
		if want, size = utf8.DecodeRuneInString(pattern); size == 0 {
			return "", "", false
		}
	}
	return pattern[size:], s[length:], want == have
}

// Package words writes counts and lists of names for messages.
package words

import (
	"fmt"
	"strings"
)

// limit bounds how many names a message has.
const limit = 3

// Machines returns a count with its noun.
func Machines(n int) string {
	if n == 1 {
		return "1 machine"
	}
	return fmt.Sprintf("%d machines", n)
}

// First lists the first few names and counts the rest.
func First(names []string) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// FirstAndMore names the first of n.
func FirstAndMore(first string, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s and %d more", first, n-1)
	}
	return first
}

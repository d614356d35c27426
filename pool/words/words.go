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

// List puts names into a sentence.
func List(names []string) string { return strings.Join(names, ", ") }

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

// Launched says what an instance was launched from, and in which fields that differs from the specification. kind is the cloud's word for
// templates; one that is inline has no name of its own, but what tells it apart.
func Launched(from, kind string, inline bool, diff []string) string {
	switch {
	case from == "":
		from = "an unknown " + kind
	case inline:
		from = kind + " " + from
	}
	text := fmt.Sprintf("launched from %s, which differs from what the specification asks for", from)
	if len(diff) > 0 {
		text += " in " + List(diff)
	}
	return text
}

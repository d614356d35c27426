package machinepool

import (
	"fmt"
	"strings"
)

// namesShown bounds how many names an event or a condition lists.
const namesShown = 5

func listed(names []string) string {
	if len(names) <= namesShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
}

// moved says which nodes came and which went.
func moved(joined, left []string) string {
	var parts []string
	if len(joined) > 0 {
		parts = append(parts, listed(joined)+" joined")
	}
	if len(left) > 0 {
		parts = append(parts, listed(left)+" left")
	}
	return strings.Join(parts, ", ")
}

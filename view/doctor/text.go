package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Text writes one line for each finding, and a last one that counts.
func Text(w io.Writer, r Report) error {
	var b strings.Builder
	for _, f := range r.Findings {
		fact := strings.TrimSuffix(strings.Join(strings.Fields(f.Fact), " "), ".") // clouds end their sentences with one
		fmt.Fprintf(&b, "%-11s  %s: %s", f.Severity, f.Object, fact)
		if f.Action != "" {
			b.WriteString(". Next: " + f.Action)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s, %s, %d not checked.\n", count(r.Problems, "problem"), count(r.Warnings, "warning"), r.Unchecked)
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes the report as one object.
func JSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Table renders pools as the columns that every kind has. With a width, which a terminal has, lines are cut so that it does not wrap them,
// and the messages stand below the table, in as many lines as they take; without one (0) the message is the last column. The namespace is
// shown where it tells something.
func Table(w io.Writer, pools []Pool, now time.Time, width int) error {
	if len(pools) == 0 {
		_, err := fmt.Fprintln(w, "No machine pools.")
		return err
	}
	var text strings.Builder
	if err := columns(&text, pools, now, width <= 0); err != nil {
		return err
	}
	if width > 0 {
		for _, p := range pools {
			text.WriteString(strings.Join(wrappedMessage(p, width), ""))
		}
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, Cut(strings.TrimRight(line, " \n"), width)); err != nil {
			return err
		}
	}
	return nil
}

// columns writes the table proper, with or without the messages as its last column.
func columns(w io.Writer, pools []Pool, now time.Time, withMessage bool) error {
	withNamespace := slices.ContainsFunc(pools, func(p Pool) bool { return p.Namespace != metav1.NamespaceDefault })
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	row := func(namespace, message string, cells ...string) {
		if withNamespace {
			cells = append([]string{namespace}, cells...)
		}
		if withMessage {
			cells = append(cells, message)
		}
		_, _ = fmt.Fprintln(tw, strings.Join(cells, "\t")) // kept in memory until Flush, which tells what failed
	}
	row("NAMESPACE", "MESSAGE", "NAME", "CLUSTER", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "STATE", "AGE")
	for _, p := range pools {
		row(p.Namespace, p.Message, p.Name, p.Cluster, number(p.Desired), number(p.Current), p.Readiness(), number(p.UpToDate),
			word(p.State), age(p.Created, now))
	}
	return tw.Flush()
}

const (
	// messageLines bounds the lines of one message; what is longer is on the object.
	messageLines = 4
	// messageIndent begins the lines of a message after its first one.
	messageIndent = "  "
)

// Rows returns how many lines of a table of this width a pool takes: its row, and its message below all rows.
func Rows(p Pool, width int) int { return 1 + len(wrappedMessage(p, width)) }

// wrappedMessage returns the lines by which a pool's message is shown, broken between words.
func wrappedMessage(p Pool, width int) []string {
	if p.Message == "" {
		return nil
	}
	lines, line := []string{}, p.Name+":"
	for word := range strings.FieldsSeq(p.Message) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width && len(lines) < messageLines-1 {
			lines, line = append(lines, line+"\n"), messageIndent+word
			continue
		}
		line += " " + word
	}
	return append(lines, line+"\n")
}

// Sort sorts pools by namespace and name, in place.
func Sort(pools []Pool) {
	slices.SortFunc(pools, func(a, b Pool) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
}

// number shows a count; one that is unknown as a question mark.
func number(n *int32) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func word(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

func age(since, now time.Time) string {
	if since.IsZero() {
		return "?"
	}
	return duration.HumanDuration(max(now.Sub(since), 0))
}

// Cut shortens a line to width characters, the last one telling that there was more.
func Cut(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}

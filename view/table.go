package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

const (
	// tableGap is the number of blanks between two columns.
	tableGap = 3
	// messageLines bounds the lines of one message. The object has the full text.
	messageLines = 12
	// messageIndent begins the lines of a message after its first one.
	messageIndent = "  "
)

// dropped are the columns that a narrow terminal does without, the first one first. READY shows the desired machines too.
var dropped = []string{"AGE", "CURRENT", "DESIRED", "CLUSTER", "UP-TO-DATE"}

// Table prints pools with the columns that all kinds have. On a terminal, columns that it has no room for are left out, and the messages
// follow below the table, in as many lines as they need; elsewhere the message is the last column. The namespace is shown if a pool is not
// in the default one.
func Table(w io.Writer, pools []Pool, now time.Time, t Terminal) error {
	if len(pools) == 0 {
		_, err := fmt.Fprintln(w, "No machine pools.")
		return err
	}
	without := []string{"MESSAGE"}
	if t.Width <= 0 {
		without = nil
	}
	if !slices.ContainsFunc(pools, func(p Pool) bool { return p.Namespace != metav1.NamespaceDefault }) {
		without = append(without, "NAMESPACE")
	}
	rows := tableRows(pools, now, without)
	for _, column := range dropped {
		if t.Width <= 0 || width(Grid(rows, tableGap, Terminal{})) <= t.Width {
			break
		}
		without = append(without, column)
		rows = tableRows(pools, now, without)
	}
	lines := Grid(rows, tableGap, t)
	if t.Width > 0 {
		for _, p := range pools {
			lines = append(lines, wrappedMessage(p, t.Width)...)
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// tableRows returns the header and the rows of a table without some columns.
func tableRows(pools []Pool, now time.Time, without []string) [][]Cell {
	titles := []string{"NAMESPACE", "NAME", "CLUSTER", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "STATE", "AGE", "MESSAGE"}
	rows := [][]Cell{Cells(titles...)}
	for _, p := range pools {
		row := Cells(p.Namespace, p.Name, p.Cluster, number(p.Desired), number(p.Current), p.Readiness(), number(p.UpToDate))
		row = append(row, Cell{Text: word(p.State), Tone: StateTone(p.State)})
		rows = append(rows, append(row, Cells(age(p.Created, now), p.Message)...))
	}
	for i, row := range rows {
		var kept []Cell
		for k, cell := range row {
			if !slices.Contains(without, titles[k]) {
				kept = append(kept, cell)
			}
		}
		rows[i] = kept
	}
	return rows
}

// Rows returns how many lines of a table of this width a pool takes: its row, and its message below all rows.
func Rows(p Pool, width int) int { return 1 + len(wrappedMessage(p, width)) }

// wrappedMessage returns the lines by which a pool's message is shown.
func wrappedMessage(p Pool, width int) []string {
	if p.Message == "" {
		return nil
	}
	return Wrap(p.Name+": "+p.Message, width, messageIndent, messageLines)
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

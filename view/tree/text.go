package tree

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/muster-project/muster/view"
)

// Text draws the tree. With a width, which a terminal has, lines are cut so that it does not wrap them.
func Text(w io.Writer, t Tree, width int) error {
	if len(t.Clusters) == 0 {
		_, err := fmt.Fprintln(w, "No clusters.")
		return err
	}
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "OBJECT\tSTATE\tREADY\tNODE\tREASON") // kept in memory until Flush
	for _, c := range t.Clusters {
		draw(tw, c, "", "")
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, view.Cut(strings.TrimRight(line, " \n"), width)); err != nil {
			return err
		}
	}
	return nil
}

// draw writes an item after lead, and the items below it after indent.
func draw(w io.Writer, i Item, lead, indent string) {
	reason := i.Reason
	if i.Message != "" {
		reason += ": " + i.Message
	}
	ready := i.Ready
	if i.Replicas != "" {
		ready = i.Replicas
	}
	_, _ = fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", lead, i.Label(), dash(i.State), dash(ready), i.Node,
		reason) // kept in memory until Flush
	for k, child := range i.Children {
		branch, below := "├─ ", "│  "
		if k == len(i.Children)-1 {
			branch, below = "└─ ", "   "
		}
		draw(w, child, indent+branch, indent+below)
	}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// JSON writes the tree as one object.
func JSON(w io.Writer, t Tree) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

package tree

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/muster-project/muster/view"
)

const (
	// gap is the number of blanks between two columns.
	gap = 2
	// reasonLines bounds the lines of one reason. The object has the full text.
	reasonLines = 12
)

// line is an item as it is drawn.
type line struct {
	cells []view.Cell
	// reason explains why the item is not Ready. below begins the lines under the item, with the branches that pass them.
	reason, below string
}

// Text draws the tree. On a terminal, a reason that does not fit into the item's line follows below it, in as many lines as it needs.
func Text(w io.Writer, t Tree, on view.Terminal) error {
	if len(t.Clusters) == 0 {
		_, err := fmt.Fprintln(w, "No clusters.")
		return err
	}
	lines := []line{{cells: view.Cells("OBJECT", "STATE", "READY", "NODE"), reason: "REASON"}}
	for _, c := range t.Clusters {
		lines = draw(lines, c, "", "")
	}
	_, err := io.WriteString(w, strings.Join(layOut(lines, on), "\n")+"\n")
	return err
}

// layOut returns the lines of a tree, the first of which is the header, with each reason behind its item or below it.
func layOut(lines []line, on view.Terminal) []string {
	rows := make([][]view.Cell, 0, len(lines))
	for _, l := range lines {
		rows = append(rows, append(l.cells, view.Cell{Text: l.reason}))
	}
	below := make([]bool, len(lines))
	for i, whole := range view.Grid(rows, gap, view.Terminal{}) {
		if below[i] = on.Width > 0 && lines[i].reason != "" && utf8.RuneCountInString(whole) > on.Width; below[i] {
			rows[i] = lines[i].cells
		}
	}
	var drawn []string
	for i, text := range view.Grid(rows, gap, on) {
		drawn = append(drawn, text)
		if below[i] && i > 0 { // the header's is left out
			drawn = append(drawn, lines[i].wrappedReason(on.Width)...)
		}
	}
	return drawn
}

// wrappedReason returns the lines of a reason below its item.
func (l line) wrappedReason(width int) []string {
	lines := view.Wrap(l.reason, max(width-utf8.RuneCountInString(l.below), leastReason), "", reasonLines)
	for i, text := range lines {
		lines[i] = view.Cut(l.below+text, width)
	}
	return lines
}

// leastReason is the least width of a reason below a deep item.
const leastReason = 20

// draw appends an item, whose line begins with lead, and the items below it, whose lines begin with indent.
func draw(lines []line, i Item, lead, indent string) []line {
	reason := i.Reason
	if i.Message != "" {
		reason += ": " + i.Message
	}
	ready, tone := i.Ready, view.StateTone(i.Ready)
	if i.Replicas != "" {
		ready = i.Replicas
	}
	below := indent + "     "
	if len(i.Children) > 0 {
		below = indent + "│    "
	}
	lines = append(lines, line{reason: reason, below: below, cells: []view.Cell{
		{Text: lead + i.Label()}, {Text: dash(i.State), Tone: view.StateTone(i.State)}, {Text: dash(ready), Tone: tone}, {Text: i.Node},
	}})
	for k, child := range i.Children {
		branch, below := "├─ ", "│  "
		if k == len(i.Children)-1 {
			branch, below = "└─ ", "   "
		}
		lines = draw(lines, child, indent+branch, indent+below)
	}
	return lines
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

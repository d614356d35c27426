package view

import (
	"strings"
	"unicode/utf8"
)

// Terminal describes what a text is written to. The zero Terminal is a file or a pipe.
type Terminal struct {
	// Width is the number of columns. Lines are neither broken nor cut if it is 0.
	Width int
	// Color is true if states are shown in colour.
	Color bool
}

// Tone classifies a state; a terminal shows it as a colour.
type Tone int

// The tones of a state: one that is as wanted, one that changes by itself, and one that needs attention.
const (
	Plain Tone = iota
	Good
	Changing
	Bad
)

// colors are the control sequences (ECMA-48) that begin a tone.
var colors = map[Tone]string{Good: "\x1b[32m", Changing: "\x1b[33m", Bad: "\x1b[31m"}

// colorEnd ends every colour.
const colorEnd = "\x1b[0m"

// tones holds the states of pools, clusters, Machines and instances, and the values of conditions. Other states have no colour, because a
// cloud has its own words.
var tones = map[string]Tone{
	"running": Good, "provisioned": Good, "succeeded": Good, "true": Good, "inservice": Good, "ready": Good,
	"creating": Changing, "scaling": Changing, "updating": Changing, "scalingup": Changing, "scalingdown": Changing, "waiting": Changing,
	"pending": Changing, "provisioning": Changing, "deleting": Changing, "unknown": Changing, "starting": Changing, "paused": Changing,
	"draining": Changing, "terminating": Changing, "unhealthy": Bad, "error": Bad, "failed": Bad, "false": Bad,
}

// StateTone returns the tone of a state.
func StateTone(state string) Tone { return tones[strings.ToLower(state)] }

// paint returns text in the colour of its tone.
func (t Terminal) paint(text string, tone Tone) string {
	if !t.Color || colors[tone] == "" || text == "" {
		return text
	}
	return colors[tone] + text + colorEnd
}

// Cell is a text of a table with its tone.
type Cell struct {
	Text string
	Tone Tone
}

// Cells returns cells without tones.
func Cells(texts ...string) []Cell {
	row := make([]Cell, 0, len(texts))
	for _, text := range texts {
		row = append(row, Cell{Text: text})
	}
	return row
}

// Grid returns rows as lines whose columns line up, gap blanks apart. A line that is wider than the terminal is cut. The last column has
// no width of its own.
func Grid(rows [][]Cell, gap int, t Terminal) []string {
	var widths []int
	for _, row := range rows {
		for k, cell := range row {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			if k < len(row)-1 {
				widths[k] = max(widths[k], utf8.RuneCountInString(cell.Text))
			}
		}
	}
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		lines = append(lines, t.line(row, widths, gap))
	}
	return lines
}

// line returns one row of a grid.
func (t Terminal) line(row []Cell, widths []int, gap int) string {
	last := len(row) - 1
	for last > 0 && row[last].Text == "" { // no blanks at the end
		last--
	}
	var line strings.Builder
	at := 0
	for k, cell := range row[:last+1] {
		text := cell.Text
		if t.Width > 0 && at+utf8.RuneCountInString(text) > t.Width {
			text = Cut(text, max(t.Width-at, 1))
		}
		line.WriteString(t.paint(text, cell.Tone))
		if at += utf8.RuneCountInString(text); k == last {
			break
		}
		next := at - utf8.RuneCountInString(text) + widths[k] + gap
		if t.Width > 0 && next >= t.Width {
			if at < t.Width && !strings.HasSuffix(text, "…") {
				line.WriteString("…")
			}
			break
		}
		line.WriteString(strings.Repeat(" ", next-at))
		at = next
	}
	return line.String()
}

// width returns the columns that the widest line takes.
func width(lines []string) int {
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	return widest
}

// Wrap returns a text as lines of at most width characters, broken between words. Lines after the first begin with indent. A word that is
// longer than a line is broken. There are at most limit lines; the last one is cut if more is left. A width of 0 breaks nothing.
func Wrap(text string, width int, indent string, limit int) []string {
	if width <= 0 {
		return []string{text}
	}
	room := max(width-utf8.RuneCountInString(indent), 1)
	var words []string
	for word := range strings.FieldsSeq(text) {
		for runes := []rune(word); ; runes = runes[room:] {
			if len(runes) <= room {
				words = append(words, string(runes))
				break
			}
			words = append(words, string(runes[:room]))
		}
	}
	var lines []string
	line := ""
	for k, word := range words {
		switch {
		case k == 0:
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		case len(lines) == limit-1:
			return append(lines, Cut(line+" "+strings.Join(words[k:], " "), width))
		default:
			lines, line = append(lines, line), indent+word
		}
	}
	return append(lines, line)
}

// Cut shortens a line to width characters, the last one telling that there was more.
func Cut(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}

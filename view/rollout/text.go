package rollout

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/pool/words"
	"github.com/muster-project/muster/view"
)

// barWidth is the number of characters of a bar.
const barWidth = 20

// tones are those of the states of rollouts.
var tones = map[string]view.Tone{
	Ended: view.Good, string(rollouts.Replacing): view.Changing, string(rollouts.Soaking): view.Changing,
	string(rollouts.Waiting): view.Changing, string(rollouts.Settling): view.Changing, Unobserved: view.Changing, Paused: view.Changing,
	string(rollouts.Halted): view.Bad,
}

// Text writes a status for people: what is known of the rollout, and a bar for each wave.
func Text(w io.Writer, s Status, t view.Terminal) error {
	lines := []string{fmt.Sprintf("MachinePool %s/%s (%s %s)", s.Namespace, s.Name, s.Infrastructure.Kind, s.Infrastructure.Name)}
	lines = append(lines, view.Grid(s.facts(), 2, t)...)
	if s.Message != "" {
		lines = append(lines, view.Wrap(s.Reason+": "+s.Message, t.Width, "  ", 8)...)
	}
	if len(s.Waves) > 0 {
		lines = append(lines, "")
		lines = append(lines, view.Grid(s.bars(), 2, t)...)
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write the rollout: %w", err)
	}
	return nil
}

// facts are the lines above the bars.
func (s Status) facts() [][]view.Cell {
	row := func(name, text string) []view.Cell { return []view.Cell{{Text: name}, {Text: text, Tone: tones[text]}} }
	var rows [][]view.Cell
	if s.State == "" {
		return append(rows, row("Rollout", "none"))
	}
	if s.ID != "" {
		text := s.ID
		if s.StartedAt != nil {
			text += ", started " + utc(s.StartedAt)
		}
		rows = append(rows, row("Rollout", text))
	}
	rows = append(rows, row("State", s.State))
	if s.State == Unobserved {
		rows = append(rows, row("", "the controller has not reported on the present specification yet"))
	}
	if s.ID == "" {
		return rows
	}
	rows = append(rows, row("Replaced", fmt.Sprintf("%s of %s", number(s.Replaced), words.Machines(int(ptr.Deref(s.Desired, 0))))))
	if s.SoakUntil != nil {
		rows = append(rows, row("Soaks until", utc(s.SoakUntil)))
	}
	if s.OpensAt != nil {
		rows = append(rows, row("Opens at", utc(s.OpensAt)))
	}
	if s.OverriddenBy != "" {
		rows = append(rows, row("Windows", "overridden by "+s.OverriddenBy))
	}
	return append(rows, s.details()...)
}

// details are the lines of gates, nodes and rollbacks.
func (s Status) details() [][]view.Cell {
	var rows [][]view.Cell
	for _, g := range s.Gates {
		rows = append(rows, view.Cells("Gate "+g.Name, g.State))
	}
	for _, nodes := range []struct {
		name string
		list []string
	}{{"Held", s.Held}, {"Quarantined", s.Quarantined}} {
		if len(nodes.list) > 0 {
			rows = append(rows, view.Cells(nodes.name, strings.Join(nodes.list, ", ")))
		}
	}
	return append(rows, s.rollback()...)
}

// rollback is the line about a rollout that has failed.
func (s Status) rollback() [][]view.Cell {
	b := s.Rollback
	if b == nil {
		return nil
	}
	text := "impossible: " + view.OneLine(b.Message)
	if b.To != nil {
		text = fmt.Sprintf("from rollout %s to revision %d: %s", b.Rollout, b.To.Number, view.OneLine(b.Message))
	}
	return [][]view.Cell{{{Text: "Rolled back"}, {Text: text, Tone: view.Bad}}}
}

// bars are the lines of the waves.
func (s Status) bars() [][]view.Cell {
	var rows [][]view.Cell
	for k, w := range s.Waves {
		full := barWidth
		if w.Machines > 0 {
			full = barWidth * w.Replaced / w.Machines
		}
		rows = append(rows, []view.Cell{{Text: fmt.Sprintf("wave %d", k+1)},
			{Text: strings.Repeat("█", full) + strings.Repeat("░", barWidth-full), Tone: tones[w.State]},
			{Text: fmt.Sprintf("%d/%d", w.Replaced, w.Machines)}, {Text: w.State, Tone: tones[w.State]}})
	}
	return rows
}

func number(n *int32) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(int(*n))
}

// JSON writes a Status or a History as one JSON object.
func JSON(w io.Writer, s any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("write the rollout: %w", err)
	}
	return nil
}

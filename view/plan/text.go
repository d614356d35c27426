package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// linesMost bounds how many machines a text names; the JSON form has them all.
const linesMost = 200

// Text writes plans for people.
func Text(w io.Writer, plans []Plan) error {
	var b strings.Builder
	for i, p := range plans {
		if i > 0 {
			b.WriteString("\n")
		}
		p.text(&b)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func (p Plan) text(b *strings.Builder) {
	fmt.Fprintf(b, "MachinePool %s/%s (%s %s)\n%s\n", p.Namespace, p.Name, p.Infrastructure.Kind, p.Infrastructure.Name, p.Headline)
	p.Adoption.text(b)
	for _, c := range p.Blocked {
		fmt.Fprintf(b, "Blocked: %s: %s\n", c.Reason, c.Message)
	}
	for _, h := range p.Holds {
		until := ""
		if !h.Until.IsZero() {
			until = " (until " + h.Until.UTC().Format(time.RFC3339) + ")"
		}
		fmt.Fprintf(b, "Held: %s: %s%s\n", h.Reason, h.Message, until)
	}
	for _, warning := range p.Warnings {
		fmt.Fprintf(b, "Note: %s\n", warning)
	}
	p.textGrant(b)
	p.textChanges(b)
	p.textMachines(b)
}

// words are the effects for people.
var words = map[Effect]string{
	ReplacesMachines: "replaces machines", NewMachinesOnly: "new machines only", InPlace: "no machine replaced",
	Nothing: "nothing changes now", Unknown: "can't be told",
}

func (p Plan) textChanges(b *strings.Builder) {
	if len(p.Changes) == 0 {
		return
	}
	b.WriteString("\n")
	tw := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(tw, "FIELD\tFROM\tTO\tEFFECT") // kept in memory until Flush
	for _, c := range p.Changes {
		does := words[c.Effect]
		if c.Why != "" {
			does += " (" + c.Why + ")"
		}
		_, _ = fmt.Fprintf(tw, "%s %s\t%s\t%s\t%s\n", c.Kind, c.Path, c.From, c.To, does)
	}
	_ = tw.Flush() // into memory
}

// row is one machine of the table.
type row struct {
	wave string
	MachineChange
}

func (p Plan) rows() []row {
	var out []row
	for i, w := range p.Waves {
		for _, m := range w.Machines {
			out = append(out, row{fmt.Sprint(i + 1), m})
		}
	}
	for _, m := range p.Rolled {
		out = append(out, row{"cloud", m})
	}
	for _, m := range p.Gone {
		out = append(out, row{"removed", m})
	}
	for _, m := range p.InPlace {
		out = append(out, row{"in place", m})
	}
	return out
}

// textMachines prints the machines that go. A reason of many is printed once, below.
func (p Plan) textMachines(b *strings.Builder) {
	rows := p.rows()
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n")
	var reasons []string
	tw := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	timed := p.timed()
	header := "WAVE\tINSTANCE\tNODE\tZONE\tWHY\tLOWEST READY"
	if timed {
		header += "\tEARLIEST"
	}
	_, _ = fmt.Fprintln(tw, header) // kept in memory until Flush
	last := ""
	for i, r := range rows {
		if i == linesMost {
			_, _ = fmt.Fprintf(tw, "...\t%d more\t\t\t\t\n", len(rows)-linesMost)
			break
		}
		reason := r.Reason + ": " + r.Message
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		low, begins := "", ""
		if r.wave != last {
			low, begins = p.lowest(r.wave), p.begins(r.wave).text()
		}
		if last = r.wave; timed {
			low += "\t" + begins
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", r.wave, r.ID, dash(r.Node), dash(r.Zone), r.Reason, low)
	}
	_ = tw.Flush() // into memory
	b.WriteString("\n")
	for _, reason := range reasons {
		b.WriteString(reason + "\n")
	}
}

// lowest returns the lowest Ready count of a wave.
func (p Plan) lowest(wave string) string {
	for i, w := range p.Waves {
		if wave == fmt.Sprint(i+1) {
			return fmt.Sprintf("%d of %d", w.LowestReady, p.Desired)
		}
	}
	if wave == "cloud" {
		return fmt.Sprintf("%d of %d", p.LowestReady, p.Desired)
	}
	return ""
}

// begins returns when a wave begins.
func (p Plan) begins(wave string) Begins {
	for i, w := range p.Waves {
		if wave == fmt.Sprint(i+1) {
			return w.Begins
		}
	}
	if wave == "cloud" {
		return p.RolledBegins
	}
	return Begins{}
}

// timed reports whether something delays a wave.
func (p Plan) timed() bool {
	return p.RolledBegins != (Begins{}) || slices.ContainsFunc(p.Waves, func(w Wave) bool { return w.Begins != (Begins{}) })
}

// text returns the time for people.
func (b Begins) text() string {
	switch {
	case b.WaitsFor != nil:
		return "no time known (" + b.WaitsFor.Reason + ")"
	case b.Earliest.IsZero():
		return ""
	}
	return b.Earliest.UTC().Format(time.RFC3339)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

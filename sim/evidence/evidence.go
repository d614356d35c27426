// Package evidence grades the behaviour of simulated services by its source. A simulator declares a row for each behaviour that drivers
// rely on, and docs/evidence.md lists all rows.
package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
)

// Grade ranks the source of a row, the strongest first.
type Grade int

// The grades. GradeRecorded: recorded traffic of the real service shows the behaviour. GradeDocumented: the provider documents it.
// GradeObserved: another client relies on it. GradeAssumed: no source is named.
const (
	GradeRecorded Grade = iota
	GradeDocumented
	GradeObserved
	GradeAssumed
)

var grades = []Grade{GradeRecorded, GradeDocumented, GradeObserved, GradeAssumed}

// String returns the name of the grade in docs/evidence.md.
func (g Grade) String() string {
	return [...]string{"recorded", "documented", "observed", "assumed"}[g]
}

// Row is one behaviour of a service and its source.
type Row struct {
	Service, Behavior string
	Grade             Grade
	// Source names the recording, the page or SDK comment with its version, or the client. It is empty for assumptions.
	Source string
	// By is the switch that makes the simulator give another plausible answer, Other.
	By    sim.Switch
	Other string
	// Field is the field by which the simulator declares the behaviour to its callers, such as "sim.GroupBehavior.Bootstraps".
	Field string
}

// Recorded returns a row whose behaviour a recording shows.
func Recorded(behavior, recording string) Row {
	return Row{Behavior: behavior, Grade: GradeRecorded, Source: recording}
}

// Documented returns a row whose behaviour a page or an SDK comment describes; the version is that of the SDK or of the API.
func Documented(behavior, source, version string) Row {
	return Row{Behavior: behavior, Grade: GradeDocumented, Source: source + ", " + version}
}

// Observed returns a row that another client relies on.
func Observed(behavior, client string) Row {
	return Row{Behavior: behavior, Grade: GradeObserved, Source: client}
}

// Assumed returns a row without a source.
func Assumed(behavior string) Row { return Row{Behavior: behavior, Grade: GradeAssumed} }

// Switch names the switch that makes the simulator give another plausible answer.
func (r Row) Switch(by sim.Switch, other string) Row {
	r.By, r.Other = by, other
	return r
}

// Declared names the field by which the simulator declares the behaviour to its callers.
func (r Row) Declared(field string) Row {
	r.Field = field
	return r
}

// Of returns the rows of a service.
func Of(service string, rows ...Row) []Row {
	for i := range rows {
		rows[i].Service = service
	}
	return rows
}

// Switches returns the switches of rows.
func Switches(rows ...[]Row) (out []sim.Switch) {
	for _, r := range slices.Concat(rows...) {
		if r.By != "" {
			out = append(out, r.By)
		}
	}
	return out
}

// Check returns an error for a row that lacks a part, or that another row repeats.
func Check(rows []Row) error {
	seen := map[string]bool{}
	for _, r := range rows {
		key := r.Service + ": " + r.Behavior
		switch {
		case r.Service == "" || r.Behavior == "":
			return fmt.Errorf("%q: want a service and a behaviour", key)
		case (r.Source == "") != (r.Grade == GradeAssumed):
			return fmt.Errorf("%q: every grade but %s has a source, got %q", key, GradeAssumed, r.Source)
		case (r.Other == "") != (r.By == ""):
			return fmt.Errorf("%q: want a switch and its other answer, got %q and %q", key, r.By, r.Other)
		case seen[key]:
			return fmt.Errorf("%q: the row exists twice", key)
		}
		seen[key] = true
	}
	return nil
}

// Markdown returns the counts of the rows and a table for each service.
func Markdown(rows []Row) string {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Grade, b.Grade))
	})
	var counts, tables strings.Builder
	counts.WriteString("| service | recorded | documented | observed | assumed | switches |\n| --- | --- | --- | --- | --- | --- |\n")
	all := chunksByService(rows)
	for _, of := range all {
		counts.WriteString(countLine(of[0].Service, of))
		fmt.Fprintf(&tables, "\n## %s\n\n| behaviour | grade | source | switch or declaration |\n| --- | --- | --- | --- |\n", of[0].Service)
		for _, r := range of {
			fmt.Fprintf(&tables, "| %s | %s | %s | %s |\n", r.Behavior, r.Grade, cmp.Or(r.Source, "-"), r.field())
		}
	}
	counts.WriteString(countLine("all", rows))
	return counts.String() + tables.String()
}

// chunksByService divides sorted rows by service.
func chunksByService(rows []Row) (out [][]Row) {
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r Row) bool { return r.Service != rows[0].Service })
		if n < 0 {
			n = len(rows)
		}
		out, rows = append(out, rows[:n]), rows[n:]
	}
	return out
}

// countLine counts rows by grade.
func countLine(name string, rows []Row) string {
	byGrade, switches := map[Grade]int{}, 0
	for _, r := range rows {
		byGrade[r.Grade]++
		if r.By != "" {
			switches++
		}
	}
	line := "| " + name + " |"
	for _, g := range grades {
		line += fmt.Sprintf(" %d |", byGrade[g])
	}
	return fmt.Sprintf("%s %d |\n", line, switches)
}

// field returns the last column of a row.
func (r Row) field() string {
	var parts []string
	if r.By != "" {
		parts = append(parts, "`"+string(r.By)+"`: "+r.Other)
	}
	if r.Field != "" {
		parts = append(parts, "declared by `"+r.Field+"`")
	}
	return cmp.Or(strings.Join(parts, "; "), "-")
}

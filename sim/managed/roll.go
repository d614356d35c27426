package managed

import (
	"strconv"
	"strings"
)

// Roll configures the replacement of a pool's stale machines.
type Roll struct {
	// Want is the desired number of machines, Missing the number of them that may be missing meanwhile.
	Want, Missing int
	// AtOnce bounds the machines that drain at the same time; 0 is no bound.
	AtOnce int
	Drain  Drain
	// Keeps is true if the roll continues without the machines that can't be drained; otherwise it ends with the first.
	Keeps bool
}

// Survey counts the machines of a pool during a roll.
type Survey struct {
	// Old are the stale machines, Fresh counts the others, Ready the machines that accept pods.
	Old          []Machine
	Fresh, Ready int
}

// Turn is the next step of a roll: the drained machines to replace, and those that can't be drained.
type Turn struct {
	Survey
	Drained, Stuck []Machine
}

// Survey divides the machines of a pool.
func (n *Nodes) Survey(machines []Machine, leaving Departures) Survey {
	var s Survey
	for _, m := range machines {
		if m.Stale {
			s.Old = append(s.Old, m)
		} else {
			s.Fresh++
		}
		if leaving[m.Key] == nil && n.Ready(m) {
			s.Ready++
		}
	}
	return s
}

// Roll advances the replacement of stale machines: old ones are cordoned as long as enough machines are Ready, and cordoned ones drain. A
// drained machine is returned to be replaced by the cloud.
func (n *Nodes) Roll(machines []Machine, leaving Departures, r Roll) Turn {
	t := Turn{Survey: n.Survey(machines, leaving)}
	ready := t.Ready
	for _, m := range t.Old {
		d := leaving[m.Key]
		if d == nil {
			if serves := n.Ready(m); (r.AtOnce == 0 || len(leaving) < r.AtOnce) && (!serves || ready > r.Want-r.Missing) {
				n.Leave(leaving, m)
				if serves {
					ready--
				}
			}
			continue
		}
		switch n.Drain(d, r.Drain) {
		case Drained:
			delete(leaving, m.Key)
			t.Drained = append(t.Drained, m)
		case Stuck:
			t.Stuck = append(t.Stuck, m)
			if !r.Keeps {
				return t
			}
			delete(leaving, m.Key)
		}
	}
	return t
}

// Share returns a number of machines, or what a percentage makes of a count, rounded up; 0 for what is neither.
func Share(written string, count int) int {
	number, percent := strings.CutSuffix(written, "%")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	if percent {
		return (n*count + 99) / 100
	}
	return n
}

package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/pool"
)

// Forecast is the way of a pool from the actual to the wanted state if nothing goes wrong. It applies pool.Decide repeatedly to a cloud
// that performs every request.
type Forecast struct {
	// First is the decision now, Last the decision once nothing changes any more.
	First, Last pool.Plan
	// Steps lists the kinds of steps on the way, each once for consecutive equal ones.
	Steps []pool.StepKind
	// Waves lists the rounds in which Muster replaces machines itself.
	Waves []ForecastWave
	// Rolled lists the machines that the provider rollout replaces, in an order that the cloud chooses.
	Rolled []ReplacedMachine
	// RolledBegin is when the provider rollout begins.
	RolledBegin Begin
	// Held is what the rollout waits for before its first machine goes; nil if it waits for nothing.
	Held *ForecastHold
	// Gate is the first gate of a policy that holds back the rollout on the way; nil if none does. The forecast has it pass.
	Gate *pool.Cause
	// Removed are the machines that go with none in their place.
	Removed []ReplacedMachine
	// Changed are the machines that stay and are changed in place.
	Changed []ReplacedMachine
	// Added is the number of additional machines, which replace none.
	Added int
	// MinAvailable is the least number of available machines on the way, MaxMachines the largest number of existing machines, both including
	// the present state.
	MinAvailable, MaxMachines int
	// Converges is true if the forecast comes to rest within its bound.
	Converges bool
}

// ForecastWave is one round: as many machines are launched as Targets, which go, some at once and some when the new ones serve.
type ForecastWave struct {
	Targets []ReplacedMachine
	// LowestAvailable is the least number of available machines meanwhile.
	LowestAvailable int
	Begin           Begin
	round           int
}

// ForecastHold is a cause that a rollout waits for. Until is when time alone may end it; zero if it does not.
type ForecastHold struct {
	Cause pool.Cause
	Until time.Time
}

// Begin is when a round begins at the earliest.
type Begin struct {
	// At is zero if no time is known, because of Gate, or for a pool whose rollout nothing delays.
	At   time.Time
	Gate *pool.Cause
}

// ReplacedMachine is a machine that goes or is changed, with the cause.
type ReplacedMachine struct {
	Instance pool.Instance
	Cause    pool.Cause
}

const (
	// jumpsMost bounds how often the forecast advances the time while nothing else changes. After that many pauses, and the soak of each
	// wave, no further effect can appear.
	jumpsMost = 8
	// stepsBase and stepsEach bound the steps of one round, roundsBase and roundsEach the rounds.
	stepsBase, stepsEach   = 30, 8
	roundsBase, roundsEach = 20, 3
)

// Simulate computes the forecast from an observation.
func Simulate(l preview.Look) Forecast {
	c := newIdealCloud(l)
	begins, owed := kept(c.o), c.missing()
	out := Forecast{First: pool.Decide(c.d, c.o, c.t, c.now), MaxMachines: begins}
	out.MinAvailable = available(out.First, c)
	aside := map[string]bool{}
	for _, i := range c.o.Instances {
		aside[i.ID] = i.Standby
	}
	lows := map[int]int{}
	jumps := 0
	for range roundsBase + roundsEach*(begins+c.d.Replicas) + 2*c.pace.jumps {
		low, acted := out.act(c)
		lows[c.round] = low
		out.MinAvailable = min(out.MinAvailable, low)
		begun := c.now
		moved := c.tick(out.Last)
		if out.Last.DeletionComplete || !acted && !moved && !c.jump(out.Last, begun, &jumps) {
			out.Converges = true
			break
		}
	}
	for k := range c.left {
		c.left[k].aside = aside[c.left[k].ID]
	}
	out.Changed, out.Gate, out.RolledBegin = c.changed, c.pace.gate, c.pace.begin(c.rolledIn)
	out.sort(c, lows, kept(c.o)-begins, owed)
	if len(out.Rolled) > 0 {
		low, most := promised(l, out.First.Budget)
		out.MinAvailable, out.MaxMachines = min(out.MinAvailable, low), max(out.MaxMachines, most)
	}
	return out
}

// promised returns the least number of serving machines and the largest number of machines during a provider rollout.
func promised(l preview.Look, b pool.Budget) (least, most int) {
	switch {
	case l.Health != nil:
		return l.Health.Bounds(b.Desired)
	case !l.Traits.RolloutOnTemplateChange:
		return b.Desired, b.Desired
	}
	most = b.Desired
	if g := l.Observed.Group; g != nil && g.ProviderRolloutSurge > 0 {
		most += max(g.ProviderRolloutSurge, b.MaxUnavailable)
	}
	return max(0, b.Desired-b.MaxUnavailable), most
}

// jump advances the time to that at which the last decision can change by itself; it returns false if there is no such time. The round in
// which nothing happened began at a time, and took none.
func (c *idealCloud) jump(last pool.Plan, begun time.Time, jumps *int) bool {
	most := jumpsMost + c.pace.jumps
	if s := c.d.Strategy; s != nil {
		most += len(s.Waves)
	}
	if last.Rollout.State == pool.RolloutDone && c.d.Limits.MaxAge > 0 { // what grows old later is no part of this rollout
		c.pace.ageless, c.d.Limits.MaxAge = true, 0
		last = pool.Decide(c.d, c.o, c.t, c.now)
	}
	if last.Next.IsZero() || *jumps >= most {
		return false
	}
	*jumps++
	if last.Next.After(begun) {
		c.now = last.Next
	}
	c.d.Limits = c.pace.limits(c.now)
	return true
}

// act does all steps of a round, and gives the least number that were available in it.
func (out *Forecast) act(c *idealCloud) (low int, acted bool) {
	low = -1
	for range stepsBase + stepsEach*len(c.o.Instances) {
		c.pace.note(c)
		p := pool.Decide(c.d, c.o, c.t, c.now)
		out.Last, c.d.Progress = p, p.Progress.Record
		if n := available(p, c); low < 0 || n < low {
			low = n
		}
		out.MaxMachines = max(out.MaxMachines, kept(c.o))
		if p.Step == nil {
			out.hold(p, c)
			break
		}
		if n := len(out.Steps); n == 0 || out.Steps[n-1] != p.Step.Kind {
			out.Steps = append(out.Steps, p.Step.Kind)
		}
		c.do(p)
		acted = true
	}
	return max(low, 0), acted
}

// hold notes what a rollout waits for that has not begun.
func (out *Forecast) hold(p pool.Plan, c *idealCloud) {
	if out.Held != nil || p.Rollout.State != pool.RolloutWaiting || len(c.launched)+len(c.left)+len(c.rolled) > 0 {
		return
	}
	out.Held = &ForecastHold{Cause: p.Rollout.Cause, Until: p.Progress.Until}
	if out.Held.Until.IsZero() && len(c.d.Limits.Closed) > 0 {
		out.Held.Until = c.d.Limits.OpensAt
	}
}

// available returns the number of available machines, as the decision counts them.
func available(p pool.Plan, c *idealCloud) int {
	if c.o.Group != nil && !c.d.Deleting && !c.o.Group.Deleting {
		return p.Budget.Available
	}
	n := 0
	for _, i := range c.o.Instances {
		if i.State == pool.Running && i.Node != nil && i.Node.Ready && i.Node.DrainStarted.IsZero() {
			n++
		}
	}
	return n
}

// kept counts the machines that are not on their way out.
func kept(o pool.Observed) int {
	n := 0
	for _, i := range o.Instances {
		if i.State != pool.Terminating {
			n++
		}
	}
	return n
}

// sort separates machines that are replaced from those that are removed for good, and groups the former into waves. The first machine that
// goes is replaced by the first that is launched, and so on. growth is the difference in size at the end. Machines in standby already have
// their replacements, except for owed machines that were missing at the beginning.
func (out *Forecast) sort(c *idealCloud, lows map[int]int, growth, owed int) {
	var replaced []removedMachine
	spare := max(0, -growth)
	for _, d := range c.left {
		switch {
		case named(c.rolled, d.ID) != nil:
			out.Rolled = append(out.Rolled, ReplacedMachine{d.Instance, d.cause})
		case spare > 0 && d.shrank && !d.aside:
			spare--
			out.Removed = append(out.Removed, ReplacedMachine{d.Instance, d.cause})
		default:
			replaced = append(replaced, d)
		}
	}
	needed := len(out.Rolled)
	for _, d := range replaced {
		switch {
		case !d.aside:
			needed++
		case owed > 0:
			owed--
			needed++
		}
	}
	out.Added = max(0, len(c.launched)-needed)
	out.waves(replaced, c.launched[out.Added:], lows)
	for k := range out.Waves {
		out.Waves[k].Begin = c.pace.begin(out.Waves[k].round)
	}
}

// waves puts the machines that are replaced into the rounds in which their successors are launched.
func (out *Forecast) waves(replaced []removedMachine, launched []int, lows map[int]int) {
	in := map[int]*ForecastWave{}
	var rounds []int
	for _, d := range replaced {
		round := d.round
		switch {
		case d.aside:
			round = 0
		case len(launched) > 0:
			round, launched = launched[0], launched[1:]
		}
		if in[round] == nil {
			in[round] = &ForecastWave{LowestAvailable: lows[round], round: round}
			rounds = append(rounds, round)
		}
		in[round].Targets = append(in[round].Targets, ReplacedMachine{d.Instance, d.cause})
	}
	slices.SortFunc(rounds, cmp.Compare[int])
	for _, round := range rounds {
		out.Waves = append(out.Waves, *in[round])
	}
}

package rollouts

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/pool/words"
)

// Record is what is remembered of a rollout from one decision to the next. Losing it only repeats a wait.
type Record struct {
	// ID tells rollouts apart: it changes with what is rolled out.
	ID string
	// Wave is the wave that the rollout is in, counted from 1.
	Wave int
	// Entered is true if what the wave waited for has passed.
	Entered bool
	// StartedAt is when the rollout was first seen.
	StartedAt time.Time
	// Ended is true if all machines have been replaced and watched.
	Ended bool
}

// Plan is how a pool's rollouts proceed.
type Plan struct {
	// Targets are the numbers of machines that have been replaced at the end of each wave, ascending; the last is the size of the pool.
	// One wave has no need of it.
	Targets []int
	Soak    Soak
}

// PlanOf returns the plan of a strategy's waves, which are cumulative, for a pool of some size.
func PlanOf(waves []IntOrPercent, soak Soak, size int) Plan {
	sizes := make([]int, 0, len(waves))
	for _, wave := range waves {
		sizes = append(sizes, wave.Up(size))
	}
	return Plan{Soak: soak, Targets: Targets(sizes, size)}
}

// waves returns the number of waves.
func (p Plan) waves() int { return max(1, len(p.Targets)) }

// watched reports whether new machines that turn unready stop the rollout.
func (p Plan) watched() bool { return p.waves() > 1 || !p.Soak.none() }

// Facts are what was observed of a rollout.
type Facts struct {
	// ID is of what is to be rolled out now; empty while that is not known.
	ID string
	// Size is the number of machines that the pool should have.
	Size int
	// Left is the number of machines of another template that may be replaced, Stale that of those whose replacement has not begun, those
	// that are held included. Machines that do not serve, or that are replaced for their age, are in neither.
	Left, Stale int
	// Shut is true if windows and exclusions hold back all of them: a wave does not begin then, and its gates are not asked yet.
	Shut bool
	// Ready are the moments at which the machines of the wanted template turned Ready that serve now.
	Ready []time.Time
	// Unready are the machines of the wanted template that have served and are not Ready now.
	Unready []Unready
}

// Unready is a machine that has served and is not Ready since a moment.
type Unready struct {
	ID    string
	Since time.Time
}

// failsAfter is the time after which a machine that turned unready has failed its rollout, and may have it rolled back. A rollout halts at
// once. It covers a restart of the kubelet or of the container runtime.
const failsAfter = time.Minute

// State is what a rollout does.
type State string

// The states of a rollout.
const (
	// None: there is nothing to replace.
	None State = ""
	// Settling: a change rests before it is rolled out.
	Settling State = "Settling"
	// Waiting: a gate holds back the next wave.
	Waiting State = "Waiting"
	// Replacing: machines of the wave are being replaced.
	Replacing State = "Replacing"
	// Soaking: the machines of a wave are watched.
	Soaking State = "Soaking"
	// Halted: new machines turned unready, or a gate failed during a soak.
	Halted State = "Halted"
)

// Unlimited is the number of replacements that may begin where nothing bounds them.
const Unlimited = math.MaxInt

// Verdict is how far a rollout may go.
type Verdict struct {
	// Record replaces the one before.
	Record Record
	State  State
	// Of is the number of waves.
	Of int
	// Begin is the number of replacements that may begin now.
	Begin int
	// Cause is why none begins, where that is so.
	Cause Cause
	// Until is when time alone ends the state; zero if it does not.
	Until time.Time
	// InWork is the number of machines that are being replaced, or that are missing.
	InWork int
	// Reasons are the classes of reasons for which machines are replaced, in their order.
	Reasons []Reason
	// Failed is true if a halted rollout has failed for good: what halts it is no passing state.
	Failed bool
	// HeldNames and QuarantinedNames name the machines that users keep, and those that can't be drained and that the rollout goes on without.
	HeldNames, QuarantinedNames []string
}

// NeedsGates reports whether the gates of the policies count for the rollout now or soon: it is under way, and not all of it is held back
// by windows and exclusions.
func (v Verdict) NeedsGates() bool {
	return v.State != None && (v.State != Waiting || v.Cause != Cause{})
}

// Next returns how far a rollout may go now.
func Next(r Record, p Plan, l Limits, f Facts, now time.Time) Verdict {
	switch {
	case f.ID == "":
		return Verdict{Record: r, Begin: Unlimited, Of: p.waves()}
	case r.ID != f.ID && f.Left == 0:
		return Verdict{Record: Record{}, Begin: Unlimited, Of: p.waves()}
	case r.ID != f.ID:
		r = Record{ID: f.ID, Wave: 1, StartedAt: now}
	case r.Ended:
		return Verdict{Record: r, Begin: Unlimited, Of: p.waves()}
	}
	r.Wave = max(1, min(r.Wave, p.waves()))
	for {
		v := p.step(r, l, f, now)
		if v.State != None || v.Record.Ended {
			return v
		}
		r = v.Record
	}
}

// step returns the state of the wave that the rollout is in, or none if the next wave has come.
func (p Plan) step(r Record, l Limits, f Facts, now time.Time) Verdict {
	v := Verdict{Record: r, Of: p.waves()}
	if !r.Entered {
		settled := r.StartedAt.Add(l.Settle)
		switch {
		case now.Before(settled):
			v.State, v.Until, v.Cause = Settling, settled, Cause{"Settling", "the change rests before it is rolled out, so that edits in a row " +
				"are one rollout"}
			return v
		case f.Shut:
			v.State = Waiting
			return v
		case l.before(r.ID) != Cause{} && !skips(l.Promoted, r.ID, r.Wave-1):
			v.State, v.Cause = Waiting, l.before(r.ID)
			return v
		}
		v.Record.Entered = true
	}
	if p.watched() && len(f.Unready) > 0 {
		return v.halted(f.Unready, now)
	}
	target, last := p.target(r.Wave, f.Size), r.Wave >= p.waves()
	if f.Left > 0 && last || len(f.Ready) < min(target, f.Size-(f.Stale-f.Left)) {
		v.State, v.Begin = Replacing, max(0, f.Stale-(f.Size-target))
		if last {
			v.Begin = Unlimited
		}
		return v
	}
	return p.soak(v, l, f, target, now)
}

// soak returns the state of a wave whose machines have been replaced.
func (p Plan) soak(v Verdict, l Limits, f Facts, target int, now time.Time) Verdict {
	if !skips(l.Promoted, v.Record.ID, v.Record.Wave) {
		soak := p.Soak.after(v.Record.Wave, v.Of)
		until := joined(f.Ready, target).Add(soak)
		switch {
		case soak > 0 && l.DuringSoak != Cause{}:
			v.State, v.Cause, v.Failed = Halted, l.DuringSoak, true
			return v
		case soak > 0 && now.Before(until):
			v.State, v.Until, v.Cause = Soaking, until, Cause{"Soaking", fmt.Sprintf("wave %d of %d has been replaced and is watched",
				v.Record.Wave, v.Of)}
			return v
		}
	}
	if v.Record.Wave >= v.Of {
		v.Record.Ended, v.Begin = true, Unlimited
		return v
	}
	v.Record.Wave, v.Record.Entered = v.Record.Wave+1, false
	return v
}

// target returns the number of machines that have been replaced at the end of a wave.
func (p Plan) target(wave, size int) int {
	if wave > len(p.Targets) {
		return size
	}
	return min(p.Targets[wave-1], size)
}

// joined returns when so many machines were Ready, the earliest first.
func joined(ready []time.Time, n int) time.Time {
	if n = min(n, len(ready)); n == 0 {
		return time.Time{}
	}
	return slices.SortedFunc(slices.Values(ready), time.Time.Compare)[n-1]
}

// halted returns the verdict on a rollout whose new machines turned unready.
func (v Verdict) halted(machines []Unready, now time.Time) Verdict {
	text := words.FirstAndMore(machines[0].ID, len(machines))
	v.State, v.Cause = Halted, Cause{"RolloutHalted", fmt.Sprintf("the rollout is halted: new machine %s was Ready and is not any more", text)}
	first := slices.MinFunc(machines, func(a, b Unready) int { return a.Since.Compare(b.Since) }).Since.Add(failsAfter)
	if v.Failed = !now.Before(first); !v.Failed {
		v.Until = first
	}
	return v
}

// Full is what follows the ID of a rollout in Limits.Promoted to skip everything that is left of it.
const Full = "full"

// skips reports whether a user has promoted the rollout past a wave.
func skips(promoted, id string, wave int) bool {
	of, what, _ := strings.Cut(promoted, "/")
	if of != id {
		return false
	}
	n, err := strconv.Atoi(what)
	return what == Full || err == nil && n >= wave
}

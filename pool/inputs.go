package pool

import (
	"time"

	"github.com/muster-project/muster/pool/clock"
)

// inputs are the arguments of one decision, with values derived from them alone.
type inputs struct {
	clock *clock.Clock
	d     Desired
	o     Observed
	t     Traits
	// want is the number of machines that budgets are counted from.
	want int
	// surge and unavailable are the numbers of the strategy for it.
	surge, unavailable int
	// quarantined is how many more may be missing, because they can't be drained.
	quarantined int
}

func newInputs(d Desired, o Observed, t Traits, now time.Time) *inputs {
	v := &inputs{clock: clock.At(now), d: d, o: o, t: t, want: d.Replicas}
	if d.ReplicasManagedExternally && o.Group != nil {
		v.want = max(0, o.Group.Size-o.Group.Surge)
	}
	v.surge, v.unavailable = v.limits()
	for k := range o.Instances {
		if i := &o.Instances[k]; i.Node != nil && i.Node.Quarantined && i.State != Terminating {
			v.quarantined++
		}
	}
	v.quarantined = d.Strategy.undrainable().Tolerated(v.quarantined)
	return v
}

// limits returns the numbers of the strategy. A surge that can't be told from the size of an external autoscaler is 0; at least one
// instance may then be unavailable, because nothing could be replaced otherwise.
func (v *inputs) limits() (surge, unavailable int) {
	surge, unavailable = v.d.Strategy.limits(v.want)
	if v.d.ReplicasManagedExternally && !v.t.SupportsStandby && !v.t.RecordsSurge {
		return 0, min(max(unavailable, 1), v.want)
	}
	return surge, unavailable
}

// removalShrinksGroup reports whether removing an instance also lowers a size that an external autoscaler owns, so that a surge must
// restore it.
func (v *inputs) removalShrinksGroup() bool {
	return v.d.ReplicasManagedExternally && !v.t.ReplaceKeepsSize && v.surge > 0
}

// runs reports whether an instance runs.
func (v *inputs) runs(i *Instance) bool { return v.t.Runs(*i) }

// failed reports whether an instance failed and does not run.
func (v *inputs) failed(i *Instance) bool { return i.State == Failed && !v.runs(i) }

// floor returns the number of available instances that no step of Muster goes below.
func (v *inputs) floor() int { return max(0, v.want-v.unavailable-v.quarantined) }

// surgeField returns the path of maxSurge in the object.
func (v *inputs) surgeField() string {
	if s := v.d.Strategy; s != nil && s.SurgeField != "" {
		return s.SurgeField
	}
	return "maxSurge"
}

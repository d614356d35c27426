// Package rollout shows the rollout of one pool, and makes the changes by which users control it: each is one change of one object, and
// comes with the arguments of the kubectl command that makes it too. It writes nothing by itself.
package rollout

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/view"
)

// APIVersion and Kind begin the JSON form. Fields are added to it, never renamed or removed.
const (
	APIVersion = "rollout.muster.dev/v1"
	Kind       = "Rollout"
)

// The states of a rollout that are no states of package rollouts.
const (
	// Ended is the state of a rollout that has replaced all machines, and watched them.
	Ended = "Ended"
	// Paused is the state of a rollout that a user has paused.
	Paused = "Paused"
	// Unobserved is the state of a pool that has changed since the controller last reported on it.
	Unobserved = "Unobserved"
)

// Status is how far the rollout of a pool is.
type Status struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Namespace      string         `json:"namespace"`
	Name           string         `json:"name"`
	Infrastructure view.Reference `json:"infrastructure"`

	// ID is empty if the pool has had no rollout. State is that of the rollout in one word; empty without one.
	ID    string `json:"id,omitempty"`
	State string `json:"state,omitempty"`
	// Replaced is the number of machines that need no replacement, of the Desired ones; nil if it is unknown.
	Replaced *int32 `json:"replaced,omitempty"`
	Desired  *int32 `json:"desired,omitempty"`
	// Wave is the wave that the rollout is in, from 1.
	Wave  int    `json:"wave,omitempty"`
	Waves []Wave `json:"waves,omitempty"`

	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	SoakUntil *metav1.Time `json:"soakUntil,omitempty"`
	OpensAt   *metav1.Time `json:"opensAt,omitempty"`
	// Reason and Message explain why no replacement begins, where that is so.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// OverriddenBy is the client that has machines be replaced outside of windows.
	OverriddenBy string `json:"overriddenBy,omitempty"`
	// From and To are the templates between which machines are replaced, as the cloud names them, and Reasons the classes of reasons.
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Gates are those of the rollout policies, with their state for this rollout.
	Gates []common.GateStatus `json:"gates,omitempty"`
	// Held are nodes that users keep, Quarantined nodes that can't be drained and are left while others are replaced; the first of each.
	Held        []string `json:"held,omitempty"`
	Quarantined []string `json:"quarantined,omitempty"`
	// Rollback is the return to a former template, or why it is impossible; nil if no rollout has failed.
	Rollback *common.RollbackStatus `json:"rollback,omitempty"`
}

// Wave is one wave of a rollout.
type Wave struct {
	// Machines is the number of machines that the wave replaces, Replaced how many of them are replaced.
	Machines int `json:"machines"`
	Replaced int `json:"replaced"`
	// State is the state of the rollout for the wave that it is in; empty for a later wave.
	State string `json:"state,omitempty"`
}

// Over reports whether there is nothing to wait for: the rollout has ended or failed, or there is none.
func (s Status) Over() bool { return s.State == "" || s.State == Ended || s.Failed() }

// Failed reports whether the rollout does not reach by itself what was asked for: it is halted, or is or was rolled back.
func (s Status) Failed() bool { return s.State == string(rollouts.Halted) || s.Rollback != nil }

// StatusOf returns how far the rollout of a pool is.
func StatusOf(p Pool) Status {
	of := view.PoolOf(p.MachinePool, p.Infra)
	s := Status{APIVersion: APIVersion, Kind: Kind, Namespace: of.Namespace, Name: of.Name, Infrastructure: of.Infrastructure,
		Desired: of.Desired}
	r := p.rollout()
	if r != nil {
		s.ID, s.State, s.Wave, s.Reason, s.Message = r.ID, stateOf(r), int(r.Wave), r.Reason, view.OneLine(r.Message)
		s.StartedAt, s.SoakUntil, s.OpensAt, s.OverriddenBy = r.StartedAt, r.SoakUntil, r.OpensAt, r.OverriddenBy
		s.From, s.To, s.Reasons, s.Gates, s.Rollback = r.From, r.To, r.Reasons, r.Gates, p.rollback()
		s.Held, s.Quarantined = r.Held, r.Quarantined
		s.Replaced = replaced(of, r.Left)
		s.Waves = s.waves(p, int(r.Of))
	}
	if !p.observed() {
		s.State = Unobserved
	}
	return s
}

// stateOf returns the state of a rollout. One that has begun a wave and is held back since is Waiting.
func stateOf(r *common.RolloutStatus) string {
	switch {
	case r.State == Ended:
	case r.Reason == settings.ReasonPaused:
		return Paused
	case r.Reason != "" && r.State == string(rollouts.Replacing):
		return string(rollouts.Waiting)
	}
	return r.State
}

// replaced returns the number of machines that need no replacement. left is the number of those that do.
func replaced(of view.Pool, left *int32) *int32 {
	if left == nil || of.Desired == nil {
		return of.UpToDate
	}
	return ptr.To(max(0, *of.Desired-*left))
}

// waves returns the waves of a rollout that has so many. Where the strategy gives another number of waves for the present size, the
// rollout is shown as one.
func (s Status) waves(p Pool, of int) []Wave {
	size := int(ptr.Deref(s.Desired, 0))
	targets := rollouts.Targets(p.waves(size), size)
	if len(targets) != of {
		targets = []int{size}
	}
	var out []Wave
	begin := 0
	for k, target := range targets {
		w := Wave{Machines: target - begin, Replaced: max(0, min(int(ptr.Deref(s.Replaced, 0)), target)-begin)}
		switch {
		case s.State == Ended:
			w.State = Ended
		case k+1 < s.Wave && len(targets) == of:
			w.State, w.Replaced = Ended, w.Machines
		case k+1 == s.Wave || len(targets) == 1:
			w.State = s.State
		}
		out, begin = append(out, w), target
	}
	return out
}

// rollout returns the rollout that the infrastructure object reports; nil if it reports none.
func (p Pool) rollout() *common.RolloutStatus {
	r := &common.RolloutStatus{}
	if !p.read(r, "rollout") || r.ID == "" {
		return nil
	}
	return r
}

// rollback returns the return to a former template that the infrastructure object reports; nil if it reports none.
func (p Pool) rollback() *common.RollbackStatus {
	b := &common.RollbackStatus{}
	if !p.read(b, "rollback") || b.Rollout == "" {
		return nil
	}
	return b
}

// read reads a field of the status of the infrastructure object, and reports whether it is there.
func (p Pool) read(into any, field string) bool {
	fields, found, _ := unstructured.NestedMap(p.Infra.Object, "status", field)
	return found && runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into) == nil
}

// waves returns the numbers of machines that have been replaced at the end of each wave of the pool's strategy.
func (p Pool) waves(size int) []int {
	fields, _, _ := unstructured.NestedMap(p.Infra.Object, "spec", "strategy")
	pace := common.Pace{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &pace) != nil {
		return nil
	}
	strategy, _ := infrapool.StrategyOf(common.Strategy{Pace: pace}, "spec.strategy")
	var out []int
	for _, wave := range strategy.Waves {
		out = append(out, wave.Up(size))
	}
	return out
}

// observed reports whether the status is of the present specification, and of the present request for a restart.
func (p Pool) observed() bool {
	seen, found, _ := unstructured.NestedInt64(p.Infra.Object, "status", "observedGeneration")
	if found && seen < p.Infra.GetGeneration() || p.MachinePool.Status.ObservedGeneration < p.MachinePool.Generation {
		return false
	}
	requested := settings.Of(settings.Pool{Kind: p.Infra.GetKind(), Object: p.Infra, MachinePool: p.MachinePool})
	values, _ := stored.Values(p.Infra) // where they can't be read, a restart is not begun either
	_, unseen, _ := settings.Restarting(requested.Restarts, values, time.Time{})
	return len(unseen) == 0
}

// utc returns a moment for users.
func utc(at *metav1.Time) string { return at.UTC().Format(time.RFC3339) }

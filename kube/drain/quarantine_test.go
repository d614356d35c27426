package drain

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// TestQuarantine holds that the label of a node follows what a step says, in one write each, and goes with the drain.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{node(draining), namespace, podOn("a"), budget("web", 0)}, nil)
	for _, step := range []struct {
		why         string
		kind        pool.StepKind
		quarantined bool
		uncordon    bool
		label       string
		writes      int
	}{
		{why: "a round of the drain", kind: pool.Drain},
		{why: "it is quarantined", kind: pool.Drain, quarantined: true, label: "true", writes: 1},
		{why: "the next round writes nothing", kind: pool.Drain, quarantined: true, label: "true"},
		{why: "a user who opens the node ends no quarantine", kind: pool.Drain, quarantined: true, uncordon: true, label: "true", writes: 1},
		{why: "the strategy has changed", kind: pool.Drain, writes: 1},
		{why: "quarantined again", kind: pool.Drain, quarantined: true, label: "true", writes: 1},
		{why: "the drain is given up", kind: pool.Undrain, writes: 1},
	} {
		if step.uncordon {
			n := &corev1.Node{}
			if err := w.Remote.Get(t.Context(), client.ObjectKey{Name: "n1"}, n); err != nil {
				t.Fatal(err)
			}
			n.Spec.Unschedulable = false
			if err := w.Remote.Update(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		to := target
		to.Quarantined, w.writes = step.quarantined, nil
		if err := w.Start(t.Context(), pool.Step{Kind: step.kind, Targets: []pool.InstanceRef{to}}); err != nil {
			t.Fatal(err)
		}
		n := &corev1.Node{}
		if err := w.Remote.Get(t.Context(), client.ObjectKey{Name: "n1"}, n); err != nil {
			t.Fatal(err)
		}
		found, err := w.Find(t.Context(), []string{key})
		if err != nil || n.Labels[nodes.QuarantinedLabel] != step.label || found[key].Quarantined != (step.label != "") ||
			len(w.writes) != step.writes {
			t.Errorf("%s: want the label %q with %d writes, got %v with %q, %+v, %v", step.why, step.label, step.writes, n.Labels, w.writes,
				found[key], err)
		}
	}
}

// TestForcedDrain holds that nothing more is evicted once the time of a rollout is up, that volumes of pods that are gone are waited for
// then, and that other drains go on.
func TestForcedDrain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why       string
		after     time.Duration
		voluntary bool
		evicted   []string
		detaching int
	}{
		{"its time has not come", time.Minute, true, []string{"a"}, 0},
		{"its time is up", 30 * time.Second, true, nil, 1},
		{"a scale-in knows no such time", 30 * time.Second, false, []string{"a"}, 1},
		{"no time is set", 0, true, []string{"a"}, 0},
	} {
		w := newWorld(t, []client.Object{node(draining), namespace, podOn("a"), podOn("b", labelled("wait-completed")),
			volume("pv-1", "gone"), attachment("pv-1", "n1")}, nil)
		w.ForceAfter = c.after
		found, err := w.Find(t.Context(), []string{key})
		if err != nil || found[key].Detaching != c.detaching {
			t.Errorf("%s: want %d volumes waited for, got %+v, %v", c.why, c.detaching, found[key], err)
		}
		to := target
		to.Voluntary = c.voluntary
		if err := w.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: []pool.InstanceRef{to}}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.evicted, c.evicted) {
			t.Errorf("%s: want %q evicted, got %q", c.why, c.evicted, w.evicted)
		}
	}
}

package rollout

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/view"
)

// fields are those of a rollout in a status.
type fields = map[string]any

// poolOf returns a pool of ten machines in three waves, 1, 5 and 10, with a rollout.
func poolOf(rollout fields, change ...func(*Pool)) Pool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "workers", Generation: 2},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "demo", Replicas: ptr.To(int32(10))}}
	mp.Status.ObservedGeneration, mp.Status.UpToDateReplicas = 2, ptr.To(int32(10))
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: "AWSMachinePool", Name: "infra"}
	infra := &unstructured.Unstructured{Object: fields{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachinePool",
		"metadata": fields{"namespace": "team", "name": "infra", "generation": int64(3)},
		"spec":     fields{"strategy": fields{"waves": []any{int64(1), "50%"}, "soak": fields{"first": "30m"}}},
		"status":   fields{"observedGeneration": int64(3)},
	}}
	if rollout != nil {
		infra.Object["status"].(fields)["rollout"] = rollout
	}
	p := Pool{MachinePool: mp, Infra: infra}
	for _, f := range change {
		f(&p)
	}
	return p
}

// rolledBack has a pool have returned to a revision, or not have been able to.
func rolledBack(to fields) func(*Pool) {
	return func(p *Pool) {
		b := fields{"rollout": "0w", "specification": "s", "message": "i-1 failed", "at": "2026-11-30T11:20:40Z"}
		if to != nil {
			b["to"] = to
		}
		p.Infra.Object["status"].(fields)["rollback"] = b
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	const head, full, none = "MachinePool team/workers (AWSMachinePool infra)\n", "████████████████████", "░░░░░░░░░░░░░░░░░░░░"
	for _, c := range []struct {
		why    string
		pool   Pool
		want   string
		over   bool
		failed bool
	}{
		{"no machine was ever replaced", poolOf(nil), "Rollout  none\n", true, false},
		{"the first wave is watched", poolOf(fields{"id": "1x", "state": "Soaking", "wave": int64(1), "of": int64(3), "entered": true,
			"left": int64(9), "startedAt": "2026-11-30T11:20:40Z", "soakUntil": "2026-11-30T11:51:00Z", "reason": "Soaking",
			"message": "wave 1 of 3 has been replaced and is watched"}),
			"Rollout      1x, started 2026-11-30T11:20:40Z\nState        Soaking\nReplaced     1 of 10 machines\n" +
				"Soaks until  2026-11-30T11:51:00Z\nSoaking: wave 1 of 3 has been replaced and is watched\n\n" +
				"wave 1  " + full + "  1/1  Soaking\nwave 2  " + none + "  0/4\nwave 3  " + none + "  0/5\n", false, false},
		{"a window has closed in a wave", poolOf(fields{"id": "1x", "state": "Replacing", "wave": int64(2), "of": int64(3), "entered": true,
			"left": int64(7), "opensAt": "2026-11-30T21:00:00Z", "reason": "OutsideWindow", "message": "closed", "overriddenBy": "kubectl"}),
			"Rollout   1x\nState     Waiting\nReplaced  3 of 10 machines\nOpens at  2026-11-30T21:00:00Z\nWindows   overridden by kubectl\n" +
				"OutsideWindow: closed\n\nwave 1  " + full + "  1/1  Ended\nwave 2  ██████████░░░░░░░░░░  2/4  Waiting\nwave 3  " + none + "  0/5\n",
			false, false},
		{"a user has paused it", poolOf(fields{"id": "1x", "state": "Replacing", "wave": int64(1), "of": int64(3), "left": int64(10),
			"reason": settings.ReasonPaused, "message": "paused"}),
			"Rollout   1x\nState     Paused\nReplaced  0 of 10 machines\nRolloutPaused: paused\n\nwave 1  " + none + "  0/1  Paused\n" +
				"wave 2  " + none + "  0/4\nwave 3  " + none + "  0/5\n", false, false},
		{"a new machine did not join", poolOf(fields{"id": "1x", "state": "Halted", "wave": int64(1), "of": int64(1), "left": int64(9),
			"reason": "RolloutHalted", "message": "i-1"}),
			"Rollout   1x\nState     Halted\nReplaced  1 of 10 machines\nRolloutHalted: i-1\n\n" +
				"wave 1  ██░░░░░░░░░░░░░░░░░░  1/10  Halted\n", true, true},
		{"it was rolled back", poolOf(fields{"id": "1x", "state": "Ended", "wave": int64(1), "of": int64(1)}, rolledBack(fields{
			"number": int64(2), "name": "r"})),
			"Rollout      1x\nState        Ended\nReplaced     10 of 10 machines\nRolled back  from rollout 0w to revision 2: i-1 failed\n\n" +
				"wave 1  " + full + "  10/10  Ended\n", true, true},
		{"it can't be rolled back", poolOf(fields{"id": "1x", "state": "Replacing", "wave": int64(1), "of": int64(1), "left": int64(10)},
			rolledBack(nil)), "Rollout      1x\nState        Replacing\nReplaced     0 of 10 machines\nRolled back  impossible: i-1 failed\n\n" +
			"wave 1  " + none + "  0/10  Replacing\n", true, true},
		{"with gates, and a machine that is held", poolOf(fields{"id": "1x", "state": "Ended", "wave": int64(1), "of": int64(1),
			"left": int64(1), "gates": []any{fields{"name": "go", "state": "Passed"}}, "held": []any{"n1", "n2"}, "quarantined": []any{"n3"}}),
			"Rollout      1x\nState        Ended\nReplaced     9 of 10 machines\nGate go      Passed\nHeld         n1, n2\nQuarantined  n3\n\n" +
				"wave 1  ██████████████████░░  9/10  Ended\n", true, false},
		{"all is replaced", poolOf(fields{"id": "1x", "state": "Ended", "wave": int64(3), "of": int64(3), "left": int64(0)}),
			"Rollout   1x\nState     Ended\nReplaced  10 of 10 machines\n\nwave 1  " + full + "  1/1  Ended\nwave 2  " + full +
				"  4/4  Ended\nwave 3  " + full + "  5/5  Ended\n", true, false},
		{"the specification has changed since", poolOf(fields{"id": "1x", "state": "Ended", "wave": int64(1), "of": int64(1)},
			func(p *Pool) { p.Infra.SetGeneration(4) }),
			"Rollout   1x\nState     Unobserved\n          the controller has not reported on the present specification yet\n" +
				"Replaced  10 of 10 machines\n\nwave 1  " + full + "  10/10  Ended\n", false, false},
		{"a restart was not begun yet", poolOf(nil, func(p *Pool) {
			p.MachinePool.Annotations = map[string]string{settings.RestartAnnotation: "kernel"}
		}), "State  Unobserved\n       the controller has not reported on the present specification yet\n", false, false},
	} {
		var out strings.Builder
		s := StatusOf(c.pool)
		if err := Text(&out, s, view.Terminal{}); err != nil || out.String() != head+c.want {
			t.Errorf("%s: want\n%s%s\ngot %v\n%s", c.why, head, c.want, err, out.String())
		}
		if s.Over() != c.over || s.Failed() != c.failed {
			t.Errorf("%s: want over %v and failed %v, got %v and %v", c.why, c.over, c.failed, s.Over(), s.Failed())
		}
	}
}

// TestJSON holds what other programs read, and that a rollout that is one wave for the present size is shown as one.
func TestJSON(t *testing.T) {
	t.Parallel()
	p := poolOf(fields{"id": "1x", "state": "Replacing", "wave": int64(2), "of": int64(3), "left": int64(1)},
		func(p *Pool) { p.MachinePool.Spec.Replicas = ptr.To(int32(1)) })
	var out strings.Builder
	if err := JSON(&out, StatusOf(p)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"apiVersion": "rollout.muster.dev/v1"`, `"kind": "Rollout"`, `"id": "1x"`, `"replaced": 0`,
		`"machines": 1`} {
		if !strings.Contains(out.String(), want) || strings.Count(out.String(), `"machines"`) != 1 {
			t.Errorf("want %s, and one wave, in\n%s", want, &out)
		}
	}
}

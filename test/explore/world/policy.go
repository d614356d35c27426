package world

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/test/explore/script"
)

// policy returns the rollout policy of the scenario, or nil.
func (f *setup) policy() *musterv1.RolloutPolicy {
	of := f.world.Scenario.Policy
	if of == nil {
		return nil
	}
	p := &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "hours"}}
	if of.Settle > 0 {
		p.Spec.Settle = &metav1.Duration{Duration: of.Settle}
	}
	if of.Machines > 0 {
		p.Spec.Budgets = []musterv1.RolloutBudget{{Machines: ptr.To(intstr.FromInt(of.Machines))}}
	}
	if of.RollsBack {
		p.Spec.OnFailure = musterv1.FailureRollback
	}
	for _, span := range of.Closed {
		at := func(d time.Duration) musterv1.ExclusionDate {
			return musterv1.ExclusionDate(f.world.trace.Began.Add(d).UTC().Format(time.RFC3339))
		}
		p.Spec.Exclusions = append(p.Spec.Exclusions, musterv1.RolloutExclusion{From: at(span[0]), To: at(span[1]), Scope: musterv1.ExcludeAll})
	}
	p.Spec.Windows = f.windows(of)
	for _, g := range of.Gates {
		p.Spec.Gates = append(p.Spec.Gates, gateOf(g))
	}
	if of.Approval != nil {
		p.Spec.Gates = append(p.Spec.Gates, musterv1.RolloutGate{Name: approvalGate, Approval: &musterv1.ApprovalGate{}})
	}
	return p
}

// openBefore and openOver are for how long a policy is open every day before the span outside of its windows begins, and from then until it
// is open again in that way. Together they are a day.
const openBefore, openOver = 10 * time.Hour, 14 * time.Hour

// windows returns two windows a day, which leave out the span of a policy.
func (f *setup) windows(of *script.Policy) []musterv1.RolloutWindow {
	if !of.Windows() {
		return nil
	}
	zone, err := time.LoadLocation(of.Zone)
	f.world.Must(err, "load the time zone %q", of.Zone)
	window := func(from time.Duration, lasts time.Duration) musterv1.RolloutWindow {
		return musterv1.RolloutWindow{Start: f.world.trace.Began.Add(from).In(zone).Format("15:04"), TimeZone: musterv1.TimeZone(of.Zone),
			Duration: metav1.Duration{Duration: lasts}, Grace: &metav1.Duration{Duration: of.Grace}}
	}
	return []musterv1.RolloutWindow{window(of.Shut[0]-openBefore, openBefore), window(of.Shut[1], openOver-(of.Shut[1]-of.Shut[0]))}
}

// gateOf returns a gate as a policy has it.
func gateOf(g script.Gate) musterv1.RolloutGate {
	out := musterv1.RolloutGate{Name: g.Name, Interval: &metav1.Duration{Duration: g.Interval}, Failures: int32(g.Failures)}
	if g.UnknownFails {
		out.Unknown = musterv1.UnknownFail
	}
	for phase, asked := range map[musterv1.GatePhase]bool{musterv1.GateBeforeWave: g.BeforeWave, musterv1.GateSoak: g.Soak} {
		if asked && g.BeforeWave != g.Soak {
			out.During = []musterv1.GatePhase{phase}
		}
	}
	if g.Condition {
		out.Condition = &musterv1.ConditionGate{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Name: g.Name, Healthy: ptr.To(true)}
		return out
	}
	out.Prometheus = &musterv1.PrometheusGate{Address: "https://prometheus.monitoring:9090", Query: "up"}
	return out
}

// pace sets the waves, the soak and what is done about undrainable nodes, where the object has a strategy with such fields.
func (f *setup) pace(o client.Object, p script.Pace) {
	w := f.world
	if p.None() {
		return
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	w.Must(err, "read the fields of the %s", w.Objects.kind)
	strategy := strategyOf(fields)
	if strategy == nil {
		return
	}
	var waves []any
	for _, wave := range p.Waves {
		v := intstr.Parse(wave)
		if v.Type == intstr.Int {
			waves = append(waves, int64(v.IntVal))
			continue
		}
		waves = append(waves, wave)
	}
	if len(waves) > 0 {
		strategy["waves"] = waves
	}
	soak := map[string]any{}
	for name, of := range map[string]time.Duration{"first": p.First, "wave": p.Wave, "final": p.Final} {
		if of > 0 {
			soak[name] = of.String()
		}
	}
	if len(soak) > 0 {
		strategy["soak"] = soak
	}
	if p.Quarantined > 0 {
		strategy["undrainable"] = map[string]any{"action": "Quarantine", "after": p.After.String(), "max": int64(p.Quarantined)}
	}
	w.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(fields, o), "set the pace of the %s", w.Objects.kind)
}

// strategyOf returns the strategy of an object whose machines Muster replaces by it; nil for any other.
func strategyOf(fields map[string]any) map[string]any {
	strategy, _, _ := unstructured.NestedFieldNoCopy(fields, "spec", "strategy")
	of, ok := strategy.(map[string]any)
	if !ok || of["type"] != "RollingUpdate" {
		return nil
	}
	return of
}

// quarantine returns the number of machines that the object allows in quarantine.
func (r *Rollout) quarantine(o client.Object) int {
	w := r.world
	if p := w.Scenario.Policy; p == nil || p.Pace.Quarantined == 0 || o == nil {
		return 0
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	w.Must(err, "read the fields of the %s", w.Objects.kind)
	n, _, _ := unstructured.NestedInt64(strategyOf(fields), "undrainable", "max")
	return int(n)
}

package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy/calendar"
)

// Policy is a compiled policy of either kind. It is immutable.
type Policy struct {
	// Kind, Namespace and Name of the object. A ClusterRolloutPolicy has no namespace.
	Kind, Namespace, Name string
	// Spec must not be changed.
	Spec *musterv1.RolloutPolicySpec

	// meta identifies the object and the state of its specification, as id does.
	meta                        metav1.ObjectMeta
	id                          string
	namespaces, clusters, pools labels.Selector
	schedule                    *calendar.Schedule
	maxAge                      time.Duration
	jitter                      int
	invalid                     error
}

// String returns the policy as messages have it: "ClusterRolloutPolicy production", "RolloutPolicy team/nights".
func (p *Policy) String() string {
	if p.Namespace == "" {
		return p.Kind + " " + p.Name
	}
	return p.Kind + " " + p.Namespace + "/" + p.Name
}

// Meta returns name, UID and generation of the policy's object.
func (p *Policy) Meta() *metav1.ObjectMeta { return &p.meta }

// Invalid returns an error for the values of the policy that can't be used; of windows and exclusions it holds calendar.Errors. The API
// server and the admission webhook refuse them, unless the webhook is switched off.
func (p *Policy) Invalid() error { return p.invalid }

// Calendar returns the policy's own calendar. It is nil if the policy is invalid.
func (p *Policy) Calendar() *calendar.Calendar {
	if p.schedule == nil {
		return nil
	}
	return calendar.Combine(p.schedule)
}

// Compile compiles a RolloutPolicy, or a ClusterRolloutPolicy if meta has no namespace.
func Compile(meta *metav1.ObjectMeta, spec *musterv1.RolloutPolicySpec) *Policy {
	p := &Policy{Kind: musterv1.RolloutPolicyKind, Namespace: meta.Namespace, Name: meta.Name, Spec: spec, id: stateOf(meta),
		meta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID, Generation: meta.Generation}}
	if meta.Namespace == "" {
		p.Kind = musterv1.ClusterRolloutPolicyKind
	}
	if p.invalid = p.compile(); p.invalid != nil {
		p.schedule = nil
	}
	return p
}

// stateOf identifies a state of an object's specification. A fake API server counts no generations.
func stateOf(meta *metav1.ObjectMeta) string {
	state := strconv.FormatInt(meta.Generation, 10)
	if meta.Generation == 0 {
		state = "v" + meta.ResourceVersion
	}
	return meta.Namespace + "/" + meta.Name + "/" + string(meta.UID) + "/" + state
}

func (p *Policy) compile() (err error) {
	if p.schedule, err = calendar.Compile(scheduleOf(p.String(), p.Spec)); err != nil {
		return err
	}
	selector := p.Spec.Selector
	if selector == nil {
		selector = &musterv1.RolloutPolicySelector{}
	}
	for _, s := range []struct {
		field string
		from  *metav1.LabelSelector
		to    *labels.Selector
	}{
		{"namespaces", selector.Namespaces, &p.namespaces}, {"clusters", selector.Clusters, &p.clusters}, {"pools", selector.Pools, &p.pools},
	} {
		*s.to = labels.Everything()
		if s.from == nil {
			continue
		}
		if *s.to, err = metav1.LabelSelectorAsSelector(s.from); err != nil {
			return fmt.Errorf("selector.%s: %w", s.field, err)
		}
	}
	if m := p.Spec.MaxAge; m != nil {
		p.maxAge = m.After.Duration
		if p.jitter, err = strconv.Atoi(strings.TrimSuffix(m.Jitter, "%")); err != nil && m.Jitter != "" {
			return fmt.Errorf("maxAge.jitter: found %q, want a percentage from 0%% to 50%%", m.Jitter)
		}
	}
	return nil
}

var weekdays = map[musterv1.Weekday]time.Weekday{
	musterv1.Monday: time.Monday, musterv1.Tuesday: time.Tuesday, musterv1.Wednesday: time.Wednesday, musterv1.Thursday: time.Thursday,
	musterv1.Friday: time.Friday, musterv1.Saturday: time.Saturday, musterv1.Sunday: time.Sunday,
}

// scheduleOf returns the windows and exclusions of a specification.
func scheduleOf(name string, spec *musterv1.RolloutPolicySpec) calendar.Policy {
	out := calendar.Policy{Name: name}
	for _, w := range spec.Windows {
		one := calendar.Window{Start: w.Start, Duration: w.Duration.Duration, TimeZone: string(w.TimeZone)}
		for _, d := range w.Days {
			one.Days = append(one.Days, weekdays[d])
		}
		for _, r := range w.Reasons {
			if reason, ok := calendar.ParseReason(string(r)); ok {
				one.Reasons = append(one.Reasons, reason)
			}
		}
		if w.Grace != nil {
			one.Grace = &w.Grace.Duration
		}
		out.Windows = append(out.Windows, one)
	}
	for _, e := range spec.Exclusions {
		out.Exclusions = append(out.Exclusions, calendar.Exclusion{From: string(e.From), To: string(e.To), TimeZone: string(e.TimeZone),
			VersionOnly: e.Scope == musterv1.ExcludeVersionOnly, Why: e.Why})
	}
	return out
}

// Subject is a pool as policies select it.
type Subject struct {
	Namespace string
	// NamespaceLabels are needed only if SelectsNamespaces is true for a policy.
	NamespaceLabels labels.Set
	// ClusterLabels are those of the pool's Cluster, PoolLabels those of the MachinePool.
	ClusterLabels, PoolLabels labels.Set
}

// SelectsNamespaces reports whether the labels of namespaces decide whether the policy selects a pool.
func (p *Policy) SelectsNamespaces() bool { return p.namespaces != nil && !p.namespaces.Empty() }

// Selects reports whether the policy selects a pool. A policy whose selectors are invalid selects all pools, of its namespace if it has
// one, so that the fault is visible on each of them.
func (p *Policy) Selects(s Subject) bool {
	if p.Namespace != "" && p.Namespace != s.Namespace {
		return false
	}
	matches := func(selector labels.Selector, set labels.Set) bool { return selector == nil || selector.Matches(set) }
	return matches(p.namespaces, s.NamespaceLabels) && matches(p.clusters, s.ClusterLabels) && matches(p.pools, s.PoolLabels)
}

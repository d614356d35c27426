package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/pool/rollouts"
)

// specOf returns the specification that text describes.
func specOf(t testing.TB, text string) *musterv1.RolloutPolicySpec {
	t.Helper()
	spec := &musterv1.RolloutPolicySpec{}
	if err := yaml.UnmarshalStrict([]byte(text), spec); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return spec
}

// compiled returns a policy; without a namespace it is a ClusterRolloutPolicy.
func compiled(t testing.TB, namespace, name, text string) *policy.Policy {
	t.Helper()
	return policy.Compile(&metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1}, specOf(t, text))
}

func TestSelects(t *testing.T) {
	t.Parallel()
	s := policy.Subject{Namespace: "team", NamespaceLabels: labels.Set{"tenant": "yes"}, ClusterLabels: labels.Set{"env": "prod"},
		PoolLabels: labels.Set{"gpu": "yes"}}
	for name, c := range map[string]struct {
		why, namespace, spec string
		want                 bool
	}{
		"no selector":       {"the operator's policy applies to all", "", "{}", true},
		"its namespace":     {"a tenant's policy applies to its own pools", "team", "{}", true},
		"another namespace": {"and to no other tenant's", "other", "{}", false},
		"empty selectors":   {"empty is all", "", "selector: {namespaces: {}, clusters: {}, pools: {}}", true},
		"cluster":           {"labels of the Cluster", "", "selector: {clusters: {matchLabels: {env: prod}}}", true},
		"another cluster":   {"labels of the Cluster", "", "selector: {clusters: {matchLabels: {env: dev}}}", false},
		"pool":              {"labels of the MachinePool", "", "selector: {pools: {matchExpressions: [{key: gpu, operator: Exists}]}}", true},
		"cluster and not pool": {"all selectors have to match", "",
			"selector: {clusters: {matchLabels: {env: prod}}, pools: {matchLabels: {gpu: no}}}", false},
		"labelled namespace":   {"labels that tenants can't change", "", "selector: {namespaces: {matchLabels: {tenant: 'yes'}}}", true},
		"unlabelled namespace": {"labels that tenants can't change", "", "selector: {namespaces: {matchLabels: {tenant: 'no'}}}", false},
		"an invalid operator": {"the fault is shown on each pool", "", "selector: {pools: {matchExpressions: [{key: gpu, operator: Is}]}}",
			true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := strings.ReplaceAll(c.spec, "gpu: no", "gpu: 'no'")
			if got := compiled(t, c.namespace, "p", spec).Selects(s); got != c.want {
				t.Errorf("%s: got %t", c.why, got)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	type effect struct {
		MaxAge, Settle time.Duration
		Jitter         int
		Budgets, Gates int
		Invalid        string
	}
	for name, c := range map[string]struct {
		why   string
		specs []string
		want  effect
	}{
		"none":  {"nothing is restricted", nil, effect{}},
		"empty": {"nothing is restricted", []string{"{}"}, effect{}},
		"ages": {"the smallest, with its jitter", []string{"maxAge: {after: 48h, jitter: 20%}", "maxAge: {after: 24h}", "{}"},
			effect{MaxAge: 24 * time.Hour}},
		"settle": {"the longest", []string{"settle: 2m", "settle: 5m", "{}"}, effect{Settle: 5 * time.Minute}},
		"budgets and gates": {"all", []string{"budgets: [{pools: 1}, {machines: 1}]\ngates: [{name: a, approval: {}}]",
			"budgets: [{pools: 2}]"}, effect{Budgets: 3, Gates: 1}},
		"an unknown zone": {"it holds back all", []string{"windows: [{start: '22:00', duration: 6h, timeZone: Mars}]"},
			effect{Invalid: `correct spec.windows[0].timeZone: found "Mars"`}},
		"an unknown jitter": {"it holds back all", []string{"maxAge: {after: 1h, jitter: much}"}, effect{
			Invalid: `correct spec.maxAge.jitter: found "much"`}},
		"an unknown operator": {"it holds back all", []string{"selector: {pools: {matchExpressions: [{key: a, operator: Is}]}}"},
			effect{Invalid: "correct spec.selector.pools:"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list []*policy.Policy
			for k, text := range c.specs {
				list = append(list, compiled(t, "", fmt.Sprint("p", k), text))
			}
			e := policy.Merge(list)
			if !strings.Contains(e.Invalid.Message, c.want.Invalid) || (c.want.Invalid == "") != (e.Invalid == rollouts.Cause{}) {
				t.Errorf("%s: invalid: got %v, want %q", c.why, e.Invalid, c.want.Invalid)
			}
			got := effect{e.MaxAge, e.Settle, e.Jitter, len(e.Budgets), len(e.Gates), c.want.Invalid}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.why, diff)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	const nights = "windows: [{days: [Mon, Tue], start: '22:00', duration: 6h, timeZone: Europe/Berlin}]"
	for name, c := range map[string]struct {
		why   string
		specs []string
		// closed has the causes by reason; opens is OpensAt.
		closed         map[rollouts.Reason]string
		changes, opens string
	}{
		"nothing": {"no policy", nil, nil, "", ""},
		"open":    {"it closes at noon", []string{"windows: [{start: '06:00', duration: 6h}]"}, nil, "12:00", ""},
		"one reason": {"others are open", []string{"exclusions: [{from: '2026-06-01', to: '2026-06-01', scope: VersionOnly, why: audit}]"},
			map[rollouts.Reason]string{"Version": "Excluded: ClusterRolloutPolicy p0 excludes 2026-06-01 to 2026-06-01: audit"}, "00:00", "00:00"},
		"no window for it": {"reasons are admitted one by one",
			[]string{"windows: [{start: '06:00', duration: 6h, reasons: [Template, Image, Age, Restart]}]"},
			map[rollouts.Reason]string{"Version": "OutsideWindow: ClusterRolloutPolicy p0 has no window for reason Version"}, "12:00", ""},
		"invalid": {"all wait, for ever", []string{"windows: [{start: '06:00', duration: 6h, timeZone: Mars}]", nights},
			each("PolicyInvalid: ClusterRolloutPolicy p0 can't be used, so that it holds back all rollouts: correct spec.windows[0].timeZone: " +
				`found "Mars", want a name of the IANA time zone database, such as Europe/Berlin`), "", ""},
		"outside": {"the first closed policy", []string{"{}", nights}, each("OutsideWindow: outside of the windows of ClusterRolloutPolicy p1; " +
			"its next window is Mon,Tue 22:00 for 6h (Europe/Berlin)"), "20:00", "20:00"},
		"never together": {"day and night", []string{"windows: [{start: '12:00', duration: 1h}]", "windows: [{start: '13:00', duration: 1h}]"},
			each("PolicyNeverOpens: the policies are never open at the same time for reason %s: change the windows or exclusions of " +
				"ClusterRolloutPolicy p0, ClusterRolloutPolicy p1"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list []*policy.Policy
			for k, text := range c.specs {
				list = append(list, compiled(t, "", fmt.Sprint("p", k), text))
			}
			l := policy.Merge(list).Limits(time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC))
			var closed map[rollouts.Reason]string
			for r, by := range l.Closed {
				if closed == nil {
					closed = map[rollouts.Reason]string{}
				}
				closed[r] = by.Cause.Reason + ": " + by.Cause.Message
			}
			if diff := cmp.Diff(c.closed, closed); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.why, diff)
			}
			if clockOf(l.Changes) != c.changes || clockOf(l.OpensAt) != c.opens {
				t.Errorf("%s: changes at %q and opens at %q, want %q and %q", c.why, clockOf(l.Changes), clockOf(l.OpensAt), c.changes, c.opens)
			}
		})
	}
}

// each returns a message for every reason.
func each(message string) map[rollouts.Reason]string {
	all := map[rollouts.Reason]string{}
	for _, r := range rollouts.Reasons {
		all[r] = strings.ReplaceAll(message, "%s", string(r))
	}
	return all
}

func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("15:04")
}

func TestAtOnce(t *testing.T) {
	t.Parallel()
	ten, one, two := intstr.FromString("10%"), intstr.FromInt32(1), int32(2)
	share := musterv1.RolloutBudget{Machines: &ten}
	single := musterv1.RolloutBudget{Machines: &one, Reasons: []musterv1.RolloutReason{musterv1.ReasonAge}}
	pools := musterv1.RolloutBudget{Pools: &two}
	for name, c := range map[string]struct {
		why     string
		budgets []musterv1.RolloutBudget
		reason  rollouts.Reason
		used    policy.Usage
		want    string
	}{
		"none":           {"nothing is limited", nil, rollouts.Template, policy.Usage{Desired: 100}, "no limit"},
		"a share":        {"10 % of 39, rounded down", []musterv1.RolloutBudget{share}, rollouts.Template, policy.Usage{Desired: 39}, "3"},
		"a small fleet":  {"at least one", []musterv1.RolloutBudget{share}, rollouts.Template, policy.Usage{Desired: 4}, "1"},
		"used by others": {"what is left", []musterv1.RolloutBudget{share}, rollouts.Template, policy.Usage{Desired: 39, Replacing: 2}, "1"},
		"used up": {"never less than none", []musterv1.RolloutBudget{share}, rollouts.Template, policy.Usage{Desired: 39, Replacing: 5},
			"0"},
		"another reason": {"it counts ages", []musterv1.RolloutBudget{single}, rollouts.Template, policy.Usage{Desired: 39}, "no limit"},
		"the smallest":   {"both apply", []musterv1.RolloutBudget{share, single}, rollouts.Age, policy.Usage{Desired: 39}, "1"},
		"pools":          {"one other", []musterv1.RolloutBudget{pools}, rollouts.Age, policy.Usage{Desired: 39, Rollouts: 1}, "no limit"},
		"too many pools": {"two others", []musterv1.RolloutBudget{pools, share}, rollouts.Age, policy.Usage{Desired: 39, Rollouts: 2}, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list []policy.Budget
			for _, b := range c.budgets {
				list = append(list, policy.Budget{Policy: compiled(t, "", "p", "{}"), RolloutBudget: b})
			}
			n, cause, limited := policy.AtOnce(list, []rollouts.Reason{c.reason}, func(policy.Budget) policy.Usage { return c.used })
			got := "no limit"
			if limited {
				got = fmt.Sprint(n)
			}
			if got != c.want || limited != (cause.Reason == policy.ReasonBudgetSpent) {
				t.Errorf("%s: got %s with %v, want %s", c.why, got, cause, c.want)
			}
		})
	}
}

// specs are specifications of policies for TestPoliciesOnlyTighten.
var specs = []string{"{}", "settle: 5m", "maxAge: {after: 24h}",
	"windows: [{start: '06:00', duration: 6h}]",
	"windows: [{start: '10:00', duration: 6h, grace: 0s, reasons: [Age, Version]}]", "exclusions: [{from: '2026-06-02', to: '2026-06-03'}]",
	"windows: [{start: '06:00', duration: 6h, timeZone: Mars}]", "budgets: [{machines: 1}]", "budgets: [{machines: 20%, reasons: [Template]}]",
	"gates: [{name: a, approval: {}}]"}

// TestPoliciesOnlyTighten holds that no policy, a tenant's for example, loosens what others allow.
func TestPoliciesOnlyTighten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var list []*policy.Policy
		for k, text := range rapid.SliceOfN(rapid.SampledFrom(specs), 1, 5).Draw(r, "specs") {
			list = append(list, compiled(t, "", fmt.Sprint("p", k), text))
		}
		without, with := policy.Merge(list[:len(list)-1]), policy.Merge(list)
		now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 96*60).Draw(r, "minute")) * time.Minute)
		a, b := without.Limits(now), with.Limits(now)
		for reason, by := range a.Closed {
			now, ok := b.Closed[reason]
			if !ok || now.GraceUntil.After(by.GraceUntil) && by.GraceUntil.After(time.Time{}) && now.Cause == by.Cause {
				r.Fatalf("%s is closed by %+v, and with one policy more by %+v", reason, by, now)
			}
		}
		usage := func(policy.Budget) policy.Usage { return policy.Usage{Desired: 10} }
		for _, reason := range rollouts.Reasons {
			n, _, limited := policy.AtOnce(without.Budgets, []rollouts.Reason{reason}, usage)
			m, _, still := policy.AtOnce(with.Budgets, []rollouts.Reason{reason}, usage)
			if limited && with.Invalid.Reason == "" && (!still || m > n) {
				r.Fatalf("%s: %d at once, and with one policy more %d", reason, n, m)
			}
		}
		if b.Settle < a.Settle || a.MaxAge > 0 && (b.MaxAge == 0 || b.MaxAge > a.MaxAge) || len(with.Gates) < len(without.Gates) {
			r.Fatalf("one policy more loosens %+v to %+v", without, with)
		}
	})
}

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{musterv1.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func namespaced(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u", Generation: 1}
}

func TestReader(t *testing.T) {
	t.Parallel()
	operator := specOf(t, "selector: {namespaces: {matchLabels: {tenant: 'yes'}}}\nsettle: 1m")
	c := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(
		&musterv1.ClusterRolloutPolicy{ObjectMeta: namespaced("", "b"), Spec: *operator},
		&musterv1.ClusterRolloutPolicy{ObjectMeta: namespaced("", "a")},
		&musterv1.RolloutPolicy{ObjectMeta: namespaced("team", "a"), Spec: *specOf(t, "settle: 2m")},
		&musterv1.RolloutPolicy{ObjectMeta: namespaced("other", "a"), Spec: *specOf(t, "settle: 3m")},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{"tenant": "yes"}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
	).Build()
	r := &policy.Reader{Client: c}
	names := func(namespace string) (list []string) {
		e, err := r.For(t.Context(), policy.Subject{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range e.Policies {
			list = append(list, p.String())
		}
		return append(list, e.Settle.String())
	}
	if got, want := names("team"), []string{"ClusterRolloutPolicy a", "ClusterRolloutPolicy b", "RolloutPolicy team/a",
		"2m0s"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := names("other"), []string{"ClusterRolloutPolicy a", "RolloutPolicy other/a", "3m0s"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	first, err := r.For(t.Context(), policy.Subject{Namespace: "team"})
	second, err2 := r.For(t.Context(), policy.Subject{Namespace: "team"})
	if err != nil || err2 != nil || first.Calendar != second.Calendar {
		t.Errorf("the same policies are merged again: %v, %v", err, err2)
	}
	changed := &musterv1.RolloutPolicy{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "a"}, changed); err != nil {
		t.Fatal(err)
	}
	changed.Generation, changed.Spec.Settle.Duration = 2, time.Hour
	if err := c.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if got := names("team"); got[3] != "1h0m0s" {
		t.Errorf("a changed policy: got %q", got)
	}
}

func TestReaderWithoutKindsOrRights(t *testing.T) {
	t.Parallel()
	denied := func(context.Context, schema.GroupVersionKind) error {
		return fmt.Errorf("%w policies", access.ErrForbidden)
	}
	c := fake.NewClientBuilder().WithScheme(scheme(t)).Build()
	for name, tc := range map[string]struct {
		why    string
		reader *policy.Reader
		want   string
	}{
		"no policies": {"nothing is restricted", &policy.Reader{Client: c}, ""},
		"no rights":   {"a freeze that can't be read may exist", &policy.Reader{Client: c, MayWatch: denied}, policy.ReasonPoliciesForbidden},
	} {
		e, err := tc.reader.For(t.Context(), policy.Subject{Namespace: "team"})
		if l := e.Limits(time.Now()); err != nil || e.Invalid.Reason != tc.want || (len(l.Closed) == len(rollouts.Reasons)) != (tc.want != "") {
			t.Errorf("%s: %s: got %+v, %v", name, tc.why, e, err)
		}
	}
}

func BenchmarkLimits(b *testing.B) {
	list := []*policy.Policy{compiled(b, "", "a", "windows: [{start: '06:00', duration: 6h}]"), compiled(b, "", "b", "settle: 1m")}
	e, now := policy.Merge(list), time.Date(2026, 6, 1, 13, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		e.Limits(now)
	}
}

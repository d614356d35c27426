package admission

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
)

func specOf(t *testing.T, text string) musterv1.RolloutPolicySpec {
	t.Helper()
	spec := musterv1.RolloutPolicySpec{}
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return spec
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{musterv1.AddToScheme, clusterv1.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// validators returns those of both kinds in a management cluster with the objects. It is noon.
func validators(t *testing.T, objects ...client.Object) (*validator[*musterv1.RolloutPolicy], *validator[*musterv1.ClusterRolloutPolicy]) {
	t.Helper()
	reader := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).Build()
	now := func() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }
	gates := []CheckGate{CheckSuccess}
	return &validator[*musterv1.RolloutPolicy]{reader, gates, now,
			func(p *musterv1.RolloutPolicy) (*metav1.ObjectMeta, *musterv1.RolloutPolicySpec) {
				return &p.ObjectMeta, &p.Spec
			}},
		&validator[*musterv1.ClusterRolloutPolicy]{reader, gates, now,
			func(p *musterv1.ClusterRolloutPolicy) (*metav1.ObjectMeta, *musterv1.RolloutPolicySpec) {
				return &p.ObjectMeta, &p.Spec
			}}
}

func tenants(t *testing.T, name, spec string) *musterv1.RolloutPolicy {
	return &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Spec: specOf(t, spec)}
}

func operators(t *testing.T, name, spec string) *musterv1.ClusterRolloutPolicy {
	return &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: specOf(t, spec)}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tenant, operator := validators(t)
	for name, c := range map[string]struct {
		why, spec string
		refused   []string
		warning   string
	}{
		"empty": {"it restricts nothing", "{}", nil, ""},
		"unknown zone": {"the machine that evaluates it would not know it", "windows: [{start: '22:00', duration: 6h, timeZone: Europe/Berlim}]",
			[]string{"spec.windows[0].timeZone", `"Europe/Berlim"`, "want a name of the IANA time zone database"}, ""},
		"short": {"the schema refuses it too", "windows: [{start: '22:00', duration: 20m}]",
			[]string{"spec.windows[0].duration", `"20m"`, "from 30m to 168h"}, "spec.windows[0].duration: 20m is shorter"},
		"nearly short": {"a replacement takes longer", "windows: [{start: '22:00', duration: 44m}]", nil,
			"spec.windows[0].duration: 44m is shorter"},
		"backwards": {"it would exclude nothing", "exclusions: [{from: '2026-12-18', to: '2026-12-17'}]",
			[]string{"spec.exclusions[0].to", `"2026-12-17"`, "after the beginning (2026-12-18)"}, ""},
		"years": {"it never opens", "exclusions: [{from: '2026-01-01', to: '2028-12-31'}]",
			[]string{"spec.exclusions", "PolicyNeverOpens", "within 400 days"}, ""},
		"a gate twice": {"an approval names its gate", "gates: [{name: a, approval: {}}, {name: a, approval: {}}]",
			[]string{"spec.gates[1].name", "Duplicate"}, ""},
		"a gate's expression": {"no query would ever pass", "gates: [{name: a, success: result <}]", []string{"spec.gates[0].success",
			"want a CEL expression"}, ""},
		"a selector": {"it would select nothing", "selector: {pools: {matchExpressions: [{key: a, operator: Is}]}}",
			[]string{"spec.selector.pools.matchExpressions[0].operator", "Is"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warnings, err := tenant.ValidateCreate(t.Context(), tenants(t, "p", c.spec))
			_, err2 := operator.ValidateCreate(t.Context(), operators(t, "p", c.spec))
			if (err != nil) != (c.refused != nil) || (err2 != nil) != (c.refused != nil) {
				t.Fatalf("%s: got %v and %v", c.why, err, err2)
			}
			for _, part := range c.refused {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s: want %q in %q", c.why, part, err)
				}
			}
			if got := strings.Join(warnings, ""); !strings.HasPrefix(got, c.warning) || (c.warning == "") != (got == "") {
				t.Errorf("%s: got warnings %q, want %q", c.why, warnings, c.warning)
			}
		})
	}
}

func TestUpdatesOfFaultyPolicies(t *testing.T) {
	t.Parallel()
	tenant, _ := validators(t)
	const bad = "windows: [{start: '22:00', duration: 6h, timeZone: Mars}]"
	deleted := tenants(t, "p", bad)
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		why     string
		old, is *musterv1.RolloutPolicy
		refused bool
	}{
		"left as it is":    {"labels can be changed", tenants(t, "p", bad), tenants(t, "p", bad), false},
		"another field":    {"the fault was there", tenants(t, "p", bad), tenants(t, "p", bad+"\nsettle: 1m"), false},
		"a fault is added": {"a change is looked at", tenants(t, "p", "{}"), tenants(t, "p", bad), true},
		"deleted":          {"finalizers can be removed", tenants(t, "p", "{}"), deleted, false},
	} {
		if _, err := tenant.ValidateUpdate(t.Context(), c.old, c.is); (err != nil) != c.refused {
			t.Errorf("%s: %s: got %v", name, c.why, err)
		}
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "workers", Labels: map[string]string{"gpu": "yes"}},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c"}}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c", Labels: map[string]string{"env": "prod"}}}
	const nights = "windows: [{start: '22:00', duration: 6h}]"
	const days = "windows: [{start: '10:00', duration: 6h}]"
	tenant, operator := validators(t, pool, cluster, operators(t, "nights", nights+"\nselector: {clusters: {matchLabels: {env: prod}}}"),
		tenants(t, "mornings", "windows: [{start: '03:00', duration: 2h}]"))
	const said = "MachinePool team/workers: RolloutPolicy team/p, ClusterRolloutPolicy nights, RolloutPolicy team/mornings are never open " +
		"at the same time"
	if _, err := tenant.ValidateCreate(t.Context(), tenants(t, "p", days)); err == nil || !strings.Contains(err.Error(), said) {
		t.Errorf("a tenant's contradiction: got %v, want %q", err, said)
	}
	for name, p := range map[string]*musterv1.RolloutPolicy{
		"they meet":          tenants(t, "p", "windows: [{start: '02:00', duration: 2h}]"),
		"it selects no pool": tenants(t, "p", days+"\nselector: {pools: {matchLabels: {gpu: 'no'}}}"),
		"it has no windows":  tenants(t, "p", "settle: 1m"),
		"itself, changed":    tenants(t, "mornings", "windows: [{start: '23:00', duration: 2h}]"),
	} {
		if _, err := tenant.ValidateCreate(t.Context(), p); err != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	warnings, err := operator.ValidateCreate(t.Context(), operators(t, "p", days))
	if err != nil || !slices.ContainsFunc(warnings, func(w string) bool {
		return strings.Contains(w,
			"PolicyNeverOpens: MachinePool team/workers")
	}) {
		t.Errorf("the operator's contradiction: got %v, %v, want it warned of", warnings, err)
	}
}

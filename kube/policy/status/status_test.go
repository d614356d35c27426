package status

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
)

// world is a management cluster with two pools, one of which has the label gpu.
type world struct {
	*Reconciler
	writes int
	now    time.Time
}

func specOf(t *testing.T, text string) musterv1.RolloutPolicySpec {
	t.Helper()
	spec := musterv1.RolloutPolicySpec{}
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return spec
}

func tenants(t *testing.T, name, spec string) *musterv1.RolloutPolicy {
	return &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Generation: 3}, Spec: specOf(t, spec)}
}

func operators(t *testing.T, name, spec string) *musterv1.ClusterRolloutPolicy {
	return &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 3}, Spec: specOf(t, spec)}
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{musterv1.AddToScheme, clusterv1.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	pool := func(namespace, name string, labels map[string]string) *clusterv1.MachinePool {
		return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
			Spec: clusterv1.MachinePoolSpec{ClusterName: "c"}}
	}
	objects = append(objects, pool("team", "a", nil), pool("team", "b", map[string]string{"gpu": "yes"}), pool("other", "a", nil),
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "c", Labels: map[string]string{"env": "prod"}}})
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&musterv1.RolloutPolicy{}, &musterv1.ClusterRolloutPolicy{}).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object,
			p client.Patch, opts ...client.SubResourcePatchOption) error {
			w.writes++
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		}}).Build()
	w.Reconciler = &Reconciler{Client: c, Policies: &policy.Reader{Client: c}, Now: func() time.Time { return w.now }}
	return w
}

// reconcile reconciles the policy p of one of the kinds and returns its status.
func (w *world) reconcile(t *testing.T, namespace string) (musterv1.RolloutPolicyStatus, time.Duration) {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace, Name: "p"}
	do := w.reconcileTenants
	if namespace == "" {
		do = w.reconcileOperators
	}
	result, err := do(t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		t.Fatal(err)
	}
	cluster, own := &musterv1.ClusterRolloutPolicy{}, &musterv1.RolloutPolicy{}
	if namespace == "" {
		err = w.Client.Get(t.Context(), key, cluster)
		own.Status = cluster.Status
	} else {
		err = w.Client.Get(t.Context(), key, own)
	}
	if err != nil {
		t.Fatal(err)
	}
	return own.Status, result.RequeueAfter
}

func TestStatus(t *testing.T) {
	t.Parallel()
	const nights, days = "windows: [{start: '22:00', duration: 6h}]", "windows: [{start: '10:00', duration: 6h}]"
	for name, c := range map[string]struct {
		why     string
		policy  client.Object
		others  []client.Object
		pools   int32
		open    bool
		at      string // opensAt or closesAt, as HH:MM
		reason  string
		message string
	}{
		"empty": {"it is open for ever, and the operator's selects all pools", operators(t, "p", "{}"), nil, 3, true, "",
			"PolicyValid", "applies"},
		"a tenant's": {"its own pools", tenants(t, "p", days), nil, 2, true, "16:00", "PolicyValid", "applies"},
		"closed":     {"it opens at night", tenants(t, "p", nights), nil, 2, false, "22:00", "PolicyValid", "applies"},
		"by labels": {"of the Cluster and of the pool", operators(t, "p",
			"selector: {clusters: {matchLabels: {env: prod}}, pools: {matchLabels: {gpu: 'yes'}}}"), nil, 1, true, "", "PolicyValid", ""},
		"no pools": {"the count is 0, not absent", operators(t, "p", "selector: {pools: {matchLabels: {a: b}}}"), nil, 0, true, "",
			"PolicyValid", ""},
		"one reason": {"it is open to the others", tenants(t, "p",
			"exclusions: [{from: '2026-05-01', to: '2026-07-01', scope: VersionOnly}]"), nil, 2, true, "", "PolicyValid", ""},
		"for ever": {"two years", tenants(t, "p", "exclusions: [{from: '2026-01-01', to: '2028-01-01'}]"), nil, 2, false, "",
			"PolicyNeverOpens", "within 400 days"},
		"invalid": {"the webhook was off", tenants(t, "p", "windows: [{start: '22:00', duration: 6h, timeZone: Mars}]"), nil, 2, false,
			"", "PolicyInvalid", `spec.windows[0].timeZone: found "Mars"`},
		"a contradiction": {"with the operator's", tenants(t, "p", days), []client.Object{operators(t, "o", nights)}, 2, true, "16:00",
			"PolicyNeverOpens",
			"MachinePool team/a: RolloutPolicy team/p, ClusterRolloutPolicy o are never open at the same time"},
		"a tenant's contradiction": {"the operator's state is its own", operators(t, "p", nights), []client.Object{tenants(t, "o", days)}, 3,
			false, "22:00",
			"PolicyValid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(c.others, c.policy)...)
			status, again := w.reconcile(t, c.policy.GetNamespace())
			at := ""
			for _, one := range []*metav1.Time{status.OpensAt, status.ClosesAt} {
				if one != nil {
					at += one.UTC().Format("15:04")
				}
			}
			ready := status.Conditions[0]
			if status.Pools == nil || *status.Pools != c.pools || *status.Open != c.open || at != c.at || status.ObservedGeneration != 3 {
				t.Errorf("%s: got %d pools, open %t, change at %q, generation %d", c.why, *status.Pools, *status.Open, at, status.ObservedGeneration)
			}
			if ready.Reason != c.reason || !strings.Contains(ready.Message,
				c.message) || (ready.Status == metav1.ConditionTrue) != (c.reason == "PolicyValid") {
				t.Errorf("%s: got %+v, want %s %q", c.why, ready, c.reason, c.message)
			}
			if (again > 0) != (c.at != "") {
				t.Errorf("%s: looks again after %s", c.why, again)
			}
		})
	}
}

func TestStatusIsWrittenOnChangesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tenants(t, "p", "windows: [{start: '10:00', duration: 6h}]"))
	_, again := w.reconcile(t, "team")
	if again != 4*time.Hour || w.writes != 1 {
		t.Errorf("the first look: again after %s, %d writes", again, w.writes)
	}
	w.now = w.now.Add(time.Hour)
	if _, again = w.reconcile(t, "team"); again != 3*time.Hour || w.writes != 1 {
		t.Errorf("a look without a change: again after %s, %d writes", again, w.writes)
	}
	w.now = w.now.Add(again)
	if status, again := w.reconcile(t, "team"); again != 18*time.Hour || w.writes != 2 || *status.Open {
		t.Errorf("the end of the window: again after %s, %d writes, %+v", again, w.writes, status)
	}
	if _, err := w.reconcileTenants(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "team", Name: "gone"}}); err != nil {
		t.Errorf("a policy that was deleted: %v", err)
	}
}

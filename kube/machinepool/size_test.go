package machinepool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// sizeLimit leaves room below the 1.5 MiB that etcd takes of one object.
const sizeLimit = 1 << 20

// TestLargePoolsFitIntoOneObject holds that a pool of the greatest size that its cloud has can be stored, also when nothing in it is well.
func TestLargePoolsFitIntoOneObject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		size    int
		id      func(n int) string
		node    func(n int) string
		unready bool
	}{
		"aws": {"an Auto Scaling group of 5000", 5000, func(n int) string { return fmt.Sprintf("aws:///ap-southeast-2a/i-%017x", n) },
			func(n int) string {
				return fmt.Sprintf("ip-10-101-%03d-%03d.ap-southeast-2.compute.internal", n/250, n%250)
			}, false},
		"aws, unwell": {"messages name a few and count the others", 5000, func(n int) string { return fmt.Sprintf("aws:///ap-southeast-2a/i-%017x", n) },
			func(n int) string {
				return fmt.Sprintf("ip-10-101-%03d-%03d.ap-southeast-2.compute.internal", n/250, n%250)
			}, true},
		"azure": {"a scale set has 1000 at most, with names as long as Azure takes them", 1000, func(n int) string {
			return "azure:///subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/" + strings.Repeat("g", 90) +
				"/providers/Microsoft.Compute/virtualMachineScaleSets/" + strings.Repeat("s", 64) + fmt.Sprintf("/virtualMachines/%d", n)
		}, func(n int) string { return fmt.Sprintf("%s%06d", strings.Repeat("s", 57), n) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{now: metav1.Now().Time, pool: aPool(int32(tc.size)), members: map[string]*clusterv1.Machine{}}
			found := map[string]*corev1.Node{}
			for n := range tc.size {
				node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: tc.node(n), UID: types.UID(fmt.Sprintf("11111111-2222-3333-4444-%012d", n))}}
				node.Status.NodeInfo.KubeletVersion = "v1.36.0"
				setReady(node, !tc.unready, p.now)
				p.pool.Spec.ProviderIDList = append(p.pool.Spec.ProviderIDList, tc.id(n))
				found[nodes.Keys([]string{tc.id(n)})[0]] = node
			}
			replicas := int32(tc.size)
			p.facts = status.Facts{Cluster: "default/c1", Desired: &replicas, Replicas: &replicas, Instances: replicas,
				Bootstrap:      status.Source{Kind: "KubeadmConfig", Name: "boot", Found: true, Done: true, Once: true},
				Infrastructure: status.Source{Kind: "AWSMachinePool", Name: "infra", Found: true, Done: true, Once: true}}
			p.judgeAll(found)
			p.count(found)
			status.Apply(p.pool, &p.facts)
			data, err := json.Marshal(p.pool)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d instances: %d KiB", tc.size, len(data)>>10)
			if len(data) > sizeLimit {
				t.Errorf("%s: want at most %d bytes, got %d", tc.reason, sizeLimit, len(data))
			}
			for _, c := range p.pool.Status.Conditions {
				if len(c.Message) > 1024 {
					t.Errorf("%s: want a message that people can read, got %d bytes", c.Type, len(c.Message))
				}
			}
		})
	}
}

// TestAllMachinesAtOnceMakeOneShortEvent holds that what happens to thousands of machines is told in one event that the API takes.
func TestAllMachinesAtOnceMakeOneShortEvent(t *testing.T) {
	t.Parallel()
	w := running(t)
	p := &pass{pool: w.pool(), before: w.pool()}
	for n := range 5000 {
		p.pool.Status.NodeRefs = append(p.pool.Status.NodeRefs, corev1.ObjectReference{Name: strings.Repeat("ä", 120) + fmt.Sprint(n)})
	}
	p.compare()
	w.r.announce(p)
	told := w.events()
	if len(told) != 1 {
		t.Fatalf("want one event, got %d", len(told))
	}
	if note := strings.TrimPrefix(told[0], "Normal "+eventNodes+" "); len(note) > noteLimit {
		t.Errorf("want at most %d bytes, got %d", noteLimit, len(note))
	}
}

// TestARefusedWriteIsToldOnThePool holds that a pool whose list admission does not take says so, and is told of in all else.
func TestARefusedWriteIsToldOnThePool(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
		if pool, ok := o.(*clusterv1.MachinePool); ok && len(pool.Spec.ProviderIDList) != 2 {
			return apierrors.NewInvalid(clusterv1.GroupVersion.WithKind("MachinePool").GroupKind(), pool.Name,
				field.ErrorList{field.Forbidden(field.NewPath("spec", "providerIDList"), "no third instance")})
		}
		return c.Patch(ctx, o, patch, opts...)
	}})
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, false, w.clock) })
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///a/i-3") })
	for range 2 {
		if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); err == nil {
			t.Error("want the error, got none")
		}
	}
	want(t, "InfrastructureReady", w.condition(clusterv1.InfrastructureReadyCondition), "Unknown InternalError")
	if m := w.message(clusterv1.InfrastructureReadyCondition); !strings.Contains(m, "no third instance") {
		t.Errorf("message: want what admission said, got %q", m)
	}
	want(t, "replicas, which are counted all the same", *w.pool().Status.Replicas, 3)
	want(t, "ready", w.counts()[0], 1)
	w.r.Client = w.mgmt
	w.settled()
	want(t, "InfrastructureReady once it is taken", w.condition(clusterv1.InfrastructureReadyCondition), "True Ready")
	want(t, "instances", len(w.pool().Spec.ProviderIDList), 3)
}

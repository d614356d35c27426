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

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/nodes"
)

// sizeLimit is below the 1.5 MiB that etcd accepts for one object.
const sizeLimit = 1 << 20

// TestLargePoolsFitIntoOneObject holds that a pool of the largest size of its cloud can be stored, also if all its machines are unhealthy.
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
		"aws, unhealthy": {"messages name a few and count the rest", 5000,
			func(n int) string { return fmt.Sprintf("aws:///ap-southeast-2a/i-%017x", n) },
			func(n int) string {
				return fmt.Sprintf("ip-10-101-%03d-%03d.ap-southeast-2.compute.internal", n/250, n%250)
			}, true},
		"azure": {"a scale set has at most 1000, with the longest names that Azure accepts", 1000, func(n int) string {
			return "azure:///subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/" + strings.Repeat("g", 90) +
				"/providers/Microsoft.Compute/virtualMachineScaleSets/" + strings.Repeat("s", 64) + fmt.Sprintf("/virtualMachines/%d", n)
		}, func(n int) string { return fmt.Sprintf("%s%06d", strings.Repeat("s", 57), n) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, pool := metav1.Now().Time, aPool(int32(tc.size))
			found := map[string]*corev1.Node{}
			for n := range tc.size {
				node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: tc.node(n), UID: types.UID(fmt.Sprintf("11111111-2222-3333-4444-%012d", n))}}
				node.Status.NodeInfo.KubeletVersion = "v1.36.0"
				setReady(node, !tc.unready, now)
				pool.Spec.ProviderIDList = append(pool.Spec.ProviderIDList, tc.id(n))
				found[nodes.Keys([]string{tc.id(n)})[0]] = node
			}
			replicas := int32(tc.size)
			facts := status.Facts{Cluster: "default/c1", Desired: &replicas, Replicas: &replicas, Instances: replicas, ByVersion: true}
			outcome := status.Outcome{
				Bootstrap:      status.Source{Kind: "KubeadmConfig", Name: "boot", Found: true, Done: true, Once: true},
				Infrastructure: status.Source{Kind: "AWSMachinePool", Name: "infra", Found: true, Done: true, Once: true}}
			basis := members.UpToDateBasis{Infrastructure: "AWSMachinePool infra", Version: "v1.36.0", Nodes: found}
			outcome.UpToDateByMachine = basis.ByVersion(pool.Spec.ProviderIDList)
			counted, _ := members.CountNodes(pool, found, members.MachinesByInstance{}, now)
			outcome.Nodes = &counted
			status.Apply(pool, facts, outcome)
			data, err := json.Marshal(pool)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d instances: %d KiB", tc.size, len(data)>>10)
			if len(data) > sizeLimit {
				t.Errorf("%s: want at most %d bytes, got %d", tc.reason, sizeLimit, len(data))
			}
			for _, c := range pool.Status.Conditions {
				if len(c.Message) > 1024 {
					t.Errorf("%s: want a readable message, got %d bytes", c.Type, len(c.Message))
				}
			}
		})
	}
}

// TestRejectedWriteIsReported holds that a pool whose list admission rejects reports that, and that the rest of its status is up to date.
func TestRejectedWriteIsReported(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch,
			opts ...client.PatchOption) error {
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
		t.Errorf("message: want the message of admission, got %q", m)
	}
	want(t, "replicas, which are counted nevertheless", *w.pool().Status.Replicas, 3)
	want(t, "ready", w.counts()[0], 1)
	w.r.Client = w.mgmt
	w.settled()
	want(t, "InfrastructureReady once it is accepted", w.condition(clusterv1.InfrastructureReadyCondition), "True Ready")
	want(t, "instances", len(w.pool().Spec.ProviderIDList), 3)
}

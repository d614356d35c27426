package machinepool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/reference"
)

// TestDeletionWaitsForAnUnreadableKind holds that a pool waits if the kind of its infrastructure object has lost the contract label,
// because the provider may be reinstalled. It reports that, and continues when the label is there again.
func TestDeletionWaitsForAnUnreadableKind(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	kind := func(labels map[string]string) {
		change(w, w.mgmt, client.ObjectKey{Name: "testmachinepools." + infraGVK.Group}, &apiextensionsv1.CustomResourceDefinition{},
			func(c *apiextensionsv1.CustomResourceDefinition) { c.Labels = labels })
	}
	kind(nil)
	res := w.settled()
	want(t, "next pass", res.RequeueAfter, reference.AfterDeletion)
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	if m := w.message(clusterv1.DeletingCondition); !strings.Contains(m, "kind TestMachinePool") ||
		!strings.Contains(m, "cluster.x-k8s.io/<v1beta2 or v1beta1>") {
		t.Errorf("message: want the kind and the labels that are missing, got %q", m)
	}
	want(t, "Ready", w.condition(clusterv1.ReadyCondition), "False Deleting")
	want(t, "its words", w.message(clusterv1.ReadyCondition), w.message(clusterv1.DeletingCondition))
	kind(crd(infraGVK).Labels)
	w.settled()
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	w.settled()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %s", w.message(clusterv1.DeletingCondition))
	}
}

// TestNodeDeletionWithoutTimeLimit holds that without a time limit the deletion of Nodes is retried for as long as the cluster responds,
// whatever the error is.
func TestNodeDeletionWithoutTimeLimit(t *testing.T) {
	t.Parallel()
	w := running(t)
	none := int32(0)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = &none })
	w.failNodes = errors.New("admission webhook denied the request")
	w.delete()
	w.settled()
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	for range 3 {
		w.pass()
		w.clock = w.clock.Add(24 * time.Hour)
		w.r.ClusterCache = answering{w.r.ClusterCache, w.clock}
	}
	if w.pool() == nil {
		t.Fatal("pool: want it to wait for its nodes, got it gone")
	}
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True DeletingNode")
	w.failNodes = nil
	w.settled()
	if w.pool() != nil {
		t.Errorf("pool: want it gone with its nodes, got %s", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "nodes", w.nodeNames(), []string{})
}

// TestInstancesOfAnotherPoolAreNotListed holds that instances of another pool of the cluster are not listed twice: admission rejects that,
// and a Node has one pool.
func TestInstancesOfAnotherPoolAreNotListed(t *testing.T) {
	t.Parallel()
	w := running(t)
	other := aPool(1)
	other.Name, other.UID, other.Spec.ProviderIDList = "other", "other-uid", []string{"aws:////i-3"}
	elsewhere := aPool(1)
	elsewhere.Name, elsewhere.UID, elsewhere.Spec.ClusterName, elsewhere.Spec.ProviderIDList = "elsewhere", "elsewhere-uid", "c2",
		[]string{"aws:////i-4"}
	w.create(other)
	w.create(elsewhere)
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///a/i-3", "aws:///a/i-4") })
	w.settled()
	wantAll(t, "instances", w.pool().Spec.ProviderIDList, []string{id1, id2, "aws:///a/i-4"})
	if m := w.message(clusterv1.MachinesReadyCondition); !strings.Contains(m,
		"not listed because another pool lists them: aws:///a/i-3 (MachinePool other)") {
		t.Errorf("MachinesReady: want the instance and the other pool, got %q", m)
	}
	change(w, w.mgmt, client.ObjectKeyFromObject(other), &clusterv1.MachinePool{},
		func(p *clusterv1.MachinePool) { p.Spec.ProviderIDList = nil })
	w.settled()
	wantAll(t, "instances once the other no longer lists it", w.pool().Spec.ProviderIDList, []string{id1, id2, "aws:///a/i-3", "aws:///a/i-4"})
}

// TestInstancesOfTwoOtherPoolsAreReportedInOneWay holds that the message does not depend on the order in which a cache returns the other
// pools, and that they are read again soon, because their changes do not wake this pool.
func TestInstancesOfTwoOtherPoolsAreReportedInOneWay(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, name := range []string{"other", "another"} {
		o := aPool(1)
		o.Name, o.UID, o.Spec.ProviderIDList = name, types.UID(name), []string{"aws:////i-3"}
		w.create(o)
	}
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if pools, ok := list.(*clusterv1.MachinePoolList); ok {
				slices.Reverse(pools.Items)
			}
			return err
		}})
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///a/i-3") })
	result := w.settled()
	if m := w.message(clusterv1.MachinesReadyCondition); !strings.Contains(m, "aws:///a/i-3 (MachinePool another)") {
		t.Errorf("MachinesReady: want the first of the other pools, got %q", m)
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > afterElsewhere {
		t.Errorf("want another look within %s, got %s", afterElsewhere, result.RequeueAfter)
	}
}

// TestListedInstancesStay holds that a pool keeps the instances that it lists even if another pool lists them too: otherwise their Nodes
// would be orphans.
func TestListedInstancesStay(t *testing.T) {
	t.Parallel()
	w := running(t)
	other := aPool(1)
	other.Name, other.UID, other.Spec.ProviderIDList = "other", "other-uid", []string{id2}
	w.create(other)
	w.changeInfra(func(o map[string]any) { setInstances(o, id2, id1, id2) })
	w.settled()
	wantAll(t, "instances", w.pool().Spec.ProviderIDList, []string{id1, id2})
	wantAll(t, "references", w.refs(), []string{"n1", "n2"})
}

// TestNodesOfUnreachableClusterAreGivenUp holds that pools of a cluster without infrastructure are deleted: the ClusterCache never
// tries to connect to it.
func TestNodesOfUnreachableClusterAreGivenUp(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	w.settled()
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	no := false
	change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) {
		c.Status.Initialization.InfrastructureProvisioned, c.Status.Conditions = &no, nil
	})
	w.lose(clustercache.HealthCheckingState{})
	w.settled()
	want(t, "message", w.message(clusterv1.DeletingCondition),
		"Waiting for nodes to be deleted: Waiting for the control plane of Cluster c1 to be initialized")
	w.events()
	w.clock = w.clock.Add(11 * time.Second)
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone after the default limit, got %s", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "events", w.events(), []string{"Warning NodesLeft Gave up deleting nodes in Cluster c1: Waiting for the control plane of " +
		"Cluster c1 to be initialized"})
}

// TestDeletionReportsPausedInfrastructure holds that the user learns that a pause blocks the deletion.
func TestDeletionReportsPausedInfrastructure(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.delete()
	w.changeInfra(func(o map[string]any) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{clusterv1.PausedAnnotation: "true"}
	})
	w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	want(t, "message", w.message(clusterv1.DeletingCondition),
		"TestMachinePool infra is being deleted; the annotation cluster.x-k8s.io/paused on it blocks the deletion, remove it to continue")
}

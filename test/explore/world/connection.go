package world

import (
	"context"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/workload"
)

// connection is a process's ClusterCache for the one workload cluster that there is.
type connection struct {
	clustercache.ClusterCache
	p      *process
	client client.Client
	live   client.Client
}

// down reports whether the connection was given up.
func (c *connection) down() bool {
	w := c.p.world.Workload
	return w.Away() && time.Since(w.Left()) > workload.Noticed
}

// GetClient gives the client while there is a connection.
func (c *connection) GetClient(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	if cluster != ClusterKey || c.down() {
		return nil, clustercache.ErrClusterNotConnected
	}
	return c.client, nil
}

// GetReader is GetClient.
func (c *connection) GetReader(ctx context.Context, cluster client.ObjectKey) (client.Reader, error) {
	return c.GetClient(ctx, cluster)
}

// GetUncachedClient gives one that asks the server itself.
func (c *connection) GetUncachedClient(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
	if cluster != ClusterKey || c.down() {
		return nil, clustercache.ErrClusterNotConnected
	}
	return c.live, nil
}

// Watch does nothing: the process tells its controllers of every event that they have a watch for.
func (c *connection) Watch(context.Context, client.ObjectKey, clustercache.Watcher) error { return nil }

// GetHealthCheckingState is what probes would have said.
func (c *connection) GetHealthCheckingState(context.Context, client.ObjectKey) clustercache.HealthCheckingState {
	w, now := c.p.world.Workload, time.Now()
	if w.Away() {
		return clustercache.HealthCheckingState{LastProbeTime: now, LastProbeSuccessTime: w.Left(), ConsecutiveFailures: 1 + int(now.Sub(w.Left())/(10*time.Second))}
	}
	return clustercache.HealthCheckingState{LastProbeTime: now, LastProbeSuccessTime: now}
}

// concerns says which of the controllers an event wakes: what their watches and predicates let through, and nothing more,
// so that a pass without a cause hides no missing wake.
func (p *process) concerns(e memapi.Event) (core, infra bool) {
	o := e.New
	if o == nil {
		o = e.Old
	}
	switch o.(type) {
	case *corev1.Secret:
		return false, true
	case *clusterv1.Cluster:
		return true, true
	case *clusterv1.MachinePool:
		return asked(e) || !equality.Semantic.DeepEqual(e.Old.GetFinalizers(), e.New.GetFinalizers()), asked(e)
	case *unstructured.Unstructured: // what says where the cluster is
		return false, true
	case *clusterv1.Machine:
		return true, asked(e) // the core controller cares for what they say too
	case *corev1.Node:
		matters := p.matters(e, o)
		return matters, matters
	}
	return p.concernsInfra(e, o)
}

// asked reports whether an object came or went, or more than its status has changed.
func asked(e memapi.Event) bool {
	if e.Old == nil || e.New == nil {
		return true
	}
	a, b := e.Old, e.New
	return a.GetGeneration() != b.GetGeneration() || !a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) ||
		!equality.Semantic.DeepEqual(a.GetAnnotations(), b.GetAnnotations()) || !equality.Semantic.DeepEqual(a.GetLabels(), b.GetLabels()) ||
		!equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}

// matters reports whether a Node is one of the pool's, as far as the process knows, and has changed in a way that matters.
func (p *process) matters(e memapi.Event, o client.Object) bool {
	change := e.Old != nil && e.New != nil
	if change && !nodes.Changed().Update(event.TypedUpdateEvent[client.Object]{ObjectOld: e.Old, ObjectNew: e.New}) {
		return false
	}
	node, ok := o.(*corev1.Node)
	return ok && len(nodes.PoolsOf(p.world.t.Context(), p.cached, ClusterKey, node)) > 0
}

// concernsInfra is concerns for the infrastructure object and those that stand for single machines.
func (p *process) concernsInfra(e memapi.Event, o client.Object) (core, infra bool) {
	is := func(of client.Object) bool { return reflect.TypeOf(of) == reflect.TypeOf(o) }
	if machines := p.world.Scenario.Kind.Machines; is(p.world.pool.New()) || machines != nil && is(machines.New()) {
		return true, asked(e) // the core controller cares for what they say too
	}
	return false, false
}

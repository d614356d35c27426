package control

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// requests is the queue of a controller.
type requests = workqueue.TypedRateLimitingInterface[ctrl.Request]

// LowPriority returns a source whose requests come behind those of other sources that are due: one event of it asks for many objects, in
// which as a rule nothing moves. A request that is in the queue already keeps its place.
func LowPriority(s source.Source) source.Source { return lowPriority{s} }

type lowPriority struct{ source.Source }

// Start runs the source over a queue in which its requests have a low priority.
func (b lowPriority) Start(ctx context.Context, q requests) error {
	if ordered, ok := q.(priorityqueue.PriorityQueue[ctrl.Request]); ok {
		q = lowered{ordered}
	}
	return b.Source.Start(ctx, q)
}

// lowered is a queue that adds requests with a low priority.
type lowered struct {
	priorityqueue.PriorityQueue[ctrl.Request]
}

// Add adds a request.
func (l lowered) Add(r ctrl.Request) {
	l.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, r)
}

// WaitingFirst returns a handler that asks for the objects of the initial list of a watch that waits is true of, before all others of it.
// It is added to the watch's own handler, which enqueues all of them.
func WaitingFirst(of handler.MapFunc, waits func(client.Object) bool) handler.EventHandler {
	return waitingFirst{handler.Funcs{}, of, waits}
}

type waitingFirst struct {
	handler.Funcs
	of    handler.MapFunc
	waits func(client.Object) bool
}

// Create asks for what an object concerns if it waits.
func (f waitingFirst) Create(ctx context.Context, e event.CreateEvent, q requests) {
	if !e.IsInInitialList || !f.waits(e.Object) {
		return
	}
	for _, r := range f.of(ctx, e.Object) {
		q.Add(r)
	}
}

// RequestFor maps an object to a request for it.
func RequestFor(_ context.Context, o client.Object) []ctrl.Request {
	return []ctrl.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
}

// Waits reports whether a user waits for an object: it is being deleted, or it is a MachinePool that has another number of machines than
// it asks for.
func Waits(o client.Object) bool {
	if !o.GetDeletionTimestamp().IsZero() {
		return true
	}
	mp, ok := o.(*clusterv1.MachinePool)
	return ok && !annotations.ReplicasManagedByExternalAutoscaler(mp) && ptr.Deref(mp.Spec.Replicas, 1) != ptr.Deref(mp.Status.Replicas, 0)
}

package partstest

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/muster-project/muster/kube/control"
)

// named is a pool of two machines as a user asks for it.
func named(name string, change func(*clusterv1.MachinePool)) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	mp.Spec.Replicas, mp.Status.Replicas = new(int32(2)), new(int32(2))
	if change != nil {
		change(mp)
	}
	return mp
}

func scaled(mp *clusterv1.MachinePool)   { mp.Spec.Replicas = new(int32(3)) }
func deleted(mp *clusterv1.MachinePool)  { mp.DeletionTimestamp = new(metav1.Now()) }
func unstated(mp *clusterv1.MachinePool) { mp.Status.Replicas = nil }
func sized(mp *clusterv1.MachinePool) {
	scaled(mp)
	mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
}

// After a start of the process the pools that a user waits for are looked at first, also when the cluster of all pools is connected to
// before any of them has been looked at. An edit after the start comes before all pools in which nothing moves.
func TestOrderAfterAStart(t *testing.T) {
	ctx := t.Context()
	q := priorityqueue.New[ctrl.Request]("order")
	defer q.ShutDown()
	list := []*clusterv1.MachinePool{
		named("rests-1", nil), named("scaled", scaled), named("rests-2", nil), named("sized-elsewhere", sized), named("deleted", deleted),
		named("new", unstated), named("edited", nil),
	}
	every := handler.EnqueueRequestsFromMapFunc(control.RequestFor)
	urgent := control.WaitingFirst(control.RequestFor, control.Waits)
	for _, mp := range list {
		e := event.CreateEvent{Object: mp, IsInInitialList: true}
		every.Create(ctx, e, q)
		urgent.Create(ctx, e, q)
	}
	connected := source.Func(func(ctx context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		for _, mp := range list {
			q.Add(control.RequestFor(ctx, mp)[0])
		}
		q.Add(ctrl.Request{NamespacedName: client.ObjectKey{Name: "rests-3"}})
		return nil
	})
	if err := control.LowPriority(connected).Start(ctx, q); err != nil {
		t.Fatal(err)
	}
	every.Update(ctx, event.UpdateEvent{ObjectOld: named("edited", nil),
		ObjectNew: named("edited", func(mp *clusterv1.MachinePool) { mp.ResourceVersion = "2" })}, q)
	var order []string
	for range len(list) + 1 {
		r, _ := q.Get()
		q.Done(r)
		order = append(order, r.Name)
	}
	want := []string{"scaled", "deleted", "new", "edited", "rests-1", "rests-2", "sized-elsewhere", "rests-3"}
	if !slices.Equal(order, want) {
		t.Errorf("want the order %v, got %v", want, order)
	}
}

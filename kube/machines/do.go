package machines

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/pool"
)

// writeLimit bounds the writes after which a pass starts no further action, so that a large pool does not hold a worker for long. A started
// action is finished, so that there may be a few more.
const writeLimit = 100

// eventAction is the action of all events.
const eventAction = "Reconcile"

// Doer does what was decided, for one pool in one pass.
type Doer struct {
	Client client.Client
	// Live reads Machines without a cache, before one is deleted; nil trusts the cache.
	Live     client.Reader
	Recorder events.EventRecorder
	Kind     Kind
	// Pool is the infrastructure object of the pool, PoolKind the name of its kind, Owner the reference to it that
	// infrastructure machines carry.
	Pool     client.Object
	PoolKind string
	Owner    metav1.OwnerReference
	// Cluster and MachinePool are the names of those that the pool belongs to.
	Cluster, MachinePool string
	Wanted               pool.Template
	// NodesUnknown is true if the workload cluster could not be reached in this pass.
	NodesUnknown bool
	Now          time.Time

	// Conflicts are filled by Do: which objects keep an instance from having its infrastructure machine, and why.
	Conflicts []string
	// writes counts what was written in this pass.
	writes int
}

// full reports whether the rest is left to the next pass.
func (d *Doer) full() bool { return d.writes >= writeLimit }

// Do does all, and returns how many were left for the next pass. Everything is tried; errors are joined.
func (d *Doer) Do(ctx context.Context, actions []Action) (left int, err error) {
	var failed []error
	for _, a := range actions {
		if d.full() {
			left++
			continue
		}
		if err := d.one(ctx, a); err != nil {
			failed = append(failed, err)
		}
	}
	return left, errors.Join(failed...)
}

func (d *Doer) one(ctx context.Context, a Action) error {
	switch a.Do {
	case Create:
		return d.create(ctx, *a.Instance)
	case Update:
		return d.update(ctx, a)
	case DeleteMachine:
		return d.deleteMachine(ctx, a.Machine, a.Cause)
	case Detach:
		return d.detachMachine(ctx, a)
	case DetachInfra:
		return d.detach(ctx, a.Infra.Object)
	case DeleteInfra:
		return d.delete(ctx, a.Infra.Object)
	case ReleaseAbandoned:
		return d.releaseAbandoned(ctx, a.Infra)
	case Release:
		return d.release(ctx, a.Infra.Object, d.Kind.Release)
	case Orphan:
		return d.release(ctx, a.Machine.Object, releaseMachine)
	case ReportPaused:
		d.conflict(a.Infra.Object, *a.Instance, "has the provider ID "+d.Kind.ProviderID(a.Infra.Object),
			"it stays as long as it or its Machine has the annotation "+clusterv1.PausedAnnotation)
		return nil
	}
	return fmt.Errorf("there is no way to do %s", a.Do)
}

func (d *Doer) seen(i pool.Instance) Seen {
	return Seen{Instance: i, Pool: d.Pool, Wanted: d.Wanted, NodesUnknown: d.NodesUnknown, Now: d.Now}
}

// create creates the infrastructure machine of an instance. One that another pass has created, and that the cache does not show yet, is
// left to the next pass.
func (d *Doer) create(ctx context.Context, i pool.Instance) error {
	o := d.Kind.New()
	o.SetNamespace(d.Pool.GetNamespace())
	o.SetName(d.NameOf(i))
	d.tie(o)
	d.identify(o, i)
	d.Kind.FillSpec(o, d.seen(i))
	d.writes++
	err := d.Client.Create(ctx, o)
	if apierrors.IsAlreadyExists(err) {
		return d.taken(ctx, o, i)
	}
	if err != nil {
		return fmt.Errorf("make %s of instance %s: %w", d.named(o), i.ID, err)
	}
	return d.writeStatus(ctx, o, i)
}

// NameOf returns the name of the infrastructure machine of an instance.
func (d *Doer) NameOf(i pool.Instance) string {
	if d.Kind.NameOf != nil {
		return d.Kind.NameOf(d.Pool.GetName(), i)
	}
	return Name(d.MachinePool, i.ID)
}

// tie sets the labels and the owner by which an infrastructure machine belongs to its pool and is found by the core controller.
func (d *Doer) tie(o client.Object) {
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	if d.Kind.Labels != nil {
		maps.Copy(labels, d.Kind.Labels(d.Cluster, d.Pool.GetName()))
	}
	labels[clusterv1.ClusterNameLabel] = d.Cluster
	labels[clusterv1.MachinePoolNameLabel] = format.MustFormatValue(d.MachinePool)
	if filter, ok := d.Pool.GetLabels()[clusterv1.WatchLabel]; ok {
		labels[clusterv1.WatchLabel] = filter
	}
	o.SetLabels(labels)
	o.SetOwnerReferences(util.EnsureOwnerRef(o.GetOwnerReferences(), d.Owner))
	if o.GetDeletionTimestamp().IsZero() {
		controllerutil.AddFinalizer(o, d.Kind.Finalizer)
	}
}

// identify records the instance of an infrastructure machine that stands for one alone.
func (d *Doer) identify(o client.Object, i pool.Instance) {
	if i.UID == "" || d.Kind.Places || o.GetAnnotations()[InstanceUIDAnnotation] == i.UID {
		return
	}
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[InstanceUIDAnnotation] = i.UID
	o.SetAnnotations(annotations)
}

// update writes what is new about an instance: nothing, as a rule.
func (d *Doer) update(ctx context.Context, a Action) error {
	o := a.Infra.Object.DeepCopyObject().(client.Object)
	d.tie(o)
	d.identify(o, *a.Instance)
	d.Kind.FillSpec(o, d.seen(*a.Instance))
	if err := d.patch(ctx, a.Infra.Object, o, client.MergeFromWithOptions(a.Infra.Object, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if a.Infra.Orphaned {
		d.reclaimed(o)
	}
	return d.writeStatus(ctx, o, *a.Instance)
}

// patch writes the difference between two states of an object, if there is one.
func (d *Doer) patch(ctx context.Context, before, o client.Object, how client.Patch) error {
	if equality.Semantic.DeepEqual(before, o) {
		return nil
	}
	d.writes++
	if err := d.Client.Patch(ctx, o, how); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write %s: %w", d.named(o), err)
	}
	return nil
}

// writeStatus writes what is new about an instance into the status of its infrastructure machine.
func (d *Doer) writeStatus(ctx context.Context, o client.Object, i pool.Instance) error {
	before := o.DeepCopyObject().(client.Object)
	d.Kind.FillStatus(o, d.seen(i))
	if equality.Semantic.DeepEqual(before, o) {
		return nil
	}
	d.writes++
	if err := d.Client.Status().Patch(ctx, o, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of %s: %w", d.named(o), err)
	}
	return nil
}

// detach marks an object as deleted without its instance, and deletes exactly the marked version. A marked Machine is paused, so that its
// controller drains nothing and deletes no Node.
func (d *Doer) detach(ctx context.Context, was client.Object) error {
	o := was.DeepCopyObject().(client.Object)
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[DetachedAnnotation] = ""
	if _, ok := o.(*clusterv1.Machine); ok {
		annotations[clusterv1.PausedAnnotation] = ""
	}
	o.SetAnnotations(annotations)
	if err := d.patch(ctx, was, o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	return d.delete(ctx, o)
}

// detachMachine detaches a Machine, and reports the cause if there is one.
func (d *Doer) detachMachine(ctx context.Context, a Action) error {
	m := a.Machine.Object
	if err := d.detach(ctx, m); err != nil || a.Cause.Reason == "" || a.Machine.Deleting {
		return err
	}
	d.reportDeleted(m, a.Cause)
	return nil
}

// delete deletes exactly the object that was read.
func (d *Doer) delete(ctx context.Context, o client.Object) error {
	uid := o.GetUID()
	d.writes++
	if err := d.Client.Delete(ctx, o, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s: %w", d.named(o), err)
	}
	return nil
}

// releaseMachine takes the finalizer of its controller off a Machine.
func releaseMachine(m client.Object) { controllerutil.RemoveFinalizer(m, clusterv1.MachineFinalizer) }

// release takes finalizers off an object.
func (d *Doer) release(ctx context.Context, was client.Object, off func(client.Object)) error {
	o := was.DeepCopyObject().(client.Object)
	off(o)
	return d.patch(ctx, was, o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
}

// named is an object as messages name it.
func (d *Doer) named(o client.Object) string {
	kind := d.Kind.Name
	if _, ok := o.(*clusterv1.Machine); ok {
		kind = "Machine"
	}
	return fmt.Sprintf("%s %s", kind, client.ObjectKeyFromObject(o))
}

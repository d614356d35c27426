package reference

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/contract"
)

// TakeOver makes the pool the controller of what was found, and labels the object with the name of the cluster. It returns what was found
// with the problem, if there was one.
func TakeOver(ctx context.Context, c client.Client, pool *clusterv1.MachinePool, found Found) (Found, control.Result) {
	if found.Object == nil {
		return found, control.Continue()
	}
	o := found.Object.DeepCopy()
	if err := controllerutil.SetControllerReference(pool, o, c.Scheme()); err != nil {
		return refused(found, err)
	}
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterv1.ClusterNameLabel] = pool.Spec.ClusterName
	o.SetLabels(labels)
	if equality.Semantic.DeepEqual(found.Object.Object, o.Object) {
		return found, control.Continue()
	}
	patch := client.MergeFromWithOptions(found.Object, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, o, patch); err != nil {
		return refused(found, err)
	}
	found.Object = o
	return found, control.Continue()
}

// refused records an error of TakeOver. A conflict is no problem of the object: the next reconciliation retries.
func refused(found Found, err error) (Found, control.Result) {
	err = fmt.Errorf("take over %s: %w", found.Source, err)
	if !apierrors.IsConflict(err) {
		found.Source.Problem = err.Error()
	}
	return found, control.Failed(err)
}

// Release removes the owner references of a pool from an object that must not belong to it. A controller that followed every reference
// may have set them, and the garbage collector would delete the object after the pool. While that fails the object counts as unknown, so
// that the deletion of the pool waits.
func (r Reader) Release(ctx context.Context, pool *clusterv1.MachinePool, ref clusterv1.ContractVersionedObjectReference,
	found Found) (Found, control.Result) {
	if !found.Outside {
		return found, control.Continue()
	}
	if err := r.release(ctx, pool, ref); err != nil {
		found.Foreign = false
		found.Source.Problem += "; " + err.Error()
		return found, control.Failed(err)
	}
	return found, control.Continue()
}

func (r Reader) release(ctx context.Context, pool *clusterv1.MachinePool, ref clusterv1.ContractVersionedObjectReference) error {
	gvk, err := contract.GVK(ctx, r.Objects.Cached, ref.GroupKind())
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		// No controller could follow a reference to such a kind.
		return nil
	}
	if err != nil {
		return err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	switch err := r.Objects.LiveReader().Get(ctx, client.ObjectKey{Namespace: pool.Namespace, Name: ref.Name}, o); {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		// This controller cannot have written an object that it may not read.
		return nil
	case err != nil:
		return fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
	}
	before := o.DeepCopy()
	o.OwnerReferences = WithoutOwner(o.OwnerReferences, pool)
	if len(o.OwnerReferences) == len(before.OwnerReferences) {
		return nil
	}
	if err := r.Objects.Cached.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("remove the owner reference to MachinePool %s from %s %s: %w", pool.Name, ref.Kind, ref.Name, err)
	}
	return nil
}

// AfterDeletion is the time until objects that are being deleted are read again, in case their watch fails to wake the pool.
const AfterDeletion = 30 * time.Second

// Removal is the progress of the deletion of a referenced object.
type Removal struct {
	// Left is true if the object still exists, or may exist.
	Left bool
	// Message is the reason for which it does.
	Message string
}

// Delete deletes what was found unless it is being deleted already. An object whose kind is not installed cannot exist; one with another
// controller is not deleted.
func Delete(ctx context.Context, c client.Client, found Found) (Removal, control.Result) {
	o := found.Object
	switch {
	case o == nil && found.Source.Problem != "" && !found.KindMissing && !found.Foreign:
		return Removal{Left: true, Message: found.Source.Problem}, control.Continue()
	case o == nil:
		return Removal{}, control.Continue()
	case o.GetDeletionTimestamp().IsZero():
		uid := o.GetUID()
		if err := c.Delete(ctx, o, client.Preconditions{UID: &uid}); err != nil && !apierrors.IsNotFound(err) {
			err = fmt.Errorf("delete %s: %w", found.Source, err)
			return Removal{Left: true, Message: err.Error()}, control.Failed(err)
		}
	}
	message := found.Source.String() + " is being deleted"
	switch {
	case annotations.HasPaused(o):
		message += "; the annotation " + clusterv1.PausedAnnotation + " on it blocks the deletion, remove it to continue"
	case found.Source.Ready != nil && found.Source.Ready.Message != "":
		message += ": " + found.Source.Ready.Message
	}
	return Removal{Left: true, Message: message}, control.RequeueAfter(AfterDeletion)
}

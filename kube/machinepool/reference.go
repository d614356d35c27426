package machinepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// afterNoKind is when to look again for a kind that is not installed: nothing wakes a pool when it is.
const afterNoKind = 30 * time.Second

// reference is an object of a provider that a pool refers to.
type reference struct {
	// object is nil when it does not exist.
	object *unstructured.Unstructured
	// noKind says that its kind is not installed, so that it can't exist.
	noKind bool
	// foreign is true if the object has another controller, or may not be the pool's at all: it is neither followed nor deleted.
	foreign bool
}

// read reads what a pool refers to, and sees to it that its changes wake the pool, also its creation.
func (r *Reconciler) read(ctx context.Context, p *pass, role contract.Role, ref clusterv1.ContractVersionedObjectReference,
	s *status.Source) (reference, result) {
	s.Kind, s.Name = ref.Kind, ref.Name
	gvk, err := r.kinds.GVK(ctx, r.Client, r.live(), role, ref.GroupKind())
	if err == nil {
		err = p.clusterUses(ref)
	}
	if err == nil {
		err = r.mayWatch(ctx, gvk)
	}
	if err != nil {
		return r.unreadable(ctx, p, role, ref, s, err)
	}
	if r.track != nil {
		if err := r.track(ctx, r.blank(gvk)); err != nil {
			s.Problem = err.Error()
			return reference{}, failed(err)
		}
	}
	o, err := r.fetch(ctx, gvk, client.ObjectKey{Namespace: p.pool.Namespace, Name: ref.Name})
	switch {
	case apierrors.IsNotFound(err):
		return reference{}, goOn()
	case err != nil:
		err = fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
		s.Problem = err.Error()
		return reference{}, failed(err)
	}
	s.Found = true
	if owner := metav1.GetControllerOf(o); owner != nil && !p.is(owner) {
		s.Problem, s.ProblemReason = fmt.Sprintf("%s belongs to %s %s; refer to one of this pool's own", s, owner.Kind, owner.Name), status.OwnedByAnotherReason
		return reference{foreign: true}, goOn()
	}
	return reference{object: o}, goOn()
}

// unreadable reports why a reference is not followed.
func (r *Reconciler) unreadable(ctx context.Context, p *pass, role contract.Role, ref clusterv1.ContractVersionedObjectReference,
	s *status.Source, err error) (reference, result) {
	s.Problem = err.Error()
	switch {
	case errors.Is(err, contract.ErrOutside):
		s.Problem, s.ProblemReason = role.Path()+": "+s.Problem, status.ReferenceRefusedReason
		if p.facts.Paused != "" {
			return reference{foreign: true}, goOn()
		}
		if err := r.release(ctx, p, ref); err != nil {
			s.Problem += "; " + err.Error()
			return reference{}, failed(err)
		}
		return reference{foreign: true}, goOn()
	case errors.Is(err, contract.ErrNoKind), errors.Is(err, contract.ErrNoVersion):
		s.ProblemReason = status.KindNotInstalledReason
		return reference{noKind: errors.Is(err, contract.ErrNoKind)}, again(afterNoKind)
	}
	return reference{}, failed(err)
}

// clusterUses returns an error that wraps contract.ErrOutside for an object that is the infrastructure or the control plane of the
// pool's Cluster, whatever its kind.
func (p *pass) clusterUses(ref clusterv1.ContractVersionedObjectReference) error {
	if p.cluster == nil || (ref != p.cluster.Spec.InfrastructureRef && ref != p.cluster.Spec.ControlPlaneRef) {
		return nil
	}
	return fmt.Errorf("%s %s is %w: Cluster %s refers to it as its own; refer to an object of this pool alone", ref.Kind, ref.Name, contract.ErrOutside, p.cluster.Name)
}

// release removes the pool's owner references from an object that the pool must not own. A controller that followed every reference
// may have set them, and with them the garbage collector deletes the object after the pool.
func (r *Reconciler) release(ctx context.Context, p *pass, ref clusterv1.ContractVersionedObjectReference) error {
	gvk, err := contract.GVK(ctx, r.Client, ref.GroupKind())
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		// No controller could follow a reference to such a kind.
		return nil
	}
	if err != nil {
		return err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	switch err := r.live().Get(ctx, client.ObjectKey{Namespace: p.pool.Namespace, Name: ref.Name}, o); {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		// What this controller may not read it can't have taken.
		return nil
	case err != nil:
		return fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
	}
	before := o.DeepCopy()
	o.OwnerReferences = slices.DeleteFunc(o.OwnerReferences, func(owner metav1.OwnerReference) bool { return p.is(&owner) })
	if len(o.OwnerReferences) == len(before.OwnerReferences) {
		return nil
	}
	if err := r.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("remove the owner reference to MachinePool %s from %s %s: %w", p.pool.Name, ref.Kind, ref.Name, err)
	}
	return nil
}

// blank is an empty object of a kind, typed where the manager knows the kind: its other controllers read it typed, and a
// cache keeps typed and untyped objects apart, so that all of them would be kept twice.
func (r *Reconciler) blank(gvk schema.GroupVersionKind) client.Object {
	if known, err := r.Client.Scheme().New(gvk); err == nil {
		if o, ok := known.(client.Object); ok {
			o.GetObjectKind().SetGroupVersionKind(gvk)
			return o
		}
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	return o
}

// mayWatch returns an error that wraps access.ErrForbidden for a kind that the cache could never read.
func (r *Reconciler) mayWatch(ctx context.Context, gvk schema.GroupVersionKind) error {
	if r.MayWatch == nil {
		return nil
	}
	return r.MayWatch(ctx, gvk)
}

// fetch reads an object of any kind that the manager may read.
func (r *Reconciler) fetch(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	if err := r.mayWatch(ctx, gvk); err != nil {
		return nil, err
	}
	o := r.blank(gvk)
	if err := r.Client.Get(ctx, key, o); err != nil {
		return nil, err
	}
	if untyped, ok := o.(*unstructured.Unstructured); ok {
		return untyped, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	untyped := &unstructured.Unstructured{Object: content}
	untyped.SetGroupVersionKind(gvk)
	return untyped, nil
}

// is says whether an owner is the pool. The UID does not count: it is another one after a restore from a backup.
func (p *pass) is(owner *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && gv.Group == clusterv1.GroupVersion.Group && owner.Kind == "MachinePool" && owner.Name == p.pool.Name
}

// takeOver makes the pool the controller of an object that it refers to, and labels the object with the cluster's name.
func (r *Reconciler) takeOver(ctx context.Context, p *pass, o *unstructured.Unstructured, s *status.Source) result {
	before := o.DeepCopy()
	if err := controllerutil.SetControllerReference(p.pool, o, r.Client.Scheme()); err != nil {
		err = fmt.Errorf("take over %s: %w", s, err)
		s.Problem = err.Error()
		return failed(err)
	}
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterv1.ClusterNameLabel] = p.pool.Spec.ClusterName
	o.SetLabels(labels)
	if equality.Semantic.DeepEqual(before.Object, o.Object) {
		return goOn()
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, o, patch); err != nil {
		err = fmt.Errorf("take over %s: %w", s, err)
		if !apierrors.IsConflict(err) {
			s.Problem = err.Error()
		}
		return failed(err)
	}
	return goOn()
}

// report reads what every provider's object says of itself: its Ready condition, in whichever form, and a terminal
// failure of the older contract.
func (p *pass) report(o *unstructured.Unstructured, s *status.Source) {
	ready, err := conditions.UnstructuredGet(o, clusterv1.ReadyCondition)
	if err != nil {
		s.Problem = fmt.Sprintf("%s reports an invalid condition: %v", s, err)
		return
	}
	s.Ready = ready
	if older := v1beta1conditions.Get(v1beta1conditions.UnstructuredGetter(o), clusterv1.ReadyV1Beta1Condition); older != nil {
		s.Severity = older.Severity
	}
	reason, message := text(o, "status", "failureReason"), text(o, "status", "failureMessage")
	if reason == "" && message == "" {
		return
	}
	if reason == "" {
		reason = "Unknown"
	}
	p.facts.Failure = &status.Cause{Reason: reason, Message: fmt.Sprintf("%s reports a failure: %s", s, message)}
}

// done says whether an object reports what the contract asks for: the older contract's status.ready, or the newer one's
// field of status.initialization.
func done(o *unstructured.Unstructured, field string) bool {
	ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
	initialized, _, _ := unstructured.NestedBool(o.Object, "status", "initialization", field)
	return ready || initialized
}

// text is a string field of an object, empty when it is missing or no string.
func text(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

// number is an integer field of an object, nil when it is missing or no integer.
func number(o *unstructured.Unstructured, path ...string) *int32 {
	value, found, err := unstructured.NestedInt64(o.Object, path...)
	if !found || err != nil {
		return nil
	}
	n := int32(value)
	return &n
}

// Package reference follows the references of a MachinePool to its bootstrap configuration and its infrastructure object, whose kinds are
// known at run time only: it reads them with the bootstrap data, makes the pool their controller, and deletes them with the pool. Ownership
// is decided by owner references without their UID, because a restore from a backup gives the pool another one.
package reference

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// AfterMissingKind is the time until a kind that is not installed is looked up again: its installation wakes no pool.
const AfterMissingKind = 30 * time.Second

// Found is a referenced object as it was read.
type Found struct {
	// Object is nil if it does not exist, must not be followed or could not be read.
	Object *unstructured.Unstructured
	// KindMissing is true if the kind is not installed, so that the object cannot exist.
	KindMissing bool
	// Foreign is true if the object has another controller, or may not belong to a pool at all: it is neither followed nor deleted.
	Foreign bool
	// Outside is true if the object may not belong to a pool at all, so that owner references to the pool have to be removed from it.
	Outside bool
	// Source holds the object's report.
	Source status.Source
	// Failure is the terminal failure that the object reports by the v1beta1 contract, nil if there is none.
	Failure *status.Cause
}

// Reader reads the objects that pools refer to.
type Reader struct {
	Objects ObjectReader
	// Kinds caches which kinds follow which contract.
	Kinds *contract.Kinds
	// Track makes changes of all objects of a kind wake the pools that refer to them; nil tracks nothing.
	Track func(ctx context.Context, o client.Object) error
}

// Read reads what a field of a pool refers to and changes nothing. A cluster of nil is one that does not exist.
func (r Reader) Read(ctx context.Context, pool *clusterv1.MachinePool, cluster *clusterv1.Cluster, role contract.Role,
	ref clusterv1.ContractVersionedObjectReference) (Found, control.Result) {
	found := Found{Source: status.Source{Kind: ref.Kind, Name: ref.Name}}
	gvk, err := r.Kinds.GVK(ctx, r.Objects.Cached, r.Objects.LiveReader(), role, ref.GroupKind())
	if err == nil {
		err = usedByCluster(cluster, ref)
	}
	if err == nil {
		err = r.Objects.Permits(ctx, gvk)
	}
	if err != nil {
		return notFollowed(found, role, err)
	}
	if r.Track != nil {
		if err := r.Track(ctx, r.Objects.New(gvk)); err != nil {
			return failed(found, err)
		}
	}
	o, err := r.Objects.Get(ctx, gvk, client.ObjectKey{Namespace: pool.Namespace, Name: ref.Name})
	switch {
	case apierrors.IsNotFound(err):
		return found, control.Continue()
	case err != nil:
		return failed(found, fmt.Errorf("read %s: %w", found.Source, err))
	}
	found.Source.Found = true
	if owner := OtherController(pool, o); owner != nil {
		found.Foreign = true
		found.Source.Problem = fmt.Sprintf("%s is controlled by %s %s; refer to an object that belongs to this pool alone",
			found.Source, owner.Kind, owner.Name)
		found.Source.ProblemReason = status.OwnedByAnotherReason
		return found, control.Continue()
	}
	found.Object = o
	return found, control.Continue()
}

// failed records an error as the problem of what was read. The object is treated as unknown.
func failed(found Found, err error) (Found, control.Result) {
	found.Object, found.Source.Problem = nil, err.Error()
	return found, control.Failed(err)
}

// notFollowed records why a reference is not followed.
func notFollowed(found Found, role contract.Role, err error) (Found, control.Result) {
	switch {
	case errors.Is(err, contract.ErrOutside):
		found.Foreign, found.Outside = true, true
		found.Source.Problem, found.Source.ProblemReason = role.Path()+": "+err.Error(), status.ReferenceRefusedReason
		return found, control.Continue()
	case errors.Is(err, contract.ErrNoKind), errors.Is(err, contract.ErrNoVersion):
		found.KindMissing = errors.Is(err, contract.ErrNoKind)
		found.Source.Problem, found.Source.ProblemReason = err.Error(), status.KindNotInstalledReason
		return found, control.RequeueAfter(AfterMissingKind)
	}
	return failed(found, err)
}

// usedByCluster returns an error that wraps contract.ErrOutside for an object that is the infrastructure or the control plane of the
// pool's Cluster, whatever its kind.
func usedByCluster(cluster *clusterv1.Cluster, ref clusterv1.ContractVersionedObjectReference) error {
	if cluster == nil || (ref != cluster.Spec.InfrastructureRef && ref != cluster.Spec.ControlPlaneRef) {
		return nil
	}
	return fmt.Errorf("%s %s is %w: Cluster %s refers to it as its own; refer to an object of this pool alone",
		ref.Kind, ref.Name, contract.ErrOutside, cluster.Name)
}

// Reported returns what was found with what the object reports: the field of status.initialization that completes its part of the
// contract, or status.ready of the v1beta1 contract; its Ready condition of either version; and a terminal failure.
func (f Found) Reported(field string) Found {
	if f.Object == nil {
		return f
	}
	f.Source.Done = NestedBool(f.Object, "status", "ready") || NestedBool(f.Object, "status", "initialization", field)
	ready, err := conditions.UnstructuredGet(f.Object, clusterv1.ReadyCondition)
	if err != nil {
		f.Source.Problem = fmt.Sprintf("%s reports an invalid condition: %v", f.Source, err)
		return f
	}
	f.Source.Ready = ready
	if older := v1beta1conditions.Get(v1beta1conditions.UnstructuredGetter(f.Object), clusterv1.ReadyV1Beta1Condition); older != nil {
		f.Source.Severity = older.Severity
	}
	reason, message := NestedString(f.Object, "status", "failureReason"), NestedString(f.Object, "status", "failureMessage")
	if reason == "" && message == "" {
		return f
	}
	if reason == "" {
		reason = "Unknown"
	}
	f.Failure = &status.Cause{Reason: reason, Message: fmt.Sprintf("%s reports a failure: %s", f.Source, message)}
	return f
}

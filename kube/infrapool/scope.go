package infrapool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/pool"
)

// The reasons for which a pool is held.
const (
	reasonNoOwner          = "MachinePoolMissing"
	reasonNoCluster        = "ClusterDoesNotExist"
	reasonNoInfraCluster   = "ClusterInfrastructureMissing"
	reasonWaitInfraCluster = "WaitingForClusterInfrastructure"
	reasonWaitBootstrap    = "WaitingForBootstrapData"
	reasonNoBootstrap      = "BootstrapDataMissing"
	reasonBadBootstrap     = "BootstrapDataInvalid"
	reasonOwnerIDTaken     = "OwnerIDTaken"
	reasonNotTranslated    = "InvalidConfiguration"
	reasonClusterGoing     = "ClusterDeleted"
	reasonClusterAway      = "ConnectionDown"
	reasonNoControlPlane   = "ControlPlaneNotInitialized"
)

// scope is what Kubernetes says about one pool. Whatever is missing is nil.
type scope[O Object] struct {
	object       O
	pool         *clusterv1.MachinePool
	cluster      *clusterv1.Cluster
	infraCluster *unstructured.Unstructured
	// bootstrap is empty while held; booted says that it is known what machines boot with, and secret where that is from: nowhere, if
	// nothing is asked for.
	bootstrap cloud.Bootstrap
	secret    string
	booted    bool
	// held says what is missing for new machines; blind says that without it nothing can be asked of the cloud either.
	held           *pool.Cause
	observeBlocked bool
	// settings are what annotations ask for.
	settings settings
	// machines are those that stand for the pool's instances; nil where the kind has none.
	machines *poolMachines
}

func (s *scope[O]) deleting() bool { return !s.object.GetDeletionTimestamp().IsZero() }

// clusterName is the cluster's name as far as it is known.
func (s *scope[O]) clusterName() string {
	if s.pool != nil {
		return s.pool.Spec.ClusterName
	}
	return s.object.GetLabels()[clusterv1.ClusterNameLabel]
}

func (s *scope[O]) clusterKey() client.ObjectKey {
	return client.ObjectKey{Namespace: s.object.GetNamespace(), Name: s.clusterName()}
}

// blockObserve holds the pool, and says that the cloud can't be asked.
func (s *scope[O]) blockObserve(reason, format string, args ...any) {
	s.hold(&pool.Cause{Reason: reason, Message: fmt.Sprintf(format, args...)})
	s.observeBlocked = true
}

// hold holds new machines back. What was found missing first counts.
func (s *scope[O]) hold(cause *pool.Cause) {
	if s.held == nil {
		s.held = cause
	}
}

// gather reads everything about the pool, as far as it is there. What is missing holds the pool and is no error.
func (r *Reconciler[O, S]) gather(ctx context.Context, o O) (*scope[O], error) {
	s := &scope[O]{object: o}
	for _, step := range []func(context.Context, *scope[O]) error{r.findPool, r.findCluster, r.findInfraCluster, r.findBootstrap} {
		if err := step(ctx, s); err != nil {
			return nil, err
		}
	}
	s.settings = r.kind.settings(s, r.Machines)
	return s, nil
}

// findPool finds the MachinePool by the owner reference, or while that is not set yet by who refers to the object.
func (r *Reconciler[O, S]) findPool(ctx context.Context, s *scope[O]) error {
	name := ownerName(s.object)
	if name == "" {
		names, err := r.referring(ctx, s.object)
		if err != nil {
			return err
		}
		switch len(names) {
		case 0:
			s.blockObserve(reasonNoOwner, "no MachinePool in namespace %s refers to this %s in spec.template.spec.infrastructureRef",
				s.object.GetNamespace(), r.kind.Name)
			return nil
		case 1:
			name = names[0]
		default:
			s.blockObserve(reasonNoOwner, "several MachinePools refer to this %s in spec.template.spec.infrastructureRef: %s; one alone may",
				r.kind.Name, strings.Join(names, ", "))
			return nil
		}
	}
	mp := &clusterv1.MachinePool{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.object.GetNamespace(), Name: name}, mp)
	if apierrors.IsNotFound(err) {
		s.blockObserve(reasonNoOwner, "MachinePool %s/%s, which owns this %s, does not exist", s.object.GetNamespace(), name, r.kind.Name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read MachinePool %s: %w", name, err)
	}
	s.pool = mp
	return nil
}

// ownerName is the name of the MachinePool that the object's owner references name.
func ownerName(o client.Object) string {
	for _, ref := range o.GetOwnerReferences() {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err == nil && ref.Kind == "MachinePool" && gv.Group == clusterv1.GroupVersion.Group {
			return ref.Name
		}
	}
	return ""
}

// referring are the names of the MachinePools that refer to the object.
func (r *Reconciler[O, S]) referring(ctx context.Context, o O) ([]string, error) {
	list := &clusterv1.MachinePoolList{}
	err := r.Client.List(ctx, list, client.InNamespace(o.GetNamespace()),
		client.MatchingFields{InfrastructureField: InfrastructureValue(r.kind.Group, r.kind.Name, o.GetName())})
	if err != nil {
		return nil, fmt.Errorf("look up the MachinePools that refer to %s %s: %w", r.kind.Name, o.GetName(), err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

func (r *Reconciler[O, S]) findCluster(ctx context.Context, s *scope[O]) error {
	if s.clusterName() == "" {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	err := r.Client.Get(ctx, s.clusterKey(), cluster)
	if apierrors.IsNotFound(err) {
		s.blockObserve(reasonNoCluster, "Cluster %s does not exist (the MachinePool's spec.clusterName)", s.clusterKey())
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Cluster %s: %w", s.clusterKey(), err)
	}
	s.cluster = cluster
	return nil
}

// findInfraCluster reads the object that says where in the cloud the cluster is. While that is not provisioned, what it says is
// not complete, and new machines would be made wrong.
func (r *Reconciler[O, S]) findInfraCluster(ctx context.Context, s *scope[O]) error {
	if s.cluster == nil {
		return nil
	}
	ref := r.adapter.InfraCluster(s.cluster)
	if !ref.IsDefined() {
		s.blockObserve(reasonNoInfraCluster, "Cluster %s %s", s.clusterKey(), cmp.Or(r.kind.NoInfraCluster, "names no infrastructure in spec.infrastructureRef"))
		return nil
	}
	gvk, err := contract.GVK(ctx, r.Client, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		s.blockObserve(reasonNoInfraCluster, "Cluster %s names %s %s: %v", s.clusterKey(), ref.Kind, ref.Name, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the version of %s: %w", ref.Kind, err)
	}
	place := &unstructured.Unstructured{}
	place.SetGroupVersionKind(gvk)
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: s.object.GetNamespace(), Name: ref.Name}, place)
	if apierrors.IsNotFound(err) {
		s.blockObserve(reasonNoInfraCluster, "%s %s/%s, which Cluster %s names, does not exist", ref.Kind, s.object.GetNamespace(), ref.Name, s.cluster.Name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
	}
	s.infraCluster = place
	if !ptr.Deref(s.cluster.Status.Initialization.InfrastructureProvisioned, false) {
		s.blockObserve(reasonWaitInfraCluster, "the infrastructure of Cluster %s is not provisioned yet", s.clusterKey())
	}
	return r.watchInfraCluster(ctx, place)
}

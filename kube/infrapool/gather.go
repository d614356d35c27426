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

	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/infrapool/workload"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/pool"
)

// The reasons for which nothing is created for a pool.
const (
	reasonNoOwner          = "MachinePoolMissing"
	reasonNoCluster        = workload.ReasonNoCluster
	reasonNoInfraCluster   = "ClusterInfrastructureMissing"
	reasonWaitInfraCluster = "WaitingForClusterInfrastructure"
	reasonOwnerIDTaken     = "OwnerIDTaken"
	reasonNotTranslated    = "InvalidConfiguration"
)

// scope holds the management cluster's objects for one pool; missing ones are nil. Nothing of it changes once it is gathered, except the
// object, which holds what the pass has written to it.
type scope[O Object] struct {
	object       O
	machinePool  *clusterv1.MachinePool
	cluster      *clusterv1.Cluster
	infraCluster *unstructured.Unstructured
	controlPlane *unstructured.Unstructured
	bootstrap    bootstrap.Data
	// createBlocked is the first thing that is missing for new machines; observeBlocked is true if without some of it the cloud cannot be
	// read either.
	createBlocked  *pool.Cause
	observeBlocked bool
	// ownedElsewhere, when set, is the other controller of the management cluster that runs the group.
	ownedElsewhere *pool.Cause
	settings       settings.Settings
	// asked is what is asked of the pool: the object and its MachinePool, unless a rollout was rolled back.
	asked asked[O]
}

func (s scope[O]) deleting() bool { return !s.object.GetDeletionTimestamp().IsZero() }

// version returns the version of Kubernetes that the MachinePool asks for; empty if it asks for none.
func (s scope[O]) version() string {
	if s.machinePool == nil {
		return ""
	}
	return s.machinePool.Spec.Template.Spec.Version
}

// clusterDeleting reports whether the Cluster is being deleted or gone.
func (s scope[O]) clusterDeleting() bool {
	return s.cluster == nil || !s.cluster.DeletionTimestamp.IsZero()
}

// clusterName returns the name of the cluster as far as it is known.
func (s scope[O]) clusterName() string { return clusterName(s.object, s.machinePool) }

func clusterName(o client.Object, mp *clusterv1.MachinePool) string {
	if mp != nil {
		return mp.Spec.ClusterName
	}
	return o.GetLabels()[clusterv1.ClusterNameLabel]
}

func (s scope[O]) clusterKey() client.ObjectKey {
	return client.ObjectKey{Namespace: s.object.GetNamespace(), Name: s.clusterName()}
}

// workload returns the pool for its workload cluster.
func (s scope[O]) workload() workload.Pool {
	return workload.Pool{Object: s.object, MachinePool: s.machinePool, Cluster: s.cluster, ClusterKey: s.clusterKey()}
}

// machinePoolName returns the name of the MachinePool as far as it is known.
func (s scope[O]) machinePoolName() string {
	if s.machinePool != nil {
		return s.machinePool.Name
	}
	return watch.MachinePoolOwner(s.object)
}

// machinePoolDeleted reports whether the MachinePool is being deleted and the infrastructure object is not yet: Machines that are deleted
// with it are not replaced.
func (s scope[O]) machinePoolDeleted() bool {
	return s.machinePool != nil && !s.machinePool.DeletionTimestamp.IsZero() && !s.deleting()
}

// missing returns why the cloud cannot be read.
func missing(reason, format string, args ...any) *pool.Cause {
	return &pool.Cause{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// gather reads everything about the pool that exists. What is missing blocks creation and is not an error.
func (r *Reconciler[O, S]) gather(ctx context.Context, o O) (scope[O], error) {
	s := scope[O]{object: o}
	var noPool, noCluster, noDescription, noData *pool.Cause
	var err error
	if s.machinePool, noPool, err = findMachinePool(ctx, r.Client, o, r.kind.groupKind()); err != nil {
		return s, err
	}
	if s.cluster, noCluster, err = findCluster(ctx, r.Client, s.clusterKey()); err != nil {
		return s, err
	}
	if noDescription, err = r.describe(ctx, &s); err != nil {
		return s, err
	}
	if !s.deleting() {
		if s.bootstrap, noData, err = bootstrap.Read(ctx, r.Client, s.machinePool, r.kind.bootstrapMode(o)); err != nil {
			return s, err
		}
	}
	if r.kind.OwnedElsewhere != nil {
		if s.ownedElsewhere, err = r.kind.OwnedElsewhere(ctx, r.Client, o); err != nil {
			return s, err
		}
	}
	s.createBlocked = cmp.Or(noPool, noCluster, noDescription, noData)
	s.observeBlocked = cmp.Or(noPool, noCluster, noDescription) != nil
	s.settings = settings.Of(settings.Pool{
		Kind: r.kind.Name, Object: o, MachinePool: s.machinePool, Machines: r.kind.allowedMachines(),
		HasMachines: r.kind.wantsMachines(o, r.Machines),
	})
	s.asked, err = r.rollbacks.ask(ctx, s)
	return s, err
}

// describe reads the objects that describe the cluster in the cloud, and has their changes enqueue its pools. What is missing is returned.
func (r *Reconciler[O, S]) describe(ctx context.Context, s *scope[O]) (cause *pool.Cause, err error) {
	if s.cluster == nil {
		return nil, nil
	}
	find := func(ref clusterv1.ContractVersionedObjectReference, lacks string) (*unstructured.Unstructured, *pool.Cause, error) {
		u, cause, err := findInfraCluster(ctx, r.Client, s.cluster, ref, lacks)
		if err != nil || u == nil {
			return nil, cause, err
		}
		return u, cause, r.watches.infraCluster(ctx, r.requests, r.Client.Scheme(), u)
	}
	lacks := cmp.Or(r.kind.NoInfraCluster, "names no infrastructure in spec.infrastructureRef")
	if s.infraCluster, cause, err = find(r.adapter.InfraCluster(s.cluster), lacks); err != nil || r.kind.ControlPlane == nil {
		return cause, err
	}
	plane, noPlane, err := find(r.kind.ControlPlane(s.cluster), r.kind.NoControlPlane)
	s.controlPlane = plane
	return cmp.Or(cause, noPlane), err
}

// findMachinePool finds the MachinePool by the owner reference, or while that is not set yet by its reference to the object.
func findMachinePool(ctx context.Context, c client.Reader, o client.Object,
	kind schema.GroupKind) (*clusterv1.MachinePool, *pool.Cause, error) {
	name := watch.MachinePoolOwner(o)
	if name == "" {
		names, err := referring(ctx, c, o, kind)
		if err != nil {
			return nil, nil, err
		}
		switch len(names) {
		case 0:
			return nil, missing(reasonNoOwner, "no MachinePool in namespace %s refers to this %s in spec.template.spec.infrastructureRef",
				o.GetNamespace(), kind.Kind), nil
		case 1:
			name = names[0]
		default:
			return nil, missing(reasonNoOwner, "several MachinePools refer to this %s in spec.template.spec.infrastructureRef: %s; one alone may",
				kind.Kind, strings.Join(names, ", ")), nil
		}
	}
	mp := &clusterv1.MachinePool{}
	err := c.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}, mp)
	if apierrors.IsNotFound(err) {
		return nil, missing(reasonNoOwner, "MachinePool %s/%s, which owns this %s, does not exist", o.GetNamespace(), name, kind.Kind), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read MachinePool %s: %w", name, err)
	}
	return mp, nil, nil
}

// referring returns the names of the MachinePools that refer to the object.
func referring(ctx context.Context, c client.Reader, o client.Object, kind schema.GroupKind) ([]string, error) {
	list := &clusterv1.MachinePoolList{}
	err := c.List(ctx, list, client.InNamespace(o.GetNamespace()),
		client.MatchingFields{watch.InfrastructureField: watch.InfrastructureValue(kind.Group, kind.Kind, o.GetName())})
	if err != nil {
		return nil, fmt.Errorf("look up the MachinePools that refer to %s %s: %w", kind.Kind, o.GetName(), err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

func findCluster(ctx context.Context, c client.Reader, key client.ObjectKey) (*clusterv1.Cluster, *pool.Cause, error) {
	if key.Name == "" {
		return nil, nil, nil
	}
	cluster := &clusterv1.Cluster{}
	err := c.Get(ctx, key, cluster)
	if apierrors.IsNotFound(err) {
		return nil, missing(reasonNoCluster, "Cluster %s does not exist (the MachinePool's spec.clusterName)", key), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read Cluster %s: %w", key, err)
	}
	return cluster, nil, nil
}

// findInfraCluster reads the object that describes the cluster in the cloud. Until it is provisioned, the description is incomplete, and
// new machines would be created wrong. lacks names the missing part of the Cluster if ref is empty.
func findInfraCluster(
	ctx context.Context, c client.Reader, cluster *clusterv1.Cluster, ref clusterv1.ContractVersionedObjectReference, lacks string,
) (*unstructured.Unstructured, *pool.Cause, error) {
	key := client.ObjectKeyFromObject(cluster)
	if !ref.IsDefined() {
		return nil, missing(reasonNoInfraCluster, "Cluster %s %s", key, lacks), nil
	}
	gvk, err := contract.GVK(ctx, c, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		return nil, missing(reasonNoInfraCluster, "Cluster %s names %s %s: %v", key, ref.Kind, ref.Name, err), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("find the version of %s: %w", ref.Kind, err)
	}
	infraCluster := &unstructured.Unstructured{}
	infraCluster.SetGroupVersionKind(gvk)
	err = c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: ref.Name}, infraCluster)
	if apierrors.IsNotFound(err) {
		return nil, missing(reasonNoInfraCluster, "%s %s/%s, which Cluster %s names, does not exist", ref.Kind, key.Namespace, ref.Name,
			key.Name), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
	}
	var cause *pool.Cause
	if !ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false) {
		cause = missing(reasonWaitInfraCluster, "the infrastructure of Cluster %s is not provisioned yet", key)
	}
	return infraCluster, cause, nil
}

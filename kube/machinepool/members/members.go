// Package members finds the Machines of a MachinePool and the infrastructure machines that they represent, compares the instances that
// provider IDs name, counts Nodes and Machines by state, decides which are up to date, and merges the metadata that the pool's template
// sets with what other clients added. Only Reader reads; the rest is pure.
package members

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/reference"
)

// Member is one machine of a pool with Machines. One of the two objects may be missing.
type Member struct {
	// Infra is the infrastructure machine.
	Infra *unstructured.Unstructured
	// Machine is the Machine that represents it.
	Machine *clusterv1.Machine
}

// ProviderID returns the provider ID of the machine's instance, empty while it is unknown.
func (m Member) ProviderID() string {
	if m.Infra != nil {
		if id := reference.NestedString(m.Infra, "spec", "providerID"); id != "" {
			return id
		}
	}
	if m.Machine != nil {
		return m.Machine.Spec.ProviderID
	}
	return ""
}

// Node returns the Node of the machine among Nodes by instance key, nil if there is none.
func (m Member) Node(nodes map[string]*corev1.Node) *corev1.Node {
	if id := m.ProviderID(); id != "" {
		return nodes[InstanceKey(id)]
	}
	return nil
}

// Pair pairs Machines with the infrastructure machines that they refer to.
func Pair(machines []*clusterv1.Machine, infras []*unstructured.Unstructured) []Member {
	byName := make(map[string]*unstructured.Unstructured, len(infras))
	for _, infra := range infras {
		byName[infra.GetName()] = infra
	}
	all := make([]Member, 0, max(len(machines), len(infras)))
	for _, m := range machines {
		name := m.Spec.InfrastructureRef.Name
		all = append(all, Member{Infra: byName[name], Machine: m})
		delete(byName, name)
	}
	for _, infra := range infras {
		if byName[infra.GetName()] != nil {
			all = append(all, Member{Infra: infra})
		}
	}
	return all
}

// Reader reads the members of pools.
type Reader struct {
	Objects reference.ObjectReader
	// Index is nil if the cache has no index by pool.
	Index *Index
	// Track makes changes of all objects of a kind wake the pools that their labels name; nil tracks nothing.
	Track func(ctx context.Context, o client.Object) error
}

// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status;machines/finalizers,verbs=get;list;watch;create;update;patch;delete

// Machines returns the Machines of a pool by name. Machines with another controller are left out, whatever their labels. The Machines are
// shared with the cache and must not be changed.
func (r Reader) Machines(ctx context.Context, pool *clusterv1.MachinePool) ([]*clusterv1.Machine, error) {
	list := &clusterv1.MachineList{}
	if err := r.Objects.Cached.List(ctx, list, r.Index.selecting(pool)...); err != nil {
		return nil, fmt.Errorf("read the Machines of MachinePool %s: %w", pool.Name, err)
	}
	var all []*clusterv1.Machine
	for i := range list.Items {
		if reference.MayControl(pool, &list.Items[i]) {
			all = append(all, &list.Items[i])
		}
	}
	slices.SortFunc(all, func(a, b *clusterv1.Machine) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// InfraMachines returns the infrastructure machines of a pool by name. Their changes wake the pool from then on. They are shared with the
// cache and must not be changed.
func (r Reader) InfraMachines(ctx context.Context, pool *clusterv1.MachinePool,
	gvk schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	if r.Track != nil {
		if err := r.Track(ctx, r.Objects.New(gvk)); err != nil {
			return nil, err
		}
	}
	if err := r.Index.Add(ctx, gvk, r.Objects.New(gvk)); err != nil {
		return nil, err
	}
	all, err := r.Objects.List(ctx, gvk, r.Index.selecting(pool)...)
	if err != nil {
		return nil, fmt.Errorf("read the objects of kind %s of MachinePool %s: %w", gvk.Kind, pool.Name, err)
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, nil
}

// Kind returns the kind of a pool's infrastructure machines in the version that follows the contract. A kind that has no such version is
// read in the version of the infrastructure object, as its provider expects. The error wraps access.ErrForbidden if the manager may not
// watch the kind, contract.ErrNoKind if it is not installed.
func (r Reader) Kind(ctx context.Context, infra *unstructured.Unstructured, kind string) (schema.GroupVersionKind, error) {
	of := infra.GroupVersionKind()
	gvk, err := contract.GVK(ctx, r.Objects.Cached, schema.GroupKind{Group: of.Group, Kind: kind})
	if errors.Is(err, contract.ErrNoVersion) {
		gvk, err = of.GroupVersion().WithKind(kind), nil
	}
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return gvk, r.Objects.Permits(ctx, gvk)
}

package infrapool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/pool"
)

// adoption returns which group of another tool the object, or its MachinePool, asks to adopt, and whether the driver is to adopt it. Once
// the pool has owned the group, the annotation has no effect and can be removed: the name is stored.
func adoption[O Object](s scope[O], values map[string]string) (pool.Adoption, bool) {
	asked, adopted := s.object.GetAnnotations()[pool.AdoptAnnotation], values[pool.AdoptedKey]
	if asked == "" && s.machinePool != nil {
		asked = s.machinePool.GetAnnotations()[pool.AdoptAnnotation]
	}
	return pool.Adoption{Name: asked, Done: asked != "" && asked == adopted}, asked != "" && asked != adopted && !s.deleting()
}

// consents completes what the object asks to adopt by what decides whether it may: what of other namespaces the tags of its cluster mean as
// well, and the operator's grants, which are read only for an object that asks.
func consents[O Object, S any](ctx context.Context, c client.Client, kind Kind[O, S], s scope[O], t translation[S], asked pool.Adoption,
	adopts bool) (pool.Adoption, error) {
	if s.clusterName() != "" && !s.deleting() && !asked.Done && (asked.Name != "" || s.object.GetProviderID() == "") {
		clusters, err := sameNamed(ctx, c, s)
		if err != nil {
			return asked, err
		}
		identified, err := sameIdentified(ctx, c, kind, s, t)
		if err != nil {
			return asked, err
		}
		asked.SameNamed = append(clusters, identified...)
	}
	if !adopts || t.from == nil {
		return asked, nil
	}
	var err error
	asked.Namespace = s.object.GetNamespace()
	asked.Grants, asked.GrantsUnread, err = identity.AdoptionGrants(ctx, t.from)
	return asked, err
}

// sameNamed returns the Clusters of other namespaces that have the name of the pool's.
func sameNamed[O Object](ctx context.Context, c client.Reader, s scope[O]) ([]string, error) {
	list := &clusterv1.ClusterList{}
	if err := c.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("look for other Clusters named %s: %w", s.clusterName(), err)
	}
	var out []string
	for _, of := range list.Items {
		if of.Name == s.clusterName() && of.Namespace != s.object.GetNamespace() {
			out = append(out, "Cluster "+of.Namespace+"/"+of.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// ClusterIdentifier is the field of infrastructure clusters by whose value tags of the ecosystem's provider name a cluster. Users of a
// namespace write it.
type ClusterIdentifier[S any] struct {
	// Kinds of the infrastructure clusters that have the field, in the group of the infrastructure kind.
	Kinds []string
	// Path of the field.
	Path []string
	// Of returns the value that the driver gets; empty for none.
	Of func(spec S) string
}

// sameIdentified returns the infrastructure clusters of other namespaces that have the identifier of the pool's.
func sameIdentified[O Object, S any](ctx context.Context, c client.Reader, of Kind[O, S], s scope[O], t translation[S]) ([]string, error) {
	by := of.ClusterIdentifier
	if by == nil || t.notObservable != nil || by.Of(t.Spec) == "" {
		return nil, nil
	}
	var out []string
	for _, kind := range by.Kinds {
		list, err := allOf(ctx, c, schema.GroupKind{Group: of.Group, Kind: kind})
		if err != nil {
			return nil, err
		}
		for i := range list {
			u := &list[i]
			id, _, _ := unstructured.NestedString(u.Object, by.Path...) // a field of another type is no identifier
			if id == by.Of(t.Spec) && u.GetNamespace() != s.object.GetNamespace() {
				out = append(out, kind+" "+u.GetNamespace()+"/"+u.GetName())
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// allOf returns the objects of a kind, none of one that the management cluster does not have. They must not be changed.
func allOf(ctx context.Context, c client.Reader, gk schema.GroupKind) ([]unstructured.Unstructured, error) {
	gvk, err := contract.GVK(ctx, c, gk)
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the version of %s: %w", gk.Kind, err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gk.Kind + "List"))
	if err := c.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("look for other %ss with the identifier of the cluster: %w", gk.Kind, err)
	}
	return list.Items, nil
}

// adopted returns what to store of an adoption that this pass has found done.
func (f facts[S]) adopted(o pool.Observed) map[string]string {
	asked := f.input.Desired.Adopt
	if asked.Name == "" || asked.Done || o.Group == nil || f.groupName.Name != asked.Name {
		return nil
	}
	return map[string]string{pool.AdoptedKey: asked.Name}
}

package gather

import (
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
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/doctor"
)

// pools reads the MachinePools with their infrastructure objects.
func (g *gatherer) pools(ctx context.Context) error {
	var list clusterv1.MachinePoolList
	if err := g.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("list the MachinePools: %w", err)
	}
	paused, err := g.pausedClusters(ctx)
	if err != nil {
		return err
	}
	for i := range list.Items {
		mp := &list.Items[i]
		infra, err := view.Infrastructure(ctx, g.Client, g.Client.RESTMapper(), mp)
		if err != nil {
			return fmt.Errorf("MachinePool %s/%s: %w", mp.Namespace, mp.Name, err)
		}
		ref := mp.Spec.Template.Spec.InfrastructureRef
		p := doctor.Pool{
			Namespace: mp.Namespace, Name: mp.Name, Cluster: mp.Spec.ClusterName, Kind: schema.GroupKind{Group: ref.APIGroup,
				Kind: ref.Kind}, Infrastructure: ref.Name,
			Exists: infra != nil, Deleting: !mp.DeletionTimestamp.IsZero(), Message: view.PoolOf(mp, infra).Message, Cause: view.Cause(infra),
			Paused: annotations.HasPaused(mp) || slices.Contains(paused, client.ObjectKey{Namespace: mp.Namespace,
				Name: mp.Spec.ClusterName}),
		}
		if infra != nil {
			p.Conditions, p.Paused = view.Conditions(infra), p.Paused || annotations.HasPaused(infra)
		}
		g.found.Pools = append(g.found.Pools, p)
	}
	slices.SortFunc(g.found.Pools, func(a, b doctor.Pool) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return nil
}

// pausedClusters returns the Clusters that are paused.
func (g *gatherer) pausedClusters(ctx context.Context) (paused []client.ObjectKey, err error) {
	var list clusterv1.ClusterList
	if err := g.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list the Clusters: %w", err)
	}
	for i := range list.Items {
		if c := &list.Items[i]; ptr.Deref(c.Spec.Paused, false) || annotations.HasPaused(c) {
			paused = append(paused, client.ObjectKeyFromObject(c))
		}
	}
	return paused, nil
}

// identities follows the identity of each cluster that has pools of this build's kinds.
func (g *gatherer) identities(ctx context.Context) error {
	namespace := g.IdentityNamespace
	if namespace == "" {
		namespace = g.musterNamespace()
	}
	sources := identity.NewSources(g.Client, namespace)
	if m := g.muster(); m != nil {
		// With meaningless values the manager does not start, which is a separate finding.
		if allowed, err := identity.ParseOwn(m.CredentialsNamespaces, m.CredentialsSelector); err == nil {
			sources.OwnCredentials = allowed
		}
		if endpoints, err := identity.ParseEndpoints(m.IdentityEndpoints); err == nil {
			sources.Endpoints = endpoints
		}
	}
	var list clusterv1.ClusterList
	if err := g.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("list the Clusters: %w", err)
	}
	for i := range list.Items {
		c := &list.Items[i]
		for _, ref := range []clusterv1.ContractVersionedObjectReference{c.Spec.InfrastructureRef, c.Spec.ControlPlaneRef} {
			for _, p := range g.Providers {
				if !slices.Contains(p.Identities.Clusters, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}) {
					continue
				}
				if err := g.identity(ctx, sources, c, ref, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// identity follows the identity that one object names.
func (g *gatherer) identity(ctx context.Context, sources *identity.Sources, cluster *clusterv1.Cluster,
	ref clusterv1.ContractVersionedObjectReference, p providers.Provider) error {
	i := doctor.Identity{Namespace: cluster.Namespace, Cluster: cluster.Name, Provider: p.Title, Object: ref.Kind + " " + ref.Name}
	gvk, err := contract.GVK(ctx, g.Client, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind})
	if err != nil {
		return fmt.Errorf("find the version of %s: %w", ref.Kind, err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	err = g.Client.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, u)
	if apierrors.IsNotFound(err) {
		i.Reason, i.Message = identity.ReasonMissing, i.Object+" does not exist"
		g.found.Identities = append(g.found.Identities, i)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", i.Object, err)
	}
	var unusable *identity.Error
	i.Name, err = p.Identities.Check(ctx, identity.Referrer{InfraCluster: u}, sources.For(cluster.Namespace))
	switch {
	case errors.As(err, &unusable):
		i.Reason, i.Message = unusable.Cause.Reason, unusable.Cause.Message
	case err != nil:
		return err
	}
	g.found.Identities = append(g.found.Identities, i)
	return nil
}

// keyOf takes NAMESPACE/NAME apart.
func keyOf(text string) client.ObjectKey {
	namespace, name, _ := strings.Cut(text, "/")
	return client.ObjectKey{Namespace: namespace, Name: name}
}

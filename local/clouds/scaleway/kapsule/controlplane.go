package kapsule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/local/clouds/scaleway/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/scaleway"
)

const (
	// later is the interval between looks at a cluster at rest: users can upgrade it out of band.
	later = time.Minute
	// longestName bounds the name of a cluster in Kapsule.
	longestName = 100
)

// States of a cluster of Kapsule that takes pools.
const (
	ready        = "ready"
	poolRequired = "pool_required"
)

// kind of the provider's control planes.
var kind = managedplane.Kind{
	Object: standin.ScalewayManagedControlPlane, Service: "Kapsule", Folder: "kapsule",
	Finalizer: "scalewaymanagedcontrolplane.infrastructure.cluster.x-k8s.io/smcp-protection",
	Endpoint:  []string{"spec", "controlPlaneEndpoint"}, Conditions: []string{"Ready", "ClusterReady", "Available"},
	Operator: workload.Operator{Role: "kapsule:node-manager", Group: "system:bootstrappers:kapsule:node-manager", TokenID: "kapsul"},
}

// ControlPlanes makes every ScalewayManagedControlPlane an API server and a cluster of Kapsule.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Registry is the simulated Kapsule.
	Registry Registry
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	frame := &managedplane.Reconciler{Client: r.Client, Servers: r.Servers, Publisher: r.Publisher, Kind: kind, Cloud: r}
	return frame.SetupWithManager(mgr)
}

// Fill sets the name of the cluster where the object leaves it open.
func (r *ControlPlanes) Fill(plane *unstructured.Unstructured, _ string) error {
	return fields.Fill(plane, fields.Field{Value: nameOf(plane), Path: []string{"spec", "clusterName"}},
		fields.Field{Value: "kapsule", Path: []string{"spec", "type"}})
}

// Bring has Kapsule make or upgrade the cluster. While another operation runs it is tried again soon.
func (r *ControlPlanes) Bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster,
	s managedplane.Served) (time.Duration, error) {
	view, err := r.view(ctx, plane, cluster)
	if err != nil {
		return 0, err
	}
	version, _, err := unstructured.NestedString(plane.Object, "spec", "version")
	if err != nil {
		return 0, err
	}
	is, err := r.Registry.Put(ctx, scaleway.Access{Region: view.Region, Name: view.Name, Version: strings.TrimPrefix(version, "v"),
		Type: view.Type, Server: s.URL, CA: s.CA.CertPEM, Token: s.Token})
	switch {
	case errors.Is(err, ErrBusy):
		return managedplane.Soon, nil
	case err != nil:
		return 0, fmt.Errorf("cluster %s: %w", view.Name, err)
	}
	return r.report(ctx, plane, s.Endpoint, is)
}

// view returns what the objects ask for.
func (r *ControlPlanes) view(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (scalewayv1.ClusterView,
	error) {
	view, err := scalewayv1.ClusterViewOf(plane, cluster.Name)
	if err != nil {
		return view, err
	}
	infra := objects.New(standin.ScalewayManagedCluster)
	ref := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, ref, infra); err != nil {
		return view, fmt.Errorf("read the ScalewayManagedCluster %s: %w", ref, err)
	}
	return view, view.Complete(infra)
}

// report writes what has become of the cluster, and returns when it is looked at again.
func (r *ControlPlanes) report(ctx context.Context, plane *unstructured.Unstructured, endpoint clusterv1.APIEndpoint,
	is Inspected) (time.Duration, error) {
	if is.Status != ready && is.Status != poolRequired {
		serves, _, _ := unstructured.NestedBool(plane.Object, "status", "initialized")
		if serves {
			return managedplane.Soon, nil // an upgrade, or the first pool: the API server goes on
		}
		return managedplane.Soon, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return kind.Unavailable(o, "TransientStatus", fmt.Sprintf("cluster %s is %s", is.Name, is.Status))
		})
	}
	if err := objects.Change(ctx, r.Client, plane,
		func(o *unstructured.Unstructured) error { return kind.Reachable(o, endpoint) }); err != nil {
		return 0, err
	}
	return later, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		if err := kind.Serves(o, is.Version); err != nil {
			return err
		}
		if err := fields.Set(o, fields.Field{Value: true, Path: []string{"status", "initialization", "controlPlaneInitialized"}},
			fields.Field{Value: true, Path: []string{"status", "externalManagedControlPlane"}}); err != nil {
			return err
		}
		return kind.Mark(o, "True", "Ready", "")
	})
}

// Delete has Kapsule delete the cluster.
func (r *ControlPlanes) Delete(ctx context.Context, plane *unstructured.Unstructured) (gone bool, err error) {
	view, err := scalewayv1.ClusterViewOf(plane, plane.GetName())
	if err != nil || view.Name == "" {
		return true, nil // an object that names no cluster has none
	}
	region, project := scaleway.Region, scaleway.ProjectID
	if cluster, err := objects.OwnerOf(ctx, r.Client, plane); err == nil && cluster != nil {
		if around, err := r.view(ctx, plane, cluster); err == nil {
			region, project = around.Region, around.ProjectID
		}
	}
	gone, err = r.Registry.Delete(ctx, region, project, view.Name)
	if err != nil && !errors.Is(err, ErrBusy) {
		return false, fmt.Errorf("delete the cluster %s: %w", view.Name, err)
	}
	return gone, nil
}

// Unavailable reports why the cluster can't reach the desired state.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	return kind.Unavailable(o, "ReconciliationFailed", why.Error())
}

// nameOf returns the name that the provider gives a cluster whose object names none.
func nameOf(plane *unstructured.Unstructured) string {
	name := plane.GetNamespace() + "-" + strings.ReplaceAll(plane.GetName(), ".", "-")
	return strings.TrimRight(name[:min(len(name), longestName)], "-")
}

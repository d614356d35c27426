package oke

import (
	"cmp"
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

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/local/clouds/oci/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/oci"
)

const (
	// later is the interval between looks at a cluster at rest: users can upgrade it out of band.
	later = time.Minute
	// basic is the type of clusters whose object names none.
	basic = "BASIC_CLUSTER"
)

// States of a cluster of OKE that serves.
const (
	active   = "ACTIVE"
	updating = "UPDATING"
)

// kind of the provider's control planes.
var kind = managedplane.Kind{
	Object: standin.OCIManagedControlPlane, Service: "OKE", Folder: "oke",
	Finalizer: "ocimanagedcontrolplane.infrastructure.cluster.x-k8s.io",
	Endpoint:  []string{"spec", "controlPlaneEndpoint"}, Conditions: []string{"Ready", "ControlPlaneReady", "Available"},
	Operator: workload.Operator{Role: "oke:node-manager", Group: "system:bootstrappers:oke:node-manager", TokenID: "okenod"},
}

// ControlPlanes makes every OCIManagedControlPlane an API server and a cluster of OKE.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Registry is the simulated OKE.
	Registry Registry
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	frame := &managedplane.Reconciler{Client: r.Client, Servers: r.Servers, Publisher: r.Publisher, Kind: kind, Cloud: r}
	return frame.SetupWithManager(mgr)
}

// Fill sets the network of pods where the object leaves it open.
func (r *ControlPlanes) Fill(plane *unstructured.Unstructured, _ string) error {
	return fields.Fill(plane, fields.Field{Value: []any{map[string]any{"cniType": string(ociv1.CNINative)}},
		Path: []string{"spec", "clusterPodNetworkOptions"}})
}

// Bring has OKE make or upgrade the cluster. While another operation runs it is tried again soon.
func (r *ControlPlanes) Bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster,
	s managedplane.Served) (time.Duration, error) {
	around, err := r.infrastructure(ctx, cluster)
	if err != nil {
		return 0, err
	}
	version, _, err := unstructured.NestedString(plane.Object, "spec", "version")
	if err != nil {
		return 0, err
	}
	typ, _, err := unstructured.NestedString(plane.Object, "spec", "clusterType")
	if err != nil {
		return 0, err
	}
	is, err := r.Registry.Put(ctx, oci.Access{Name: nameOf(plane), Compartment: around.CompartmentID,
		Version: strings.TrimPrefix(version, "v"), Type: cmp.Or(typ, basic), Server: s.URL, CA: s.CA.CertPEM, Token: s.Token})
	switch {
	case errors.Is(err, ErrBusy):
		return managedplane.Soon, nil
	case err != nil:
		return 0, fmt.Errorf("cluster %s: %w", nameOf(plane), err)
	}
	return r.report(ctx, plane, s.Endpoint, is)
}

// infrastructure returns the fields of the OCIManagedCluster.
func (r *ControlPlanes) infrastructure(ctx context.Context, cluster *clusterv1.Cluster) (ociv1.ClusterView, error) {
	infra := objects.New(standin.OCIManagedCluster)
	ref := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, ref, infra); err != nil {
		return ociv1.ClusterView{}, fmt.Errorf("read the OCIManagedCluster %s: %w", ref, err)
	}
	return ociv1.ClusterViewOf(infra)
}

// report writes what has become of the cluster, and returns when it is looked at again.
func (r *ControlPlanes) report(ctx context.Context, plane *unstructured.Unstructured, endpoint clusterv1.APIEndpoint,
	is Inspected) (time.Duration, error) {
	again := managedplane.Soon
	if is.LifecycleState == active {
		again = later
	}
	if is.LifecycleState != active && is.LifecycleState != updating {
		return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return kind.Unavailable(o, is.LifecycleState, fmt.Sprintf("cluster %s is %s", is.ID, is.LifecycleState))
		})
	}
	if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		if err := fields.Set(o, fields.Field{Value: is.ID, Path: []string{"spec", "id"}}); err != nil {
			return err
		}
		return kind.Reachable(o, endpoint)
	}); err != nil {
		return 0, err
	}
	return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		if err := kind.Serves(o, strings.TrimPrefix(is.KubernetesVersion, "v")); err != nil {
			return err
		}
		if err := fields.Set(o, fields.Field{Value: true, Path: []string{"status", "initialization", "controlPlaneInitialized"}}); err != nil {
			return err
		}
		return kind.Mark(o, "True", "Ready", "")
	})
}

// Delete has OKE delete the cluster.
func (r *ControlPlanes) Delete(ctx context.Context, plane *unstructured.Unstructured) (gone bool, err error) {
	gone, err = r.Registry.Delete(ctx, oci.Region, oci.Compartment, nameOf(plane))
	if err != nil && !errors.Is(err, ErrBusy) {
		return false, fmt.Errorf("delete the cluster %s: %w", nameOf(plane), err)
	}
	return gone, nil
}

// Unavailable reports why the cluster can't reach the desired state.
func (r *ControlPlanes) Unavailable(o *unstructured.Unstructured, why error) error {
	return kind.Unavailable(o, "ReconciliationFailed", why.Error())
}

// nameOf returns the name of the cluster of a control plane in OKE. Its namespace keeps it from meeting those of others.
func nameOf(plane *unstructured.Unstructured) string {
	return plane.GetNamespace() + "-" + plane.GetName()
}

package gke

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

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/gcp/container"
)

const (
	// later is the interval between looks at a cluster at rest: users can upgrade it out of band.
	later = time.Minute
	// longestName bounds the name of a cluster in GKE.
	longestName = 40
)

// States of a cluster in GKE.
const (
	provisioning = "PROVISIONING"
	running      = "RUNNING"
	failed       = "ERROR"
)

// kind of the provider's control planes.
var kind = managedplane.Kind{
	Object: standin.GCPManagedControlPlane, Finalizer: "gcpmanagedcontrolplane.infrastructure.cluster.x-k8s.io", Service: "GKE", Folder: "gke",
	Endpoint: []string{"spec", "endpoint"}, Conditions: []string{"Ready", "GKEControlPlaneReady", "Available"},
	Operator: workload.Operator{Role: "gke:node-manager", Group: "system:bootstrappers:gke:node-manager", TokenID: "gkenod"},
}

// ControlPlanes makes every GCPManagedControlPlane an API server and a cluster of GKE.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Network that clusters are in, and Registry is the simulated GKE.
	Network  standin.Network
	Registry Registry
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	frame := &managedplane.Reconciler{Client: r.Client, Servers: r.Servers, Publisher: r.Publisher, Kind: kind, Cloud: r}
	return frame.SetupWithManager(mgr)
}

// Fill sets where the cluster is and its name where the object leaves them open.
func (r *ControlPlanes) Fill(plane *unstructured.Unstructured, _ string) error {
	return fields.Fill(plane,
		fields.Field{Value: r.Network.Project, Path: []string{"spec", "project"}},
		fields.Field{Value: r.Network.Region, Path: []string{"spec", "location"}},
		fields.Field{Value: nameOf(plane), Path: []string{"spec", "clusterName"}})
}

// Bring has GKE make or change the cluster. While another operation runs it is tried again soon.
func (r *ControlPlanes) Bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster,
	s managedplane.Served) (time.Duration, error) {
	want, err := r.want(ctx, plane, cluster)
	if err != nil {
		return 0, err
	}
	want.Access = container.Access{Endpoint: s.URL, CA: s.CA.CertPEM, Token: s.Token}
	is, err := r.Registry.Put(ctx, want)
	switch {
	case errors.Is(err, ErrBusy):
		return managedplane.Soon, nil
	case err != nil:
		return 0, fmt.Errorf("cluster %s: %w", want.Name, err)
	}
	return r.report(ctx, plane, s.Endpoint, is)
}

// want returns the cluster that the objects ask for, without node pools: each of them is created by its own object.
func (r *ControlPlanes) want(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (
	container.DesiredCluster, error) {
	view, err := gcpv1.ManagedClusterViewOf(plane, cluster.Name)
	if err != nil {
		return container.DesiredCluster{}, err
	}
	infra := objects.New(standin.GCPManagedCluster)
	ref := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, ref, infra); client.IgnoreNotFound(err) != nil {
		return container.DesiredCluster{}, fmt.Errorf("read the GCPManagedCluster %s: %w", ref, err)
	}
	around, err := gcpv1.ClusterViewOf(infra)
	if err != nil {
		return container.DesiredCluster{}, err
	}
	view.Complete(around)
	body := map[string]any{"network": view.View.Network}
	if subnet := view.View.NodeSubnet(); subnet != "" {
		body["subnetwork"] = subnet
	}
	channel, _, err := unstructured.NestedString(plane.Object, "spec", "releaseChannel")
	if err != nil {
		return container.DesiredCluster{}, err
	}
	if channel != "" {
		body["releaseChannel"] = map[string]any{"channel": strings.ToUpper(channel)}
	}
	version, err := versionOf(plane)
	if err != nil {
		return container.DesiredCluster{}, err
	}
	if version != "" {
		body["initialClusterVersion"] = version
	}
	return container.DesiredCluster{Project: view.View.Project, Location: view.Location, Name: view.Name, Body: body}, nil
}

// versionOf returns the version that an object wants, as GKE spells it: 1.34.2. It is empty where GKE chooses.
func versionOf(plane *unstructured.Unstructured) (string, error) {
	version, _, err := unstructured.NestedString(plane.Object, "spec", "version")
	if err != nil {
		return "", err
	}
	older, _, err := unstructured.NestedString(plane.Object, "spec", "controlPlaneVersion")
	return strings.TrimPrefix(cmp.Or(version, older), "v"), err
}

// report writes what has become of the cluster, and returns when it is looked at again.
func (r *ControlPlanes) report(ctx context.Context, plane *unstructured.Unstructured, endpoint clusterv1.APIEndpoint,
	is container.Inspected,
) (time.Duration, error) {
	again := managedplane.Soon
	if is.Status == running {
		again = later
	}
	if is.Status == provisioning || is.Status == failed {
		return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return kind.Unavailable(o, is.Status, fmt.Sprintf("cluster %s is in the state %s", is.Name, is.Status))
		})
	}
	if err := objects.Change(ctx, r.Client, plane,
		func(o *unstructured.Unstructured) error { return kind.Reachable(o, endpoint) }); err != nil {
		return 0, err
	}
	return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return available(o, is) })
}

// Delete has GKE delete the cluster.
func (r *ControlPlanes) Delete(ctx context.Context, plane *unstructured.Unstructured) (gone bool, err error) {
	view, err := gcpv1.ManagedClusterViewOf(plane, plane.GetName())
	if err != nil || view.Name == "" {
		return true, nil // an object that names no cluster has none
	}
	gone, err = r.Registry.Delete(ctx, view.View.Project, view.Location, view.Name)
	if err != nil && !errors.Is(err, ErrBusy) {
		return false, fmt.Errorf("delete the cluster %s: %w", view.Name, err)
	}
	return gone, nil
}

// nameOf returns the name that the provider gives a cluster whose object names none.
func nameOf(plane *unstructured.Unstructured) string {
	name := plane.GetNamespace() + "-" + strings.ReplaceAll(plane.GetName(), ".", "-")
	return strings.TrimRight(name[:min(len(name), longestName)], "-")
}

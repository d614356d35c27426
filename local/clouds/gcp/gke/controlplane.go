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
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/local/clouds/gcp/kinds"
	"github.com/muster-project/muster/local/clouds/gcp/network"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/gcp/container"
)

const (
	// finalizer of the provider's own controller.
	finalizer = "gcpmanagedcontrolplane.infrastructure.cluster.x-k8s.io"
	// concurrency is how many API servers may be started at once: each keeps a processor busy for two seconds.
	concurrency = 4
	// soon is when a cluster that something is done to is looked at again, and later when it rests: users upgrade it by hand.
	soon, later = time.Second, time.Minute
	// longestName bounds the name of a cluster in GKE.
	longestName = 40
)

// States of a cluster in GKE.
const (
	provisioning = "PROVISIONING"
	running      = "RUNNING"
	failed       = "ERROR"
)

// operator is GKE in a cluster.
var operator = workload.Operator{Role: "gke:node-manager", Group: "system:bootstrappers:gke:node-manager", TokenID: "gkenod"}

// ControlPlanes makes every GCPManagedControlPlane an API server and a cluster of GKE.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers are where the API servers run, and Publisher tells others how to reach them.
	Servers   *workload.Servers
	Publisher *workload.Publisher
	// Network that clusters are in, and Registry is the simulated GKE.
	Network  network.Network
	Registry Registry
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(objects.New(kinds.GCPManagedControlPlane)).
		Watches(&clusterv1.Cluster{}, objects.OfControlPlane(kinds.GCPManagedControlPlane)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of GCPManagedControlPlanes: %w", err)
	}
	return nil
}

// Reconcile brings one control plane, its API server and GKE together.
func (r *ControlPlanes) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	plane := objects.New(kinds.GCPManagedControlPlane)
	if err := r.Client.Get(ctx, req.NamespacedName, plane); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster, err := objects.OwnerOf(ctx, r.Client, plane)
	if err != nil {
		return ctrl.Result{}, err
	}
	switch {
	case cluster != nil && annotations.IsPaused(cluster, plane):
		return ctrl.Result{}, r.resume(ctx, plane, cluster)
	case !plane.GetDeletionTimestamp().IsZero():
		return r.remove(ctx, plane)
	case cluster == nil:
		return ctrl.Result{}, nil
	}
	again, err := r.bring(ctx, plane, cluster)
	switch {
	case errors.Is(err, ErrBusy):
		return ctrl.Result{RequeueAfter: soon}, nil
	case err != nil:
		said := objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return unavailable(o, "GKEControlPlaneReconciliationFailed", err.Error())
		})
		return ctrl.Result{}, errors.Join(err, said)
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// key of the API server of a control plane.
func key(plane client.Object) types.NamespacedName {
	return workload.KeyOf("gke", client.ObjectKeyFromObject(plane))
}

// resume starts an API server again that served before this process did. Pausing stops changes, not a control plane.
func (r *ControlPlanes) resume(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	if !plane.GetDeletionTimestamp().IsZero() || !controllerutil.ContainsFinalizer(plane, finalizer) {
		return nil
	}
	_, err := r.Servers.Start(ctx, key(plane), workload.Wanted{Cluster: cluster.Name, Port: port(plane)})
	return err
}

// port that the object names; 0 when it names none.
func port(plane *unstructured.Unstructured) int {
	p, _, err := unstructured.NestedInt64(plane.Object, "spec", "endpoint", "port")
	if err != nil {
		return 0
	}
	return int(p)
}

// bring brings the control plane to where it shall be, and returns when it is looked at again. What fits already is not written.
func (r *ControlPlanes) bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (time.Duration, error) {
	if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.AddFinalizer(o, finalizer)
		return fields.Fill(o,
			fields.Field{Value: r.Network.Project, Path: []string{"spec", "project"}},
			fields.Field{Value: r.Network.Region, Path: []string{"spec", "location"}},
			fields.Field{Value: nameOf(o), Path: []string{"spec", "clusterName"}})
	}); err != nil {
		return 0, err
	}
	server, err := r.Servers.Start(ctx, key(plane), workload.Wanted{Cluster: cluster.Name, Port: port(plane)})
	if err != nil {
		return 0, err
	}
	if err := r.Publisher.Publish(ctx, plane, cluster.Name, server); err != nil {
		return 0, err
	}
	token, err := operator.LetIn(ctx, server.Config)
	if err != nil {
		return 0, fmt.Errorf("let GKE into the cluster %s: %w", cluster.Name, err)
	}
	want, err := r.want(ctx, plane, cluster)
	if err != nil {
		return 0, err
	}
	want.Access = container.Access{Endpoint: server.URL, CA: server.CA.CertPEM, Token: token}
	is, err := r.Registry.Put(ctx, want)
	if err != nil {
		return 0, fmt.Errorf("cluster %s: %w", want.Name, err)
	}
	return r.report(ctx, plane, clusterv1.APIEndpoint{Host: workload.Host, Port: int32(server.Port)}, is)
}

// want is the cluster that the objects ask for, without node pools: each of them is created by its own object.
func (r *ControlPlanes) want(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (container.Wanted, error) {
	view, err := gcpv1.ManagedClusterViewOf(plane, cluster.Name)
	if err != nil {
		return container.Wanted{}, err
	}
	infra := objects.New(kinds.GCPManagedCluster)
	ref := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, ref, infra); client.IgnoreNotFound(err) != nil {
		return container.Wanted{}, fmt.Errorf("read the GCPManagedCluster %s: %w", ref, err)
	}
	around, err := gcpv1.ClusterViewOf(infra)
	if err != nil {
		return container.Wanted{}, err
	}
	view.Complete(around)
	body := map[string]any{"network": view.View.Network}
	if subnet := view.View.NodeSubnet(); subnet != "" {
		body["subnetwork"] = subnet
	}
	channel, _, err := unstructured.NestedString(plane.Object, "spec", "releaseChannel")
	if err != nil {
		return container.Wanted{}, err
	}
	if channel != "" {
		body["releaseChannel"] = map[string]any{"channel": strings.ToUpper(channel)}
	}
	version, err := versionOf(plane)
	if err != nil {
		return container.Wanted{}, err
	}
	if version != "" {
		body["initialClusterVersion"] = version
	}
	return container.Wanted{Project: view.View.Project, Location: view.Location, Name: view.Name, Body: body}, nil
}

// versionOf is the version that an object wants, as GKE spells it: 1.34.2. It is empty where GKE chooses.
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
	again := soon
	if is.Status == running {
		again = later
	}
	if is.Status == provisioning || is.Status == failed {
		return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return unavailable(o, is.Status, fmt.Sprintf("cluster %s is in the state %s", is.Name, is.Status))
		})
	}
	if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		return fields.Set(o,
			fields.Field{Value: endpoint.Host, Path: []string{"spec", "endpoint", "host"}},
			fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "endpoint", "port"}})
	}); err != nil {
		return 0, err
	}
	return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return available(o, is) })
}

// remove has GKE delete the cluster, stops the API server, removes what it kept, and lets the object go.
func (r *ControlPlanes) remove(ctx context.Context, plane *unstructured.Unstructured) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(plane, finalizer) {
		return ctrl.Result{}, nil
	}
	if view, err := gcpv1.ManagedClusterViewOf(plane, plane.GetName()); err == nil && view.Name != "" {
		gone, err := r.Registry.Delete(ctx, view.View.Project, view.Location, view.Name)
		if err != nil && !errors.Is(err, ErrBusy) {
			return ctrl.Result{}, fmt.Errorf("delete the cluster %s: %w", view.Name, err)
		}
		if !gone {
			return ctrl.Result{RequeueAfter: soon}, nil
		}
	}
	if err := r.Servers.Remove(ctx, key(plane)); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Publisher.Withdraw(plane); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, client.IgnoreNotFound(objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.RemoveFinalizer(o, finalizer)
		return nil
	}))
}

// nameOf is the name that the provider gives a cluster whose object names none.
func nameOf(plane *unstructured.Unstructured) string {
	name := plane.GetNamespace() + "-" + strings.ReplaceAll(plane.GetName(), ".", "-")
	return strings.TrimRight(name[:min(len(name), longestName)], "-")
}

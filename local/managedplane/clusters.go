package managedplane

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/objects"
)

// Clusters makes every infrastructure cluster of a kind ready, with the endpoint of its control plane. Functions that are optional are nil
// for clusters that hold nothing but what their control planes have.
type Clusters struct {
	// Client of the management cluster.
	Client client.Client
	// Object is the kind of the infrastructure clusters, Plane that of their control planes.
	Object schema.GroupVersionKind
	Plane  Kind
	// Fill sets what the specification leaves open, with the endpoint, which is not valid before the control plane serves. It is optional.
	Fill func(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error
	// Make has the cloud hold what the object names, before the control plane serves. It is optional.
	Make func(ctx context.Context, o *unstructured.Unstructured) error
	// Ready writes the status of a cluster whose control plane serves.
	Ready func(o, plane *unstructured.Unstructured) error
}

// SetupWithManager adds the reconciler to a manager.
func (r *Clusters) SetupWithManager(mgr ctrl.Manager) error {
	return objects.InfrastructureController{Client: r.Client, Kind: r.Object, Fill: r.fill}.SetupWithManager(mgr)
}

// fill brings one infrastructure cluster to where its control plane is. Core connects to a cluster as soon as its infrastructure is ready,
// and tries again only half a minute after it found no kubeconfig: the control plane comes first.
func (r *Clusters) fill(ctx context.Context, found *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	plane := objects.New(r.Plane.Object)
	var endpoint clusterv1.APIEndpoint
	if ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false) {
		err := r.Client.Get(ctx, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, plane)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if endpoint, err = r.Plane.endpoint(plane); err != nil {
			return err
		}
	}
	if err := objects.Change(ctx, r.Client, found, func(o *unstructured.Unstructured) error {
		if r.Fill != nil {
			return r.Fill(o, endpoint)
		}
		return fillEndpoint(o, endpoint)
	}); err != nil {
		return err
	}
	if r.Make != nil {
		if err := r.Make(ctx, found); err != nil {
			return err
		}
	}
	if !endpoint.IsValid() {
		return nil
	}
	return objects.ChangeStatus(ctx, r.Client, found, func(o *unstructured.Unstructured) error { return r.Ready(o, plane) })
}

// fillEndpoint sets the endpoint of an infrastructure cluster that has none, once it is known.
func fillEndpoint(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	if !endpoint.IsValid() {
		return nil
	}
	return fields.Fill(o,
		fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
		fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}})
}

package aks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// later is the interval between looks at a managed cluster at rest: users can stop it out of band.
const later = time.Minute

// States of a managed cluster, and of its power.
const (
	creating  = "Creating"
	failed    = "Failed"
	canceled  = "Canceled"
	succeeded = "Succeeded"
	stopped   = "Stopped"
)

// ControlPlanes makes every control plane of a kind an API server and a managed cluster of AKS.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Azure holds networks, and Registry is the simulated AKS.
	Azure    azurestandin.Maker
	Registry Registry
	// Kind of the control planes.
	Kind Kind
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	frame := &managedplane.Reconciler{Client: r.Client, Servers: r.Servers, Publisher: r.Publisher, Kind: r.Kind.Kind, Cloud: r}
	return frame.SetupWithManager(mgr)
}

// Fill sets what the object leaves open.
func (r *ControlPlanes) Fill(plane *unstructured.Unstructured, cluster string) error {
	return r.Kind.fill(plane, cluster)
}

// Bring has AKS make or change the managed cluster, once there is a System pool to create it with. While another operation runs it is tried
// again soon.
func (r *ControlPlanes) Bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster,
	s managedplane.Served) (time.Duration, error) {
	view, err := viewOf(plane, cluster.Name)
	if err != nil {
		return 0, err
	}
	want, err := r.want(ctx, plane, cluster, view)
	if err != nil {
		return 0, err
	}
	if want.Body == nil {
		return managedplane.Soon, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return r.Kind.Unavailable(o, "WaitingForSystemPool",
				fmt.Sprintf("AKS creates a managed cluster with its first System pool: create a MachinePool "+
					"with an %s whose mode is System", r.Kind.pool.Kind))
		})
	}
	if err := r.Azure.Make(ctx, r.Kind.network(plane, view)); err != nil {
		return 0, err
	}
	want.Access = containerservice.Access{Endpoint: s.URL, CA: s.CA.CertPEM, Token: s.Token, Kubeconfig: s.Kubeconfig}
	is, err := r.Registry.Put(ctx, want)
	switch {
	case errors.Is(err, ErrBusy):
		return managedplane.Soon, nil
	case err != nil:
		return 0, fmt.Errorf("managed cluster %s: %w", want.Name, err)
	}
	return r.report(ctx, plane, s.Endpoint, is)
}

// viewOf is where the managed cluster of a control plane is.
func viewOf(plane *unstructured.Unstructured, cluster string) (aksv1.ManagedClusterView, error) {
	view, err := aksv1.ManagedClusterViewOf(plane, cluster)
	view.View.SubscriptionID = cmp.Or(view.View.SubscriptionID, azure.SubscriptionID)
	return view, err
}

// want returns the managed cluster that the objects ask for; without a body while there is no System pool to create it with.
func (r *ControlPlanes) want(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster,
	view aksv1.ManagedClusterView,
) (containerservice.DesiredCluster, error) {
	out := containerservice.DesiredCluster{SubscriptionID: view.View.SubscriptionID, Group: view.View.ResourceGroup, Name: view.Name}
	body, err := r.Kind.body(plane)
	if err != nil {
		return out, err
	}
	if !initialized(plane) {
		pools, err := r.pools(ctx, cluster, view)
		if err != nil {
			return out, err
		}
		own, _, err := unstructured.NestedSlice(body, "properties", "agentPoolProfiles")
		if err != nil {
			return out, err
		}
		if pools = append(own, pools...); len(pools) == 0 {
			return out, nil
		}
		if err := unstructured.SetNestedSlice(body, pools, "properties", "agentPoolProfiles"); err != nil {
			return out, err
		}
	}
	out.Body = body
	return out, nil
}

// report writes what has become of the managed cluster, and returns when it is looked at again. One that has been created serves, whatever
// becomes of its pools, until it is stopped.
func (r *ControlPlanes) report(ctx context.Context, plane *unstructured.Unstructured, endpoint clusterv1.APIEndpoint,
	is containerservice.Inspected,
) (time.Duration, error) {
	again := managedplane.Soon
	if is.State == succeeded || is.State == failed || is.State == canceled {
		again = later
	}
	if is.Power == stopped || is.State == creating || is.State == failed && !initialized(plane) {
		return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			message := fmt.Sprintf("managed cluster %s is in the state %s, its power is %s", is.Name, is.State, is.Power)
			return r.Kind.Unavailable(o, cmp.Or(is.Code, is.State), cmp.Or(is.Message, message))
		})
	}
	if r.Kind.Endpoint[0] == "spec" {
		if err := objects.Change(ctx, r.Client, plane,
			func(o *unstructured.Unstructured) error { return r.Kind.Reachable(o, endpoint) }); err != nil {
			return 0, err
		}
	}
	return again, objects.ChangeStatus(ctx, r.Client, plane,
		func(o *unstructured.Unstructured) error { return r.Kind.available(o, endpoint, is) })
}

// Delete has AKS delete the managed cluster.
func (r *ControlPlanes) Delete(ctx context.Context, plane *unstructured.Unstructured) (gone bool, err error) {
	view, err := viewOf(plane, plane.GetName())
	if err != nil {
		return true, nil // an object that names no managed cluster has none
	}
	if gone, err = r.Registry.Delete(ctx, view.View.SubscriptionID, view.View.ResourceGroup, view.Name); err != nil {
		return false, fmt.Errorf("delete the managed cluster %s: %w", view.Name, err)
	}
	return gone, nil
}

package aks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurenetwork "github.com/muster-project/muster/local/clouds/azure/network"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

const (
	// concurrency is how many API servers may be started at once: each keeps a processor busy for two seconds.
	concurrency = 4
	// soon is when a managed cluster that something is done to is looked at again, and later when it rests: users stop it by hand.
	soon, later = time.Second, time.Minute
)

// States of a managed cluster, and of its power.
const (
	creating  = "Creating"
	failed    = "Failed"
	canceled  = "Canceled"
	succeeded = "Succeeded"
	stopped   = "Stopped"
)

// operator is AKS in a cluster.
var operator = workload.Operator{Role: "aks:node-manager", Group: "system:bootstrappers:aks:node-manager", TokenID: "aksnod"}

// ControlPlanes makes every control plane of a kind an API server and a managed cluster of AKS.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers are where the API servers run, and Publisher tells others how to reach them.
	Servers   *workload.Servers
	Publisher *workload.Publisher
	// Azure holds networks, and Registry is the simulated AKS.
	Azure    azurenetwork.Maker
	Registry Registry
	// Kind of the control planes.
	Kind Kind
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(objects.New(r.Kind.plane)).
		Watches(&clusterv1.Cluster{}, objects.OfControlPlane(r.Kind.plane)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of %ss: %w", r.Kind.plane.Kind, err)
	}
	return nil
}

// Reconcile brings one control plane, its API server and AKS together.
func (r *ControlPlanes) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	plane := objects.New(r.Kind.plane)
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
		reason, message := failed, err.Error()
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			reason, message = refusal.Code, refusal.Message
		}
		said := objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return unavailable(o, reason, message)
		})
		return ctrl.Result{}, errors.Join(err, said)
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// key of the API server of a control plane.
func (r *ControlPlanes) key(plane client.Object) types.NamespacedName {
	kind := "aks"
	if r.Kind.plane.Kind == aksv1.ASOManagedControlPlaneKind {
		kind = "aks-aso"
	}
	return workload.KeyOf(kind, client.ObjectKeyFromObject(plane))
}

// resume starts an API server again that served before this process did. Pausing stops changes, not a control plane.
func (r *ControlPlanes) resume(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	if !plane.GetDeletionTimestamp().IsZero() || !controllerutil.ContainsFinalizer(plane, r.Kind.finalizer) {
		return nil
	}
	_, err := r.Servers.Start(ctx, r.key(plane), workload.Wanted{Cluster: cluster.Name, Port: r.port(plane)})
	return err
}

// port that the object names; 0 when it names none.
func (r *ControlPlanes) port(plane *unstructured.Unstructured) int {
	p, _, err := unstructured.NestedInt64(plane.Object, append(r.Kind.endpoint[:2:2], "port")...)
	if err != nil {
		return 0
	}
	return int(p)
}

// bring brings the control plane to where it shall be, and returns when it is looked at again. What fits already is not written.
func (r *ControlPlanes) bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (time.Duration, error) {
	if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.AddFinalizer(o, r.Kind.finalizer)
		return r.Kind.fill(o, cluster.Name)
	}); err != nil {
		return 0, err
	}
	server, token, err := r.serve(ctx, plane, cluster)
	if err != nil {
		return 0, err
	}
	view, err := viewOf(plane, cluster.Name)
	if err != nil {
		return 0, err
	}
	want, err := r.want(ctx, plane, cluster, view)
	if err != nil {
		return 0, err
	}
	if want.Body == nil {
		return soon, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			return unavailable(o, "WaitingForSystemPool", fmt.Sprintf("AKS creates a managed cluster with its first System pool: create a MachinePool "+
				"with an %s whose mode is System", r.Kind.pool.Kind))
		})
	}
	if err := r.Azure.Make(ctx, r.Kind.network(plane, view)); err != nil {
		return 0, err
	}
	want.Access = containerservice.Access{Endpoint: server.URL, CA: server.CA.CertPEM, Token: token, Kubeconfig: server.Kubeconfig}
	is, err := r.Registry.Put(ctx, want)
	if err != nil {
		return 0, fmt.Errorf("managed cluster %s: %w", want.Name, err)
	}
	return r.report(ctx, plane, clusterv1.APIEndpoint{Host: workload.Host, Port: int32(server.Port)}, is)
}

// serve starts the API server and lets AKS into it.
func (r *ControlPlanes) serve(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (*workload.Server, string, error) {
	server, err := r.Servers.Start(ctx, r.key(plane), workload.Wanted{Cluster: cluster.Name, Port: r.port(plane)})
	if err != nil {
		return nil, "", err
	}
	if err := r.Publisher.Publish(ctx, plane, cluster.Name, server); err != nil {
		return nil, "", err
	}
	token, err := operator.LetIn(ctx, server.Config)
	if err != nil {
		return nil, "", fmt.Errorf("let AKS into the cluster %s: %w", cluster.Name, err)
	}
	return server, token, nil
}

// viewOf is where the managed cluster of a control plane is.
func viewOf(plane *unstructured.Unstructured, cluster string) (aksv1.ManagedClusterView, error) {
	view, err := aksv1.ManagedClusterViewOf(plane, cluster)
	view.View.SubscriptionID = cmp.Or(view.View.SubscriptionID, azure.SubscriptionID)
	return view, err
}

// want is the managed cluster that the objects ask for; without a body while there is no System pool to create it with.
func (r *ControlPlanes) want(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster,
	view aksv1.ManagedClusterView,
) (containerservice.Wanted, error) {
	out := containerservice.Wanted{SubscriptionID: view.View.SubscriptionID, Group: view.View.ResourceGroup, Name: view.Name}
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
	again := soon
	if is.State == succeeded || is.State == failed || is.State == canceled {
		again = later
	}
	if is.Power == stopped || is.State == creating || is.State == failed && !initialized(plane) {
		return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
			message := fmt.Sprintf("managed cluster %s is in the state %s, its power is %s", is.Name, is.State, is.Power)
			return unavailable(o, cmp.Or(is.Code, is.State), cmp.Or(is.Message, message))
		})
	}
	if r.Kind.endpoint[0] == "spec" {
		if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return r.Kind.reachable(o, endpoint) }); err != nil {
			return 0, err
		}
	}
	return again, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return r.Kind.available(o, endpoint, is) })
}

// remove has AKS delete the managed cluster, stops the API server, removes what it kept, and lets the object go.
func (r *ControlPlanes) remove(ctx context.Context, plane *unstructured.Unstructured) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(plane, r.Kind.finalizer) {
		return ctrl.Result{}, nil
	}
	if view, err := viewOf(plane, plane.GetName()); err == nil {
		gone, err := r.Registry.Delete(ctx, view.View.SubscriptionID, view.View.ResourceGroup, view.Name)
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("delete the managed cluster %s: %w", view.Name, err)
		}
		if !gone {
			return ctrl.Result{RequeueAfter: soon}, nil
		}
	}
	if err := r.Servers.Remove(ctx, r.key(plane)); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Publisher.Withdraw(plane); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, client.IgnoreNotFound(objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.RemoveFinalizer(o, r.Kind.finalizer)
		return nil
	}))
}

// Package managedplane is the common part of the replacements for controllers of managed control planes: each object gets an API server,
// which the cloud has access to, and whose address is published. Each cloud adds its own part.
package managedplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
)

// concurrency bounds the concurrent reconciles. The Servers limit the concurrent starts of API servers.
const concurrency = 4

// Soon is the interval between looks at a cluster while an operation on it runs.
const Soon = time.Second

// Kind describes a kind of control planes.
type Kind struct {
	Object schema.GroupVersionKind
	// Finalizer is the finalizer of the provider's own controller.
	Finalizer string
	// Service is the name of the service: EKS. Folder stores the API servers of the kind.
	Service, Folder string
	// Endpoint is the path of the field with the address of the control plane.
	Endpoint []string
	// Conditions lists the conditions of a control plane: the summary, the service's own one, and the one that core mirrors to the Cluster.
	Conditions []string
	// Operator runs the service's part in a cluster.
	Operator workload.Operator
}

// Key returns the key of the API server of a control plane.
func (k Kind) Key(plane client.Object) types.NamespacedName {
	return workload.KeyOf(k.Folder, client.ObjectKeyFromObject(plane))
}

// port returns the port that the object names, 0 for none.
func (k Kind) port(plane *unstructured.Unstructured) int {
	p, _, err := unstructured.NestedInt64(plane.Object, k.below("port")...)
	if err != nil {
		return 0
	}
	return int(p)
}

// Served is the API server of a control plane.
type Served struct {
	*workload.Server
	// Token lets the cloud and its machines in.
	Token    string
	Endpoint clusterv1.APIEndpoint
}

// Cloud is the service that runs the control planes.
type Cloud interface {
	// Fill sets what the object leaves open, as the provider does.
	Fill(plane *unstructured.Unstructured, cluster string) error
	// Bring makes or changes the cluster of the cloud, and reports on the object what has become of it. It returns when the object is looked
	// at again, 0 for never.
	Bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster, s Served) (time.Duration, error)
	// Delete begins to delete the cluster and reports whether it is gone.
	Delete(ctx context.Context, plane *unstructured.Unstructured) (gone bool, err error)
	// Unavailable writes to the status why the control plane does not serve.
	Unavailable(plane *unstructured.Unstructured, why error) error
}

// Reconciler makes every control plane of a kind an API server and a cluster of the cloud.
type Reconciler struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	Kind      Kind
	Cloud     Cloud
}

// SetupWithManager adds the reconciler to a manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(objects.New(r.Kind.Object)).
		Watches(&clusterv1.Cluster{}, objects.OfControlPlane(r.Kind.Object)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of %ss: %w", r.Kind.Object.Kind, err)
	}
	return nil
}

// Reconcile brings one control plane, its API server and the cloud together.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	plane := objects.New(r.Kind.Object)
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
	if err != nil {
		statusErr := objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return r.Cloud.Unavailable(o, err) })
		return ctrl.Result{}, errors.Join(err, statusErr)
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// resume starts an API server again that served before this process did. Pausing stops changes, not a control plane.
func (r *Reconciler) resume(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	if !plane.GetDeletionTimestamp().IsZero() || !controllerutil.ContainsFinalizer(plane, r.Kind.Finalizer) {
		return nil
	}
	_, err := r.start(ctx, plane, cluster)
	return err
}

func (r *Reconciler) start(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (*workload.Server, error) {
	return r.Servers.Start(ctx, r.Kind.Key(plane), workload.ServerSpec{Cluster: cluster.Name, Port: r.Kind.port(plane)})
}

// bring moves the control plane towards the desired state, and returns when it is to be reconciled again. It writes only differences.
func (r *Reconciler) bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) (time.Duration, error) {
	if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.AddFinalizer(o, r.Kind.Finalizer)
		return r.Cloud.Fill(o, cluster.Name)
	}); err != nil {
		return 0, err
	}
	server, err := r.start(ctx, plane, cluster)
	if err != nil {
		return 0, err
	}
	if err := r.Publisher.Publish(ctx, plane, cluster.Name, server); err != nil {
		return 0, err
	}
	token, err := r.Kind.Operator.LetIn(ctx, server.Config)
	if err != nil {
		return 0, fmt.Errorf("let %s into the cluster %s: %w", r.Kind.Service, cluster.Name, err)
	}
	return r.Cloud.Bring(ctx, plane, cluster, Served{Server: server, Token: token,
		Endpoint: clusterv1.APIEndpoint{Host: workload.Host, Port: int32(server.Port)}})
}

// remove has the cloud delete the cluster, stops the API server, removes what it kept, and lets the object go.
func (r *Reconciler) remove(ctx context.Context, plane *unstructured.Unstructured) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(plane, r.Kind.Finalizer) {
		return ctrl.Result{}, nil
	}
	gone, err := r.Cloud.Delete(ctx, plane)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case !gone:
		return ctrl.Result{RequeueAfter: Soon}, nil
	}
	if err := r.Servers.Remove(ctx, r.Kind.Key(plane)); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Publisher.Withdraw(plane); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, client.IgnoreNotFound(objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.RemoveFinalizer(o, r.Kind.Finalizer)
		return nil
	}))
}

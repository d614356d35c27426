package eks

import (
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

	"github.com/muster-project/muster/local/clouds/aws/kinds"
	awsnetwork "github.com/muster-project/muster/local/clouds/aws/network"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
)

const (
	// finalizer of the AWS provider's own controller.
	finalizer = "awsmanagedcontrolplane.controlplane.cluster.x-k8s.io"
	// concurrency is how many API servers may be started at once: each keeps a processor busy for two seconds.
	concurrency = 4
	// inUsePause is how soon the deletion of a cluster that still has node groups is tried again.
	inUsePause = 2 * time.Second
)

// operator is EKS in a cluster.
var operator = workload.Operator{Role: "eks:node-manager", Group: "system:bootstrappers:eks:node-manager", TokenID: "eksnod"}

// ErrInUse is why a cluster is not removed: it still has node groups.
var ErrInUse = errors.New("the cluster has node groups")

// Registry is the simulated EKS, as far as clusters are made known to it.
type Registry interface {
	// Put makes a cluster known, or changes it.
	Put(ctx context.Context, c Cluster) error
	// Delete forgets a cluster; one that is not known is no error, and one that has node groups is ErrInUse.
	Delete(ctx context.Context, region, name string) error
}

// Cluster is what EKS says about a cluster, and the token by which it is let in.
type Cluster struct {
	// Region and Name in the cloud, Version as EKS spells it: 1.32.
	Region, Name, Version string
	// Endpoint is the URL of the API server, CA its authority as PEM.
	Endpoint string
	CA       []byte
	// Token is the bootstrap token of EKS and its machines. No API shows it.
	Token string
	// Subnets and SecurityGroup of the cluster.
	Subnets       []string
	SecurityGroup string
}

// ControlPlanes makes every AWSManagedControlPlane an API server that EKS knows.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers are where the API servers run, and Publisher tells others how to reach them.
	Servers   *workload.Servers
	Publisher *workload.Publisher
	// Network in a region, which fills in what an object leaves open. The empty region means the account's own.
	Network func(region string) awsnetwork.Network
	// Registry is the simulated EKS.
	Registry Registry
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		For(objects.New(kinds.AWSManagedControlPlane)).
		Watches(&clusterv1.Cluster{}, objects.OfControlPlane(kinds.AWSManagedControlPlane)).
		WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of EKS control planes: %w", err)
	}
	return nil
}

// Reconcile brings one AWSManagedControlPlane, its API server and EKS together.
func (r *ControlPlanes) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	plane := objects.New(kinds.AWSManagedControlPlane)
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
	if err := r.bring(ctx, plane, cluster); err != nil {
		told := objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return unavailable(o, err) })
		return ctrl.Result{}, errors.Join(err, told)
	}
	return ctrl.Result{}, nil
}

// key of the API server of a control plane.
func key(plane client.Object) types.NamespacedName {
	return workload.KeyOf("eks", client.ObjectKeyFromObject(plane))
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
	p, _, err := unstructured.NestedInt64(plane.Object, "spec", "controlPlaneEndpoint", "port")
	if err != nil {
		return 0
	}
	return int(p)
}

// bring brings the control plane to where it shall be. What fits already is not written.
func (r *ControlPlanes) bring(ctx context.Context, plane *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	network, err := r.fill(ctx, plane)
	if err != nil {
		return err
	}
	version, err := versionOf(plane)
	if err != nil {
		return err
	}
	server, err := r.Servers.Start(ctx, key(plane), workload.Wanted{Cluster: cluster.Name, Port: port(plane)})
	if err != nil {
		return err
	}
	if err := r.Publisher.Publish(ctx, plane, cluster.Name, server); err != nil {
		return err
	}
	token, err := operator.LetIn(ctx, server.Config)
	if err != nil {
		return fmt.Errorf("let EKS into the cluster %s: %w", cluster.Name, err)
	}
	var subnets []string
	for _, s := range network.Subnets {
		subnets = append(subnets, s.ID)
	}
	known := Cluster{Region: network.Region, Name: nameOf(plane), Version: version, Endpoint: server.URL, CA: server.CA.CertPEM,
		Token: token, Subnets: subnets, SecurityGroup: network.NodeSecurityGroup}
	if err := r.Registry.Put(ctx, known); err != nil {
		return fmt.Errorf("register the cluster %s with EKS: %w", known.Name, err)
	}
	endpoint := clusterv1.APIEndpoint{Host: workload.Host, Port: int32(server.Port)}
	if err := objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return network.FillSpec(o, endpoint) }); err != nil {
		return err
	}
	return objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return available(o, network, version) })
}

// fill sets the finalizer and what the object leaves open, and gives the network.
func (r *ControlPlanes) fill(ctx context.Context, plane *unstructured.Unstructured) (awsnetwork.Network, error) {
	region, _, err := unstructured.NestedString(plane.Object, "spec", "region")
	if err != nil {
		return awsnetwork.Network{}, err
	}
	network := r.Network(region)
	return network, objects.Change(ctx, r.Client, plane, func(o *unstructured.Unstructured) error {
		controllerutil.AddFinalizer(o, finalizer)
		if err := network.FillSpec(o, clusterv1.APIEndpoint{}); err != nil {
			return err
		}
		return fields.Fill(o, fields.Field{Value: defaultName(o), Path: []string{"spec", "eksClusterName"}})
	})
}

// remove has EKS forget the cluster, stops the API server, removes what it kept, and lets the object go.
func (r *ControlPlanes) remove(ctx context.Context, plane *unstructured.Unstructured) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(plane, finalizer) {
		return ctrl.Result{}, nil
	}
	region, _, err := unstructured.NestedString(plane.Object, "spec", "region")
	if err != nil {
		return ctrl.Result{}, err
	}
	switch err := r.Registry.Delete(ctx, r.Network(region).Region, nameOf(plane)); {
	case errors.Is(err, ErrInUse):
		return ctrl.Result{RequeueAfter: inUsePause}, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return unavailable(o, err) })
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("remove the cluster %s from EKS: %w", nameOf(plane), err)
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

// nameOf is the cluster's name in EKS, and defaultName what the AWS provider makes of an object that sets none.
func nameOf(plane *unstructured.Unstructured) string {
	if name, _, err := unstructured.NestedString(plane.Object, "spec", "eksClusterName"); err == nil && name != "" {
		return name
	}
	return defaultName(plane)
}

func defaultName(plane *unstructured.Unstructured) string {
	return plane.GetNamespace() + "_" + strings.ReplaceAll(plane.GetName(), ".", "_")
}

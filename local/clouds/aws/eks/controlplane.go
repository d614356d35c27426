package eks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/managedplane"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/workload"
)

// kind of the AWS provider's control planes.
var kind = managedplane.Kind{
	Object: standin.AWSManagedControlPlane, Finalizer: "awsmanagedcontrolplane.controlplane.cluster.x-k8s.io", Service: "EKS", Folder: "eks",
	Endpoint: []string{"spec", "controlPlaneEndpoint"}, Conditions: []string{"Ready", "EKSControlPlaneReady", "Available"},
	Operator: workload.Operator{Role: "eks:node-manager", Group: "system:bootstrappers:eks:node-manager", TokenID: "eksnod"},
}

// ErrInUse is why a cluster is not removed: it still has node groups.
var ErrInUse = errors.New("the cluster has node groups")

// Registry is the simulated EKS, as far as clusters are made known to it.
type Registry interface {
	// Put makes a cluster known, or changes it.
	Put(ctx context.Context, c Cluster) error
	// Delete forgets a cluster; one that is not known is no error, and one that has node groups is ErrInUse.
	Delete(ctx context.Context, region, name string) error
}

// Cluster holds the state of a cluster in EKS, and the token that authenticates its API server.
type Cluster struct {
	// Region and Name identify it in the cloud. Version has the form of EKS: 1.32.
	Region  string `json:"region"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// Endpoint is the URL of the API server, CA its authority as PEM.
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"certificateAuthority"`
	// Token is the bootstrap token of EKS and its machines. No API shows it.
	Token string `json:"token"`
	// Subnets and SecurityGroup of the cluster.
	Subnets       []string `json:"subnetIds"`
	SecurityGroup string   `json:"securityGroupId"`
}

// ControlPlanes makes every AWSManagedControlPlane an API server that EKS knows.
type ControlPlanes struct {
	// Client of the management cluster. It reads Secrets from the API server, not from a cache.
	Client client.Client
	// Servers runs the API servers, and Publisher announces their addresses.
	Servers   workload.Servers
	Publisher *workload.Publisher
	// Network in a region, which fills in what an object leaves open. The empty region means the account's own.
	Network func(region string) standin.Network
	// Registry is the simulated EKS.
	Registry Registry
}

// SetupWithManager adds the reconciler to a manager.
func (r *ControlPlanes) SetupWithManager(mgr ctrl.Manager) error {
	frame := &managedplane.Reconciler{Client: r.Client, Servers: r.Servers, Publisher: r.Publisher, Kind: kind, Cloud: r}
	return frame.SetupWithManager(mgr)
}

// Fill sets the network and the name where the object leaves them open. It returns an error for a version that is none.
func (r *ControlPlanes) Fill(plane *unstructured.Unstructured, _ string) error {
	network, err := r.networkOf(plane)
	if err != nil {
		return err
	}
	if err := network.FillSpec(plane, clusterv1.APIEndpoint{}); err != nil {
		return err
	}
	if err := fields.Fill(plane, fields.Field{Value: defaultName(plane), Path: []string{"spec", "eksClusterName"}}); err != nil {
		return err
	}
	_, err = r.versionOf(plane)
	return err
}

// networkOf returns the network of the region that the object names.
func (r *ControlPlanes) networkOf(plane *unstructured.Unstructured) (standin.Network, error) {
	region, _, err := unstructured.NestedString(plane.Object, "spec", "region")
	if err != nil {
		return standin.Network{}, err
	}
	return r.Network(region), nil
}

// Bring makes the cluster known to EKS. It is available at once.
func (r *ControlPlanes) Bring(ctx context.Context, plane *unstructured.Unstructured, _ *clusterv1.Cluster,
	s managedplane.Served) (time.Duration, error) {
	network, err := r.networkOf(plane)
	if err != nil {
		return 0, err
	}
	version, err := r.versionOf(plane)
	if err != nil {
		return 0, err
	}
	var subnets []string
	for _, subnet := range network.Subnets {
		subnets = append(subnets, subnet.ID)
	}
	known := Cluster{Region: network.Region, Name: nameOf(plane), Version: version, Endpoint: s.URL, CA: s.CA.CertPEM,
		Token: s.Token, Subnets: subnets, SecurityGroup: network.NodeSecurityGroup}
	if err := r.Registry.Put(ctx, known); err != nil {
		return 0, fmt.Errorf("register the cluster %s with EKS: %w", known.Name, err)
	}
	if err := objects.Change(ctx, r.Client, plane,
		func(o *unstructured.Unstructured) error { return network.FillSpec(o, s.Endpoint) }); err != nil {
		return 0, err
	}
	return 0, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return available(o, network, version) })
}

// Delete has EKS forget the cluster, unless it still has node groups.
func (r *ControlPlanes) Delete(ctx context.Context, plane *unstructured.Unstructured) (gone bool, err error) {
	network, err := r.networkOf(plane)
	if err != nil {
		return false, err
	}
	switch err := r.Registry.Delete(ctx, network.Region, nameOf(plane)); {
	case errors.Is(err, ErrInUse):
		return false, objects.ChangeStatus(ctx, r.Client, plane, func(o *unstructured.Unstructured) error { return r.Unavailable(o, err) })
	case err != nil:
		return false, fmt.Errorf("remove the cluster %s from EKS: %w", nameOf(plane), err)
	}
	return true, nil
}

// nameOf returns the cluster's name in EKS, and defaultName what the AWS provider makes of an object that sets none.
func nameOf(plane *unstructured.Unstructured) string {
	if name, _, err := unstructured.NestedString(plane.Object, "spec", "eksClusterName"); err == nil && name != "" {
		return name
	}
	return defaultName(plane)
}

func defaultName(plane *unstructured.Unstructured) string {
	return plane.GetNamespace() + "_" + strings.ReplaceAll(plane.GetName(), ".", "_")
}

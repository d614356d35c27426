package standintest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/clouds/aws/eks"
	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/clouds/azure/aks"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/clouds/gcp/gke"
	gcpstandin "github.com/muster-project/muster/local/clouds/gcp/standin"
	"github.com/muster-project/muster/local/clouds/oci/oke"
	ocistandin "github.com/muster-project/muster/local/clouds/oci/standin"
	"github.com/muster-project/muster/local/clouds/scaleway/kapsule"
	"github.com/muster-project/muster/local/controllers"
	"github.com/muster-project/muster/local/foreign"
	"github.com/muster-project/muster/local/infracluster"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/scaleway"
	"github.com/muster-project/muster/test/alone"
)

// The world of all tests: a management cluster with every cloud's control planes on it, an EKS that is only a list, and simulated clouds
// without software on their machines. Each test has its own namespace.
var (
	stand      *standintest.World
	server     *alone.Server
	management client.Client
	knownToEKS = &list{clusters: map[string]eks.Cluster{}, busy: map[string]bool{}}
	azureCloud *azure.Cloud
	gcpCloud   *gcp.Cloud
	scwCloud   *scaleway.Cloud
	ociCloud   *oci.Cloud
)

func TestMain(m *testing.M) { os.Exit(alone.Run(m, "standins", begin)) }

func begin(ctx context.Context, s *alone.Server, dir string) (func() error, error) {
	server = s
	set, err := controllers.Management(ctx, s.Config)
	if err != nil {
		return nil, err
	}
	pools := []foreign.Kind{
		{GroupVersionKind: aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind), Plural: "azuremanagedmachinepools"},
		{GroupVersionKind: aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind), Plural: "azureasomanagedmachinepools",
			Older: "v1alpha1"},
	}
	if stand, err = standintest.New(ctx, s.Config, dir, append(all.Kinds(all.Names()...), pools...)...); err != nil {
		return nil, err
	}
	management = stand.Client
	if azureCloud, err = azure.New(azure.Options{Speed: 500}); err != nil {
		return nil, err
	}
	if gcpCloud, err = gcp.New(gcp.Options{Speed: 500}); err != nil {
		return nil, err
	}
	if scwCloud, err = scaleway.New(scaleway.Options{Speed: 500}); err != nil {
		return nil, err
	}
	if ociCloud, err = oci.New(oci.Options{Speed: 500}); err != nil {
		return nil, err
	}
	azureWeb, gcpWeb, scwWeb := httptest.NewServer(azureCloud), httptest.NewServer(gcpCloud), httptest.NewServer(scwCloud)
	ociWeb := httptest.NewServer(ociCloud)
	for _, r := range reconcilers(azureWeb.URL, gcpWeb.URL, scwWeb.URL, ociWeb.URL) {
		if err := r.SetupWithManager(stand.Manager); err != nil {
			return nil, err
		}
	}
	stop := stand.Start(ctx)
	return func() error {
		err := stop()
		azureWeb.Close()
		gcpWeb.Close()
		scwWeb.Close()
		ociWeb.Close()
		set.Stop()
		return errors.Join(err, azureCloud.Close(), gcpCloud.Close(), scwCloud.Close(), ociCloud.Close())
	}, nil
}

// reconcilers returns the reconcilers of the control planes and clusters of all clouds.
func reconcilers(azureURL, gcpURL, scwURL, ociURL string) []interface{ SetupWithManager(mgr ctrl.Manager) error } {
	c := stand.Manager.GetClient()
	region := func(region string) awsstandin.Network {
		if region == "" {
			region = "eu-west-1"
		}
		return awsstandin.Network{Region: region, VPC: "vpc-1", NodeSecurityGroup: "sg-1",
			Subnets: []awsstandin.Subnet{{ID: "subnet-1", Zone: region + "a", CIDR: "10.0.0.0/24"}}}
	}
	project := gcpstandin.Network{Project: "simulated-project", Region: "us-central1",
		Zones:   func(region string) []string { return []string{region + "-a"} },
		Compute: gcpstandin.HTTP{Endpoint: gcpURL}}
	made := []interface{ SetupWithManager(mgr ctrl.Manager) error }{
		&eks.ControlPlanes{Client: c, Servers: stand.Servers, Publisher: stand.Publisher, Registry: knownToEKS, Network: region},
		eks.Clusters(c),
		&gke.ControlPlanes{Client: c, Servers: stand.Servers, Publisher: stand.Publisher, Network: project, Registry: gke.HTTP{Endpoint: gcpURL}},
		gke.Clusters(c, project),
		&kapsule.ControlPlanes{Client: c, Servers: stand.Servers, Publisher: stand.Publisher, Registry: kapsule.HTTP{Endpoint: scwURL}},
		kapsule.Clusters(c),
		&oke.ControlPlanes{Client: c, Servers: stand.Servers, Publisher: stand.Publisher, Registry: oke.HTTP{Endpoint: ociURL}},
		oke.Clusters(c),
		&infracluster.Reconciler{Client: c, Kind: ocistandin.OCICluster,
			Network: func(*unstructured.Unstructured) infracluster.Network { return ocistandin.Network{} }},
	}
	for _, kind := range []aks.Kind{aks.Managed(), aks.ASO()} {
		made = append(made,
			&aks.ControlPlanes{Client: c, Servers: stand.Servers, Publisher: stand.Publisher, Kind: kind, Registry: aks.HTTP{Endpoint: azureURL},
				Azure: azurestandin.HTTP{Endpoint: azureURL}},
			aks.Clusters(c, kind))
	}
	return made
}

// conditions is the number of conditions of a cloud's control plane: Ready, its service's own, and Available.
const conditions = 3

// service names the kinds of a managed service and their fields.
type service struct {
	plane, infra schema.GroupVersionKind
	// endpoint is the path of the address in a control plane. folder stores its API servers.
	endpoint []string
	folder   string
}

// createNamespace makes a namespace for a test.
func createNamespace(t *testing.T, name string) {
	t.Helper()
	if err := management.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

// create makes a Cluster with its control plane and infrastructure, owned as core would have it.
func (s service) create(t *testing.T, key client.ObjectKey, plane, infra map[string]any) (*clusterv1.Cluster, *unstructured.Unstructured) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: clusterv1.ClusterSpec{
		ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: s.plane.Group, Kind: s.plane.Kind, Name: key.Name},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: s.infra.Group, Kind: s.infra.Kind, Name: key.Name}}}
	if err := management.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	made := map[string]*unstructured.Unstructured{"plane": objects.New(s.plane), "infra": objects.New(s.infra)}
	for name, spec := range map[string]map[string]any{"plane": plane, "infra": infra} {
		o := made[name]
		o.SetNamespace(key.Namespace)
		o.SetName(key.Name)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: key.Name,
			UID: cluster.UID}})
		if spec != nil {
			o.Object["spec"] = spec
		}
	}
	for _, name := range []string{"infra", "plane"} {
		if err := management.Create(t.Context(), made[name]); err != nil {
			t.Fatal(err)
		}
	}
	return cluster, made["plane"]
}

// untilReady waits until core considers the control plane initialized, with its endpoint and the given status.
func (s service) untilReady(t *testing.T, plane *unstructured.Unstructured, status map[string]any) {
	t.Helper()
	standintest.Eventually(t, fmt.Sprintf("a control plane that is ready, with %v", status), func(ctx context.Context) error {
		if err := stand.HasConditions(ctx, plane, conditions, "True", ""); err != nil {
			return err
		}
		for _, field := range []string{"ready", "initialized"} {
			if got, _, _ := unstructured.NestedBool(plane.Object, "status", field); !got {
				return fmt.Errorf("status.%s is not true", field)
			}
		}
		for field, want := range status {
			if got, _, _ := unstructured.NestedFieldNoCopy(plane.Object, "status", field); got != want {
				return fmt.Errorf("status.%s is %v", field, got)
			}
		}
		if host, _, _ := unstructured.NestedString(plane.Object, s.path("host")...); host != workload.Host {
			return fmt.Errorf("the endpoint is %q", host)
		}
		return nil
	})
}

// path returns the path of a field of the endpoint.
func (s service) path(field string) []string { return append(s.endpoint[:2:2], field) }

// setVersion changes the version of a control plane.
func setVersion(t *testing.T, plane *unstructured.Unstructured, version string) {
	t.Helper()
	if err := management.Get(t.Context(), client.ObjectKeyFromObject(plane), plane); err != nil {
		t.Fatal(err)
	}
	if err := objects.Change(t.Context(), management, plane, func(o *unstructured.Unstructured) error {
		return unstructured.SetNestedField(o.Object, version, "spec", "version")
	}); err != nil {
		t.Fatal(err)
	}
}

// infrastructure plays core, which notes that the control plane is initialized, and waits for the infrastructure cluster, which it returns.
func (s service) infrastructure(t *testing.T, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	before := cluster.DeepCopy()
	cluster.Status.Initialization.ControlPlaneInitialized = new(true)
	if err := management.Status().Patch(t.Context(), cluster, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	o := objects.New(s.infra)
	standintest.Eventually(t, "a ready "+s.infra.Kind+" with the endpoint", func(ctx context.Context) error {
		if err := management.Get(ctx, client.ObjectKeyFromObject(cluster), o); err != nil {
			return err
		}
		ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
		got, _, _ := unstructured.NestedInt64(o.Object, "spec", "controlPlaneEndpoint", "port")
		want, _, _ := unstructured.NestedInt64(plane.Object, s.path("port")...)
		if !ready || got != want || want == 0 {
			return fmt.Errorf("it is %v", o.Object)
		}
		return nil
	})
	return o
}

// removed waits until a deleted control plane is gone, and holds that it has left no file.
func (s service) removed(t *testing.T, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
	t.Helper()
	key := client.ObjectKeyFromObject(plane)
	standintest.Eventually(t, "the object gone", func(ctx context.Context) error {
		if err := management.Get(ctx, key, plane); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there, %w", err)
		}
		return nil
	})
	for _, path := range []string{stand.KubeconfigFile(client.ObjectKeyFromObject(cluster)),
		stand.Servers.Place(workload.KeyOf(s.folder, key))} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want it gone, got %v", path, err)
		}
	}
}

// delete has a control plane deleted.
func remove(t *testing.T, o client.Object) {
	t.Helper()
	if err := management.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

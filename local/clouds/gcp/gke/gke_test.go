package gke

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/apiserver/alone"
	"github.com/muster-project/muster/local/clouds/gcp/kinds"
	gcpnetwork "github.com/muster-project/muster/local/clouds/gcp/network"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/container"
)

// The world of the tests: a management cluster with the reconcilers under test on it, and a simulated Google Cloud without machines' insides.
var (
	stand      *standintest.World
	management client.Client
	planes     *ControlPlanes
	cloud      *gcp.Cloud
)

func TestMain(m *testing.M) { os.Exit(alone.Run(m, "gke", begin)) }

func begin(ctx context.Context, s *apiserver.Server, dir string) (func() error, error) {
	var err error
	if stand, err = standintest.New(ctx, s, dir, kinds.All()...); err != nil {
		return nil, err
	}
	management = stand.Client
	if cloud, err = gcp.New(gcp.Options{Speed: 500}); err != nil {
		return nil, err
	}
	web := httptest.NewServer(cloud)
	mgr := stand.Manager
	network := gcpnetwork.Network{Project: "simulated-project", Region: "us-central1", Zones: func(region string) []string { return []string{region + "-a"} },
		Compute: gcpnetwork.HTTP{Endpoint: web.URL}}
	planes = &ControlPlanes{Client: mgr.GetClient(), Servers: stand.Servers, Publisher: stand.Publisher, Network: network, Registry: HTTP{Endpoint: web.URL}}
	if err := errors.Join(planes.SetupWithManager(mgr), (&Clusters{Client: mgr.GetClient(), Network: network}).SetupWithManager(mgr)); err != nil {
		return nil, err
	}
	stop := stand.Start(ctx)
	return func() error {
		err := stop()
		web.Close()
		return errors.Join(err, cloud.Close())
	}, nil
}

// TestControlPlane walks a control plane through its life: its cluster is created in the network of its GCPManagedCluster, its version goes up,
// a version that GKE does not have is reported in GKE's words, and it leaves nothing.
func TestControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("an API server")
	}
	cluster, plane := create(t, "c", map[string]any{"version": "v1.34.2", "releaseChannel": "rapid"})
	untilReady(t, plane, "v1.34.2")
	c, ok := inspected()
	if !ok || c.Name != "default-c" || c.Location != "us-central1" || c.Version != "1.34.2-gke.1234500" || len(c.Pools) != 0 || c.Endpoint == "" {
		t.Errorf("want a cluster default-c without node pools, got %+v", c)
	}
	if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
		t.Error(err)
	}
	infrastructure(t, cluster, plane)

	change(t, plane, "v1.35.1")
	untilReady(t, plane, "v1.35.1")
	change(t, plane, "v1.39.0")
	standintest.Eventually(t, "GKE's own words about a version that it does not have", func(ctx context.Context) error {
		return stand.Says(ctx, plane, len(conditions), "False", `No valid versions with the prefix "1.39.0" found.`)
	})
	if n := cloud.Calls().Summary(0).Total; n != 0 {
		t.Errorf("want no request in the log of the cloud's clients, got %d", n)
	}
	removed(t, cluster, plane)
}

// create makes a Cluster with its control plane and infrastructure, owned as core would have it.
func create(t *testing.T, name string, spec map[string]any) (*clusterv1.Cluster, *unstructured.Unstructured) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.ClusterSpec{
		ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: kinds.GCPManagedControlPlane.Group, Kind: kinds.GCPManagedControlPlane.Kind, Name: name},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: kinds.GCPManagedCluster.Group, Kind: kinds.GCPManagedCluster.Kind, Name: name}}}
	if err := management.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	plane, infra := objects.New(kinds.GCPManagedControlPlane), objects.New(kinds.GCPManagedCluster)
	for _, o := range []*unstructured.Unstructured{infra, plane} {
		o.SetNamespace("default")
		o.SetName(name)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: name, UID: cluster.UID}})
	}
	plane.Object["spec"] = spec
	infra.Object["spec"] = map[string]any{"network": map[string]any{"name": "own"}}
	for _, o := range []client.Object{infra, plane} {
		if err := management.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return cluster, plane
}

// untilReady waits until core would take the control plane for initialized, at a version, with its endpoint.
func untilReady(t *testing.T, plane *unstructured.Unstructured, version string) {
	t.Helper()
	standintest.Eventually(t, "a control plane that is ready at "+version, func(ctx context.Context) error {
		if err := stand.Says(ctx, plane, len(conditions), "True", ""); err != nil {
			return err
		}
		for field, want := range map[string]any{"ready": true, "initialized": true, "version": version, "currentVersion": strings.TrimPrefix(version, "v")} {
			if got, _, _ := unstructured.NestedFieldNoCopy(plane.Object, "status", field); got != want {
				return fmt.Errorf("status.%s is %v", field, got)
			}
		}
		if host, _, _ := unstructured.NestedString(plane.Object, "spec", "endpoint", "host"); host != workload.Host {
			return fmt.Errorf("the endpoint is %q", host)
		}
		return nil
	})
}

// change sets the version of a control plane.
func change(t *testing.T, o *unstructured.Unstructured, version string) {
	t.Helper()
	if err := management.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	if err := objects.Change(t.Context(), management, o, func(o *unstructured.Unstructured) error {
		return unstructured.SetNestedField(o.Object, version, "spec", "version")
	}); err != nil {
		t.Fatal(err)
	}
}

// inspected is what GKE holds of the cluster.
func inspected() (container.Inspected, bool) {
	for _, c := range cloud.State().Clusters {
		return c, true
	}
	return container.Inspected{}, false
}

// infrastructure plays core, which notes that the control plane is initialized, and waits for the infrastructure cluster.
func infrastructure(t *testing.T, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
	t.Helper()
	before := cluster.DeepCopy()
	cluster.Status.Initialization.ControlPlaneInitialized = new(true)
	if err := management.Status().Patch(t.Context(), cluster, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	standintest.Eventually(t, "a ready GCPManagedCluster with the endpoint", func(ctx context.Context) error {
		o := objects.New(kinds.GCPManagedCluster)
		if err := management.Get(ctx, client.ObjectKeyFromObject(cluster), o); err != nil {
			return err
		}
		ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
		zones, _, _ := unstructured.NestedMap(o.Object, "status", "failureDomains")
		got, _, _ := unstructured.NestedInt64(o.Object, "spec", "controlPlaneEndpoint", "port")
		want, _, _ := unstructured.NestedInt64(plane.Object, "spec", "endpoint", "port")
		if !ready || got != want || want == 0 || len(zones) != 1 {
			return fmt.Errorf("it is %v", o.Object)
		}
		return nil
	})
}

// removed deletes a control plane and holds that nothing of it is left.
func removed(t *testing.T, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
	t.Helper()
	if err := management.Delete(t.Context(), plane); err != nil {
		t.Fatal(err)
	}
	standintest.Eventually(t, "the object gone", func(ctx context.Context) error {
		if err := management.Get(ctx, client.ObjectKeyFromObject(plane), plane); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there, %w", err)
		}
		return nil
	})
	if c, ok := inspected(); ok {
		t.Errorf("GKE: want the cluster deleted, got %+v", c)
	}
	for _, path := range []string{stand.KubeconfigFile(client.ObjectKeyFromObject(cluster)), planes.Servers.Place(kind.Key(plane))} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want it gone, got %v", path, err)
		}
	}
}

// TestHTTP: what the simulator says reaches the reconciler, and the token reaches no error.
func TestHTTP(t *testing.T) {
	for _, tc := range []struct {
		why  string
		code int
		want string
		is   error
	}{
		{why: "taken", code: http.StatusOK},
		{why: "another operation runs", code: http.StatusConflict, want: "GKE is busy with the cluster: {}", is: ErrBusy},
		{why: "refused", code: http.StatusBadRequest, want: "GKE refused: {}"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.code)
			_, _ = w.Write([]byte("{}\n"))
		}))
		_, err := HTTP{Endpoint: s.URL}.Put(t.Context(), container.Wanted{Name: "c", Access: container.Access{Token: "abcdef.0123456789abcdef"}})
		s.Close()
		if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "0123456789abcdef")) {
			t.Errorf("%s: want %q, got %v", tc.why, tc.want, err)
		}
		if tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%s: want %v, got %v", tc.why, tc.is, err)
		}
	}
}

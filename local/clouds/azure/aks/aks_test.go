package aks

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/apiserver/alone"
	"github.com/muster-project/muster/local/clouds/azure/kinds"
	azurenetwork "github.com/muster-project/muster/local/clouds/azure/network"
	"github.com/muster-project/muster/local/foreign"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/local/workload"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// The world of the tests: a management cluster with the reconcilers under test on it, and a simulated Azure without machines' insides.
var (
	stand      *standintest.World
	management client.Client
	planes     = map[string]*ControlPlanes{}
	cloud      *azure.Cloud
)

func TestMain(m *testing.M) { os.Exit(alone.Run(m, "aks", begin)) }

func begin(ctx context.Context, s *apiserver.Server, dir string) (func() error, error) {
	pools := []foreign.Kind{{GroupVersionKind: Managed().pool, Plural: "azuremanagedmachinepools"}, {GroupVersionKind: ASO().pool, Plural: "azureasomanagedmachinepools"}}
	var err error
	if stand, err = standintest.New(ctx, s, dir, append(kinds.All(), pools...)...); err != nil {
		return nil, err
	}
	management = stand.Client
	if cloud, err = azure.New(azure.Options{Speed: 500}); err != nil {
		return nil, err
	}
	web := httptest.NewServer(cloud)
	mgr := stand.Manager
	for _, kind := range []Kind{Managed(), ASO()} {
		r := &ControlPlanes{Client: mgr.GetClient(), Servers: stand.Servers, Publisher: stand.Publisher, Kind: kind, Registry: HTTP{Endpoint: web.URL}, Azure: azurenetwork.HTTP{Endpoint: web.URL}}
		if err := errors.Join(r.SetupWithManager(mgr), (&Clusters{Client: mgr.GetClient(), Kind: kind}).SetupWithManager(mgr)); err != nil {
			return nil, err
		}
		planes[kind.plane.Kind] = r
	}
	stop := stand.Start(ctx)
	return func() error {
		err := stop()
		web.Close()
		return errors.Join(err, cloud.Close())
	}, nil
}

// The specifications of the objects of both kinds, in the shape of the published ones.
const (
	managedPlaneSpec = `{location: westus2, version: v1.34.2, subscriptionID: ` + azure.SubscriptionID + `, additionalTags: {team: blue}}`
	managedPoolSpec  = `{mode: System, name: pool0, sku: Standard_D2s_v3, taints: [{key: k, value: v, effect: NoSchedule}], osDiskSizeGB: 64, maxPods: 30}`
	userPoolSpec     = `{mode: User, name: pool1, sku: Standard_D2s_v3}`

	asoPlaneSpec = `
version: v1.34.2
resources:
- apiVersion: containerservice.azure.com/v1api20231001
  kind: ManagedCluster
  metadata: {name: NAME}
  spec: {dnsPrefix: NAME, location: westus2, owner: {name: NAME}, identity: {type: SystemAssigned}, servicePrincipalProfile: {clientId: msi}, tags: {team: blue}}
`
	asoPoolSpec = `
resources:
- apiVersion: containerservice.azure.com/v1api20231001
  kind: ManagedClustersAgentPool
  metadata: {name: NAME-pool0}
  spec: {azureName: pool0, mode: System, owner: {name: NAME}, type: VirtualMachineScaleSets, vmSize: Standard_D2s_v3, osDiskSizeGB: 64, maxPods: 30, nodeTaints: ["k=v:NoSchedule"]}
`
)

// TestControlPlane walks control planes of both kinds through their lives: they wait for a System pool, their managed cluster is born with
// it, their version goes up, and they leave nothing.
func TestControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("two API servers")
	}
	for _, c := range []struct {
		name              string
		kind              Kind
		plane, pool, user string
	}{
		{"fields", Managed(), managedPlaneSpec, managedPoolSpec, userPoolSpec},
		{"manifests", ASO(), asoPlaneSpec, asoPoolSpec, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cluster, plane := create(t, c.kind, c.name, c.plane)
			standintest.Eventually(t, "the control plane to wait for a System pool", func(ctx context.Context) error {
				return stand.Says(ctx, plane, len(conditions), "False", c.kind.pool.Kind+" whose mode is System")
			})
			if c.user != "" {
				createPool(t, c.kind, c.name, "pool1", c.user)
			}
			createPool(t, c.kind, c.name, "pool0", c.pool)
			untilReady(t, c.kind, plane, "v1.34.2")
			born(t, c.name, c.user != "")
			if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
				t.Error(err)
			}
			infrastructure(t, c.kind, cluster, plane)

			change(t, plane, func(o *unstructured.Unstructured) error {
				return unstructured.SetNestedField(o.Object, "v1.35.1", "spec", "version")
			})
			untilReady(t, c.kind, plane, "v1.35.1")
			if n := cloud.Calls().Count("containerservice", "ManagedClusters_CreateOrUpdate"); n != 0 {
				t.Errorf("want no request in the log of the cloud's clients, got %d", n)
			}

			change(t, plane, func(o *unstructured.Unstructured) error {
				return unstructured.SetNestedField(o.Object, "v1.39.0", "spec", "version")
			})
			standintest.Eventually(t, "AKS's own words about a version that it does not have", func(ctx context.Context) error {
				if err := stand.Says(ctx, plane, len(conditions), "False", "which is not supported in location westus2"); err != nil {
					return err
				}
				return reasonIs(plane, "K8sVersionNotSupported")
			})
			removed(t, c.kind, cluster, plane)
		})
	}
}

// reasonIs holds the reason of every condition of an object.
func reasonIs(o *unstructured.Unstructured, want string) error {
	list, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range list {
		if c, ok := c.(map[string]any); ok && c["reason"] != want {
			return fmt.Errorf("the reason is %v, not %s", c["reason"], want)
		}
	}
	return err
}

// TestFailedControlPlane holds that a control plane whose managed cluster could not be created says why in AKS's words, with AKS's code.
func TestFailedControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("an API server")
	}
	const size = "Standard_D4s_v3"
	if err := cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Type: size}); err != nil {
		t.Fatal(err)
	}
	_, plane := create(t, Managed(), "few", managedPlaneSpec)
	createPool(t, Managed(), "few", "pool0", strings.Replace(managedPoolSpec, "Standard_D2s_v3", size, 1))
	standintest.Eventually(t, "AKS's own words about what it lacks", func(ctx context.Context) error {
		if err := stand.Says(ctx, plane, len(conditions), "False", "Agent pool pool0: AllocationFailed: "); err != nil {
			return err
		}
		return reasonIs(plane, "VMSSAgentPoolReconcileFailed")
	})
}

// create makes a Cluster with its control plane and infrastructure, owned as core would have it.
func create(t *testing.T, kind Kind, name, spec string) (*clusterv1.Cluster, *unstructured.Unstructured) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.ClusterSpec{
		ControlPlaneRef:   clusterv1.ContractVersionedObjectReference{APIGroup: kind.plane.Group, Kind: kind.plane.Kind, Name: name},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: kind.cluster.Group, Kind: kind.cluster.Kind, Name: name}}}
	if err := management.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	plane, infra := objects.New(kind.plane), objects.New(kind.cluster)
	for _, o := range []*unstructured.Unstructured{infra, plane} {
		o.SetNamespace("default")
		o.SetName(name)
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: name, UID: cluster.UID}})
	}
	setSpec(t, plane, name, spec)
	for _, o := range []client.Object{infra, plane} {
		if err := management.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return cluster, plane
}

func setSpec(t *testing.T, o *unstructured.Unstructured, cluster, text string) {
	t.Helper()
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NAME", cluster)), &spec); err != nil {
		t.Fatal(err)
	}
	o.Object["spec"] = spec
}

// createPool makes a MachinePool of three machines with its infrastructure.
func createPool(t *testing.T, kind Kind, cluster, name, spec string) {
	t.Helper()
	pool := objects.New(kind.pool)
	pool.SetNamespace("default")
	pool.SetName(cluster + "-" + name)
	setSpec(t, pool, cluster, spec)
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pool.GetName()}, Spec: clusterv1.MachinePoolSpec{
		ClusterName: cluster, Replicas: new(int32(3)), Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
			ClusterName: cluster, Version: "v1.33.1", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: kind.pool.Group, Kind: kind.pool.Kind, Name: pool.GetName()}}}}}
	for _, o := range []client.Object{pool, mp} {
		if err := management.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// untilReady waits until core would take the control plane for initialized, at a version, with its endpoint.
func untilReady(t *testing.T, kind Kind, plane *unstructured.Unstructured, version string) {
	t.Helper()
	standintest.Eventually(t, "a control plane that is ready at "+version, func(ctx context.Context) error {
		if err := stand.Says(ctx, plane, len(conditions), "True", ""); err != nil {
			return err
		}
		for field, want := range map[string]any{"ready": true, "initialized": true, "version": version} {
			if got, _, _ := unstructured.NestedFieldNoCopy(plane.Object, "status", field); got != want {
				return fmt.Errorf("status.%s is %v", field, got)
			}
		}
		if host, _, _ := unstructured.NestedString(plane.Object, append(kind.endpoint[:2:2], "host")...); host != workload.Host {
			return fmt.Errorf("the endpoint is %q", host)
		}
		return nil
	})
}

func change(t *testing.T, o *unstructured.Unstructured, do func(*unstructured.Unstructured) error) {
	t.Helper()
	if err := management.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	if err := objects.Change(t.Context(), management, o, do); err != nil {
		t.Fatal(err)
	}
}

// inspected is what AKS holds of a managed cluster.
func inspected(name string) (containerservice.Inspected, bool) {
	for _, c := range cloud.State().Clusters {
		if c.Name == name {
			return c, true
		}
	}
	return containerservice.Inspected{}, false
}

// born holds what a managed cluster is created with: the pools that were there, as the provider asks for them, without a tag of Muster's.
func born(t *testing.T, name string, user bool) {
	t.Helper()
	c, ok := inspected(name)
	pools := 1
	if user {
		pools = 2
	}
	if !ok || len(c.Pools) != pools {
		t.Fatalf("want a managed cluster with %d pools, got %+v", pools, c)
	}
	p := c.Pools[0]
	got := []any{c.Group, c.Version, p.Name, p.Mode, p.Count, p.Version, p.Size, p.State, len(p.Machines), len(p.Tags)}
	want := []any{name, "1.34.2", "pool0", "System", 3, "1.33.1", "Standard_D2s_v3", "Succeeded", 3, 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the managed cluster and its pool (-want +got):\n%s", diff)
	}
}

// infrastructure plays core, which notes that the control plane is initialized, and waits for the infrastructure cluster.
func infrastructure(t *testing.T, kind Kind, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
	t.Helper()
	before := cluster.DeepCopy()
	cluster.Status.Initialization.ControlPlaneInitialized = new(true)
	if err := management.Status().Patch(t.Context(), cluster, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	standintest.Eventually(t, "a ready "+kind.cluster.Kind+" with the endpoint", func(ctx context.Context) error {
		o := objects.New(kind.cluster)
		if err := management.Get(ctx, client.ObjectKeyFromObject(cluster), o); err != nil {
			return err
		}
		ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
		got, _, _ := unstructured.NestedInt64(o.Object, "spec", "controlPlaneEndpoint", "port")
		want, _, _ := unstructured.NestedInt64(plane.Object, append(kind.endpoint[:2:2], "port")...)
		if !ready || got != want || want == 0 {
			return fmt.Errorf("it is %v", o.Object)
		}
		return nil
	})
}

// removed deletes a control plane and holds that nothing of it is left.
func removed(t *testing.T, kind Kind, cluster *clusterv1.Cluster, plane *unstructured.Unstructured) {
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
	if c, ok := inspected(plane.GetName()); ok {
		t.Errorf("AKS: want the managed cluster deleted, got %+v", c)
	}
	r := planes[kind.plane.Kind]
	for _, path := range []string{stand.KubeconfigFile(client.ObjectKeyFromObject(cluster)), r.Servers.Place(r.kind().Key(plane))} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want it gone, got %v", path, err)
		}
	}
}

// TestProfile holds that fields whose names or forms differ in AKS's API are written as AKS has them, because most can't be changed later.
func TestProfile(t *testing.T) {
	for _, c := range []struct {
		why  string
		kind Kind
		spec string
		want map[string]any
	}{
		{"every special field", Managed(), `{mode: System, sku: S, additionalTags: {a: b}, scaling: {minSize: 1, maxSize: 3}, subnetName: other, spotMaxPrice: 0.5, osDiskSizeGB: 0,
			linuxOSConfig: {sysctls: {netIpv4TCPFinTimeout: 5}}, providerID: x, nodeLabels: {c: d}, availabilityZones: ["1"]}`,
			map[string]any{"name": "c-pool", "mode": "System", "vmSize": "S", "tags": map[string]any{"a": "b"}, "enableAutoScaling": true, "minCount": 1.0, "maxCount": 3.0,
				"vnetSubnetID": "/subnets/other", "spotMaxPrice": 0.5, "linuxOSConfig": map[string]any{"sysctls": map[string]any{"netIpv4TcpFinTimeout": 5.0}},
				"nodeLabels": map[string]any{"c": "d"}, "availabilityZones": []any{"1"}, "nodeTaints": []any{}, "type": "VirtualMachineScaleSets"}},
		{"references of a manifest", ASO(), strings.Replace(asoPoolSpec, "mode: System", "mode: System, vnetSubnetReference: {armId: /s}", 1),
			map[string]any{"name": "pool0", "mode": "System", "vmSize": "Standard_D2s_v3", "type": "VirtualMachineScaleSets", "osDiskSizeGB": 64.0, "maxPods": 30.0,
				"nodeTaints": []any{"k=v:NoSchedule"}, "vnetSubnetID": "/s"}},
	} {
		o := objects.New(c.kind.pool)
		o.SetName("c-pool")
		setSpec(t, o, "c", c.spec)
		got, err := c.kind.profile(o, aksv1.ManagedClusterView{SubnetID: "/subnets/own", SubnetPrefix: "/subnets/"})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.why, err, diff)
		}
	}
}

// TestHTTP: what the simulator says reaches the reconciler, and the token reaches no error.
func TestHTTP(t *testing.T) {
	for _, tc := range []struct {
		why  string
		code int
		said string
		want string
		is   error
	}{
		{why: "taken", code: http.StatusOK},
		{why: "another operation runs", code: http.StatusConflict, want: "another operation runs: {}", is: ErrBusy},
		{why: "refused", code: http.StatusBadRequest, want: "AKS refused: {}"},
		{why: "refused with a code", code: http.StatusBadRequest, said: "K8sVersionNotSupported: the version 1.39.0: no", want: "AKS refused: K8sVersionNotSupported: the version 1.39.0: no"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.code)
			_, _ = w.Write([]byte(stdcmp.Or(tc.said, "{}") + "\n"))
		}))
		_, err := HTTP{Endpoint: s.URL}.Put(t.Context(), containerservice.Wanted{Name: "c", Access: containerservice.Access{Token: "abcdef.0123456789abcdef"}})
		s.Close()
		if (err == nil) != (tc.want == "") || err != nil && (!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "0123456789abcdef")) {
			t.Errorf("%s: want %q, got %v", tc.why, tc.want, err)
		}
		if tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%s: want %v, got %v", tc.why, tc.is, err)
		}
	}
}

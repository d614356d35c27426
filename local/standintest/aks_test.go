package standintest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/clouds/azure/aks"
	"github.com/muster-project/muster/local/clouds/azure/aks/agentpool"
	"github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/local/standintest"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// aksKind is a family of kinds for AKS.
type aksKind struct {
	service

	aks  aks.Kind
	pool schema.GroupVersionKind
}

func aksManaged() aksKind {
	return aksKind{aks: aks.Managed(), pool: aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind),
		service: service{plane: standin.AzureManagedControlPlane, infra: standin.AzureManagedCluster,
			endpoint: []string{"spec", "controlPlaneEndpoint"}, folder: "aks"}}
}

func aksASO() aksKind {
	return aksKind{aks: aks.ASO(), pool: aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind),
		service: service{plane: standin.AzureASOManagedControlPlane, infra: standin.AzureASOManagedCluster,
			endpoint: []string{"status", "controlPlaneEndpoint"}, folder: "aks-aso"}}
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
  spec: {dnsPrefix: NAME, location: westus2, owner: {name: NAME}, identity: {type: SystemAssigned},
    servicePrincipalProfile: {clientId: msi}, tags: {team: blue}}
`
	asoPoolSpec = `
resources:
- apiVersion: containerservice.azure.com/v1api20231001
  kind: ManagedClustersAgentPool
  metadata: {name: NAME-pool0}
  spec: {azureName: pool0, mode: System, owner: {name: NAME}, type: VirtualMachineScaleSets, vmSize: Standard_D2s_v3, osDiskSizeGB: 64,
    maxPods: 30, nodeTaints: ["k=v:NoSchedule"]}
`
)

// TestAKS walks control planes of both kinds through their lives: they wait for a System pool, their managed cluster is born with
// it, their version goes up, and they leave nothing.
func TestAKS(t *testing.T) {
	if testing.Short() {
		t.Skip("two API servers")
	}
	t.Parallel()
	createNamespace(t, "aks")
	t.Run("FailedControlPlane", failedAKS)
	for _, c := range []struct {
		name              string
		kind              aksKind
		plane, pool, user string
	}{
		{"fields", aksManaged(), managedPlaneSpec, managedPoolSpec, userPoolSpec},
		{"manifests", aksASO(), asoPlaneSpec, asoPoolSpec, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cluster, plane := c.kind.create(t, client.ObjectKey{Namespace: "aks", Name: c.name}, specOf(t, c.name, c.plane), nil)
			standintest.Eventually(t, "the control plane to wait for a System pool", func(ctx context.Context) error {
				return stand.HasConditions(ctx, plane, conditions, "False", c.kind.pool.Kind+" whose mode is System")
			})
			if c.user != "" {
				c.kind.createPool(t, c.name, "pool1", c.user)
			}
			c.kind.createPool(t, c.name, "pool0", c.pool)
			c.kind.untilReady(t, plane, map[string]any{"version": "v1.34.2"})
			born(t, c.name, c.user != "")
			if _, err := secret.Get(t.Context(), management, client.ObjectKeyFromObject(cluster), secret.Kubeconfig); err != nil {
				t.Error(err)
			}
			c.kind.infrastructure(t, cluster, plane)

			setVersion(t, plane, "v1.35.1")
			c.kind.untilReady(t, plane, map[string]any{"version": "v1.35.1"})
			if n := azureCloud.Calls().Count("containerservice", "ManagedClusters_CreateOrUpdate"); n != 0 {
				t.Errorf("want no request in the log of the cloud's clients, got %d", n)
			}

			setVersion(t, plane, "v1.39.0")
			standintest.Eventually(t, "AKS's own words about a version that it does not have", func(ctx context.Context) error {
				if err := stand.HasConditions(ctx, plane, conditions, "False", "which is not supported in location westus2"); err != nil {
					return err
				}
				return reasonIs(plane, "K8sVersionNotSupported")
			})
			remove(t, plane)
			c.kind.removed(t, cluster, plane)
			if c, ok := inAKS(plane.GetName()); ok {
				t.Errorf("AKS: want the managed cluster deleted, got %+v", c)
			}
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

// failedAKS holds that a control plane whose managed cluster could not be created reports the message and the code of AKS.
func failedAKS(t *testing.T) {
	t.Parallel()
	const size = "Standard_D4s_v3"
	if err := azureCloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Type: size}); err != nil {
		t.Fatal(err)
	}
	_, plane := aksManaged().create(t, client.ObjectKey{Namespace: "aks", Name: "few"}, specOf(t, "few", managedPlaneSpec), nil)
	aksManaged().createPool(t, "few", "pool0", strings.Replace(managedPoolSpec, "Standard_D2s_v3", size, 1))
	standintest.Eventually(t, "AKS's own words about what it lacks", func(ctx context.Context) error {
		if err := stand.HasConditions(ctx, plane, conditions, "False", "Agent pool pool0: AllocationFailed: "); err != nil {
			return err
		}
		return reasonIs(plane, "VMSSAgentPoolReconcileFailed")
	})
}

// specOf reads the specification of an object of a cluster.
func specOf(t *testing.T, cluster, text string) map[string]any {
	t.Helper()
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NAME", cluster)), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// createPool makes a MachinePool of three machines with its infrastructure.
func (kind aksKind) createPool(t *testing.T, cluster, name, spec string) {
	t.Helper()
	pool := objects.New(kind.pool)
	pool.SetNamespace("aks")
	pool.SetName(cluster + "-" + name)
	pool.Object["spec"] = specOf(t, cluster, spec)
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "aks", Name: pool.GetName()}, Spec: clusterv1.MachinePoolSpec{
		ClusterName: cluster, Replicas: new(int32(3)), Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
			ClusterName: cluster, Version: "v1.33.1", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: kind.pool.Group, Kind: kind.pool.Kind, Name: pool.GetName()}}}}}
	for _, o := range []client.Object{pool, mp} {
		if err := management.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// inAKS returns the state of a managed cluster in AKS.
func inAKS(name string) (containerservice.Inspected, bool) {
	for _, c := range azureCloud.State().Clusters {
		if c.Name == name {
			return c, true
		}
	}
	return containerservice.Inspected{}, false
}

// born holds what a managed cluster is created with: the pools that were there, as the provider asks for them, without a tag of Muster's.
func born(t *testing.T, name string, user bool) {
	t.Helper()
	c, ok := inAKS(name)
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

// TestProfilesOfAKS holds that fields whose names or forms differ in AKS's API are written as AKS has them, because most can't be changed
// later.
func TestProfilesOfAKS(t *testing.T) {
	for _, c := range []struct {
		why     string
		kind    string
		profile func(*unstructured.Unstructured, aksv1.ManagedClusterView) (map[string]any, error)
		spec    string
		want    map[string]any
	}{
		{"every special field", aksv1.AzureManagedMachinePoolKind, agentpool.Managed,
			`{mode: System, sku: S, additionalTags: {a: b}, scaling: {minSize: 1, maxSize: 3}, subnetName: other, spotMaxPrice: 0.5, osDiskSizeGB: 0,
			linuxOSConfig: {sysctls: {netIpv4TCPFinTimeout: 5}}, providerID: x, nodeLabels: {c: d}, availabilityZones: ["1"]}`,
			map[string]any{"name": "c-pool", "mode": "System", "vmSize": "S", "tags": map[string]any{"a": "b"}, "enableAutoScaling": true,
				"minCount": 1.0, "maxCount": 3.0,
				"vnetSubnetID": "/subnets/other", "spotMaxPrice": 0.5,
				"linuxOSConfig": map[string]any{"sysctls": map[string]any{"netIpv4TcpFinTimeout": 5.0}},
				"nodeLabels":    map[string]any{"c": "d"}, "availabilityZones": []any{"1"}, "nodeTaints": []any{}, "type": "VirtualMachineScaleSets"}},
		{"references of a manifest", aksv1.AzureASOManagedMachinePoolKind, agentpool.Manifest,
			strings.Replace(asoPoolSpec, "mode: System", "mode: System, vnetSubnetReference: {armId: /s}", 1),
			map[string]any{"name": "pool0", "mode": "System", "vmSize": "Standard_D2s_v3", "type": "VirtualMachineScaleSets", "osDiskSizeGB": 64.0,
				"maxPods":    30.0,
				"nodeTaints": []any{"k=v:NoSchedule"}, "vnetSubnetID": "/s"}},
	} {
		o := objects.New(aksv1.GroupVersion.WithKind(c.kind))
		o.SetName("c-pool")
		o.Object["spec"] = specOf(t, "c", c.spec)
		got, err := c.profile(o, aksv1.ManagedClusterView{SubnetID: "/subnets/own", SubnetPrefix: "/subnets/"})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.why, err, diff)
		}
	}
}

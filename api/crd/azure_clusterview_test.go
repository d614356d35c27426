package crd_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

func TestViewOfAzureCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		text   string
		want   azurev1.ClusterView
	}{
		"in full": {"what people and the ecosystem's provider write", `
metadata: {name: az, labels: {cluster.x-k8s.io/cluster-name: capz}}
spec:
  subscriptionID: s
  resourceGroup: RG
  location: westus2
  azureEnvironment: AzureUSGovernmentCloud
  additionalTags: {team: a}
  networkSpec:
    vnet: {name: v, resourceGroup: net, cidrBlocks: [10.0.0.0/8, 'fd00::/48']}
    subnets:
    - {name: cp, role: control-plane, cidrBlocks: [10.0.0.0/16]}
    - {name: nodes, role: node, cidrBlocks: ['fd00::/64'], securityGroup: {name: sg}, routeTable: {name: rt}, natGateway: {name: nat}}
    nodeOutboundLB: {name: lb, backendPool: {name: pool}}
status: {ready: true, failureDomains: {'2': {controlPlane: true}, '1': {controlPlane: true}}}`,
			azurev1.ClusterView{Name: "az", ClusterName: "capz", SubscriptionID: "s", ResourceGroup: "RG", Location: "westus2",
				Environment: "AzureUSGovernmentCloud",
				Vnet:        azurev1.VnetView{Name: "v", ResourceGroup: "net"}, IPv6: true, AdditionalTags: azurev1.Tags{"team": "a"},
				FailureDomains: []string{"1", "2"}, Ready: true,
				Subnets: []azurev1.SubnetView{{Name: "cp", Role: "control-plane"},
					{Name: "nodes", Role: "node", IPv6: true, SecurityGroup: "sg", RouteTable: "rt", NatGateway: "nat"}},
				NodeOutboundLB: "lb", NodeOutboundBackendPool: "pool"}},
		"the least": {"names that are not said are the ecosystem's",
			"metadata: {name: capz}\nspec: {location: westus2, networkSpec: {subnets: [{role: node}], nodeOutboundLB: {}}}",
			azurev1.ClusterView{Name: "capz", ClusterName: "capz", ResourceGroup: "capz", Location: "westus2", Environment: "AzurePublicCloud",
				Vnet:    azurev1.VnetView{Name: "capz-vnet", ResourceGroup: "capz"},
				Subnets: []azurev1.SubnetView{{Name: "capz-node-subnet", Role: "node"}}, NodeOutboundLB: "capz",
				NodeOutboundBackendPool: "capz-outboundBackendPool"}},
		"private": {"a cluster whose nodes reach the world by no load balancer", "metadata: {name: capz}\nspec: {location: westus2}",
			azurev1.ClusterView{Name: "capz", ClusterName: "capz", ResourceGroup: "capz", Location: "westus2", Environment: "AzurePublicCloud",
				Vnet: azurev1.VnetView{Name: "capz-vnet", ResourceGroup: "capz"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := azurev1.ClusterViewOf(untyped(t, "kind: AzureCluster\n"+strings.TrimPrefix(tc.text, "\n")))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
		})
	}
	_, err := azurev1.ClusterViewOf(untyped(t, "kind: AzureCluster\nmetadata: {name: capz}\nspec: {networkSpec: {subnets: all}}"))
	if err == nil || !strings.Contains(err.Error(), "another type") {
		t.Errorf("a cluster of another shape is none without subnets: got %v", err)
	}
}

func TestNodeSubnetOfAzureCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		roles  []string
		want   int
	}{
		"its own":    {"the subnet that is for nodes", []string{"control-plane", "cluster", "node"}, 2},
		"everyone's": {"the subnet that is for everything", []string{"control-plane", "cluster"}, 1},
		"first":      {"which of several is always the same", []string{"node", "node"}, 0},
		"none":       {"one that does not exist yet", []string{"control-plane", "bastion"}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v azurev1.ClusterView
			for _, role := range tc.roles {
				v.Subnets = append(v.Subnets, azurev1.SubnetView{Role: role})
			}
			got := v.NodeSubnet()
			if tc.want < 0 && got != nil || tc.want >= 0 && got != &v.Subnets[tc.want] {
				t.Errorf("%s: want subnet %d of %v, got %v", tc.reason, tc.want, tc.roles, got)
			}
		})
	}
}

func TestInterfacesOfAzurePools(t *testing.T) {
	t.Parallel()
	yes := true
	for name, tc := range map[string]struct {
		reason string
		is     azurev1.AzureMachinePoolMachineTemplate
		want   []azurev1.NetworkInterface
	}{
		"none": {"one in the cluster's subnet", azurev1.AzureMachinePoolMachineTemplate{}, []azurev1.NetworkInterface{{PrivateIPConfigs: 1}}},
		"deprecated": {"the older fields say the same", azurev1.AzureMachinePoolMachineTemplate{SubnetName: "a", AcceleratedNetworking: &yes},
			[]azurev1.NetworkInterface{{SubnetName: "a", PrivateIPConfigs: 1, AcceleratedNetworking: &yes}}},
		"listed": {"the list says it all", azurev1.AzureMachinePoolMachineTemplate{AcceleratedNetworking: &yes,
			NetworkInterfaces: []azurev1.NetworkInterface{{SubnetName: "a"}, {PrivateIPConfigs: 3}}},
			[]azurev1.NetworkInterface{{SubnetName: "a", PrivateIPConfigs: 1}, {PrivateIPConfigs: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tc.is.DeepCopy()
			if diff := cmp.Diff(tc.want, tc.is.Interfaces()); diff != "" {
				t.Errorf("%s: want -, got +\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(*before, tc.is); diff != "" {
				t.Errorf("%s: the specification must be left as it is: %s", tc.reason, diff)
			}
		})
	}
}

func TestRoleNameOfAzurePools(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		is   azurev1.AzureMachinePoolSpec
		want string
	}{
		{azurev1.AzureMachinePoolSpec{}, ""},
		{azurev1.AzureMachinePoolSpec{RoleAssignmentName: "a"}, "a"},
		{azurev1.AzureMachinePoolSpec{RoleAssignmentName: "a", SystemAssignedIdentityRole: &azurev1.SystemAssignedIdentityRole{}}, "a"},
		{azurev1.AzureMachinePoolSpec{SystemAssignedIdentityRole: &azurev1.SystemAssignedIdentityRole{Name: "b"}}, "b"},
	} {
		if got := tc.is.RoleName(); got != tc.want {
			t.Errorf("role name of %+v: want %q, got %q", tc.is, tc.want, got)
		}
	}
}

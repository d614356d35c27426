package model

import (
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

// network are the interfaces of machines, and which of them have accelerated networking because the VM size can.
func (in Input) network(name string) (*armcompute.VirtualMachineScaleSetNetworkProfile, []int, error) {
	out := &armcompute.VirtualMachineScaleSetNetworkProfile{}
	if in.Source.Pool.Flexible() {
		out.NetworkAPIVersion = new(armcompute.NetworkAPIVersionTwoThousandTwenty1101)
	}
	var auto []int
	for k, nic := range interfaces(in.Source.Pool.Template) {
		accelerated := nic.AcceleratedNetworking
		if accelerated == nil {
			auto = append(auto, k)
			if in.Size != nil {
				accelerated = new(capable(in.Size, "AcceleratedNetworkingEnabled"))
			}
		}
		addresses, err := in.addresses(nic, k)
		if err != nil {
			return nil, nil, err
		}
		of := &armcompute.VirtualMachineScaleSetNetworkConfigurationProperties{
			EnableAcceleratedNetworking: accelerated, EnableIPForwarding: new(true), IPConfigurations: addresses,
		}
		if in.Source.Pool.Flexible() {
			// There interfaces are objects of their own, which would stay behind.
			of.DeleteOption = new(armcompute.DeleteOptionsDelete)
		}
		if k == 0 {
			of.Primary = new(true)
			addresses[0].Properties.LoadBalancerBackendAddressPools = in.backendPools()
		}
		out.NetworkInterfaceConfigurations = append(out.NetworkInterfaceConfigurations,
			&armcompute.VirtualMachineScaleSetNetworkConfiguration{Name: new(name + "-nic-" + strconv.Itoa(k)), Properties: of})
	}
	return out, auto, nil
}

// interfaces are those that the specification names, or else the one that its deprecated fields are about.
func interfaces(t azurev1.AzureMachinePoolMachineTemplate) []azurev1.NetworkInterface {
	if len(t.NetworkInterfaces) > 0 {
		return t.NetworkInterfaces
	}
	return []azurev1.NetworkInterface{{SubnetName: t.SubnetName, PrivateIPConfigs: 1, AcceleratedNetworking: t.AcceleratedNetworking}}
}

// addresses of one interface: private ones of version 4, the first of which is the primary one, and one of version 6 where the subnet has
// these too.
func (in Input) addresses(nic azurev1.NetworkInterface, k int) ([]*armcompute.VirtualMachineScaleSetIPConfiguration, error) {
	subnet, err := in.subnet(nic, k)
	if err != nil {
		return nil, err
	}
	address := func(name string, version armcompute.IPVersion, primary *bool) *armcompute.VirtualMachineScaleSetIPConfiguration {
		return &armcompute.VirtualMachineScaleSetIPConfiguration{Name: &name,
			Properties: &armcompute.VirtualMachineScaleSetIPConfigurationProperties{
				PrivateIPAddressVersion: &version, Primary: primary, Subnet: &armcompute.APIEntityReference{ID: new(in.subnetID(subnet.Name))},
			}}
	}
	var out []*armcompute.VirtualMachineScaleSetIPConfiguration
	for j := range max(nic.PrivateIPConfigs, 1) {
		var primary *bool
		if j == 0 {
			primary = new(true)
		}
		out = append(out, address("ipConfig"+strconv.Itoa(j), armcompute.IPVersionIPv4, primary))
	}
	if subnet.IPv6 {
		out = append(out, address("ipConfigv6", armcompute.IPVersionIPv6, new(false)))
	}
	return out, nil
}

// subnet is the one that an interface names, or the cluster's for nodes. One that the cluster does not list is taken as it is named: it may
// have been made beside it.
func (in Input) subnet(nic azurev1.NetworkInterface, k int) (azurev1.SubnetView, error) {
	cluster := &in.Source.Cluster
	if cluster.SubscriptionID == "" || cluster.ResourceGroup == "" {
		return azurev1.SubnetView{}, cloud.Invalidf(fieldGroup, "AzureCluster %s names no subscription or no resource group: set both",
			cluster.Name)
	}
	if cluster.Vnet.Name == "" || cluster.Vnet.ResourceGroup == "" {
		return azurev1.SubnetView{}, cloud.Invalidf(fieldVnet, "AzureCluster %s names no network: set its name and resource group", cluster.Name)
	}
	if nic.SubnetName == "" {
		if found := cluster.NodeSubnet(); found != nil && found.Name != "" {
			return *found, nil
		}
		return azurev1.SubnetView{}, cloud.Invalidf(indexed(fieldNICs, k)+".subnetName",
			"no subnet is named, and %s of AzureCluster %s have none with role node: set one of the two", fieldSubnets, cluster.Name)
	}
	for _, s := range cluster.Subnets {
		if s.Name == nic.SubnetName {
			return s, nil
		}
	}
	return azurev1.SubnetView{Name: nic.SubnetName}, nil
}

func (in Input) subnetID(name string) string {
	c := &in.Source.Cluster
	return resource(c.SubscriptionID, c.Vnet.ResourceGroup, "Microsoft.Network/virtualNetworks/"+c.Vnet.Name+"/subnets/"+name)
}

// backendPools are what nodes reach the world through.
func (in Input) backendPools() []*armcompute.SubResource {
	c := &in.Source.Cluster
	if c.NodeOutboundLB == "" || c.NodeOutboundBackendPool == "" {
		return nil
	}
	return []*armcompute.SubResource{{ID: new(resource(c.SubscriptionID, c.ResourceGroup,
		"Microsoft.Network/loadBalancers/"+c.NodeOutboundLB+"/backendAddressPools/"+c.NodeOutboundBackendPool))}}
}

// resource is the ID of something within a resource group.
func resource(subscription, group, rest string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/" + rest
}

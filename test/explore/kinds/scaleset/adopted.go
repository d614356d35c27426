package scaleset

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// theirTags returns the tags of the Azure provider of the ecosystem.
func theirTags() map[string]any {
	return map[string]any{
		"Name": world.InfraKey.Name, "sigs.k8s.io_cluster-api-provider-azure_cluster_" + world.ClusterName: "owned",
		"sigs.k8s.io_cluster-api-provider-azure_role": "node", "capz-custom-data-hash": "0123", "team": "a",
	}
}

// forAnother creates a scale set whose model equals the specification that the pool begins with, and returns its ID.
func (p *pool) forAnother() string {
	s := p.World.Scenario
	properties := map[string]any{
		"orchestrationMode": string(own(s).Mode), "singlePlacementGroup": false, "upgradePolicy": map[string]any{"mode": "Manual"},
		"virtualMachineProfile": p.theirProfile(),
	}
	if own(s).Mode == azurev1.FlexibleOrchestrationMode {
		properties["platformFaultDomainCount"] = 1
	} else {
		properties["overprovision"] = false
	}
	body := map[string]any{
		"location": simazure.Location, "sku": map[string]any{"name": simazure.VMSize, "tier": "Standard", "capacity": s.Replicas},
		"tags": theirTags(), "properties": properties,
	}
	if s.Zones {
		body["zones"] = []string{"1", "2", "3"}
	}
	p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
		return p.Ask(ctx, http.MethodPut, setPath(world.InfraKey.Name), body)
	}), "make a scale set for another provider")
	return "azure://" + setPath(world.InfraKey.Name)
}

// theirProfile returns the VM profile of a scale set of the ecosystem's provider.
func (p *pool) theirProfile() map[string]any {
	key, err := base64.StdEncoding.DecodeString(publicKey)
	p.World.Must(err, "decode the public key")
	flexible := own(p.World.Scenario).Mode == azurev1.FlexibleOrchestrationMode
	nic := map[string]any{
		"primary": true, "enableAcceleratedNetworking": true, "enableIPForwarding": true,
		"ipConfigurations": []any{map[string]any{"name": "ipConfig0", "properties": map[string]any{
			"primary": true, "privateIPAddressVersion": "IPv4",
			"subnet": map[string]any{"id": azure.InNetwork("virtualNetworks/" + simazure.VirtualNetwork + "/subnets/" + simazure.NodeSubnet)},
			"loadBalancerBackendAddressPools": []any{map[string]any{
				"id": azure.InNetwork("loadBalancers/" + simazure.ClusterName + "/backendAddressPools/" + simazure.ClusterName +
					"-outboundBackendPool"),
			}},
		}}},
	}
	network := map[string]any{"networkInterfaceConfigurations": []any{map[string]any{"name": world.InfraKey.Name + "-nic-0",
		"properties": nic}}}
	if flexible {
		nic["deleteOption"], network["networkApiVersion"] = "Delete", "2020-11-01"
	}
	return map[string]any{
		"osProfile": map[string]any{
			"computerNamePrefix": world.InfraKey.Name, "adminUsername": "capi", "customData": p.theirData(),
			"linuxConfiguration": map[string]any{"disablePasswordAuthentication": true, "ssh": map[string]any{"publicKeys": []any{
				map[string]any{"path": "/home/capi/.ssh/authorized_keys", "keyData": strings.TrimSpace(string(key))},
			}}},
		},
		"storageProfile": map[string]any{
			"imageReference": map[string]any{
				"communityGalleryImageId": "/CommunityGalleries/" + simcompute.CommunityGallery + "/Images/capi-ubun2-2404/Versions/" +
					strings.TrimPrefix(version, "v"),
			},
			"osDisk": map[string]any{
				"osType": "Linux", "createOption": "FromImage", "diskSizeGB": 30, "caching": "ReadWrite",
				"managedDisk": map[string]any{"storageAccountType": "Premium_LRS"},
			},
		},
		"diagnosticsProfile": map[string]any{"bootDiagnostics": map[string]any{"enabled": true}},
		"networkProfile":     network,
	}
}

// theirData returns the bootstrap data with which another provider has made machines, in base64.
func (p *pool) theirData() string {
	return base64.StdEncoding.EncodeToString([]byte(p.World.Scenario.Boots(p.World.Workload.Tokens.Last())))
}

package world

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
)

// theirAzureTags are the tags of the Azure provider of the ecosystem.
func theirAzureTags() map[string]any {
	return map[string]any{
		"Name": infraKey.Name, "sigs.k8s.io_cluster-api-provider-azure_cluster_" + clusterName: "owned",
		"sigs.k8s.io_cluster-api-provider-azure_role": "node", "capz-custom-data-hash": "0123", "team": "a",
	}
}

// makeScaleSetForAnother makes a scale set whose model is what the pool asks for at first.
func (w *World) makeScaleSetForAnother() string {
	s := w.scenario
	properties := map[string]any{
		"orchestrationMode": string(s.Mode), "singlePlacementGroup": false, "upgradePolicy": map[string]any{"mode": "Manual"}, "virtualMachineProfile": w.theirProfile(),
	}
	if s.Mode == azurev1.FlexibleOrchestrationMode {
		properties["platformFaultDomainCount"] = 1
	} else {
		properties["overprovision"] = false
	}
	body := map[string]any{
		"location": simazure.Location, "sku": map[string]any{"name": simazure.VMSize, "tier": "Standard", "capacity": s.Replicas},
		"tags": theirAzureTags(), "properties": properties,
	}
	if s.Zones {
		body["zones"] = []string{"1", "2", "3"}
	}
	w.must(w.account.hand(func(ctx context.Context) error {
		return w.account.ask(ctx, http.MethodPut, setPath(infraKey.Name), body)
	}), "make a scale set for another provider")
	return "azure://" + setPath(infraKey.Name)
}

// theirProfile is what the ecosystem's provider makes machines of.
func (w *World) theirProfile() map[string]any {
	key, err := base64.StdEncoding.DecodeString(publicKey)
	w.must(err, "decode the public key")
	flexible := w.scenario.Mode == azurev1.FlexibleOrchestrationMode
	nic := map[string]any{
		"primary": true, "enableAcceleratedNetworking": true, "enableIPForwarding": true,
		"ipConfigurations": []any{map[string]any{"name": "ipConfig0", "properties": map[string]any{
			"primary": true, "privateIPAddressVersion": "IPv4", "subnet": map[string]any{"id": inNetwork("virtualNetworks/" + simazure.VirtualNetwork + "/subnets/" + simazure.NodeSubnet)},
			"loadBalancerBackendAddressPools": []any{map[string]any{
				"id": inNetwork("loadBalancers/" + simazure.ClusterName + "/backendAddressPools/" + simazure.ClusterName + "-outboundBackendPool"),
			}},
		}}},
	}
	network := map[string]any{"networkInterfaceConfigurations": []any{map[string]any{"name": infraKey.Name + "-nic-0", "properties": nic}}}
	if flexible {
		nic["deleteOption"], network["networkApiVersion"] = "Delete", "2020-11-01"
	}
	return map[string]any{
		"osProfile": map[string]any{
			"computerNamePrefix": infraKey.Name, "adminUsername": "capi", "customData": w.theirData(),
			"linuxConfiguration": map[string]any{"disablePasswordAuthentication": true, "ssh": map[string]any{"publicKeys": []any{
				map[string]any{"path": "/home/capi/.ssh/authorized_keys", "keyData": strings.TrimSpace(string(key))},
			}}},
		},
		"storageProfile": map[string]any{
			"imageReference": map[string]any{
				"communityGalleryImageId": "/CommunityGalleries/" + simcompute.CommunityGallery + "/Images/capi-ubun2-2404/Versions/" + strings.TrimPrefix(azureVersion, "v"),
			},
			"osDisk": map[string]any{
				"osType": "Linux", "createOption": "FromImage", "diskSizeGB": 30, "caching": "ReadWrite", "managedDisk": map[string]any{"storageAccountType": "Premium_LRS"},
			},
		},
		"diagnosticsProfile": map[string]any{"bootDiagnostics": map[string]any{"enabled": true}},
		"networkProfile":     network,
	}
}

// inNetwork returns the ID of something of the network in the resource group.
func inNetwork(path string) string {
	return "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup + "/providers/Microsoft.Network/" + path
}

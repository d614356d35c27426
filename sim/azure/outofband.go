package azure

import (
	"encoding/base64"
	"fmt"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
)

// Capabilities describes Azure for callers that do not know which cloud it is. Its actions reach the default subscription's first
// group, and scale sets of any group by their names.
func (c *Cloud) Capabilities() sim.Capabilities {
	return sim.Capabilities{
		OutOfBand: sim.OutOfBandActions{
			sim.CreateGroup: c.makeGroup, sim.CreateTemplate: nil,
			sim.DeleteGroup:    c.DeleteGroup,
			sim.DeleteTemplate: nil, sim.CreateVersion: nil, sim.DeleteVersion: nil, sim.LaunchFrom: nil,
			sim.SetSize: c.SetSize, sim.SetBounds: nil,
			sim.RemoveTag: c.RemoveTag, sim.ChangeTag: c.ChangeTag, sim.ResumeProcesses: nil, sim.RemoveHooks: nil,
			sim.TerminateInstance: c.TerminateInstance,
			sim.InterruptInstance: c.InterruptInstance, sim.RecommendReplacement: nil, sim.MoveToStandby: nil, sim.MarkUnhealthy: nil,
			sim.RebalanceZones: nil,
			sim.FailInstance: func(on sim.Resource) error {
				return c.Fail(on.Instance, "VMExtensionProvisioningError", "A user has let the machine fail.")
			},
			sim.StopInstance:     func(on sim.Resource) error { return c.Stop(on.Instance) },
			sim.RecreateInstance: nil, sim.DetachInstance: func(on sim.Resource) error { return c.Detach(on.Instance) },
			sim.StartRollout: nil, sim.CancelRollout: nil, sim.FailRollout: nil,
			sim.Autoscale: nil, sim.UpgradeGroup: nil, sim.StopGroup: nil, sim.StartGroup: nil,
		}.WithPools(AgentPoolActions(c)),
		Snapshot: func() sim.Snapshot { return c.State().snapshot() },
		Denied: sim.Fault{Code: "AuthorizationFailed",
			Message: "The client '" + ClientID + "' does not have authorization to perform this action", Status: 403},
		NoCapacity: "Allocation failed",
		Groups:     sim.GroupBehavior{BusyAfterChange: true},
		Ignorable:  Ignorable(),
	}
}

// AgentPoolBehavior is how agent pools behave, whose machines AKS bootstraps.
func AgentPoolBehavior() sim.GroupBehavior {
	return sim.GroupBehavior{BusyAfterChange: true, Bootstraps: true}
}

// makeGroup makes a scale set as another tool would, of one size and without machines.
func (c *Cloud) makeGroup(on sim.Resource) error {
	first := c.subscriptions[0]
	if len(first.Groups) == 0 || len(first.Groups[0].Clusters) == 0 {
		return fmt.Errorf("subscription %s has no group with a network", first.ID)
	}
	d := Example(first.ID, first.Groups[0], "Uniform", on.Name, 0)
	delete(d, "tags")
	return c.CreateSet(first.ID, first.Groups[0].Name, on.Name, d)
}

// Example is the body of a PUT for a small scale set of that mode, name and size in the network of the group's first cluster.
func Example(subscription string, g Group, mode, name string, capacity int) map[string]any {
	cluster := g.Clusters[0]
	subnet := arm.ResourceID(subscription, g.Name, "Microsoft.Network/virtualNetworks",
		cluster+"-vnet") + "/subnets/" + cluster + "-node-subnet"
	d := document.Object{
		"location": g.Location, "sku": document.Object{"name": VMSize, "tier": "Standard", "capacity": float64(capacity)},
		"tags": document.Object{"Name": name},
		"properties": document.Object{
			"orchestrationMode": mode, "singlePlacementGroup": false,
			"virtualMachineProfile": document.Object{
				"osProfile": document.Object{
					"computerNamePrefix": name, "adminUsername": "capi", "customData": base64.StdEncoding.EncodeToString([]byte("#cloud-config\n")),
					"linuxConfiguration": document.Object{"disablePasswordAuthentication": true, "ssh": document.Object{"publicKeys": []any{
						document.Object{"path": "/home/capi/.ssh/authorized_keys", "keyData": "ssh-rsa AAAA"},
					}}},
				},
				"storageProfile": document.Object{
					"imageReference": document.Object{"communityGalleryImageId": "/CommunityGalleries/" + compute.CommunityGallery +
						"/Images/capi-ubun2-2404/Versions/1.33.1"},
					"osDisk": document.Object{"osType": "Linux", "createOption": "FromImage", "diskSizeGB": float64(30),
						"managedDisk": document.Object{"storageAccountType": "Premium_LRS"}},
				},
				"networkProfile": document.Object{"networkInterfaceConfigurations": []any{document.Object{
					"name": name + "-nic-0", "properties": document.Object{"primary": true, "ipConfigurations": []any{document.Object{
						"name": "ipConfig0", "properties": document.Object{"primary": true, "subnet": document.Object{"id": subnet}},
					}}},
				}}},
			},
		},
	}
	if mode == "Flexible" {
		document.Place(d, "properties.virtualMachineProfile.networkProfile.networkApiVersion", "2020-11-01")
	} else {
		document.Place(d, "properties.upgradePolicy.mode", "Manual")
		document.Place(d, "properties.overprovision", false)
	}
	return d
}

package azure

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/muster-project/muster/sim"
)

// Capabilities describes Azure for callers that do not know which cloud it is. Its actions reach the default subscription's first
// group, and scale sets of any group by their names.
func (c *Cloud) Capabilities() sim.Capabilities {
	o := outOfBand{c}
	return sim.Capabilities{
		OutOfBand: sim.OutOfBandActions{
			sim.CreateGroup: o.makeGroup, sim.CreateTemplate: nil,
			sim.DeleteGroup:    o.dropGroup,
			sim.DeleteTemplate: nil, sim.CreateVersion: nil, sim.DeleteVersion: nil, sim.LaunchFrom: nil,
			sim.SetSize: o.setSize, sim.SetBounds: nil,
			sim.RemoveTag: o.untag, sim.ChangeTag: o.retag, sim.ResumeProcesses: nil, sim.RemoveHooks: nil,
			sim.TerminateInstance: o.terminateByHand,
			sim.InterruptInstance: o.interruptByHand, sim.RecommendReplacement: nil, sim.MoveToStandby: nil, sim.MarkUnhealthy: nil, sim.RebalanceZones: nil,
			sim.StartRollout: nil, sim.CancelRollout: nil, sim.FailRollout: nil,
		},
		Denied:     sim.Fault{Code: "AuthorizationFailed", Message: "The client '" + ClientID + "' does not have authorization to perform this action", Status: 403},
		NoCapacity: "Allocation failed",
		Ignorable:  Ignorable(),
	}
}

// outOfBand runs the actions of a user of the portal or of another tool.
type outOfBand struct{ *Cloud }

// onSet does something to a scale set, named by its name.
func (c outOfBand) onSet(name string, f func(*inventory, *scaleSet) error) error {
	return c.by(func(w *inventory) error {
		for _, s := range w.sets.All() {
			if strings.EqualFold(s.Name, name) {
				return f(w, s)
			}
		}
		return fmt.Errorf("there is no scale set %s", name)
	})
}

// makeGroup makes a scale set as another tool would, of one size and without machines.
func (c outOfBand) makeGroup(on sim.Resource) error {
	return c.by(func(w *inventory) error {
		first := c.subscriptions[0]
		if len(first.Groups) == 0 || len(first.Groups[0].Clusters) == 0 {
			return fmt.Errorf("subscription %s has no group with a network", first.ID)
		}
		g := first.Groups[0]
		s := &scaleSet{ID: resourceID(first.ID, g.Name, "Microsoft.Compute/virtualMachineScaleSets", on.Name), Sub: first.ID, Group: g.Name, Name: on.Name, Created: w.now}
		d := Example(first.ID, g, modeUniform, on.Name, 0)
		delete(d, "tags")
		defaults(d)
		if err := w.models.check(s, d); err != nil {
			return err
		}
		s.UID, s.State = w.environment.uuid("scale set"), stateSucceeded
		w.scaleSets.accept(s, d)
		w.changed(s)
		w.sets.Put(s.key(), s)
		return nil
	})
}

// Example is the body of a PUT for a small scale set of that mode, name and size in the network of the group's first cluster.
func Example(subscription string, g Group, mode, name string, capacity int) map[string]any {
	cluster := g.Clusters[0]
	subnet := resourceID(subscription, g.Name, "Microsoft.Network/virtualNetworks", cluster+"-vnet") + "/subnets/" + cluster + "-node-subnet"
	d := document{
		"location": g.Location, "sku": document{"name": VMSize, "tier": "Standard", "capacity": float64(capacity)},
		"tags": document{"Name": name},
		"properties": document{
			"orchestrationMode": mode, "singlePlacementGroup": false,
			"virtualMachineProfile": document{
				"osProfile": document{
					"computerNamePrefix": name, "adminUsername": "capi", "customData": base64.StdEncoding.EncodeToString([]byte("#cloud-config\n")),
					"linuxConfiguration": document{"disablePasswordAuthentication": true, "ssh": document{"publicKeys": []any{
						document{"path": "/home/capi/.ssh/authorized_keys", "keyData": "ssh-rsa AAAA"},
					}}},
				},
				"storageProfile": document{
					"imageReference": document{"communityGalleryImageId": "/CommunityGalleries/" + CommunityGallery + "/Images/capi-ubun2-2404/Versions/1.33.1"},
					"osDisk":         document{"osType": "Linux", "createOption": "FromImage", "diskSizeGB": float64(30), "managedDisk": document{"storageAccountType": "Premium_LRS"}},
				},
				"networkProfile": document{"networkInterfaceConfigurations": []any{document{
					"name": name + "-nic-0", "properties": document{"primary": true, "ipConfigurations": []any{document{
						"name": "ipConfig0", "properties": document{"primary": true, "subnet": document{"id": subnet}},
					}}},
				}}},
			},
		},
	}
	if mode == modeFlexible {
		place(d, profilePath+".networkProfile.networkApiVersion", "2020-11-01")
	} else {
		place(d, "properties.upgradePolicy.mode", "Manual")
		place(d, "properties.overprovision", false)
	}
	return d
}

func (c outOfBand) dropGroup(on sim.Resource) error {
	return c.onSet(on.Name, func(w *inventory, s *scaleSet) error {
		if !s.deleting() {
			w.scaleSets.dropSet(s)
		}
		return nil
	})
}

func (c outOfBand) setSize(on sim.Resource) error {
	return c.onSet(on.Name, func(w *inventory, s *scaleSet) error {
		if err := w.running.staysOpen(s); err != nil {
			return err
		}
		place(s.Doc, "sku.capacity", float64(on.Size))
		w.running.begin(s, opPatch)
		w.fleet.fill(s)
		return nil
	})
}

// untag removes a tag, and returns an error if there is none.
func (c outOfBand) untag(on sim.Resource) error {
	return c.onSet(on.Name, func(w *inventory, s *scaleSet) error {
		if _, has := under(s.Doc, "tags")[on.Key]; !has {
			return fmt.Errorf("scale set %s has no tag %s", s.Name, on.Key)
		}
		delete(under(s.Doc, "tags"), on.Key)
		w.changed(s)
		return nil
	})
}

func (c outOfBand) retag(on sim.Resource) error {
	return c.onSet(on.Name, func(w *inventory, s *scaleSet) error {
		if under(s.Doc, "tags") == nil {
			s.Doc["tags"] = document{}
		}
		under(s.Doc, "tags")[on.Key] = on.Value
		w.changed(s)
		return nil
	})
}

// instanceOf is the machine that a deed is done to: by its instance ID within the scale set where that is named.
func (c outOfBand) instanceOf(on sim.Resource) string {
	name := on.Instance
	_ = c.onSet(on.Name, func(w *inventory, s *scaleSet) error {
		if m := w.machines.Get(machineKey(s.key(), on.Instance)); m != nil {
			name = m.UID
		}
		return nil
	})
	return name
}

func (c outOfBand) terminateByHand(on sim.Resource) error { return c.Terminate(c.instanceOf(on)) }

func (c outOfBand) interruptByHand(on sim.Resource) error { return c.Evict(c.instanceOf(on)) }

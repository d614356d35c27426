package compute

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
)

// showSet is a scale set as a GET answers.
func (w *views) showSet(s *scaleSet) arm.Document {
	d := arm.Copied(s.Doc)
	d["id"], d["name"], d["type"], d["etag"] = s.ID, s.Name, "Microsoft.Compute/virtualMachineScaleSets", arm.ETag(s.Version)
	arm.Place(d, "properties.provisioningState", s.State)
	arm.Place(d, "properties.uniqueId", s.UID)
	arm.Place(d, "properties.timeCreated", arm.Stamp(s.Created))
	arm.Preset(d, profilePath+".osProfile.secrets", []any{})
	arm.Preset(d, profilePath+".osProfile.allowExtensionOperations", true)
	arm.Place(d, profilePath+".timeCreated", arm.Stamp(s.Created))
	if s.Principal != "" {
		arm.Place(d, "identity.principalId", s.Principal)
		arm.Place(d, "identity.tenantId", w.TenantOf(s.Sub))
	}
	for id := range arm.Under(d, "identity.userAssignedIdentities") {
		arm.Under(d, "identity.userAssignedIdentities")[id] = w.identityShown(id)
	}
	return d
}

// identityShown is what is shown of an identity that a resource has.
func (w *views) identityShown(id string) arm.Document {
	r := w.Resources.Get(strings.ToLower(id))
	if r == nil {
		return arm.Document{}
	}
	return arm.Document{"clientId": arm.Text(r.Doc, "properties.clientId"), "principalId": arm.Text(r.Doc, "properties.principalId")}
}

// shouting is an ID as some of the service's lists write it: with the resource group in capitals.
func shouting(id string) string {
	parts := strings.Split(id, "/")
	for i := 1; i < len(parts); i++ {
		if strings.EqualFold(parts[i-1], "resourceGroups") {
			parts[i] = strings.ToUpper(parts[i])
		}
	}
	return strings.Join(parts, "/")
}

// showMachine is a machine as a GET answers: a scale set's in uniform mode, a virtual machine in flexible mode.
func (w *views) showMachine(s *scaleSet, m *machine, view bool) arm.Document {
	d := arm.Document{
		"id": m.id(s), "name": m.Name, "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "location": m.Location,
		"tags": arm.OfStrings(m.Tags), "etag": arm.ETag(m.Version), "properties": w.machineProperties(s, m),
	}
	if m.Zone != "" {
		d["zones"] = []any{m.Zone}
	}
	if identity := s.Doc["identity"]; identity != nil {
		d["identity"] = w.showSet(s)["identity"]
	}
	if plan := s.Doc["plan"]; plan != nil {
		d["plan"] = plan
	}
	if resources := w.extensionsOf(s, m); len(resources) > 0 {
		d["resources"] = resources
	}
	if m.Flexible {
		d["type"] = "Microsoft.Compute/virtualMachines"
		if !s.Alone {
			d["managedBy"] = s.ID
			arm.Place(d, "properties.virtualMachineScaleSet", arm.Document{"id": s.ID})
		}
		arm.Place(d, "properties.hardwareProfile", arm.Document{"vmSize": m.Size})
		for _, member := range []string{"priority", "evictionPolicy", "billingProfile", "scheduledEventsProfile", "applicationProfile"} {
			if v := m.Profile[member]; v != nil {
				arm.Place(d, "properties."+member, v)
			}
		}
	} else {
		w.uniformOnly(s, m, d)
	}
	if view {
		arm.Place(d, "properties.instanceView", w.instanceView(m))
	}
	return d
}

// uniformOnly is what a machine shows in uniform mode alone.
func (w *views) uniformOnly(s *scaleSet, m *machine, d arm.Document) {
	d["instanceId"] = m.Instance
	d["sku"] = arm.Document{"name": m.Size, "tier": "Standard"}
	if w.LiveTags {
		d["tags"] = arm.OfStrings(arm.Pairs(s.Doc, "tags"))
	}
	arm.Place(d, "properties.latestModelApplied", m.Model == s.Model)
	arm.Place(d, "properties.modelDefinitionApplied", "VirtualMachineScaleSet")
	arm.Place(d, "properties.hardwareProfile", arm.Document{})
	if n := arm.Under(m.Profile, "networkProfile"); n != nil {
		arm.Place(d, "properties.networkProfileConfiguration", arm.Document{"networkInterfaceConfigurations": n["networkInterfaceConfigurations"]})
	}
	if m.Protection != nil {
		arm.Place(d, "properties.protectionPolicy", arm.Copied(m.Protection))
	}
}

// machineProperties are what machines of both modes show.
func (w *views) machineProperties(s *scaleSet, m *machine) arm.Document {
	p := arm.Document{
		"vmId": m.UID, "provisioningState": m.State, "timeCreated": arm.Stamp(m.Created),
		"networkProfile": arm.Document{"networkInterfaces": []any{arm.Document{"id": m.id(s) + "/networkInterfaces/nic-0", "properties": arm.Document{"primary": true}}}},
	}
	for _, member := range []string{"securityProfile", "diagnosticsProfile", "licenseType"} {
		if v := m.Profile[member]; v != nil {
			p[member] = arm.Duplicate(v)
		}
	}
	if v := arm.Dig(s.Doc, "properties.additionalCapabilities"); v != nil {
		p["additionalCapabilities"] = arm.Duplicate(v)
	}
	os := arm.Copied(arm.Under(m.Profile, "osProfile"))
	if os != nil {
		delete(os, "computerNamePrefix")
		os["computerName"], os["secrets"], os["allowExtensionOperations"], os["requireGuestProvisionSignal"] = m.Computer, []any{}, true, true
		p["osProfile"] = os
	}
	storage := arm.Copied(arm.Under(m.Profile, "storageProfile"))
	if storage != nil {
		disk := arm.Under(storage, "osDisk")
		disk["name"] = m.Name + "_OsDisk_1_" + strings.ReplaceAll(m.UID, "-", "")
		arm.Place(disk, "managedDisk.id", arm.ResourceID(m.Sub, strings.ToUpper(m.Group), "Microsoft.Compute/disks", arm.Text(disk, "name")))
		for _, data := range arm.Objects(storage, "dataDisks") {
			lun, _ := arm.Number(data, "lun")
			if arm.Text(data, "createOption") == "Attach" {
				continue
			}
			data["name"] = m.Name + "_disk" + itoa(lun+2) + "_" + strings.ReplaceAll(m.UID, "-", "")
			data["toBeDetached"] = false
		}
		if v := arm.Text(storage, "imageReference.version"); v != "" {
			arm.Place(storage, "imageReference.exactVersion", v)
		}
		p["storageProfile"] = storage
	}
	return p
}

// extensionsOf are the extensions of a machine, as resources of its own.
func (w *views) extensionsOf(s *scaleSet, m *machine) []any {
	var out []any
	for _, e := range arm.Objects(m.Profile, "extensionProfile.extensions") {
		p := arm.Copied(arm.Under(e, "properties"))
		if p == nil {
			p = arm.Document{}
		}
		p["provisioningState"] = m.State
		out = append(out, arm.Document{
			"id": m.id(s) + "/extensions/" + arm.Text(e, "name"), "name": arm.Text(e, "name"), "type": "Microsoft.Compute/virtualMachines/extensions",
			"location": m.Location, "properties": p,
		})
	}
	return out
}

// provisioning is the machine's state as instance views write it.
func (m *machine) provisioning() string {
	code := "ProvisioningState/" + strings.ToLower(m.State)
	if m.State == stateFailed && m.Trouble != nil {
		code += "/" + m.Trouble.Code
	}
	return code
}

func provisioningStatus(state string, t *arm.Trouble, at time.Time) arm.Document {
	d := arm.Document{"code": "ProvisioningState/" + strings.ToLower(state), "level": "Info", "displayStatus": "Provisioning " + strings.ToLower(state), "time": arm.Stamp(at)}
	if state == stateFailed {
		d["level"] = "Error"
		if t != nil {
			d["code"] = arm.Text(d, "code") + "/" + t.Code
			d["message"] = t.Message
		}
	}
	return d
}

// instanceView is how a machine is.
func (w *views) instanceView(m *machine) arm.Document {
	statuses := []any{provisioningStatus(m.State, m.Trouble, m.Created)}
	if m.Power != "" {
		statuses = append(statuses, arm.Document{"code": "PowerState/" + m.Power, "level": "Info", "displayStatus": "VM " + m.Power})
	}
	d := arm.Document{
		"platformUpdateDomain": m.Fault, "platformFaultDomain": m.Fault, "computerName": m.Computer, "hyperVGeneration": "V2", "statuses": statuses,
		"vmAgent": arm.Document{"vmAgentVersion": "2.11.1.12", "statuses": []any{arm.Document{
			"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready", "message": "Guest Agent is running",
		}}},
	}
	if state := m.health(); state != "" {
		d["vmHealth"] = arm.Document{"status": arm.Document{"code": "HealthState/" + state, "level": "Info", "displayStatus": "The VM is reporting itself as " + state}}
	}
	if m.Power != powerRunning || m.NeverBoots {
		d["vmAgent"] = arm.Document{"vmAgentVersion": "Unknown", "statuses": []any{arm.Document{
			"code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready", "message": "VM status blob is found but not yet populated.",
		}}}
	}
	return d
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package compute

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// showSet is a scale set as a GET answers.
func (w *views) showSet(s *scaleSet) document.Object {
	d := document.Copied(s.Doc)
	d["id"], d["name"], d["type"], d["etag"] = s.ID, s.Name, "Microsoft.Compute/virtualMachineScaleSets", arm.ETag(s.Version)
	document.Place(d, "properties.provisioningState", s.State)
	document.Place(d, "properties.uniqueId", s.UID)
	document.Place(d, "properties.timeCreated", arm.Stamp(s.Created))
	document.Preset(d, profilePath+".osProfile.secrets", []any{})
	document.Preset(d, profilePath+".osProfile.allowExtensionOperations", true)
	document.Place(d, profilePath+".timeCreated", arm.Stamp(s.Created))
	if s.Principal != "" {
		document.Place(d, "identity.principalId", s.Principal)
		document.Place(d, "identity.tenantId", w.TenantOf(s.Sub))
	}
	for id := range document.Under(d, "identity.userAssignedIdentities") {
		document.Under(d, "identity.userAssignedIdentities")[id] = w.identityShown(id)
	}
	return d
}

// identityShown is what is shown of an identity that a resource has.
func (w *views) identityShown(id string) document.Object {
	r := w.Resources.Get(strings.ToLower(id))
	if r == nil {
		return document.Object{}
	}
	return document.Object{"clientId": document.Text(r.Doc, "properties.clientId"),
		"principalId": document.Text(r.Doc, "properties.principalId")}
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
func (w *views) showMachine(s *scaleSet, m *machine, view bool) document.Object {
	d := document.Object{
		"id": m.id(s), "name": m.Name, "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "location": m.Location,
		"tags": document.OfStrings(m.Tags), "etag": arm.ETag(m.Version), "properties": w.machineProperties(s, m),
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
			document.Place(d, "properties.virtualMachineScaleSet", document.Object{"id": s.ID})
		}
		document.Place(d, "properties.hardwareProfile", document.Object{"vmSize": m.Type})
		for _, member := range []string{"priority", "evictionPolicy", "billingProfile", "scheduledEventsProfile", "applicationProfile"} {
			if v := m.Profile[member]; v != nil {
				document.Place(d, "properties."+member, v)
			}
		}
	} else {
		w.uniformOnly(s, m, d)
	}
	if view {
		document.Place(d, "properties.instanceView", w.instanceView(m))
	}
	return d
}

// uniformOnly is what a machine shows in uniform mode alone.
func (w *views) uniformOnly(s *scaleSet, m *machine, d document.Object) {
	d["instanceId"] = m.Instance
	d["sku"] = document.Object{"name": m.Type, "tier": "Standard"}
	if w.Switches.On(LiveTags) {
		d["tags"] = document.OfStrings(document.Pairs(s.Doc, "tags"))
	}
	document.Place(d, "properties.latestModelApplied", m.Model == s.Model)
	document.Place(d, "properties.modelDefinitionApplied", "VirtualMachineScaleSet")
	document.Place(d, "properties.hardwareProfile", document.Object{"vmSize": m.Type})
	if n := document.Under(m.Profile, "networkProfile"); n != nil {
		document.Place(d, "properties.networkProfileConfiguration",
			document.Object{"networkInterfaceConfigurations": n["networkInterfaceConfigurations"]})
	}
	if m.Protection != nil {
		document.Place(d, "properties.protectionPolicy", document.Copied(m.Protection))
	}
}

// machineProperties are what machines of both modes show.
func (w *views) machineProperties(s *scaleSet, m *machine) document.Object {
	p := document.Object{
		"vmId": m.UID, "provisioningState": m.State, "timeCreated": arm.Stamp(m.Created),
		"networkProfile": document.Object{"networkInterfaces": []any{document.Object{"id": m.id(s) + "/networkInterfaces/nic-0",
			"properties": document.Object{"primary": true}}}},
	}
	for _, member := range []string{"securityProfile", "diagnosticsProfile", "licenseType"} {
		if v := m.Profile[member]; v != nil {
			p[member] = document.Copied(v)
		}
	}
	if v := document.Dig(s.Doc, "properties.additionalCapabilities"); v != nil {
		p["additionalCapabilities"] = document.Copied(v)
	}
	os := document.Copied(document.Under(m.Profile, "osProfile"))
	if os != nil {
		delete(os, "computerNamePrefix")
		os["computerName"], os["secrets"], os["allowExtensionOperations"], os["requireGuestProvisionSignal"] = m.Computer, []any{}, true, true
		p["osProfile"] = os
	}
	storage := document.Copied(document.Under(m.Profile, "storageProfile"))
	if storage != nil {
		disk := document.Under(storage, "osDisk")
		disk["name"] = m.diskPrefix() + "_OsDisk_1_" + strings.ReplaceAll(m.UID, "-", "")
		document.Place(disk, "managedDisk.id", arm.ResourceID(m.Sub, strings.ToUpper(m.Group), "Microsoft.Compute/disks",
			document.Text(disk, "name")))
		for _, data := range document.Objects(storage, "dataDisks") {
			lun, _ := document.Number(data, "lun")
			if document.Text(data, "createOption") == "Attach" {
				continue
			}
			data["name"] = m.diskPrefix() + "_disk" + itoa(lun+2) + "_" + strings.ReplaceAll(m.UID, "-", "")
			data["toBeDetached"] = false
		}
		if v := document.Text(storage, "imageReference.version"); v != "" {
			document.Place(storage, "imageReference.exactVersion", v)
		}
		p["storageProfile"] = storage
	}
	return p
}

// diskPrefix returns what the names of a machine's disks begin with: in a Uniform scale set its name comes first.
func (m *machine) diskPrefix() string {
	if set, uniform := strings.CutSuffix(m.Name, "_"+m.Instance); uniform {
		return set + "_" + m.Name
	}
	return m.Name
}

// extensionsOf are the extensions of a machine, as resources of its own.
func (w *views) extensionsOf(s *scaleSet, m *machine) []any {
	var out []any
	for _, e := range document.Objects(m.Profile, "extensionProfile.extensions") {
		p := document.Copied(document.Under(e, "properties"))
		if p == nil {
			p = document.Object{}
		}
		p["provisioningState"] = m.State
		out = append(out, document.Object{
			"id": m.id(s) + "/extensions/" + document.Text(e, "name"), "name": document.Text(e, "name"),
			"type":     "Microsoft.Compute/virtualMachines/extensions",
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

func provisioningStatus(state string, t *arm.Trouble, at time.Time) document.Object {
	d := document.Object{"code": "ProvisioningState/" + strings.ToLower(state), "level": "Info",
		"displayStatus": "Provisioning " + strings.ToLower(state), "time": arm.Stamp(at)}
	if state == stateFailed {
		d["level"] = "Error"
		if t != nil {
			d["code"] = document.Text(d, "code") + "/" + t.Code
			d["message"] = t.Message
		}
	}
	return d
}

// instanceView is how a machine is.
func (w *views) instanceView(m *machine) document.Object {
	statuses := []any{provisioningStatus(m.State, m.Trouble, cmp.Or(m.Settled, m.Created))}
	if m.Power != "" {
		statuses = append(statuses, document.Object{"code": "PowerState/" + m.Power, "level": "Info", "displayStatus": "VM " + m.Power})
	}
	d := document.Object{
		"platformUpdateDomain": m.Fault, "platformFaultDomain": m.Fault, "computerName": m.Computer, "hyperVGeneration": "V2",
		"statuses": statuses,
		"vmAgent": document.Object{"vmAgentVersion": "2.11.1.12", "statuses": []any{document.Object{
			"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready", "message": "Guest Agent is running",
		}}},
	}
	if state := m.health(); state != "" {
		d["vmHealth"] = document.Object{"status": document.Object{"code": "HealthState/" + state, "level": "Info",
			"displayStatus": "The VM is reporting itself as " + state}}
	}
	if m.Power != powerRunning || m.NeverBoots {
		d["vmAgent"] = document.Object{"vmAgentVersion": "Unknown", "statuses": []any{document.Object{
			"code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready",
			"message": "VM status blob is found but not yet populated.",
		}}}
	}
	return d
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

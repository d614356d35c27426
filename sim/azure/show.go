package azure

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listPage is the largest page of a list.
const listPage = 100

// paged is one page of a list, with where the next one is. The link names the last resource of the page: what comes and goes between two
// pages, or between two reads of different age, hides no other resource.
func (w *views) paged(x *exchange, all []any) (*answer, error) {
	size := listPage
	if w.pageLimit > 0 {
		size = min(size, w.pageLimit)
	}
	from := 0
	if token := x.query.Get("$skiptoken"); token != "" {
		place, last, _ := strings.Cut(token, ",")
		n, err := strconv.Atoi(place)
		if err != nil || n < 0 || n > len(all)+listPage {
			return nil, badRequest("The $skiptoken '%s' is not valid.", token)
		}
		if from = min(n, len(all)); last != "" {
			at := slices.IndexFunc(all, func(item any) bool { return idOf(item) == last })
			if from = at + 1; at < 0 {
				from = max(0, min(n, len(all)+1)-1) // it is gone, and those behind it have moved up
			}
		}
	}
	to := min(len(all), from+size)
	d := document{"value": append([]any{}, all[from:to]...)}
	if to < len(all) {
		query := maps.Clone(x.query)
		query.Set("$skiptoken", strconv.Itoa(to)+","+idOf(all[to-1]))
		d["nextLink"] = x.base() + x.request.URL.EscapedPath() + "?" + query.Encode()
	}
	return ok(d), nil
}

// idOf is the ID of an item of a list, empty where it has none.
func idOf(item any) string {
	d, _ := item.(document)
	id, _ := d["id"].(string)
	return id
}

// showSet is a scale set as a GET answers.
func (w *views) showSet(s *scaleSet) document {
	d := copied(s.Doc)
	d["id"], d["name"], d["type"], d["etag"] = s.ID, s.Name, "Microsoft.Compute/virtualMachineScaleSets", etag(s.Version)
	place(d, "properties.provisioningState", s.State)
	place(d, "properties.uniqueId", s.UID)
	place(d, "properties.timeCreated", stamp(s.Created))
	preset(d, profilePath+".osProfile.secrets", []any{})
	preset(d, profilePath+".osProfile.allowExtensionOperations", true)
	place(d, profilePath+".timeCreated", stamp(s.Created))
	if s.Principal != "" {
		place(d, "identity.principalId", s.Principal)
		place(d, "identity.tenantId", w.tenantOf(s.Sub))
	}
	for id := range under(d, "identity.userAssignedIdentities") {
		under(d, "identity.userAssignedIdentities")[id] = w.identityShown(id)
	}
	return d
}

func (w *views) tenantOf(sub string) string {
	if s := w.cloud.subscription(sub); s != nil {
		return s.TenantID
	}
	return ""
}

// identityShown is what is shown of an identity that a resource has.
func (w *views) identityShown(id string) document {
	r := w.resources.Get(strings.ToLower(id))
	if r == nil {
		return document{}
	}
	return document{"clientId": text(r.Doc, "properties.clientId"), "principalId": text(r.Doc, "properties.principalId")}
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
func (w *views) showMachine(s *scaleSet, m *machine, view bool) document {
	d := document{
		"id": m.id(s), "name": m.Name, "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "location": m.Location,
		"tags": ofStrings(m.Tags), "etag": etag(m.Version), "properties": w.machineProperties(s, m),
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
		d["type"], d["managedBy"] = "Microsoft.Compute/virtualMachines", s.ID
		place(d, "properties.virtualMachineScaleSet", document{"id": s.ID})
		place(d, "properties.hardwareProfile", document{"vmSize": m.Size})
		for _, member := range []string{"priority", "evictionPolicy", "billingProfile", "scheduledEventsProfile", "applicationProfile"} {
			if v := m.Profile[member]; v != nil {
				place(d, "properties."+member, v)
			}
		}
	} else {
		w.uniformOnly(s, m, d)
	}
	if view {
		place(d, "properties.instanceView", w.instanceView(m))
	}
	return d
}

// uniformOnly is what a machine shows in uniform mode alone.
func (w *views) uniformOnly(s *scaleSet, m *machine, d document) {
	d["instanceId"] = m.Instance
	d["sku"] = document{"name": m.Size, "tier": "Standard"}
	if w.cloud.liveTags {
		d["tags"] = ofStrings(pairs(s.Doc, "tags"))
	}
	place(d, "properties.latestModelApplied", m.Model == s.Model)
	place(d, "properties.modelDefinitionApplied", "VirtualMachineScaleSet")
	place(d, "properties.hardwareProfile", document{})
	if n := under(m.Profile, "networkProfile"); n != nil {
		place(d, "properties.networkProfileConfiguration", document{"networkInterfaceConfigurations": n["networkInterfaceConfigurations"]})
	}
	if m.Protection != nil {
		place(d, "properties.protectionPolicy", copied(m.Protection))
	}
}

// machineProperties are what machines of both modes show.
func (w *views) machineProperties(s *scaleSet, m *machine) document {
	p := document{
		"vmId": m.UID, "provisioningState": m.State, "timeCreated": stamp(m.Created),
		"networkProfile": document{"networkInterfaces": []any{document{"id": m.id(s) + "/networkInterfaces/nic-0", "properties": document{"primary": true}}}},
	}
	for _, member := range []string{"securityProfile", "diagnosticsProfile", "licenseType"} {
		if v := m.Profile[member]; v != nil {
			p[member] = duplicate(v)
		}
	}
	if v := dig(s.Doc, "properties.additionalCapabilities"); v != nil {
		p["additionalCapabilities"] = duplicate(v)
	}
	os := copied(under(m.Profile, "osProfile"))
	if os != nil {
		delete(os, "computerNamePrefix")
		os["computerName"], os["secrets"], os["allowExtensionOperations"], os["requireGuestProvisionSignal"] = m.Computer, []any{}, true, true
		p["osProfile"] = os
	}
	storage := copied(under(m.Profile, "storageProfile"))
	if storage != nil {
		disk := under(storage, "osDisk")
		disk["name"] = m.Name + "_OsDisk_1_" + strings.ReplaceAll(m.UID, "-", "")
		place(disk, "managedDisk.id", resourceID(m.Sub, strings.ToUpper(m.Group), "Microsoft.Compute/disks", text(disk, "name")))
		for _, data := range objects(storage, "dataDisks") {
			lun, _ := number(data, "lun")
			if text(data, "createOption") == "Attach" {
				continue
			}
			data["name"] = m.Name + "_disk" + itoa(lun+2) + "_" + strings.ReplaceAll(m.UID, "-", "")
			data["toBeDetached"] = false
		}
		if v := text(storage, "imageReference.version"); v != "" {
			place(storage, "imageReference.exactVersion", v)
		}
		p["storageProfile"] = storage
	}
	return p
}

// extensionsOf are the extensions of a machine, as resources of its own.
func (w *views) extensionsOf(s *scaleSet, m *machine) []any {
	var out []any
	for _, e := range objects(m.Profile, "extensionProfile.extensions") {
		p := copied(under(e, "properties"))
		if p == nil {
			p = document{}
		}
		p["provisioningState"] = m.State
		out = append(out, document{
			"id": m.id(s) + "/extensions/" + text(e, "name"), "name": text(e, "name"), "type": "Microsoft.Compute/virtualMachines/extensions",
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

func provisioningStatus(state string, t *trouble, at time.Time) document {
	d := document{"code": "ProvisioningState/" + strings.ToLower(state), "level": "Info", "displayStatus": "Provisioning " + strings.ToLower(state), "time": stamp(at)}
	if state == stateFailed {
		d["level"] = "Error"
		if t != nil {
			d["code"] = text(d, "code") + "/" + t.Code
			d["message"] = t.Message
		}
	}
	return d
}

// instanceView is how a machine is.
func (w *views) instanceView(m *machine) document {
	statuses := []any{provisioningStatus(m.State, m.Trouble, m.Created)}
	if m.Power != "" {
		statuses = append(statuses, document{"code": "PowerState/" + m.Power, "level": "Info", "displayStatus": "VM " + m.Power})
	}
	d := document{
		"platformUpdateDomain": m.Fault, "platformFaultDomain": m.Fault, "computerName": m.Computer, "hyperVGeneration": "V2", "statuses": statuses,
		"vmAgent": document{"vmAgentVersion": "2.11.1.12", "statuses": []any{document{
			"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready", "message": "Guest Agent is running",
		}}},
	}
	if state := m.health(); state != "" {
		d["vmHealth"] = document{"status": document{"code": "HealthState/" + state, "level": "Info", "displayStatus": "The VM is reporting itself as " + state}}
	}
	if m.Power != powerRunning || m.NeverBoots {
		d["vmAgent"] = document{"vmAgentVersion": "Unknown", "statuses": []any{document{
			"code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready", "message": "VM status blob is found but not yet populated.",
		}}}
	}
	return d
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package compute

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// maxModels limits the models that machines of a uniform scale set have.
const maxModels = 10

// putSet makes a scale set, or replaces what it says.
func (w *scaleSets) putSet(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "VirtualMachineScaleSet")
	if err != nil {
		return nil, err
	}
	document.WithoutNulls(body)
	s := w.sets.Get(SetKey(x.Vars["sub"], x.Vars["rg"], x.Vars["set"]))
	if err := x.Conditions(s.etag()); err != nil {
		return nil, err
	}
	if s == nil {
		return w.createSet(x, body)
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	next := document.Copied(s.Doc)
	for _, member := range []string{"tags", "identity", "plan", "zones"} {
		if v, given := body[member]; given {
			next[member] = v
		}
	}
	if size, given := body["sku"]; given {
		document.Merge(next, document.Object{"sku": size})
	}
	if where := document.Text(body, "location"); where != "" && !arm.SameLocation(where, s.location()) {
		return nil, arm.Refuse(http.StatusConflict, "InvalidResourceLocation",
			"The resource '%s' already exists in location '%s' in resource group '%s'. "+
				"A resource with the same name cannot be created in location '%s'. Please select a new resource name.", s.Name, s.location(),
			s.Group, where)
	}
	profile := document.Copied(document.Under(next, "properties.virtualMachineProfile"))
	if p := document.Under(body, "properties"); p != nil {
		document.Merge(document.Under(next, "properties"), p)
	}
	if given := document.Under(body, "properties.virtualMachineProfile"); given != nil {
		document.Place(next, "properties.virtualMachineProfile", replaced(profile, given))
	}
	return w.change(x, s, next)
}

// replaced is a profile that was given in full, with what is kept of the one before: what is secret is not given again, and a
// network that is not mentioned stays.
func replaced(before, given document.Object) document.Object {
	out := document.Copied(given)
	for _, part := range []string{"networkProfile", "osProfile", "storageProfile", "priority", "evictionPolicy"} {
		document.Preset(out, part, before[part])
		if out[part] == nil {
			delete(out, part)
		}
	}
	for _, fixed := range []string{"osProfile.computerNamePrefix", "osProfile.adminUsername", "osProfile.linuxConfiguration",
		"osProfile.windowsConfiguration"} {
		if v := document.Dig(before, fixed); v != nil {
			document.Preset(out, fixed, v)
		}
	}
	return out
}

func (w *scaleSets) createSet(x *arm.Call, body document.Object) (*arm.Answer, error) {
	group := w.GroupName(x.Vars["sub"], x.Vars["rg"])
	s := &scaleSet{
		ID:  arm.ResourceID(x.Vars["sub"], group, "Microsoft.Compute/virtualMachineScaleSets", x.Vars["set"]),
		Sub: x.Vars["sub"], Group: group, Name: x.Vars["set"], Created: w.Now,
	}
	delete(body, "etag")
	defaults(body)
	if err := w.models.check(s, body); err != nil {
		return nil, err
	}
	if err := w.capacity.checkQuota(nil, body); err != nil {
		return nil, err
	}
	s.UID = w.UUID("scale set")
	w.accept(s, body)
	w.sets.Put(s.key(), s)
	op := w.running.begin(s, opPut)
	s.State = stateCreating
	w.life.fill(s)
	return &arm.Answer{Status: http.StatusCreated, Body: w.views.showSet(s), Op: &op.Operation}, nil
}

// defaults puts there what a new scale set has where it was not said.
func defaults(d document.Object) {
	document.Preset(d, "properties.orchestrationMode", modeUniform)
	document.Preset(d, "sku.tier", "Standard")
	document.Preset(d, "sku.capacity", float64(0))
	flexible := document.Text(d, "properties.orchestrationMode") == modeFlexible
	if flexible {
		document.Preset(d, "properties.platformFaultDomainCount", float64(1))
		document.Preset(d, "properties.singlePlacementGroup", false)
		document.Preset(d, "properties.constrainedMaximumCapacity", false)
	} else {
		document.Preset(d, "properties.singlePlacementGroup", true)
		document.Preset(d, "properties.overprovision", true)
		document.Preset(d, "properties.doNotRunExtensionsOnOverprovisionedVMs", false)
		count := float64(5)
		if len(document.Items(d, "zones")) > 0 {
			count = 1
		}
		if document.Dig(d, "properties.platformFaultDomainCount") == nil && !document.Truth(d, "properties.singlePlacementGroup") {
			count = 1
		}
		document.Preset(d, "properties.platformFaultDomainCount", count)
	}
	const disk = "properties.virtualMachineProfile.storageProfile.osDisk"
	if document.Under(d, "properties.virtualMachineProfile.storageProfile") != nil {
		document.Preset(d, disk+".createOption", "FromImage")
		document.Preset(d, disk+".caching", "None")
		document.Preset(d, disk+".osType", "Linux")
		document.Preset(d, disk+".diskSizeGB", float64(30))
	}
}

// patchSet changes what is said of a scale set.
func (w *scaleSets) patchSet(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "VirtualMachineScaleSetUpdate")
	if err != nil {
		return nil, err
	}
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, err
	}
	if err := x.Conditions(s.etag()); err != nil {
		return nil, err
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	next := document.Copied(s.Doc)
	if _, given := body["tags"]; given {
		next["tags"] = document.Object{} // tags are replaced as a whole
	}
	document.Merge(next, body)
	return w.change(x, s, next)
}

// change lets a scale set be what the document says, and begins what follows from it.
func (w *scaleSets) change(x *arm.Call, s *scaleSet, next document.Object) (*arm.Answer, error) {
	if err := w.models.fixed(s, next); err != nil {
		return nil, err
	}
	if err := w.models.check(s, next); err != nil {
		return nil, err
	}
	if err := w.checkModels(s, next); err != nil {
		return nil, err
	}
	if err := w.capacity.checkQuota(s, next); err != nil {
		return nil, err
	}
	w.accept(s, next)
	op := w.running.begin(s, x.Request.Method)
	w.life.fill(s) // whatever was changed: what is missing is made
	w.upgrades.rollOut(s)
	return &arm.Answer{Status: http.StatusOK, Body: w.views.showSet(s), Op: &op.Operation}, nil
}

// accept takes a document over, with what is secret put aside.
func (w *scaleSets) accept(s *scaleSet, d document.Object) {
	s.Blob, s.Given = w.secretsOf(s, d)
	s.Doc = d
	s.Model = modelOf(s)
	w.identities(s)
}

// secretsOf takes out of a document what is never shown again: custom data, passwords, protected settings. What is not given again
// stays as it was.
func (w *scaleSets) secretsOf(s *scaleSet, d document.Object) (blob, given string) {
	blob, given = s.Blob, s.Given
	const profile = "properties.virtualMachineProfile"
	if data := document.Text(d, profile+".osProfile.customData"); data != "" {
		blob = w.blobs.Keep(data, data)
	}
	document.Place(d, profile+".osProfile.customData", nil)
	var hidden []string
	if password := document.Text(d, profile+".osProfile.adminPassword"); password != "" {
		hidden = append(hidden, password)
	}
	document.Place(d, profile+".osProfile.adminPassword", nil)
	for _, e := range document.Objects(d, profile+".extensionProfile.extensions") {
		if settings := document.Dig(e, "properties.protectedSettings"); settings != nil {
			hidden = append(hidden, document.Text(e, "name")+document.Written(settings))
		}
		document.Place(e, "properties.protectedSettings", nil)
	}
	if len(hidden) > 0 {
		given = sim.Seed(0).Hex(16, document.Written(hidden))
	}
	return blob, given
}

// modelOf is the fingerprint of all that machines are made of; tags and the number of machines are no part of it.
func modelOf(s *scaleSet) string {
	return sim.Seed(0).Hex(24, document.Written(document.Under(s.Doc, "properties.virtualMachineProfile")), s.size(), s.Blob, s.Given,
		document.Written(s.Doc["plan"]))
}

// identities gives a scale set the identity of its own that it asks for.
func (w *scaleSets) identities(s *scaleSet) {
	if !strings.Contains(document.Text(s.Doc, "identity.type"), "UserAssigned") {
		document.Place(s.Doc, "identity.userAssignedIdentities", nil)
	}
	if document.Text(s.Doc, "identity.type") == "None" {
		delete(s.Doc, "identity")
	}
	if !strings.Contains(document.Text(s.Doc, "identity.type"), "SystemAssigned") {
		s.Principal = ""
		return
	}
	if s.Principal == "" {
		s.Principal = w.UUID("principal")
	}
}

// checkModels refuses one model too many.
func (w *scaleSets) checkModels(s *scaleSet, next document.Object) error {
	if !s.uniform() {
		return nil
	}
	trial := &scaleSet{Doc: document.Copied(next), Blob: s.Blob, Given: s.Given}
	trial.Blob, trial.Given = w.secretsOf(trial, trial.Doc)
	models := map[string]bool{modelOf(trial): true}
	for _, m := range w.machinesOf(s) {
		models[m.Model] = true
	}
	if len(models) <= maxModels {
		return nil
	}
	return arm.NotAllowed("Virtual Machine Scale Set '%s' has reached its limit of %d models that may be referenced by one or more VMs "+
		"belonging to the "+
		"Virtual Machine Scale Set. Upgrade the VMs to the latest model of the Virtual Machine Scale Set before trying again.", s.Name, maxModels)
}

// getSet shows a scale set.
func (w *scaleSets) getSet(x *arm.Call) (*arm.Answer, error) {
	if expand := x.Query.Get("$expand"); expand != "" && !strings.EqualFold(expand, "userData") {
		return nil, arm.Invalid("$expand", "The $expand query parameter value '%s' is invalid.", expand)
	}
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, err
	}
	return arm.OK(w.views.showSet(s)), nil
}

// deleteSet deletes a scale set with its machines. It is taken whatever runs on the scale set.
func (w *scaleSets) deleteSet(x *arm.Call) (*arm.Answer, error) {
	s := w.sets.Get(SetKey(x.Vars["sub"], x.Vars["rg"], x.Vars["set"]))
	if s == nil {
		return &arm.Answer{Status: http.StatusNoContent}, nil
	}
	if op := w.operations.Get(s.Op); op != nil && op.Gone {
		return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
	}
	op := w.dropSet(s)
	return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
}

// dropSet begins to delete a scale set.
func (w *scaleSets) dropSet(s *scaleSet) *operation {
	s.Launches, s.Roll = 0, nil
	machines := w.machinesOf(s)
	op := w.running.begin(s, opDelete, machines...)
	op.Gone, s.State = true, stateDeleting
	for _, m := range machines {
		w.life.remove(m)
	}
	return op
}

// listSets lists the scale sets of a group, or of a subscription.
func (w *scaleSets) listSets(x *arm.Call) (*arm.Answer, error) {
	var out []any
	for _, s := range w.sets.All() {
		if !s.Alone && strings.EqualFold(s.Sub, x.Vars["sub"]) && (x.Vars["rg"] == "" || strings.EqualFold(s.Group, x.Vars["rg"])) {
			out = append(out, w.views.showSet(s))
		}
	}
	return w.Paged(x, out)
}

// setInstanceView sums up how the machines of a uniform scale set are.
func (w *scaleSets) setInstanceView(x *arm.Call) (*arm.Answer, error) {
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, err
	}
	if !s.uniform() {
		return nil, arm.NotAllowed("The requested operation is not supported on Virtual Machine Scale Set '%s' with orchestration mode '%s'.",
			s.Name, s.mode())
	}
	counts := map[string]int{}
	for _, m := range w.machinesOf(s) {
		counts[m.provisioning()]++
	}
	summary := []any{}
	for _, code := range sortedKeys(counts) {
		summary = append(summary, document.Object{"code": code, "count": counts[code]})
	}
	view := document.Object{
		"virtualMachine": document.Object{"statusesSummary": summary}, "statuses": []any{provisioningStatus(s.State, s.Trouble, w.Now)},
	}
	if services := orchestration(s); len(services) > 0 {
		view["orchestrationServices"] = services
	}
	return arm.OK(view), nil
}

// listSetSKUs says what sizes a scale set could have.
func (w *scaleSets) listSetSKUs(x *arm.Call) (*arm.Answer, error) {
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, err
	}
	var out []any
	for _, size := range sizes {
		out = append(out, document.Object{
			"resourceType": "Microsoft.Compute/virtualMachineScaleSets", "sku": document.Object{"name": size.name, "tier": "Standard"},
			"capacity": document.Object{"minimum": 0, "maximum": maxCapacity(s.Doc), "defaultCapacity": 0, "scaleType": "Automatic"},
		})
	}
	return w.Paged(x, out)
}

func itoa[N int | int64](n N) string { return fmt.Sprint(n) }

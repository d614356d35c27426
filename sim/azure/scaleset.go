package azure

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim"
)

// maxModels is how many models the machines of a uniform scale set may have.
const maxModels = 10

// putSet makes a scale set, or replaces what it says.
func (w *scaleSets) putSet(x *exchange) (*answer, error) {
	body, err := x.read("VirtualMachineScaleSet")
	if err != nil {
		return nil, err
	}
	withoutNulls(body)
	s := w.sets.Get(setKey(x.vars["sub"], x.vars["rg"], x.vars["set"]))
	if err := x.conditions(s); err != nil {
		return nil, err
	}
	if s == nil {
		return w.createSet(x, body)
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	next := copied(s.Doc)
	for _, member := range []string{"tags", "identity", "plan", "zones"} {
		if v, given := body[member]; given {
			next[member] = v
		}
	}
	if size, given := body["sku"]; given {
		merge(next, document{"sku": size})
	}
	if where := text(body, "location"); where != "" && !sameLocation(where, s.location()) {
		return nil, refuse(http.StatusConflict, "InvalidResourceLocation", "The resource '%s' already exists in location '%s' in resource group '%s'. "+
			"A resource with the same name cannot be created in location '%s'. Please select a new resource name.", s.Name, s.location(), s.Group, where)
	}
	profile := copied(under(next, "properties.virtualMachineProfile"))
	if p := under(body, "properties"); p != nil {
		merge(under(next, "properties"), p)
	}
	if given := under(body, "properties.virtualMachineProfile"); given != nil {
		place(next, "properties.virtualMachineProfile", replaced(profile, given))
	}
	return w.change(x, s, next)
}

// replaced is a profile that was given in full, with what is kept of the one before: what is secret is not given again, and a
// network that is not mentioned stays.
func replaced(before, given document) document {
	out := copied(given)
	for _, part := range []string{"networkProfile", "osProfile", "storageProfile", "priority", "evictionPolicy"} {
		preset(out, part, before[part])
		if out[part] == nil {
			delete(out, part)
		}
	}
	for _, fixed := range []string{"osProfile.computerNamePrefix", "osProfile.adminUsername", "osProfile.linuxConfiguration", "osProfile.windowsConfiguration"} {
		if v := dig(before, fixed); v != nil {
			preset(out, fixed, v)
		}
	}
	return out
}

// conditions holds the request's conditions against the version that there is.
func (x *exchange) conditions(s *scaleSet) error {
	if x.request.Header.Get("If-None-Match") == "*" && s != nil {
		return x.unmet("If-None-Match", s)
	}
	want := x.request.Header.Get("If-Match")
	if want == "" || want == "*" && s != nil || s != nil && want == etag(s.Version) {
		return nil
	}
	return x.unmet("If-Match", s)
}

func (x *exchange) unmet(header string, s *scaleSet) *apiError {
	now := "null"
	if s != nil {
		now = etag(s.Version)
	}
	return refuse(http.StatusPreconditionFailed, "PreconditionFailed",
		"Precondition failed. The condition '%s' of the request is '%s', the current etag is '%s'.", header, x.request.Header.Get(header), now)
}

func (w *scaleSets) createSet(x *exchange, body document) (*answer, error) {
	s := &scaleSet{
		ID:  resourceID(x.vars["sub"], w.groupName(x), "Microsoft.Compute/virtualMachineScaleSets", x.vars["set"]),
		Sub: x.vars["sub"], Group: w.groupName(x), Name: x.vars["set"], Created: w.now,
	}
	delete(body, "etag")
	defaults(body)
	if err := w.models.check(s, body); err != nil {
		return nil, err
	}
	if err := w.capacity.checkQuota(nil, body); err != nil {
		return nil, err
	}
	s.UID = w.environment.uuid("scale set")
	w.accept(s, body)
	w.sets.Put(s.key(), s)
	op := w.running.begin(s, opPut)
	s.State = stateCreating
	w.fleet.fill(s)
	return &answer{status: http.StatusCreated, body: w.views.showSet(s), op: op}, nil
}

// groupName is the resource group's name in the case in which it was made.
func (w *scaleSets) groupName(x *exchange) string {
	id := strings.ToLower("/subscriptions/" + x.vars["sub"] + "/resourceGroups/" + x.vars["rg"])
	if r := w.resources.Get(id); r != nil {
		return text(r.Doc, "name")
	}
	return x.vars["rg"]
}

// defaults puts there what a new scale set has where it was not said.
func defaults(d document) {
	preset(d, "properties.orchestrationMode", modeUniform)
	preset(d, "sku.tier", "Standard")
	preset(d, "sku.capacity", float64(0))
	flexible := text(d, "properties.orchestrationMode") == modeFlexible
	if flexible {
		preset(d, "properties.platformFaultDomainCount", float64(1))
		preset(d, "properties.singlePlacementGroup", false)
	} else {
		preset(d, "properties.singlePlacementGroup", true)
		preset(d, "properties.overprovision", true)
		count := float64(5)
		if len(items(d, "zones")) > 0 {
			count = 1
		}
		if dig(d, "properties.platformFaultDomainCount") == nil && !truth(d, "properties.singlePlacementGroup") {
			count = 1
		}
		preset(d, "properties.platformFaultDomainCount", count)
	}
	const disk = "properties.virtualMachineProfile.storageProfile.osDisk"
	if under(d, "properties.virtualMachineProfile.storageProfile") != nil {
		preset(d, disk+".createOption", "FromImage")
		preset(d, disk+".caching", "None")
		preset(d, disk+".osType", "Linux")
		preset(d, disk+".diskSizeGB", float64(30))
	}
}

// patchSet changes what is said of a scale set.
func (w *scaleSets) patchSet(x *exchange) (*answer, error) {
	body, err := x.read("VirtualMachineScaleSetUpdate")
	if err != nil {
		return nil, err
	}
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, err
	}
	if err := x.conditions(s); err != nil {
		return nil, err
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	next := copied(s.Doc)
	if _, given := body["tags"]; given {
		next["tags"] = document{} // tags are replaced as a whole
	}
	merge(next, body)
	return w.change(x, s, next)
}

// change lets a scale set be what the document says, and begins what follows from it.
func (w *scaleSets) change(x *exchange, s *scaleSet, next document) (*answer, error) {
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
	op := w.running.begin(s, x.request.Method)
	w.fleet.fill(s) // whatever was changed: what is missing is made
	w.upgrades.rollOut(s)
	return &answer{status: http.StatusOK, body: w.views.showSet(s), op: op}, nil
}

// accept takes a document over, with what is secret put aside.
func (w *scaleSets) accept(s *scaleSet, d document) {
	s.Blob, s.Given = w.secretsOf(s, d)
	s.Doc = d
	s.Model = modelOf(s)
	w.identities(s)
}

// secretsOf takes out of a document what is never shown again: custom data, passwords, protected settings. What is not given again
// stays as it was.
func (w *scaleSets) secretsOf(s *scaleSet, d document) (blob, given string) {
	blob, given = s.Blob, s.Given
	const profile = "properties.virtualMachineProfile"
	if data := text(d, profile+".osProfile.customData"); data != "" {
		blob = w.keep(data)
	}
	place(d, profile+".osProfile.customData", nil)
	var hidden []string
	if password := text(d, profile+".osProfile.adminPassword"); password != "" {
		hidden = append(hidden, password)
	}
	place(d, profile+".osProfile.adminPassword", nil)
	for _, e := range objects(d, profile+".extensionProfile.extensions") {
		if settings := dig(e, "properties.protectedSettings"); settings != nil {
			hidden = append(hidden, text(e, "name")+written(settings))
		}
		place(e, "properties.protectedSettings", nil)
	}
	if len(hidden) > 0 {
		given = sim.Seed(0).Hex(16, written(hidden))
	}
	return blob, given
}

// modelOf is the fingerprint of all that machines are made of; tags and the number of machines are no part of it.
func modelOf(s *scaleSet) string {
	return sim.Seed(0).Hex(24, written(under(s.Doc, "properties.virtualMachineProfile")), s.size(), s.Blob, s.Given, written(s.Doc["plan"]))
}

// identities gives a scale set the identity of its own that it asks for.
func (w *scaleSets) identities(s *scaleSet) {
	if !strings.Contains(text(s.Doc, "identity.type"), "UserAssigned") {
		place(s.Doc, "identity.userAssignedIdentities", nil)
	}
	if text(s.Doc, "identity.type") == "None" {
		delete(s.Doc, "identity")
	}
	if !strings.Contains(text(s.Doc, "identity.type"), "SystemAssigned") {
		s.Principal = ""
		return
	}
	if s.Principal == "" {
		s.Principal = w.environment.uuid("principal")
	}
}

// checkModels refuses one model too many.
func (w *scaleSets) checkModels(s *scaleSet, next document) error {
	if !s.uniform() {
		return nil
	}
	trial := &scaleSet{Doc: copied(next), Blob: s.Blob, Given: s.Given}
	trial.Blob, trial.Given = w.secretsOf(trial, trial.Doc)
	models := map[string]bool{modelOf(trial): true}
	for _, m := range w.machinesOf(s) {
		models[m.Model] = true
	}
	if len(models) <= maxModels {
		return nil
	}
	return notAllowed("Virtual Machine Scale Set '%s' has reached its limit of %d models that may be referenced by one or more VMs belonging to the "+
		"Virtual Machine Scale Set. Upgrade the VMs to the latest model of the Virtual Machine Scale Set before trying again.", s.Name, maxModels)
}

// getSet shows a scale set.
func (w *scaleSets) getSet(x *exchange) (*answer, error) {
	if expand := x.query.Get("$expand"); expand != "" && !strings.EqualFold(expand, "userData") {
		return nil, invalid("$expand", "The $expand query parameter value '%s' is invalid.", expand)
	}
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, err
	}
	return ok(w.views.showSet(s)), nil
}

// deleteSet deletes a scale set with its machines. It is taken whatever runs on the scale set.
func (w *scaleSets) deleteSet(x *exchange) (*answer, error) {
	s := w.sets.Get(setKey(x.vars["sub"], x.vars["rg"], x.vars["set"]))
	if s == nil {
		return &answer{status: http.StatusNoContent}, nil
	}
	if op := w.operations.Get(s.Op); op != nil && op.Gone {
		return &answer{status: http.StatusAccepted, op: op}, nil
	}
	op := w.dropSet(s)
	return &answer{status: http.StatusAccepted, op: op}, nil
}

// dropSet begins to delete a scale set.
func (w *scaleSets) dropSet(s *scaleSet) *operation {
	s.Launches, s.Roll = 0, nil
	machines := w.machinesOf(s)
	op := w.running.begin(s, opDelete, machines...)
	op.Gone, s.State = true, stateDeleting
	for _, m := range machines {
		w.fleet.remove(m)
	}
	return op
}

// listSets lists the scale sets of a group, or of a subscription.
func (w *scaleSets) listSets(x *exchange) (*answer, error) {
	var out []any
	for _, s := range w.sets.All() {
		if strings.EqualFold(s.Sub, x.vars["sub"]) && (x.vars["rg"] == "" || strings.EqualFold(s.Group, x.vars["rg"])) {
			out = append(out, w.views.showSet(s))
		}
	}
	return w.views.paged(x, out)
}

// setInstanceView sums up how the machines of a uniform scale set are.
func (w *scaleSets) setInstanceView(x *exchange) (*answer, error) {
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, err
	}
	if !s.uniform() {
		return nil, notAllowed("The requested operation is not supported on Virtual Machine Scale Set '%s' with orchestration mode '%s'.", s.Name, s.mode())
	}
	counts := map[string]int{}
	for _, m := range w.machinesOf(s) {
		counts[m.provisioning()]++
	}
	summary := []any{}
	for _, code := range sortedKeys(counts) {
		summary = append(summary, document{"code": code, "count": counts[code]})
	}
	return ok(document{
		"virtualMachine": document{"statusesSummary": summary}, "extensions": []any{},
		"statuses": []any{provisioningStatus(s.State, s.Trouble, w.now)}, "orchestrationServices": orchestration(s),
	}), nil
}

// listSetSKUs says what sizes a scale set could have.
func (w *scaleSets) listSetSKUs(x *exchange) (*answer, error) {
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, err
	}
	var out []any
	for _, size := range sizes {
		out = append(out, document{
			"resourceType": "Microsoft.Compute/virtualMachineScaleSets", "sku": document{"name": size.name, "tier": "Standard"},
			"capacity": document{"minimum": 0, "maximum": maxCapacity(s.Doc), "defaultCapacity": 0, "scaleType": "Automatic"},
		})
	}
	return w.views.paged(x, out)
}

// sameLocation compares names of locations as ARM does: West US 2 is westus2.
func sameLocation(a, b string) bool {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	return plain(a) == plain(b)
}

func itoa(n int) string { return fmt.Sprint(n) }

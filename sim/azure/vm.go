package azure

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// deleteInstances deletes chosen machines, and the scale set's capacity falls by as many.
func (w *virtualMachines) deleteInstances(x *exchange) (*answer, error) {
	return w.onInstances(x, "VirtualMachineScaleSetVMInstanceRequiredIDs", func(s *scaleSet, chosen []*machine) (*operation, error) {
		return w.deleteChosen(s, chosen), nil
	})
}

// deleteChosen deletes machines that are not being deleted yet.
func (w *virtualMachines) deleteChosen(s *scaleSet, chosen []*machine) *operation {
	n := 0
	for _, m := range chosen {
		if m.State != stateDeleting {
			n++
		}
		w.fleet.remove(m)
	}
	w.fleet.uncount(s, n)
	return w.running.begin(s, opRemove, chosen...)
}

// updateInstances gives chosen machines the scale set's model.
func (w *virtualMachines) updateInstances(x *exchange) (*answer, error) {
	return w.onInstances(x, "VirtualMachineScaleSetVMInstanceRequiredIDs", func(s *scaleSet, chosen []*machine) (*operation, error) {
		if slices.ContainsFunc(chosen, func(m *machine) bool { return m.State == stateCreating || m.State == stateUpdating }) {
			return nil, busy()
		}
		for _, m := range chosen {
			w.upgrade(s, m)
		}
		return w.running.begin(s, opUpgrade, chosen...), nil
	})
}

// onInstances does something to the machines that a body names.
func (w *virtualMachines) onInstances(x *exchange, shape string, do func(*scaleSet, []*machine) (*operation, error)) (*answer, error) {
	body, err := x.read(shape)
	if err != nil {
		return nil, err
	}
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, err
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	ids := texts(body, "instanceIds")
	if len(ids) == 0 {
		return nil, missing("instanceIds")
	}
	chosen, err := w.named(s, ids)
	if err != nil {
		return nil, err
	}
	op, err := do(s, chosen)
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusAccepted, op: op}, nil
}

// named are the machines of those IDs, each once; all must be there. An asterisk names all.
func (w *virtualMachines) named(s *scaleSet, ids []string) ([]*machine, error) {
	if len(ids) == 1 && ids[0] == "*" {
		return w.staying(s), nil
	}
	var out []*machine
	seen := map[string]bool{}
	for _, id := range ids {
		m := w.machines.Get(machineKey(s.key(), id))
		if m == nil {
			return nil, invalid("instanceIds", "The provided instanceId %s is not an active Virtual Machine Scale Set VM instanceId.", id)
		}
		if !seen[m.Instance] {
			out = append(out, m)
		}
		seen[m.Instance] = true
	}
	return out, nil
}

// upgrade gives a machine the model of its scale set, and in uniform mode its tags: of the flexible mode nothing documents that tags
// are among what is applied. Another image means another disk, with the custom data of now; another size means that it is started again.
func (w *virtualMachines) upgrade(s *scaleSet, m *machine) {
	if m.State == stateDeleting {
		return
	}
	next := copied(under(s.Doc, profilePath))
	reimage := !same(dig(m.Profile, "storageProfile.imageReference"), dig(next, "storageProfile.imageReference"))
	restart := reimage || m.Size != s.size()
	if !restart && same(m.Profile, next) {
		m.fallBack()
	}
	m.Profile, m.Size, m.Model = next, s.size(), s.Model
	if !m.Flexible {
		m.Tags = pairs(s.Doc, "tags")
	}
	m.State, m.DoneAt = stateUpdating, w.now.Add(w.life(lifeChange))
	if reimage {
		m.Blob = s.Blob
	}
	if restart {
		w.reboot(m)
	}
	m.Version++
	w.touch(m)
}

// reboot stops a machine and starts it again.
func (w *virtualMachines) reboot(m *machine) {
	w.fleet.off(m)
	m.Sick, m.State, m.Power = false, stateUpdating, powerStarting
	m.PowerAt, m.DoneAt = w.now.Add(w.life(lifePower)), w.now.Add(w.life(lifeProvision))
}

// fallBack lets a machine that has failed be so again after a change that heals nothing.
func (m *machine) fallBack() {
	if m.State == stateFailed {
		m.Fate = m.Trouble
	}
}

// setVM finds a machine of a scale set.
func (w *virtualMachines) setVM(x *exchange) (*scaleSet, *machine, error) {
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, nil, err
	}
	m := w.machines.Get(machineKey(s.key(), x.vars["vm"]))
	if m == nil {
		return s, nil, refuse(http.StatusNotFound, "NotFound", "The entity was not found in this Azure location.")
	}
	return s, m, nil
}

var appliedFilter = regexp.MustCompile(`^properties/latestModelApplied eq (true|false)$`)

// listSetVMs lists the machines of a scale set: in uniform mode whole ones, in flexible mode little more than their IDs.
func (w *virtualMachines) listSetVMs(x *exchange) (*answer, error) {
	s, err := w.set(x.vars["sub"], x.vars["rg"], x.vars["set"])
	if err != nil {
		return nil, err
	}
	view, err := x.wantsView()
	if err != nil {
		return nil, err
	}
	filter := appliedFilter.FindStringSubmatch(x.query.Get("$filter"))
	if x.query.Get("$filter") != "" && filter == nil || x.query.Get("$select") != "" {
		return nil, badRequest("The $filter '%s' or the $select '%s' is not supported.", x.query.Get("$filter"), x.query.Get("$select"))
	}
	var out []any
	for _, m := range w.machinesOf(s) {
		if filter != nil && (filter[1] == "true") != (m.Model == s.Model) {
			continue
		}
		if !s.uniform() {
			out = append(out, w.brief(s, m))
			continue
		}
		d := w.views.showMachine(s, m, view)
		d["id"] = shouting(text(d, "id"))
		out = append(out, d)
	}
	return w.views.paged(x, out)
}

// brief is what the list of a flexible scale set's machines says of one: no image, no size, no tags.
func (w *virtualMachines) brief(s *scaleSet, m *machine) document {
	d := document{
		"id": s.ID + "/virtualMachines/" + m.Name, "name": m.Name, "instanceId": m.Instance, "location": m.Location,
		"type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
		"properties": document{
			"vmId": m.UID, "provisioningState": m.State, "timeCreated": stamp(m.Created), "virtualMachineResourceId": m.id(s),
		},
	}
	if m.Zone != "" {
		d["zones"] = []any{m.Zone}
	}
	if m.Protection != nil {
		place(d, "properties.protectionPolicy", copied(m.Protection))
	}
	return d
}

// wantsView reads $expand.
func (x *exchange) wantsView() (bool, error) {
	expand := x.query.Get("$expand")
	if expand == "" {
		return false, nil
	}
	if !strings.EqualFold(expand, "instanceView") {
		return false, invalid("$expand", "The $expand query parameter value '%s' is invalid.", expand)
	}
	return true, nil
}

func (w *virtualMachines) getSetVM(x *exchange) (*answer, error) {
	view, err := x.wantsView()
	if err != nil {
		return nil, err
	}
	s, m, err := w.setVM(x)
	if err != nil {
		return nil, err
	}
	if !s.uniform() {
		return ok(w.brief(s, m)), nil
	}
	return ok(w.views.showMachine(s, m, view)), nil
}

func (w *virtualMachines) setVMInstanceView(x *exchange) (*answer, error) {
	_, m, err := w.setVM(x)
	if err != nil {
		return nil, err
	}
	return ok(w.views.instanceView(m)), nil
}

// putSetVM changes the protection of a machine; the service changes little else of one.
func (w *virtualMachines) putSetVM(x *exchange) (*answer, error) {
	body, err := x.read("VirtualMachineScaleSetVM")
	if err != nil {
		return nil, err
	}
	s, m, err := w.setVM(x)
	if err != nil {
		return nil, err
	}
	if want := x.request.Header.Get("If-Match"); want != "" && want != "*" && want != etag(m.Version) {
		return nil, x.unmet("If-Match", nil)
	}
	if err := m.unchanging(); err != nil {
		return nil, err
	}
	if image := under(body, "properties.storageProfile.imageReference"); image != nil && !same(image, dig(m.Profile, "storageProfile.imageReference")) {
		return nil, unchangeable("imageReference")
	}
	op := w.changeMachine(s, m, body)
	if !s.uniform() {
		return &answer{status: http.StatusOK, body: w.brief(s, m), op: op}, nil
	}
	return &answer{status: http.StatusOK, body: w.views.showMachine(s, m, false), op: op}, nil
}

// changeMachine begins to give a machine another protection and other tags. One that has failed is no better for it.
func (w *virtualMachines) changeMachine(s *scaleSet, m *machine, body document) *operation {
	if policy := under(body, "properties.protectionPolicy"); policy != nil {
		m.Protection = policy
	}
	if _, given := body["tags"]; given {
		m.Tags = pairs(body, "tags")
	}
	op := w.running.beginOn(s, m, "update")
	m.fallBack()
	m.State, m.DoneAt = stateUpdating, w.now.Add(w.life(lifeChange))
	m.Version++
	w.touch(m)
	return op
}

func (w *virtualMachines) deleteSetVM(x *exchange) (*answer, error) {
	s, m, err := w.setVM(x)
	if s == nil {
		return nil, err
	}
	if m == nil {
		return &answer{status: http.StatusNoContent}, nil
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	op := w.deleteChosen(s, []*machine{m})
	return &answer{status: http.StatusAccepted, op: op}, nil
}

var setFilter = regexp.MustCompile(`(?i)^'virtualMachineScaleSet/id' eq '([^']*)'$`)

// listVMs lists the virtual machines of a group or a subscription, of one flexible scale set where the filter names one.
func (w *virtualMachines) listVMs(x *exchange) (*answer, error) {
	view, err := x.wantsView()
	if err != nil {
		return nil, err
	}
	only := ""
	if f := x.query.Get("$filter"); f != "" {
		m := setFilter.FindStringSubmatch(f)
		if m == nil {
			return nil, badRequest("The filter '%s' is not supported. Only 'virtualMachineScaleSet/id' eq '...' is.", f)
		}
		only = strings.ToLower(m[1])
	} else if view {
		return nil, badRequest("The $expand query parameter is allowed only together with a $filter on 'virtualMachineScaleSet/id'.")
	}
	return w.pageVMs(x, only, func(s *scaleSet, m *machine) document {
		d := w.views.showMachine(s, m, view)
		d["id"] = shouting(text(d, "id"))
		return d
	})
}

// listAllVMs lists the virtual machines of a subscription: their models, or with statusOnly how they are.
func (w *virtualMachines) listAllVMs(x *exchange) (*answer, error) {
	status := x.query.Get("statusOnly")
	if !strings.EqualFold(status, "true") {
		return w.listVMs(x)
	}
	if x.query.Get("$filter") != "" || x.query.Get("$expand") != "" {
		return nil, badRequest("The query parameter statusOnly is not allowed together with $filter or $expand.")
	}
	return w.pageVMs(x, "", w.statusOnly)
}

// statusOnly is what a list of the subscription says of how a machine is. It lacks the model, tags, and the scale set.
func (w *virtualMachines) statusOnly(s *scaleSet, m *machine) document {
	return document{
		"id": m.id(s), "name": m.Name, "type": "Microsoft.Compute/virtualMachines", "location": m.Location,
		"properties": document{"vmId": m.UID, "provisioningState": m.State, "instanceView": w.views.instanceView(m)},
	}
}

// pageVMs is a page of the virtual machines of a group or a subscription, or of one flexible scale set.
func (w *virtualMachines) pageVMs(x *exchange, only string, show func(*scaleSet, *machine) document) (*answer, error) {
	var out []any
	for _, s := range w.sets.All() {
		if s.uniform() || only != "" && s.key() != only || !strings.EqualFold(s.Sub, x.vars["sub"]) || x.vars["rg"] != "" && !strings.EqualFold(s.Group, x.vars["rg"]) {
			continue
		}
		for _, m := range w.machinesOf(s) {
			out = append(out, show(s, m))
		}
	}
	return w.views.paged(x, out)
}

func (w *virtualMachines) getVM(x *exchange) (*answer, error) {
	view, err := x.wantsView()
	if err != nil {
		return nil, err
	}
	s, m, err := w.flexible(x.vars["sub"], x.vars["rg"], x.vars["vm"])
	if err != nil {
		return nil, err
	}
	return ok(w.views.showMachine(s, m, view)), nil
}

func (w *virtualMachines) vmInstanceView(x *exchange) (*answer, error) {
	_, m, err := w.flexible(x.vars["sub"], x.vars["rg"], x.vars["vm"])
	if err != nil {
		return nil, err
	}
	return ok(w.views.instanceView(m)), nil
}

// patchVM changes the tags of a virtual machine; nothing else of one is simulated.
func (w *virtualMachines) patchVM(x *exchange) (*answer, error) {
	body, err := x.read("VirtualMachineUpdate")
	if err != nil {
		return nil, err
	}
	s, m, err := w.flexible(x.vars["sub"], x.vars["rg"], x.vars["vm"])
	if err != nil {
		return nil, err
	}
	if err := m.unchanging(); err != nil {
		return nil, err
	}
	tags, given := body["tags"]
	if !given || len(body) > 1 {
		return nil, badRequest("Only the tags of a virtual machine of a scale set can be changed in this simulation.")
	}
	if err := checkTags(nil, document{"tags": tags}); err != nil {
		return nil, err
	}
	op := w.changeMachine(s, m, document{"tags": tags})
	return &answer{status: http.StatusOK, body: w.views.showMachine(s, m, false), op: op}, nil
}

func (w *virtualMachines) deleteVM(x *exchange) (*answer, error) {
	s, m, err := w.flexible(x.vars["sub"], x.vars["rg"], x.vars["vm"])
	if err != nil {
		return &answer{status: http.StatusNoContent}, nil
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	op := w.deleteChosen(s, []*machine{m})
	return &answer{status: http.StatusAccepted, op: op}, nil
}

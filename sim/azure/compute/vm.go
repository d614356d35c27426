package compute

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// deleteInstances deletes chosen machines, and the scale set's capacity falls by as many.
func (w *virtualMachines) deleteInstances(x *arm.Call) (*arm.Answer, error) {
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
		w.life.remove(m)
	}
	w.life.uncount(s, n)
	return w.running.begin(s, opRemove, chosen...)
}

// updateInstances gives chosen machines the scale set's model.
func (w *virtualMachines) updateInstances(x *arm.Call) (*arm.Answer, error) {
	return w.onInstances(x, "VirtualMachineScaleSetVMInstanceRequiredIDs", func(s *scaleSet, chosen []*machine) (*operation, error) {
		if slices.ContainsFunc(chosen, func(m *machine) bool { return m.State == stateCreating || m.State == stateUpdating }) {
			return nil, arm.Busy()
		}
		for _, m := range chosen {
			w.upgrade(s, m)
		}
		return w.running.begin(s, opUpgrade, chosen...), nil
	})
}

// onInstances does something to the machines that a body names.
func (w *virtualMachines) onInstances(x *arm.Call, shape string, do func(*scaleSet, []*machine) (*operation, error)) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, shape)
	if err != nil {
		return nil, err
	}
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, err
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	ids := document.Texts(body, "instanceIds")
	if len(ids) == 0 {
		return nil, arm.Missing("instanceIds")
	}
	chosen, err := w.named(s, ids)
	if err != nil {
		return nil, err
	}
	op, err := do(s, chosen)
	if err != nil {
		return nil, err
	}
	return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
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
			return nil, arm.Invalid("instanceIds", "The provided instanceId %s is not an active Virtual Machine Scale Set VM instanceId.", id)
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
	next := document.Copied(document.Under(s.Doc, profilePath))
	reimage := !document.Same(document.Dig(m.Profile, "storageProfile.imageReference"), document.Dig(next, "storageProfile.imageReference"))
	restart := reimage || m.Type != s.size()
	if !restart && document.Same(m.Profile, next) {
		m.fallBack()
	}
	m.Profile, m.Type, m.Model = next, s.size(), s.Model
	if !m.Flexible {
		m.Tags = document.Pairs(s.Doc, "tags")
	}
	m.State, m.DoneAt = stateUpdating, w.Now.Add(w.Life(lifeChange))
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
	w.life.off(m)
	m.Sick, m.State, m.Power = false, stateUpdating, powerStarting
	m.PowerAt, m.DoneAt = w.Now.Add(w.Life(lifePower)), w.Now.Add(w.Life(lifeProvision))
}

// setVM finds a machine of a scale set.
func (w *virtualMachines) setVM(x *arm.Call) (*scaleSet, *machine, error) {
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, nil, err
	}
	m := w.machines.Get(machineKey(s.key(), x.Vars["vm"]))
	if m == nil {
		return s, nil, arm.Refuse(http.StatusNotFound, "NotFound", "The entity was not found in this Azure location.")
	}
	return s, m, nil
}

var appliedFilter = regexp.MustCompile(`^properties/latestModelApplied eq (true|false)$`)

// listSetVMs lists the machines of a scale set: in uniform mode whole ones, in flexible mode little more than their IDs.
func (w *virtualMachines) listSetVMs(x *arm.Call) (*arm.Answer, error) {
	s, err := w.set(x.Vars["sub"], x.Vars["rg"], x.Vars["set"])
	if err != nil {
		return nil, err
	}
	view, err := wantsView(x)
	if err != nil {
		return nil, err
	}
	filter := appliedFilter.FindStringSubmatch(x.Query.Get("$filter"))
	if x.Query.Get("$filter") != "" && filter == nil || x.Query.Get("$select") != "" {
		return nil, arm.BadRequest("The $filter '%s' or the $select '%s' is not supported.", x.Query.Get("$filter"), x.Query.Get("$select"))
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
		d["id"] = shouting(document.Text(d, "id"))
		out = append(out, d)
	}
	return w.Paged(x, out)
}

// brief is what the list of a flexible scale set's machines says of one: no image, no size, no tags.
func (w *virtualMachines) brief(s *scaleSet, m *machine) document.Object {
	d := document.Object{
		"id": s.ID + "/virtualMachines/" + m.Name, "name": m.Name, "instanceId": m.Instance, "location": m.Location,
		"type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
		"properties": document.Object{
			"vmId": m.UID, "provisioningState": m.State, "timeCreated": arm.Stamp(m.Created), "virtualMachineResourceId": m.id(s),
		},
	}
	if m.Zone != "" {
		d["zones"] = []any{m.Zone}
	}
	if m.Protection != nil {
		document.Place(d, "properties.protectionPolicy", document.Copied(m.Protection))
	}
	return d
}

// wantsView reads $expand.
func wantsView(x *arm.Call) (bool, error) {
	expand := x.Query.Get("$expand")
	if expand == "" {
		return false, nil
	}
	if !strings.EqualFold(expand, "instanceView") {
		return false, arm.Invalid("$expand", "The $expand query parameter value '%s' is invalid.", expand)
	}
	return true, nil
}

func (w *virtualMachines) getSetVM(x *arm.Call) (*arm.Answer, error) {
	view, err := wantsView(x)
	if err != nil {
		return nil, err
	}
	s, m, err := w.setVM(x)
	if err != nil {
		return nil, err
	}
	if !s.uniform() {
		return arm.OK(w.brief(s, m)), nil
	}
	return arm.OK(w.views.showMachine(s, m, view)), nil
}

func (w *virtualMachines) setVMInstanceView(x *arm.Call) (*arm.Answer, error) {
	_, m, err := w.setVM(x)
	if err != nil {
		return nil, err
	}
	return arm.OK(w.views.instanceView(m)), nil
}

// putSetVM changes the protection of a machine; the service changes little else of one.
func (w *virtualMachines) putSetVM(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "VirtualMachineScaleSetVM")
	if err != nil {
		return nil, err
	}
	s, m, err := w.setVM(x)
	if err != nil {
		return nil, err
	}
	if want := x.Request.Header.Get("If-Match"); want != "" && want != "*" && want != arm.ETag(m.Version) {
		return nil, x.Unmet("If-Match", "")
	}
	if err := m.unchanging(); err != nil {
		return nil, err
	}
	if image := document.Under(body, "properties.storageProfile.imageReference"); image != nil &&
		!document.Same(image, document.Dig(m.Profile, "storageProfile.imageReference")) {
		return nil, arm.Unchangeable("imageReference")
	}
	op := w.changeMachine(s, m, body)
	if !s.uniform() {
		return &arm.Answer{Status: http.StatusOK, Body: w.brief(s, m), Op: &op.Operation}, nil
	}
	return &arm.Answer{Status: http.StatusOK, Body: w.views.showMachine(s, m, false), Op: &op.Operation}, nil
}

// changeMachine begins to give a machine another protection, and one of a Flexible scale set other tags: those of a Uniform scale set keep
// theirs whatever is sent. One that has failed is no better for it.
func (w *virtualMachines) changeMachine(s *scaleSet, m *machine, body document.Object) *operation {
	if policy := document.Under(body, "properties.protectionPolicy"); policy != nil {
		m.Protection = policy
	}
	if _, given := body["tags"]; given && m.Flexible {
		m.Tags = document.Pairs(body, "tags")
	}
	op := w.running.beginOn(s, m, "update")
	m.fallBack()
	m.State, m.DoneAt = stateUpdating, w.Now.Add(w.Life(lifeChange))
	m.Version++
	w.touch(m)
	return op
}

func (w *virtualMachines) deleteSetVM(x *arm.Call) (*arm.Answer, error) {
	s, m, err := w.setVM(x)
	if s == nil {
		return nil, err
	}
	if m == nil {
		return &arm.Answer{Status: http.StatusNoContent}, nil
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	op := w.deleteChosen(s, []*machine{m})
	return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
}

var setFilter = regexp.MustCompile(`(?i)^'virtualMachineScaleSet/id' eq '([^']*)'$`)

// listVMs lists the virtual machines of a group or a subscription, of one flexible scale set where the filter names one.
func (w *virtualMachines) listVMs(x *arm.Call) (*arm.Answer, error) {
	view, err := wantsView(x)
	if err != nil {
		return nil, err
	}
	only := ""
	if f := x.Query.Get("$filter"); f != "" {
		m := setFilter.FindStringSubmatch(f)
		if m == nil {
			return nil, arm.BadRequest("The filter '%s' is not supported. Only 'virtualMachineScaleSet/id' eq '...' is.", f)
		}
		only = strings.ToLower(m[1])
	} else if view {
		return nil, arm.BadRequest("The $expand query parameter is allowed only together with a $filter on 'virtualMachineScaleSet/id'.")
	}
	return w.pageVMs(x, only, func(s *scaleSet, m *machine) document.Object {
		d := w.views.showMachine(s, m, view)
		d["id"] = shouting(document.Text(d, "id"))
		return d
	})
}

// listAllVMs lists the virtual machines of a subscription: their models, or with statusOnly how they are.
func (w *virtualMachines) listAllVMs(x *arm.Call) (*arm.Answer, error) {
	status := x.Query.Get("statusOnly")
	if !strings.EqualFold(status, "true") {
		return w.listVMs(x)
	}
	if x.Query.Get("$filter") != "" || x.Query.Get("$expand") != "" {
		return nil, arm.BadRequest("The query parameter statusOnly is not allowed together with $filter or $expand.")
	}
	return w.pageVMs(x, "", w.statusOnly)
}

// statusOnly is what a list of the subscription says of how a machine is. It lacks the model, tags, and the scale set.
func (w *virtualMachines) statusOnly(s *scaleSet, m *machine) document.Object {
	return document.Object{
		"id": m.id(s), "name": m.Name, "type": "Microsoft.Compute/virtualMachines", "location": m.Location,
		"properties": document.Object{"vmId": m.UID, "provisioningState": m.State, "instanceView": w.views.instanceView(m)},
	}
}

// pageVMs is a page of the virtual machines of a group or a subscription, or of one flexible scale set.
func (w *virtualMachines) pageVMs(x *arm.Call, only string, show func(*scaleSet, *machine) document.Object) (*arm.Answer, error) {
	var out []any
	for _, s := range w.sets.All() {
		if s.uniform() || only != "" && s.key() != only || !strings.EqualFold(s.Sub, x.Vars["sub"]) || x.Vars["rg"] != "" &&
			!strings.EqualFold(s.Group, x.Vars["rg"]) {
			continue
		}
		for _, m := range w.machinesOf(s) {
			out = append(out, show(s, m))
		}
	}
	return w.Paged(x, out)
}

func (w *virtualMachines) getVM(x *arm.Call) (*arm.Answer, error) {
	view, err := wantsView(x)
	if err != nil {
		return nil, err
	}
	s, m, err := w.flexible(x.Vars["sub"], x.Vars["rg"], x.Vars["vm"])
	if err != nil {
		return nil, err
	}
	return arm.OK(w.views.showMachine(s, m, view)), nil
}

func (w *virtualMachines) vmInstanceView(x *arm.Call) (*arm.Answer, error) {
	_, m, err := w.flexible(x.Vars["sub"], x.Vars["rg"], x.Vars["vm"])
	if err != nil {
		return nil, err
	}
	return arm.OK(w.views.instanceView(m)), nil
}

// patchVM changes the tags of a virtual machine; nothing else of one is simulated.
func (w *virtualMachines) patchVM(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "VirtualMachineUpdate")
	if err != nil {
		return nil, err
	}
	s, m, err := w.flexible(x.Vars["sub"], x.Vars["rg"], x.Vars["vm"])
	if err != nil {
		return nil, err
	}
	if err := m.unchanging(); err != nil {
		return nil, err
	}
	tags, given := body["tags"]
	if !given || len(body) > 1 {
		return nil, arm.BadRequest("Only the tags of a virtual machine of a scale set can be changed in this simulation.")
	}
	if err := arm.CheckTags(document.Object{"tags": tags}); err != nil {
		return nil, err
	}
	op := w.changeMachine(s, m, document.Object{"tags": tags})
	return &arm.Answer{Status: http.StatusOK, Body: w.views.showMachine(s, m, false), Op: &op.Operation}, nil
}

func (w *virtualMachines) deleteVM(x *arm.Call) (*arm.Answer, error) {
	s, m, err := w.flexible(x.Vars["sub"], x.Vars["rg"], x.Vars["vm"])
	if err != nil {
		return &arm.Answer{Status: http.StatusNoContent}, nil
	}
	if err := w.running.staysOpen(s); err != nil {
		return nil, err
	}
	op := w.deleteChosen(s, []*machine{m})
	return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
}

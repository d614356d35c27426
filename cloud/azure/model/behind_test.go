package model_test

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
)

// agent is an extension whose settings can be seen.
func agent(level string) azurev1.VMExtension {
	return azurev1.VMExtension{Name: "agent", Publisher: "Example.Monitor", Version: "1.2",
		Settings: map[string]string{"level": level, "<": "&"}}
}

// extended is the specification of a pool with a tag and extensions of its own.
func extended(list ...azurev1.VMExtension) *azurev1.AzureMachinePoolSpec {
	s := seed()
	s.AdditionalTags, s.Template.VMExtensions = azurev1.Tags{"team": "pool"}, list
	return s
}

// A machine is given what its scale set has when it lacks something of that, as far as can be told, and at no other time.
func TestBehind(t *testing.T) {
	type vm = armcompute.VirtualMachineScaleSetVM
	tags, extensions := []string{model.FieldTags}, []string{model.FieldExtensions}
	open, secret := agent("info"), azurev1.VMExtension{Name: "s", Publisher: "p", Version: "1.0",
		ProtectedSettings: map[string]string{"password": "hunter2"}}
	late := func(is *vm) { is.Properties.LatestModelApplied = new(false) }
	unmarked := func(is *vm) { delete(is.Tags, model.TagInPlace) }
	both := func(first, second func(*vm)) func(*vm) { return func(is *vm) { first(is); second(is) } }
	shows := func(change func(e *armcompute.VirtualMachineExtension)) func(*vm) {
		return func(is *vm) { change(is.Resources[0]) }
	}
	level := shows(func(e *armcompute.VirtualMachineExtension) {
		e.Properties.Settings = map[string]any{"level": "debug", "<": "&"}
	})
	nothing := func(is *vm) { is.Resources = nil }
	for _, c := range []struct {
		reason string
		spec   *azurev1.AzureMachinePoolSpec
		is     func(is *vm)
		behind []string
	}{
		{"as it was made", extended(open, secret), func(*vm) {}, nil},
		{"made while a user had changed a tag: its hash is that of what was wanted", extended(open),
			func(is *vm) { is.Tags["team"] = new("theirs") }, tags},
		{"made while a user had taken a tag off", extended(open), func(is *vm) { delete(is.Tags, "team") }, tags},
		{"a tag in another case", extended(open), func(is *vm) { delete(is.Tags, "team"); is.Tags["TEAM"] = new("pool") }, nil},
		{"a tag of another owner's", extended(open), func(is *vm) { is.Tags["policy"] = new("theirs") }, nil},
		{"a tag that a user named once", extended(open), func(is *vm) {
			is.Tags["gone"], is.Tags[model.TagNames] = new("x"),
				new(namesWith(t, "gone"))
		}, tags},
		{"the ecosystem's tag has another value", extended(open),
			func(is *vm) { is.Tags["sigs.k8s.io_cluster-api-provider-azure_role"] = new("x") }, tags},
		{"its own hash tells what it shows", extended(open), level, nil},
		{"its tags are its scale set's and an extension is not", extended(open), both(late, level), extensions},
		{"an extension that is wanted no more", extended(), both(late, func(is *vm) {
			is.Resources = []*armcompute.VirtualMachineExtension{{Name: new("agent")}}
		}), extensions},
		{"an older version", extended(open), both(late,
			shows(func(e *armcompute.VirtualMachineExtension) { e.Properties.TypeHandlerVersion = new("1.1") })), extensions},
		{"another publisher", extended(open), both(late,
			shows(func(e *armcompute.VirtualMachineExtension) { e.Properties.Publisher = new("Other") })), extensions},
		{"no settings", extended(open), both(late, shows(func(e *armcompute.VirtualMachineExtension) { e.Properties.Settings = nil })),
			extensions},
		{"empty settings are none", extended(azurev1.VMExtension{Name: "agent", Publisher: "p", Version: "1.0"}),
			both(late, shows(func(e *armcompute.VirtualMachineExtension) { e.Properties.Settings = map[string]any{} })), nil},
		{"a name behind the machine's", extended(open),
			both(late, shows(func(e *armcompute.VirtualMachineExtension) { e.Name = new("capz-mp-0_0/Agent") })), nil},
		{"not the latest model and all that can be seen is there: nothing is done for what is not seen to lack", extended(open), late, nil},
		{"not the latest model, without extensions", extended(), late, nil},
		{"not the latest model, and extensions are not shown", extended(open), both(late, nothing), extensions},
		{"an extension shown by its name alone", extended(open),
			both(late, shows(func(e *armcompute.VirtualMachineExtension) { e.Properties = nil })), extensions},
		{"not the latest model, and what is secret is not shown", extended(secret), late, extensions},
		{"older bootstrap data is why it has not the latest model", extended(open, secret),
			both(late, func(is *vm) { is.Tags[model.TagData] = new("0123456789ab") }), nil},
		{"extensions are not shown, and its own hash tells of them", extended(open, secret), nothing, nil},
		{"its hash was taken off, and all is there", extended(open), unmarked, nil},
		{"its hash was taken off, and an extension is another", extended(open), both(unmarked, level), extensions},
		{"its hash was taken off, and extensions are not shown", extended(open), both(unmarked, nothing), extensions},
		{"its hash was taken off, and what is secret is not shown", extended(secret), unmarked, extensions},
		{"its hash was taken off, and a tag is another", extended(open), both(unmarked, func(is *vm) { is.Tags["team"] = new("theirs") }), tags},
	} {
		m := build(t, input(t, c.spec))
		cur := echo(t, m)
		is := uniform(cur)
		is.Tags, is.Resources = maps.Clone(is.Tags), copied(t, is.Resources)
		c.is(&is)
		got := m.Against(cur).Uniform(is)
		if got.Content != m.Content || !slices.Equal(got.InPlaceDrift, c.behind) {
			t.Errorf("%s: want a machine of content %s, behind in %v, got %+v", c.reason, m.Content, c.behind, got)
		}
	}
}

// namesWith is the tag that lists a user's tags, with one more.
func namesWith(t *testing.T, name string) string {
	t.Helper()
	spec := extended()
	spec.AdditionalTags[name] = "x"
	return model.Tag(build(t, input(t, spec)).Set.Tags, model.TagNames)
}

// A machine of a Flexible scale set says by itself what it was made of, and is compared where it does not.
func TestBehindFlexible(t *testing.T) {
	m := build(t, input(t, extended(agent("info"))))
	cur := echo(t, m)
	is := flexible(cur)
	delete(is.Tags, model.TagInPlace)
	if got := m.Against(cur).Flexible(is); len(got.InPlaceDrift) > 0 {
		t.Errorf("want one that shows all that is wanted to be behind in nothing, got %v", got.InPlaceDrift)
	}
	is.Resources = nil
	if got := m.Against(cur).Flexible(is); !slices.Equal(got.InPlaceDrift, []string{model.FieldExtensions}) {
		t.Errorf("want one that shows nothing to be given the extensions, got %v", got.InPlaceDrift)
	}
}

// What is changed in place reaches machines whose tags say nothing of their own, because they are always those of the scale set, and
// machines whose tags a user has changed. One application is enough, and none is asked for after that.
func TestBehindOnTheWire(t *testing.T) {
	for _, c := range []struct {
		reason string
		mode   azurev1.OrchestrationModeType
		live   bool
	}{
		{"tags are the machines' own", azurev1.UniformOrchestrationMode, false},
		{"tags are the scale set's at any time", azurev1.UniformOrchestrationMode, true},
		{"machines are resources of their own", azurev1.FlexibleOrchestrationMode, false},
	} {
		if testing.Short() && c.live {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var on sim.Switches
				if c.live {
					on = sim.Switches{compute.LiveTags}
				}
				made, err := simazure.New(simazure.Options{Seed: 1, Switches: on})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = made.Close() }()
				caughtUp(newWire(t, made), made, c.mode, c.live)
			})
		})
	}
}

// caughtUp leads one pool through changes in place. Its machines are behind after each, and in nothing once they were given the model.
func caughtUp(w wire, made *simazure.Cloud, mode azurev1.OrchestrationModeType, live bool) {
	w.t.Helper()
	specOf := func(list ...azurev1.VMExtension) *azurev1.AzureMachinePoolSpec {
		s := extended(list...)
		s.OrchestrationMode = mode
		return s
	}
	m := build(w.t, w.input(specOf(agent("info"))))
	w.began(w.sets.BeginCreateOrUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, m.Create(2), nil))
	secret := azurev1.VMExtension{Name: "s", Publisher: "p", Version: "1.0", ProtectedSettings: map[string]string{"password": "hunter2"}}
	other := azurev1.VMExtension{Name: "s", Publisher: "p", Version: "1.0", ProtectedSettings: map[string]string{"password": "hunter3"}}
	for k, list := range [][]azurev1.VMExtension{{agent("debug")}, {agent("debug"), secret}, {agent("debug"), other}, {agent("debug")}, nil} {
		m = build(w.t, w.input(specOf(list...)))
		cur := w.read(m.Name)
		w.began(w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, m.InPlaceChange(cur), nil))
		w.applied(k, m)
	}
	// Renewed bootstrap data alone is nothing that a machine could be given.
	in := w.input(specOf())
	in.Bootstrap = cloud.NewBootstrap([]byte("renewed"), "cloud-config")
	m = build(w.t, in)
	w.began(w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, m.Change(w.read(m.Name)), nil))
	cur := w.read(m.Name)
	for _, is := range w.instances(m.Against(cur), cur) {
		if is.Content != m.Content || len(is.InPlaceDrift) > 0 {
			w.t.Errorf("want nothing to be done for bootstrap data, got %+v", is)
		}
	}
	if live {
		return // whatever a user does to the tags of a machine, it shows others
	}
	w.retagged(made, m)
	w.applied(-1, m)
}

// retagged takes tags off all machines, or changes them, as a user may do by hand: while they were made, a tag of the scale set was
// another.
func (w wire) retagged(made *simazure.Cloud, m *model.Model) {
	w.t.Helper()
	cur := w.read(m.Name)
	theirs := maps.Clone(cur.Set.Tags)
	theirs["team"] = new("theirs")
	w.began(w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, armcompute.VirtualMachineScaleSetUpdate{Tags: theirs}, nil))
	w.began(w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, model.Resize(w.read(m.Name), 4, nil), nil))
	for _, machine := range made.State().Sets[0].Machines[:2] {
		if err := made.Terminate(machine.UID); err != nil {
			w.t.Fatal(err)
		}
	}
	w.settled()
	w.began(w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, m.Name, m.InPlaceChange(w.read(m.Name)), nil))
}

// tagged gives the machines of a Flexible scale set their tags, which are their own.
func (w wire) tagged(m *model.Model) {
	w.t.Helper()
	set := w.read(m.Name).Set
	if ptr.Deref(set.Properties.OrchestrationMode, "") != armcompute.OrchestrationModeFlexible {
		return
	}
	for pager := w.flexible.NewListPager(simazure.ResourceGroup, nil); pager.More(); {
		page, err := pager.NextPage(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, vm := range page.Value {
			w.began(w.flexible.BeginUpdate(w.t.Context(), simazure.ResourceGroup, *vm.Name,
				armcompute.VirtualMachineUpdate{Tags: m.MachineTags(vm.Tags)}, nil))
		}
	}
}

// applied wants both machines behind, gives them the model, and wants neither behind any more, in tags or in extensions.
func (w wire) applied(nth int, m *model.Model) {
	w.t.Helper()
	cur := w.read(m.Name)
	comparison := m.Against(cur)
	if len(comparison.State.Drift) > 0 {
		w.t.Fatalf("change %d: want no drift, got %v", nth, comparison.State.Drift)
	}
	before := w.instances(comparison, cur)
	for _, is := range before {
		if is.Content != m.Content || len(is.InPlaceDrift) == 0 {
			w.t.Errorf("change %d: want it behind, got %+v", nth, is)
		}
	}
	w.began(w.sets.BeginUpdateInstances(w.t.Context(), simazure.ResourceGroup, m.Name,
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{new("*")}}, nil))
	w.tagged(m)
	cur = w.read(m.Name)
	after := w.instances(m.Against(cur), cur)
	for _, is := range after {
		if is.Content != m.Content || len(is.Differs)+len(is.InPlaceDrift) > 0 {
			w.t.Errorf("change %d: want it behind in nothing once it was given the model, got %+v", nth, is)
		}
	}
	if len(before) != 2 || len(after) != 2 {
		w.t.Errorf("change %d: want two machines, got %d and %d", nth, len(before), len(after))
	}
}

package azure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
)

// A pool's whole life by the planner: made, protected, changed in place, rolled, made smaller, deleted. At the end nothing is left.
func TestWholeLife(t *testing.T) {
	inBothModes(t, func(t *testing.T, w *world) {
		p := newPlay(w, w.aTarget(), desired(3, number(1), number(0)))
		p.run()
		for _, i := range p.look().Instances {
			if i.ScaleInUnprotected || i.State != pool.Running {
				t.Errorf("want everybody to run and to be protected, got %+v", i)
			}
		}
		born := slices.Clone(ids(p.look()))
		p.target = with(p.target, reshape)
		p.run()
		o := p.look()
		if got := ids(o); !slices.Equal(got, born) {
			t.Errorf("want the same machines after a change in place, %v, got %v", born, got)
		}
		for _, i := range o.Instances {
			if len(i.InPlaceDrift) > 0 {
				t.Errorf("want no machine behind, got %+v", i)
			}
		}
		if len(o.Group.Drift) > 0 {
			t.Errorf("want no drift, got %v", o.Group.Drift)
		}
		p.target = with(p.target, otherSize)
		p.run()
		if o = p.look(); slices.ContainsFunc(ids(o), func(id string) bool { return slices.Contains(born, id) }) || len(o.Instances) != 3 {
			t.Errorf("want three others than %v, got %v", born, ids(o))
		}
		p.d.Replicas = 1
		p.run()
		if o = p.look(); o.Group.Size != 1 || len(o.Instances) != 1 {
			t.Errorf("want one machine, got %+v", o.Group)
		}
		p.d.Deleting = true
		for range 100 {
			if p.pass().DeletionComplete {
				break
			}
		}
		if left := w.cloud.State().Sets; len(left) > 0 {
			t.Errorf("want nothing left, got %+v", left)
		}
	})
}

// TestImageOfAnotherSource holds that an image of another kind of source, which Azure refuses for a scale set that exists, is reported with
// its field and what to do, and that nothing is sent and no machine is replaced for it.
func TestImageOfAnotherSource(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 1)
		target = with(target, func(s *azurev1.AzureMachinePoolSpec) {
			s.Template.Image = &azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{
				ImagePlan: azurev1.ImagePlan{Publisher: "cncf-upstream", Offer: "capi", SKU: "ubuntu-2204-gen1"}, Version: "128.3.20231023"}}
		})
		o := w.observe(target)
		if issueWith(o, "ImageSourceUnchangeable", "create another pool") == nil ||
			!slices.Equal(o.Group.Unchangeable, []string{"spec.template.image"}) {
			t.Errorf("want the image reported as unchangeable, got %v, issues %v", o.Group.Unchangeable, o.Issues)
		}
		if !o.Wanted.Same(o.Instances[0].Template) {
			t.Errorf("want no machine stale, got %+v of %+v", o.Instances[0].Template, o.Wanted)
		}
		last := w.cloud.Calls().Next()
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		w.start(target, pool.Step{Kind: pool.UpdateGroup})
		for _, c := range w.cloud.Calls().Summary(last).Calls {
			if c.Mutating {
				t.Errorf("want nothing sent, got %s", c.Action)
			}
		}
	})
}

func ids(o pool.Observed) []string {
	list := make([]string, 0, len(o.Instances))
	for _, i := range o.Instances {
		list = append(list, i.ID)
	}
	return list
}

// A new look at a pool at rest costs two requests, and one more for each further page.
func TestCalls(t *testing.T) {
	lists := map[azurev1.OrchestrationModeType]string{
		azurev1.UniformOrchestrationMode:  "compute:VirtualMachineScaleSetVMs.List",
		azurev1.FlexibleOrchestrationMode: "compute:VirtualMachines.List",
	}
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 3)
		if got, want := w.wire.during(func() { w.observe(target) }),
			[]string{"compute:VirtualMachineScaleSets.Get", lists[w.mode]}; !slices.Equal(got, want) {
			t.Errorf("3 machines: want %v, got %v", want, got)
		}
		w.start(target, pool.Step{Kind: pool.Resize, Size: 210})
		settle()
		w.observe(target)
		if got := w.wire.during(func() { w.observe(target) }); len(got) != 4 || count(got, strings.TrimPrefix(lists[w.mode], "compute:")) != 3 {
			t.Errorf("210 machines in pages of 100: want the scale set and three pages, got %v", got)
		}
		if o := w.observe(target); !o.Cache.Fresh {
			t.Error("want it said that Azure was asked for this very look")
		}
		target.Cache.MaxAge = time.Minute
		if got := w.wire.during(func() {
			if o := w.observe(target); o.Cache.Fresh {
				t.Error("want it said that this is an old look")
			}
		}); len(got) > 0 {
			t.Errorf("want no request where an old look will do, got %v", got)
		}
	})
}

// Deleting does not wait for what Azure does to the scale set.
func TestDeletedWhileBusy(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 3})
		if o := w.observe(target); o.Group == nil || o.Group.Busy == nil {
			t.Fatalf("want a scale set that is being made, got %+v", o.Group)
		}
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		if o := w.observe(target); o.Group != nil {
			t.Errorf("want it gone, got %+v", o.Group)
		}
	})
}

// What a user changes on the model by hand is put right, and the machines that were made from it meanwhile are stale.
func TestModelChangedByHand(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		before := w.create(target, 2)
		w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: new("Standard_D4s_v3"), Tier: new("Standard"),
			Capacity: new(int64(3))}})
		settle()
		o := w.observe(target)
		if o.Latest().Same(o.Wanted) || !strings.HasPrefix(o.Latest().Content, "seen:") {
			t.Fatalf("want a model of unknown content, got %+v", o.Latest())
		}
		w.stale(o, before)
		w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
		settle()
		o = w.observe(target)
		if !o.Latest().Same(o.Wanted) {
			t.Errorf("want the wanted model again, got %+v", o.Latest())
		}
		if w.mode == azurev1.UniformOrchestrationMode {
			// A Flexible scale set does not tell which machines lack its latest model: their tag is believed.
			w.stale(o, before)
		}
	})
}

// stale reports where others than those of before are fresh, or those of before are stale.
func (w *world) stale(o, before pool.Observed) {
	w.t.Helper()
	for _, i := range o.Instances {
		if old := slices.Contains(ids(before), i.ID); i.Template.Same(o.Wanted) != old {
			w.t.Errorf("want the machines that were there, %v, of the wanted content, and no other, got %+v", ids(before), i)
		}
	}
}

// patch changes the scale set by hand.
func (w *world) patch(change armcompute.VirtualMachineScaleSetUpdate) {
	w.t.Helper()
	if _, err := w.sets.BeginUpdate(w.t.Context(), simazure.ResourceGroup, setName, change, nil); err != nil {
		w.t.Fatalf("change the scale set by hand: %v", err)
	}
}

// A rotated token reaches the model when it is put there, and makes no machine stale.
func TestTokenRotates(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		before := w.create(target, 2)
		target.Bootstrap = rotated()
		o := w.observe(target)
		if o.Latest().Data == o.Wanted.Data || !o.Latest().Same(o.Wanted) {
			t.Fatalf("want other data of the same content, got %+v and %+v", o.Latest(), o.Wanted)
		}
		w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
		settle()
		o = w.observe(target)
		if o.Latest().Data != o.Wanted.Data || o.Group.Template == before.Group.Template {
			t.Errorf("want the new data in the model, got %+v", o.Latest())
		}
		for _, i := range o.Instances {
			if !i.Template.Same(o.Wanted) {
				t.Errorf("want no machine stale, got %+v", i)
			}
		}
	})
}

// TestFormerBootstrap holds that each machine counts by the bootstrap configuration that it was launched with, also after the pool went on
// to another one and back, whether machines show tags of their own or those that their scale set has now, and by any driver.
func TestFormerBootstrap(t *testing.T) {
	for _, on := range []sim.Switches{nil, {compute.LiveTags}} {
		for _, mode := range modes {
			t.Run(fmt.Sprint(mode, on), func(t *testing.T) {
				t.Parallel()
				inWorld(t, mode, formerBootstraps, on...)
			})
		}
	}
}

func formerBootstraps(t *testing.T, w *world) {
	const marks = "abab-cadefgh" // with - the token rotates, and what is changed in place is given to machines of the configuration
	target := w.aTarget()
	target.Bootstrap = target.Bootstrap.Marked("a")
	launched := map[string]string{}
	for _, i := range w.create(target, 2).Instances {
		launched[i.ID] = "a"
	}
	for k, mark := range strings.Split(marks[1:], "") {
		if mark == "-" {
			mark = marks[k : k+1]
			target.Bootstrap = rotated()
			target = with(target, reshape)
		}
		target.Bootstrap = target.Bootstrap.Marked(mark)
		w.start(target, pool.Step{Kind: pool.UpdateGroup})
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		o := w.observe(target)
		w.counted(o, launched, mark)
		w.start(target, pool.Step{Kind: pool.Resize, Size: len(launched) + 1})
		settle()
		o = w.observe(target)
		for _, i := range o.Instances {
			if launched[i.ID] == "" {
				launched[i.ID] = mark
			}
		}
		w.driver = w.newDriver()
		o = w.observe(target)
		w.counted(o, launched, mark)
		var behind []pool.InstanceRef
		for _, i := range o.Instances {
			if len(i.InPlaceDrift) > 0 {
				behind = append(behind, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
			}
		}
		w.start(target, pool.Step{Kind: pool.Apply, Targets: behind})
		settle()
		w.counted(w.observe(target), launched, mark)
	}
}

// TestFormerBootstrapOfLaunching holds the same of machines that Azure is launching while the configuration changes, some with the former.
func TestFormerBootstrapOfLaunching(t *testing.T) {
	for _, on := range []sim.Switches{nil, {compute.LiveTags}} {
		inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
			target := w.aTarget()
			w.create(target, 1)
			w.start(target, pool.Step{Kind: pool.Resize, Size: 5})
			time.Sleep(250 * time.Millisecond)
			target.Bootstrap = rotated().Marked("b")
			w.observe(target)
			w.start(target, pool.Step{Kind: pool.PutTemplate})
			settle()
			o, launched := w.observe(target), map[string]string{}
			fresh := 0
			for _, m := range w.cloud.State().Sets[0].Machines {
				if launched[m.ID] = "the former"; m.Tags[model.TagContent] == o.Wanted.Content { // those that it was launched with
					launched[m.ID] = "the wanted"
					fresh++
				}
			}
			if fresh == 0 || fresh >= 4 {
				t.Fatalf("want some of four machines launched with each configuration, got %v", launched)
			}
			w.counted(o, launched, "the wanted")
		}, on...)
	}
}

// counted reports machines that count as fresh and were launched with another bootstrap configuration, or the other way around.
func (w *world) counted(o pool.Observed, launched map[string]string, mark string) {
	w.t.Helper()
	if len(o.Instances) != len(launched) {
		w.t.Errorf("want %d machines, got %d", len(launched), len(o.Instances))
	}
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) != (launched[i.ID] == mark) {
			w.t.Errorf("%s is wanted: want machine %s to count as one of %s, got %+v", mark, i.ID, launched[i.ID], i.Template)
		}
	}
}

// The names of scale sets: the object's, shortened for Windows, or what a user asks for.
func TestNames(t *testing.T) {
	for _, c := range []struct{ reason, name, group, os, want string }{
		{"Linux keeps the object's name", "machines-of-mine", "", "Linux", "machines-of-mine"},
		{"Windows knows no long names", "machines-of-mine", "", "Windows", "win--mine"},
		{"Windows keeps short ones", "mine", "", "Windows", "mine"},
		{"a user may choose", "machines-of-mine", "theirs", "Linux", "theirs"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
				target := with(w.aTarget(), func(s *azurev1.AzureMachinePoolSpec) { s.Template.OSDisk.OSType = azurev1.OSType(c.os) })
				target.Owner.Name, target.Owner.GroupName = c.name, c.group
				w.observe(target)
				w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 0})
				if o := w.observe(target); o.Group == nil || !strings.HasSuffix(o.Group.ID, "/"+c.want) {
					t.Errorf("want a scale set named %s, got %+v", c.want, o.Group)
				}
			})
		})
	}
}

// The machines of a new scale set get the IDs of a former one's in mode Uniform, which numbers them from 0 in each set: it is known which
// they are while there is none.
func TestMachinesAreNumberedAnew(t *testing.T) {
	inModes(t, func(t *testing.T, w *world) {
		target := w.aTarget()
		missing := w.observe(target)
		below, made := cloud.ProviderKey(missing.InstancesBelow), w.create(target, 2)
		if made.InstancesBelow != "" {
			t.Errorf("want nothing said of a new scale set where there is one, got %q", made.InstancesBelow)
		}
		for _, i := range made.Instances {
			if key := cloud.ProviderKey(i.ProviderID); w.mode == azurev1.UniformOrchestrationMode && !strings.HasPrefix(key, below+"/") {
				t.Errorf("want the ID of a new machine to begin with %q, got %q", below, key)
			}
		}
		if w.mode == azurev1.FlexibleOrchestrationMode && below != "" {
			t.Errorf("want no ID given twice in mode Flexible, got %q", below)
		}
	})
}

package azure_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// guest is a virtual machine that a user attaches to a Flexible scale set.
const guest = "their-machine"

func (w *world) attach(tags map[string]string) {
	w.t.Helper()
	if err := w.cloud.Attach(setName, guest, tags); err != nil {
		w.t.Fatal(err)
	}
}

// guestStays fails when the guest is not there any more, or was touched.
func (w *world) guestStays() {
	w.t.Helper()
	for _, m := range w.cloud.State().Sets[0].Machines {
		if m.Name == guest {
			if m.Protected || m.State != "Succeeded" || m.Tags[model.TagOwner] == w.aTarget().Owner.ID {
				w.t.Errorf("want it as it was, got %+v", m)
			}
			return
		}
	}
	w.t.Error("want the attached machine there, it is gone")
}

// Whom a user attaches to the scale set is left alone, whatever the pool does meanwhile.
func TestAttachedIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		reason string
		tags   map[string]string
	}{
		{"a user's own machine", map[string]string{"team": "b"}},
		{"a machine of another pool, which was detached there", map[string]string{model.TagOwner: "another"}},
	} {
		if testing.Short() && c.tags[model.TagOwner] != "" {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
				p := newPlay(w, w.aTarget(), desired(3, number(1), number(0)))
				p.run()
				born := ids(p.look())
				w.attach(c.tags)
				p.run()
				o := p.look()
				if got := ids(o); !slices.Equal(got, born) || o.Group.Size != 3 {
					t.Errorf("want %v and a size of 3, got %v, %d", born, got, o.Group.Size)
				}
				if issueWith(o, "MachinesAttached", guest) == nil {
					t.Errorf("want it told, got %v", o.Issues)
				}
				if len(o.ExternalStandby) != 1 || !strings.HasSuffix(o.ExternalStandby[0], "/virtualMachines/"+guest) {
					t.Errorf("want it named as another owner's, got %v", o.ExternalStandby)
				}
				for _, change := range []func(){
					func() { p.target = with(p.target, otherSize) },
					func() { p.d.Replicas = 5 },
					func() { p.d.Replicas = 1 },
					func() { p.target = with(p.target, reshape) },
				} {
					change()
					p.run()
					w.guestStays()
				}
				if o = p.look(); len(o.Instances) != 1 || o.Group.Size != 1 || slices.Contains(born, o.Instances[0].ID) {
					t.Errorf("want one machine of the new model, got %+v with %v", o.Group, ids(o))
				}
				if got := w.cloud.State().Sets[0].Capacity; got != 2 {
					t.Errorf("want Azure asked for it and the attached one, got a capacity of %d", got)
				}
			})
		})
	}
}

// A scale set to which a user has attached a machine is not deleted with it.
func TestAttachedIsNotDeletedWithThePool(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		target := w.aTarget()
		w.create(target, 1)
		w.attach(nil)
		w.observe(target)
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.DeleteGroup})
		if cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "MachinesAttached" || !strings.Contains(err.Error(), guest) {
			t.Fatalf("want a refusal that names it, got %v", err)
		}
		w.guestStays()
		if err := w.cloud.Detach(guest); err != nil {
			t.Fatal(err)
		}
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		if o := w.observe(target); o.Group != nil {
			t.Errorf("want it gone, got %+v", o.Group)
		}
	})
}

// Where Azure has given up bringing machines, no change of the scale set takes the attached one with the capacity that no machine has.
func TestAttachedWhereGrowthFailed(t *testing.T) {
	inWorld(t, azurev1.FlexibleOrchestrationMode, func(t *testing.T, w *world) {
		target := w.aTarget()
		target.FailureDomains = []string{"2"}
		w.create(target, 2)
		w.attach(nil)
		w.observe(target)
		w.fault(sim.Fault{Kind: sim.NoCapacity, Zone: "2"})
		w.start(target, pool.Step{Kind: pool.Resize, Size: 4})
		settle()
		if o := w.observe(target); o.Group.Size != 2 || o.Group.ScaleUpFailedAt.IsZero() {
			t.Fatalf("want a size of 2, and growth that failed, got %+v", o.Group)
		}
		w.calm()
		rest(time.Minute)
		target = with(target, reshape)
		o := w.observe(target)
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		settle()
		w.guestStays()
		if o = w.observe(target); o.Group.Size != 2 || len(o.Instances) != 2 {
			t.Errorf("want both of Muster's and no more, got %+v with %v", o.Group, ids(o))
		}
	})
}

package instancepool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
)

const (
	// quiet is the maximum age of a read for a pool at rest, restPass the time between two looks at one.
	quiet, restPass = 20 * time.Second, 100 * time.Second
	hour            = time.Hour
)

// several creates pools of one instance each in the compartment, and returns them at rest.
func (w *world) several(pools int) (all []world) {
	w.Helper()
	for n := range pools {
		one := *w
		one.target.Owner.Name = fmt.Sprintf("mp-%d", n)
		one.target.Owner.ID, one.target.GroupID = "owner-of-"+one.target.Owner.Name, ""
		one.create(1)
		all = append(all, one)
	}
	for k := range all {
		all[k].target.Cache.MaxAge = quiet
		all[k].observe()
	}
	return all
}

// TestIdle holds that pools at rest share one list, and that what only each of them shows is read once an hour. Nothing is written.
func TestIdle(t *testing.T) {
	for pools, limit := range map[int]float64{1: 1.2, 40: 0.11} {
		t.Run(fmt.Sprint(pools), func(t *testing.T) {
			inWorld(t, oci.Options{}, func(w *world) {
				all := w.several(pools)
				<-time.After(hour)
				passes := 0
				sent := w.sent(func() {
					for range int(2 * hour / restPass) {
						<-time.After(restPass)
						for i := range all {
							passes++
							if o := all[i].observe(); len(o.Group.Drift) > 0 || len(o.Instances) != 1 || !o.Cache.Shared {
								t.Fatalf("want a pool at rest, got %+v", o)
							}
						}
					}
				})
				each := float64(len(sent)) / float64(passes)
				t.Logf("%d pools: %.3f reads a pass", pools, each)
				if each > limit || slices.ContainsFunc(sent, func(op string) bool {
					return !strings.HasPrefix(op, "List") && !strings.HasPrefix(op, "Get")
				}) {
					t.Errorf("want at most %.2f reads a pass and no write, got %.3f, of %v", limit, each, sent[:min(len(sent), 6)])
				}
			})
		})
	}
}

// TestChangesByHandAreSeenAtRest holds that a look which accepts an older read sees what the list of pools shows, and an event, as a Node
// that is not ready any more, what only the instances show.
func TestChangesByHandAreSeenAtRest(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		one := &w.several(2)[0]
		<-time.After(5 * restPass)
		one.byHand(sim.SetSize, sim.Resource{Name: one.groupName(), Size: 2})
		<-time.After(restPass)
		if o := one.observe(); o.Group.Size != 2 || len(o.Instances) != 2 {
			t.Errorf("want the size and the instances seen, got %+v with %+v", o.Group, o.Instances)
		}
		settle()
		o := one.observe()
		<-time.After(5 * restPass)
		one.byHand(sim.StopInstance, sim.Resource{Instance: o.Instances[0].ID})
		<-time.After(2 * time.Minute)
		one.target.Cache.ByEvent = true
		if o := one.observe(); o.Instances[0].State != pool.Failed {
			t.Errorf("want the instance seen to be stopped, got %+v", o.Instances)
		}
	})
}

// TestOneReadOfTheOwnPool holds that an exact look reads the pool by its OCID and its instances, and no list of the compartment.
func TestOneReadOfTheOwnPool(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(1)
		w.observe()
		<-time.After(time.Minute)
		if sent := w.sent(func() { w.observe() }); !slices.Equal(sent, []string{"GetInstancePool", "ListInstancePoolInstances"}) {
			t.Errorf("want two reads, got %v", sent)
		}
	})
}

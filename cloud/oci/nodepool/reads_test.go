package nodepool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
	oke "github.com/muster-project/muster/sim/oci/containerengine"
)

// quiet is the maximum age of a read for a pool at rest.
const quiet = 20 * time.Second

// several creates pools of one node each in the cluster, and returns them at rest.
func (w *world) several(pools int) (all []world) {
	w.Helper()
	for n := range pools {
		one := *w
		one.target.Spec = with(func(*spec) {})(w.target.Spec)
		name := fmt.Sprintf("pool-%d", n)
		one.target.Owner.Name, one.target.Owner.ID, one.target.Spec.Name = name, name+"-id", name
		if err := one.try(domain.Step{Kind: domain.CreateGroup, Size: 1}); err != nil {
			w.Fatal(err)
		}
		<-time.After(time.Second)
		all = append(all, one)
	}
	settle()
	for n := range all {
		<-time.After(time.Second)
		all[n].target.Cache.MaxAge = quiet
		all[n].target.Remembered = all[n].observe().ResolvedLookups
	}
	return all
}

// TestIdle: node pools of a compartment at rest share one list, and each is read by itself now and then. Nothing is written.
func TestIdle(t *testing.T) {
	for pools, limit := range map[int]float64{1: 1.1, 10: 0.2, 40: 0.12, 120: 0.1} {
		t.Run(fmt.Sprint(pools), func(t *testing.T) {
			inWorld(t, oci.Options{}, func(w *world) {
				const passes = 36
				all := w.several(pools)
				sent := w.sent(func() {
					for range passes {
						<-time.After(100 * time.Second)
						for i := range all {
							if o := all[i].observe(); len(o.Group.Drift) > 0 || len(o.Instances) != 1 || stale(o) > 0 {
								t.Fatalf("want a pool at rest, got %+v", o)
							}
						}
					}
				})
				each := float64(len(sent)) / float64(pools*passes)
				t.Logf("%d pools: %.3f reads a pass", pools, each)
				if each > limit || slices.ContainsFunc(sent, func(op string) bool { return !strings.HasPrefix(op, "List") && op != "GetNodePool" }) {
					t.Errorf("want at most %.2f reads a pass and no write, got %.3f of %v", limit, each, sent[:min(len(sent), 6)])
				}
			})
		})
	}
}

// TestOnlyChangedPoolsAreRead: a look that accepts older reads reads those node pools by themselves that the list shows changed.
func TestOnlyChangedPoolsAreRead(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		all := w.several(3)
		look := func() []string {
			<-time.After(2 * time.Minute)
			return w.sent(func() {
				for i := range all {
					all[i].observe()
				}
			})
		}
		look()
		if sent := look(); !slices.Equal(sent, []string{"ListNodePools"}) {
			t.Errorf("want one list for all, got %v", sent)
		}
		resized := sim.Resource{Cluster: clusterName, Name: "pool-1", Size: 2}
		if _, err := w.cloud.Capabilities().OutOfBand.Do(sim.SetSize, resized); err != nil {
			t.Fatal(err)
		}
		if sent := look(); !slices.Equal(sent, []string{"ListNodePools", "GetNodePool"}) {
			t.Errorf("want the changed node pool read, got %v", sent)
		}
		if o := all[1].observe(); o.Group.Size != 2 || len(o.Instances) != 2 {
			t.Errorf("want the change seen, got %+v", o)
		}
	})
}

// TestStepsReadLittle: what a step costs beside its write.
func TestStepsReadLittle(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		w.create(2)
		w.target.Remembered = w.observe().ResolvedLookups
		for _, c := range []struct {
			step domain.Step
			want []string
		}{
			{domain.Step{Kind: domain.Resize, Size: 3}, []string{"GetNodePool", "UpdateNodePool"}},
			{remove(w.observe(), 0), []string{"GetNodePool", "DeleteNode"}},
			{domain.Step{Kind: domain.DeleteGroup}, []string{"GetNodePool", "DeleteNodePool"}},
		} {
			<-time.After(time.Second)
			if sent := w.sent(func() { w.observe(); w.start(c.step) }); !slices.Equal(sent, c.want) {
				t.Errorf("%s: want %v, got %v", c.step.Kind, c.want, sent)
			}
		}
	})
}

// TestNodesAreReadWhileTheyCome: the list does not show nodes. While some come, each look reads them, though the node pool is ACTIVE.
func TestNodesAreReadWhileTheyCome(t *testing.T) {
	inWorld(t, oci.Options{Switches: sim.Switches{oke.ActiveEarly}}, func(w *world) {
		if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 2}); err != nil {
			t.Fatal(err)
		}
		w.target.Cache.MaxAge = quiet
		early := false
		for range 40 {
			<-time.After(quiet + time.Second)
			o, is, ready := w.observe(), w.shown(), 0
			for _, n := range is.Nodes {
				if *n.LifecycleState == "ACTIVE" {
					ready++
				}
			}
			early = early || *is.LifecycleState == "ACTIVE" && ready < 2
			running := len(slices.DeleteFunc(o.Instances, func(i domain.Instance) bool { return i.State != domain.Running }))
			if running != ready {
				t.Fatalf("want %d nodes that run, as OKE shows them, got %d", ready, running)
			}
		}
		if !early {
			t.Error("want a node pool that is ACTIVE while its nodes are created")
		}
	})
}

package azure_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
)

// theirTags are the tags that the ecosystem's provider writes to a scale set and its machines.
func theirTags(cluster string) map[string]*string {
	return map[string]*string{
		"Name": new(setName), "sigs.k8s.io_cluster-api-provider-azure_cluster_" + cluster: new("owned"),
		"sigs.k8s.io_cluster-api-provider-azure_role": new("node"), "capz-custom-data-hash": new("0123"),
	}
}

// theirs makes a scale set of two machines as the ecosystem's provider makes it, of a specification and bootstrap data, and returns the
// machines' unique IDs.
func (w *world) theirs(t azure.Target, tags map[string]*string) []string {
	w.t.Helper()
	t.Owner.ID = "another"
	w.create(t, 2)
	ctx := w.t.Context()
	if _, err := w.sets.BeginUpdate(ctx, simazure.ResourceGroup, setName, armcompute.VirtualMachineScaleSetUpdate{Tags: tags},
		nil); err != nil {
		w.t.Fatal(err)
	}
	settle()
	for _, m := range w.set().Machines {
		change := armcompute.VirtualMachineScaleSetVM{Location: new(simazure.Location), Tags: tags}
		if _, err := w.machines.BeginUpdate(ctx, simazure.ResourceGroup, setName, m.ID, change, nil); err != nil {
			w.t.Fatal(err)
		}
	}
	settle()
	// The machines of a Uniform scale set have its tags from its model alone.
	all := armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{new("*")}}
	if _, err := w.sets.BeginUpdateInstances(ctx, simazure.ResourceGroup, setName, all, nil); err != nil {
		w.t.Fatal(err)
	}
	settle()
	w.driver = w.newDriver()
	return w.uids()
}

// set is the scale set as it is in the simulated subscription.
func (w *world) set() simcompute.Set {
	w.t.Helper()
	sets := w.cloud.State().Sets
	if len(sets) != 1 {
		w.t.Fatalf("want one scale set, got %d", len(sets))
	}
	return sets[0]
}

func (w *world) uids() []string {
	var ids []string
	for _, m := range w.set().Machines {
		ids = append(ids, m.UID)
	}
	slices.Sort(ids)
	return ids
}

// adopting is the pool's object with the annotation.
func (w *world) adopting() azure.Target {
	target := w.aTarget()
	target.Owner.GroupName, target.Adopt = setName, true
	target.GroupID = "azure:///subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup +
		"/providers/Microsoft.Compute/virtualMachineScaleSets/" + setName
	return target
}

// passes lets the pool be reconciled until it rests, and returns the kinds of the steps, and the last plan.
func (w *world) passes(target azure.Target, d pool.Desired) (kinds []pool.StepKind, last pool.Plan, seen pool.Observed) {
	w.t.Helper()
	for range 12 {
		o := w.observe(target)
		target.Remembered = o.ResolvedLookups
		for k := range o.Instances {
			o.Instances[k].Node = &pool.Node{Name: o.Instances[k].ID, Ready: true, Joined: o.Instances[k].Created,
				ReadySince: o.Instances[k].Created}
		}
		d.Adopt.Done = d.Adopt.Done || o.Group != nil
		last, seen = pool.Decide(d, o, w.driver.Traits(), time.Now()), o
		if last.Step == nil {
			return kinds, last, seen
		}
		kinds = append(kinds, last.Step.Kind)
		w.start(target, *last.Step)
		settle()
	}
	w.t.Fatalf("want the pool at rest, got %v", kinds)
	return nil, pool.Plan{}, pool.Observed{}
}

func adoption() pool.Desired {
	d := desired(2, number(1), number(0))
	d.Adopt = pool.Adoption{Name: setName}
	return d
}

// inModesAndTags runs a test in a fresh world of each mode and each answer to which tags machines show.
func inModesAndTags(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	for _, on := range []sim.Switches{nil, {simcompute.LiveTags}} {
		for _, mode := range modes {
			t.Run(fmt.Sprint(mode, on), func(t *testing.T) {
				t.Parallel()
				inWorld(t, mode, test, on...)
			})
		}
	}
}

// TestAdoption takes over scale sets as the ecosystem's provider makes them. No machine that is as it is wanted is replaced.
func TestAdoption(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why    string
		change func(*azurev1.AzureMachinePoolSpec)
		data   string
		stale  int
	}{
		"as it is":        {why: "nothing differs but tags", data: bootstrap},
		"other user data": {why: "a token that was rotated replaces nothing", data: "#cloud-config\n"},
		"another size":    {why: "what is wanted otherwise is rolled out as ever", data: bootstrap, change: otherSize, stale: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inModesAndTags(t, func(t *testing.T, w *world) {
				made := w.aTarget()
				made.Bootstrap = cloud.NewBootstrap([]byte(tc.data), "cloud-config")
				if tc.change != nil {
					made = with(made, tc.change)
				}
				before := w.theirs(made, theirTags(simazure.ClusterName))
				target := w.adopting()
				preview := target
				preview.AssumeOwned = true
				if o := w.observe(preview); o.Group == nil || len(stale(o)) != tc.stale {
					t.Errorf("%s: want %d to replace in a preview, got %v beside %+v", tc.why, tc.stale, stale(o), o.Group)
				}
				d := adoption()
				d.RolloutPaused = &pool.Cause{Reason: "RolloutPaused"}
				kinds, _, seen := w.passes(target, d)
				if len(kinds) == 0 || kinds[0] != pool.Adopt || slices.Contains(kinds, pool.CreateGroup) {
					t.Errorf("%s: want it adopted first, got %v", tc.why, kinds)
				}
				if got := stale(seen); len(got) != tc.stale {
					t.Errorf("%s: want %d to replace, got %v", tc.why, tc.stale, got)
				}
				if after := w.uids(); !slices.Equal(before, after) {
					t.Errorf("%s: want no machine replaced, got %v in the place of %v", tc.why, after, before)
				}
				tags := w.set().Tags
				if tags[model.TagOwner] != target.Owner.ID || tags["capz-custom-data-hash"] != "0123" || tags[model.TagContent] != seen.Wanted.Content {
					t.Errorf("%s: want the owner tag beside those of the other tool, got %v", tc.why, tags)
				}
			})
		})
	}
}

// stale are the instances that are not what is wanted.
func stale(o pool.Observed) []string {
	var list []string
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) {
			list = append(list, i.ID+" "+strings.Join(i.TemplateDiff, ","))
		}
	}
	return list
}

// TestAdoptionRefused: what is another's is left alone, and said.
func TestAdoptionRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why    string
		tags   map[string]*string
		change func(*azure.Target)
		want   string
	}{
		"another cluster's": {why: "its own pool is in use there", tags: theirTags("other"), want: `it belongs to cluster "other"`},
		"another owner's": {
			why: "two pools never share a scale set", want: `its tag muster.dev_owner is "x"`,
			tags: func() map[string]*string {
				tags := maps.Clone(theirTags(simazure.ClusterName))
				tags[model.TagOwner] = new("x")
				return tags
			}(),
		},
		"another is named": {
			why: "one of the two is wrong", tags: theirTags(simazure.ClusterName), want: "spec.providerID",
			change: func(t *azure.Target) { t.GroupID = strings.Replace(t.GroupID, setName, "other", 1) },
		},
		"not asked for": {
			why: "the annotation is the user's word", tags: theirTags(simazure.ClusterName), want: "muster.dev/adopt: pool",
			change: func(t *azure.Target) { t.Adopt = false },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
				w.theirs(w.aTarget(), tc.tags)
				before := w.set().Tags
				target, d := w.adopting(), adoption()
				if tc.change != nil {
					tc.change(&target)
				}
				if !target.Adopt {
					d.Adopt = pool.Adoption{}
				}
				kinds, last, _ := w.passes(target, d)
				if len(kinds) > 0 || last.Refused == nil || !strings.Contains(last.Refused.Message, tc.want) {
					t.Errorf("%s: want it refused with %q, got %v, %+v", tc.why, tc.want, kinds, last.Refused)
				}
				if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Adopt}); target.Adopt && cloud.KindOf(err) != cloud.Conflict {
					t.Errorf("%s: want the step refused, got %v", tc.why, err)
				}
				if after := w.set().Tags; target.Adopt && !maps.Equal(before, after) {
					t.Errorf("%s: want the tags left alone, got %v", tc.why, after)
				}
			})
		})
	}
}

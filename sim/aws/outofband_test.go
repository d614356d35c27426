package aws_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// handMade is the group, and its template, that deeds are done to.
const handMade = "web"

// atRest is longer than any deed takes to be done.
const atRest = 15 * time.Minute

// furnish makes a group of two machines that has everything, and a template of three versions, of which it launches the first.
func furnish(w *world) {
	w.t.Helper()
	id := w.template(handMade)
	w.version(id, w.data())
	w.version(id, w.data())
	w.group(handMade, id, 0, 2, 5, func(in *autoscaling.CreateAutoScalingGroupInput) {
		in.LaunchTemplate.Version = awssdk.String("1")
		in.Tags = []astypes.Tag{{Key: awssdk.String("stage"), Value: awssdk.String("test"), PropagateAtLaunch: awssdk.Bool(true)}}
		for _, name := range []string{"bye", "adieu"} {
			in.LifecycleHookSpecificationList = append(in.LifecycleHookSpecificationList, astypes.LifecycleHookSpecification{
				LifecycleHookName: &name, LifecycleTransition: awssdk.String("autoscaling:EC2_INSTANCE_TERMINATING"),
				HeartbeatTimeout: awssdk.Int32(30),
			})
		}
	})
	_, err := w.as.SuspendProcesses(w.t.Context(), &autoscaling.SuspendProcessesInput{
		AutoScalingGroupName: awssdk.String(handMade), ScalingProcesses: []string{"AZRebalance"},
	})
	ok(w.t, err)
	after(atRest)
	w.wantServing(handMade, 2)
}

// outline is what deeds change, of everything that the account holds.
func outline(w *world) []string {
	w.t.Helper()
	state := w.server.State(aws.AccountID, aws.Region)
	var out []string
	for _, t := range state.Templates {
		list := []int64{}
		for n := range t.Versions {
			list = append(list, n)
		}
		slices.Sort(list)
		out = append(out, fmt.Sprintf("template %s %v", t.Name, list))
	}
	for _, g := range state.Groups {
		out = append(out, fmt.Sprintf("group %s %d..%d..%d from %s, %v, %v, %d members", g.Name, g.Min, g.Desired, g.Max, g.Version, g.Tags,
			g.Suspended, len(g.Members)))
		hooks, err := w.as.DescribeLifecycleHooks(w.t.Context(), &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &g.Name})
		ok(w.t, err)
		out = append(out, fmt.Sprintf("hooks of %s: %d", g.Name, len(hooks.LifecycleHooks)))
	}
	slices.Sort(out)
	return out
}

// The outline of what is furnished.
const (
	webTemplate = "template web [1 2 3]"
	webGroup    = "group web 0..2..5 from 1, map[stage:test], [AZRebalance], 2 members"
	webHooks    = "hooks of web: 2"
)

var deeds = []struct {
	reason string
	deed   sim.Action
	on     sim.Resource
	want   []string
}{
	{"a group of another tool has no tags and no machines, and a template of its own", sim.CreateGroup, sim.Resource{Name: "other"},
		[]string{"group other 0..0..1 from $Latest, map[], [], 0 members", webGroup, "hooks of other: 0", webHooks, "template by-hand [1]",
			webTemplate}},
	{"a template of another tool has one version", sim.CreateTemplate, sim.Resource{Name: "other"},
		[]string{webGroup, webHooks, "template other [1]", webTemplate}},
	{"a group goes with its machines and leaves its template", sim.DeleteGroup, sim.Resource{Name: handMade}, []string{webTemplate}},
	{"a template goes and leaves its group", sim.DeleteTemplate, sim.Resource{Name: handMade}, []string{webGroup, webHooks}},
	{"a version comes at the end", sim.CreateVersion, sim.Resource{Name: handMade}, []string{webGroup, webHooks, "template web [1 2 3 4]"}},
	{"a version goes from the middle", sim.DeleteVersion, sim.Resource{Name: handMade, Version: 2},
		[]string{webGroup, webHooks, "template web [1 3]"}},
	{"a group launches from the last version", sim.LaunchFrom, sim.Resource{Name: handMade, Version: 3},
		[]string{"group web 0..2..5 from 3, map[stage:test], [AZRebalance], 2 members", webHooks, webTemplate}},
	{"a size brings machines", sim.SetSize, sim.Resource{Name: handMade, Size: 3},
		[]string{"group web 0..3..5 from 1, map[stage:test], [AZRebalance], 3 members", webHooks, webTemplate}},
	{"a bound leaves the size", sim.SetBounds, sim.Resource{Name: handMade, Size: 9},
		[]string{"group web 0..2..9 from 1, map[stage:test], [AZRebalance], 2 members", webHooks, webTemplate}},
	{"a tag goes", sim.RemoveTag, sim.Resource{Name: handMade, Key: "stage"},
		[]string{"group web 0..2..5 from 1, map[], [AZRebalance], 2 members", webHooks, webTemplate}},
	{"a tag gets another value", sim.ChangeTag, sim.Resource{Name: handMade, Key: "stage", Value: "theirs"},
		[]string{"group web 0..2..5 from 1, map[stage:theirs], [AZRebalance], 2 members", webHooks, webTemplate}},
	{"processes go on", sim.ResumeProcesses, sim.Resource{Name: handMade},
		[]string{"group web 0..2..5 from 1, map[stage:test], [], 2 members", webHooks, webTemplate}},
	{"all hooks go", sim.RemoveHooks, sim.Resource{Name: handMade}, []string{webGroup, "hooks of web: 0", webTemplate}},
	{"an instance goes, and its like comes", sim.TerminateInstance, sim.Resource{Instance: "the first"},
		[]string{webGroup, webHooks, webTemplate}},
	{"an instance fails, and its like comes", sim.FailInstance, sim.Resource{Instance: "the first"},
		[]string{webGroup, webHooks, webTemplate}},
	{"an instance is put aside, and another comes", sim.MoveToStandby, sim.Resource{Instance: "the first"},
		[]string{"group web 0..2..5 from 1, map[stage:test], [AZRebalance], 3 members", webHooks, webTemplate}},
	{"one that is marked unhealthy is replaced", sim.MarkUnhealthy, sim.Resource{Instance: "the first"},
		[]string{webGroup, webHooks, webTemplate}},
	{"zones are left uneven where that is suspended", sim.RebalanceZones, sim.Resource{Name: handMade},
		[]string{webGroup, webHooks, webTemplate}},
	{"a roll replaces all", sim.StartRollout, sim.Resource{Name: handMade}, []string{webGroup, webHooks, webTemplate}},
}

// replaces are the deeds after which the instances that were there do not serve any more.
var replaces = []sim.Action{sim.TerminateInstance, sim.FailInstance, sim.MoveToStandby, sim.MarkUnhealthy, sim.StartRollout}

// What can be done only while a roll is under way ends it, and the rest of the machines stay.
func TestDeedsOfARoll(t *testing.T) {
	for deed, want := range map[sim.Action]astypes.InstanceRefreshStatus{
		sim.CancelRollout: astypes.InstanceRefreshStatusCancelled, sim.FailRollout: astypes.InstanceRefreshStatusFailed,
	} {
		inWorld(t, aws.Options{Seed: 1}, func(t *testing.T, w *world) {
			w.settled(0, 4, 8)
			hands := w.server.Capabilities().OutOfBand
			if has, err := hands.Do(deed, sim.Resource{Name: pool}); !has || err == nil {
				t.Errorf("%s: want it refused while none is under way, got %t, %v", deed, has, err)
			}
			for _, d := range []sim.Action{sim.StartRollout, deed} {
				if has, err := hands.Do(d, sim.Resource{Name: pool}); !has || err != nil {
					t.Fatalf("%s: want it done, got %t, %v", d, has, err)
				}
				after(5 * time.Second)
			}
			after(atRest)
			if r := w.refreshed(); r.Status != want || awssdk.ToString(r.StatusReason) == "" || r.EndTime == nil {
				t.Errorf("%s: want %s with a reason, got %s, %q", deed, want, r.Status, awssdk.ToString(r.StatusReason))
			}
			w.wantServing(pool, 4)
		})
	}
}

// Zones are evened by a launch in another zone first.
func TestEvenZonesByHand(t *testing.T) {
	inWorld(t, aws.Options{Seed: 1}, func(t *testing.T, w *world) {
		w.settled(0, 3, 8)
		before := w.inState(pool, astypes.LifecycleStateInService)
		if has, err := w.server.Capabilities().OutOfBand.Do(sim.RebalanceZones, sim.Resource{Name: pool}); !has || err != nil {
			t.Fatalf("want it done, got %t, %v", has, err)
		}
		least := 3
		for range 600 {
			after(time.Second)
			least = min(least, len(w.inState(pool, astypes.LifecycleStateInService)))
		}
		left := 0
		for _, id := range w.inState(pool, astypes.LifecycleStateInService) {
			if slices.Contains(before, id) {
				left++
			}
		}
		w.wantServing(pool, 3)
		if left >= 3 || least < 3 {
			t.Errorf("want one at least moved, and never fewer than 3 in service, got %d left and %d at least", left, least)
		}
	})
}

func TestDeeds(t *testing.T) {
	// Tests of their own show those that need something else than what is furnished here.
	shown := map[sim.Action]bool{sim.InterruptInstance: true, sim.RecommendReplacement: true, sim.CancelRollout: true, sim.FailRollout: true}
	for _, c := range deeds {
		shown[c.deed] = true
		inWorld(t, aws.Options{Seed: 1}, func(t *testing.T, w *world) {
			furnish(w)
			first := w.read(handMade).Instances[0]
			if c.on.Instance != "" {
				c.on.Instance = *first.InstanceId
			}
			ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.DropBefore}))
			before := w.server.Calls().Summary(0).Total
			if has, err := w.server.Capabilities().OutOfBand.Do(c.deed, c.on); !has || err != nil {
				t.Fatalf("%s: want the deed done, got %t, %v", c.reason, has, err)
			}
			if n := w.server.Calls().Summary(0).Total; n != before {
				t.Errorf("%s: want no request counted, got %d", c.reason, n-before)
			}
			w.server.Faults().Clear()
			after(atRest)
			if got := outline(w); !slices.Equal(got, c.want) {
				t.Errorf("%s:\nwant %q\ngot  %q", c.reason, c.want, got)
			}
			if _, there := w.find(handMade); there && slices.Contains(w.inState(handMade, astypes.LifecycleStateInService),
				*first.InstanceId) == slices.Contains(replaces, c.deed) {
				t.Errorf("%s: want the instance %s out of service if and only if that is the deed, got the opposite", c.reason, *first.InstanceId)
			}
		})
	}
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		for _, d := range w.server.Capabilities().OutOfBand.Known() {
			if !shown[d] {
				t.Errorf("want a row that shows what it is to %s, got none", d)
			}
		}
	})
}

// An action that can't be done returns an error: no client may assume that something has changed.
func TestDeedsThatCantBeDone(t *testing.T) {
	inWorld(t, aws.Options{Seed: 1}, func(t *testing.T, w *world) {
		furnish(w)
		before := outline(w)
		for _, c := range []struct {
			reason string
			deed   sim.Action
			on     sim.Resource
		}{
			{"a name that is taken", sim.CreateTemplate, sim.Resource{Name: handMade}},
			{"a group that is not there", sim.DeleteGroup, sim.Resource{Name: "nope"}},
			{"a template that is not there", sim.DeleteTemplate, sim.Resource{Name: "nope"}},
			{"a version of a template that is not there", sim.CreateVersion, sim.Resource{Name: "nope"}},
			{"a version to be deleted of such a one", sim.DeleteVersion, sim.Resource{Name: "nope", Version: 1}},
			{"no version", sim.DeleteVersion, sim.Resource{Name: handMade}},
			{"a version beyond the last", sim.DeleteVersion, sim.Resource{Name: handMade, Version: 4}},
			{"the default version, which stays", sim.DeleteVersion, sim.Resource{Name: handMade, Version: 1}},
			{"a group that can't launch from anything", sim.LaunchFrom, sim.Resource{Name: "nope", Version: 1}},
			{"a version that can't be launched", sim.LaunchFrom, sim.Resource{Name: handMade, Version: 4}},
			{"a size out of bounds", sim.SetSize, sim.Resource{Name: handMade, Size: 6}},
			{"a bound below the least", sim.SetBounds, sim.Resource{Name: handMade, Size: -1}},
			{"a tag that is not there", sim.RemoveTag, sim.Resource{Name: handMade, Key: "nope"}},
			{"a tag of a group that is not there", sim.RemoveTag, sim.Resource{Name: "nope", Key: "stage"}},
			{"another value for such a one", sim.ChangeTag, sim.Resource{Name: "nope", Key: "stage", Value: "x"}},
			{"processes of a group that is not there", sim.ResumeProcesses, sim.Resource{Name: "nope"}},
			{"hooks of a group that is not there", sim.RemoveHooks, sim.Resource{Name: "nope"}},
			{"an instance that is not there", sim.TerminateInstance, sim.Resource{Instance: "i-0123456789abcdef0"}},
		} {
			if has, err := w.server.Capabilities().OutOfBand.Do(c.deed, c.on); !has || err == nil {
				t.Errorf("%s: want an error to %s, got %t, %v", c.reason, c.deed, has, err)
			}
		}
		if got := outline(w); !slices.Equal(got, before) {
			t.Errorf("want nothing changed by what could not be done\nwant %q\ngot  %q", before, got)
		}
		if _, err := w.server.Capabilities().OutOfBand.Do(sim.RemoveHooks, sim.Resource{Name: handMade}); err != nil {
			t.Errorf("want hooks taken away once, got %v", err)
		}
		if _, err := w.server.Capabilities().OutOfBand.Do(sim.RemoveHooks, sim.Resource{Name: handMade}); err == nil {
			t.Errorf("want hooks that are gone already to be an error, got none")
		}
	})
}

package aws_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// A refused read says nothing about what exists: taken for an empty cloud it would leave everything behind when the pool
// is deleted.
func TestOnlyAWantIsUnsatisfiable(t *testing.T) {
	for _, operation := range []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DescribeLaunchTemplateVersions"} {
		for _, code := range []string{"AccessDenied", "ValidationError"} {
			t.Run(operation+" "+code, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					target, _ := w.create(with(aTarget(), reshape), 1)
					w.driver = w.newDriver()
					if err := w.server.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Action: operation, Code: code, Message: "no",
						Status: 400}); err != nil {
						t.Fatal(err)
					}
					_, err := w.driver.Observe(t.Context(), target)
					var unmet *cloud.SpecUnsatisfiableError
					if err == nil || errors.As(err, &unmet) {
						t.Errorf("want an error that is not about what is wanted, got %v", err)
					}
				})
			})
		}
	}
	inWorld(t, func(t *testing.T, w *world) {
		_, err := w.driver.Observe(t.Context(),
			with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" }))
		var unmet *cloud.SpecUnsatisfiableError
		if !errors.As(err, &unmet) || cloud.KindOf(err) != cloud.Invalid {
			t.Errorf("want what can't be made said to be that and no more, got %v", err)
		}
	})
}

// TestFailedLookupBesideItsTemplate holds that a look-up which fails for now is an error of the look as long as there is no group, also
// where the template exists: it is made again soon, and the group created then. What exists is reported beside the error, so that a
// deletion goes on.
func TestFailedLookupBesideItsTemplate(t *testing.T) {
	for name, failing := range map[string]sim.Fault{
		"throttled": {Kind: sim.ErrorBefore, Action: "DescribeInstanceTypes", Code: "RequestLimitExceeded",
			Status: http.StatusServiceUnavailable},
		"no answer": {Kind: sim.ErrorBefore, Action: "DescribeInstanceTypes", Code: "InternalError", Status: http.StatusInternalServerError},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.start(aTarget(), pool.Step{Kind: pool.PutTemplate})
				if err := w.server.Faults().Add(failing); err != nil {
					t.Fatal(err)
				}
				w.driver = w.newDriver()
				o, err := w.driver.Observe(t.Context(), aTarget())
				var complete *cloud.SpecUnsatisfiableError
				if !errors.As(err, &complete) || o.Group != nil || len(o.Versions) != 1 {
					t.Errorf("want an error of the look beside the template, got %v and %+v", err, o)
				}
				w.server.Faults().Clear()
				settle()
				if o := w.observe(aTarget()); o.Wanted.Content == "" {
					t.Errorf("want to know afterwards what is wanted, got %+v", o)
				}
			})
		})
	}
}

// A template of Muster's is deleted with the pool, whichever owner has the group's name. A group that was taken over keeps it.
func TestTemplateIsDeletedBesideAForeignGroup(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		if _, err := w.server.Capabilities().OutOfBand.Do(sim.CreateGroup, sim.Resource{Name: target.Owner.ResourceName()}); err != nil {
			t.Fatal(err)
		}
		settle()
		o := w.observe(target)
		if o.OwnershipConflict == nil || len(o.Versions) != 1 {
			t.Fatalf("want the group foreign and our version named, got %+v", o)
		}
		if o.TaggedFor != target.Owner.Key() {
			t.Errorf("want %s of the launch template, got %q", target.Owner.Key(), o.TaggedFor)
		}
		w.start(target, pool.Step{Kind: pool.DeleteTemplates})
		settle()
		if o := w.observe(target); o.OwnershipConflict == nil || len(o.Versions) != 0 {
			t.Errorf("want the foreign group alone to be left, got %+v", o)
		}
	})
}

func TestTemplateOfAGroupThatWasTakenOverStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 1)
		name := target.Owner.ResourceName()
		_, err := w.byHand.CreateOrUpdateTags(t.Context(), &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{{
			ResourceId: &name, ResourceType: awssdk.String("auto-scaling-group"), Key: awssdk.String("muster.dev/owner"),
			Value:             awssdk.String("another"),
			PropagateAtLaunch: awssdk.Bool(true),
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if o := w.observe(target); o.OwnershipConflict == nil || len(o.Versions) != 0 {
			t.Errorf("want nothing of Muster's left to delete, got %+v", o)
		}
		if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.DeleteTemplates}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want the template kept for the group that launches from it, got %v", err)
		}
	})
}

// The service answers a client token for a day with what it once made, even when that is gone. The driver does not wait for a day.
func TestWhatWasDeletedByHandIsMadeAgainAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		for n := range 3 {
			target = with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AdditionalTags = awsv1.Tags{"round": strconv.Itoa(n / 2)} })
			w.observe(target)
			w.start(target, pool.Step{Kind: pool.PutTemplate})
			o := w.observe(target)
			if len(o.Versions) != 1 {
				t.Fatalf("want the template there, got %+v", o)
			}
			id, _, _ := strings.Cut(o.Latest().Ref, ":")
			if _, err := w.ec2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}); err != nil {
				t.Fatal(err)
			}
			settle()
		}
	})
}

func TestAVersionDeletedByHandIsMadeAgainAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 0)
		base := o.Latest().Ref
		target.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# next\n"), "cloud-config")
		for range 3 {
			w.start(target, pool.Step{Kind: pool.PutTemplate, Base: base})
			o = w.observe(target)
			id, number, _ := strings.Cut(o.Latest().Ref, ":")
			if len(o.Versions) != 2 {
				t.Fatalf("want the version there, got %+v", o)
			}
			if _, err := w.ec2.DeleteLaunchTemplateVersions(t.Context(),
				&ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{number}}); err != nil {
				t.Fatal(err)
			}
			settle()
			w.observe(target)
		}
	})
}

// Reads may be behind our own writes. An instance that is chosen from an old list may be one that is wanted.
func TestNothingIsTakenAwayOnAReadBehindOurOwnWrite(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 3)
		w.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "DescribeAutoScalingGroups",
			Delay: sim.Duration(5 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if o = w.observe(target); o.Group.Size != 3 {
			t.Fatalf("want a read that is behind, got a size of %d", o.Group.Size)
		}
		sent := w.operations(func() {
			for _, s := range []pool.Step{{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[1].ID}}}, {Kind: pool.Resize, Size: 2}} {
				w.observe(target)
				if err := w.driver.Start(t.Context(), target, s); cloud.KindOf(err) != cloud.Conflict {
					t.Errorf("%s: want nothing taken away, got %v", s.Kind, err)
				}
			}
		})
		if slices.Contains(sent, "TerminateInstanceInAutoScalingGroup") || slices.Contains(sent, "SetDesiredCapacity") {
			t.Errorf("want no write sent, got %q", sent)
		}
		time.Sleep(3 * time.Second)
		if o = w.observe(target); o.Group.Size != 2 {
			t.Fatalf("want the read to have caught up, got a size of %d", o.Group.Size)
		}
		w.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[len(o.Instances)-1].ID}}})
	})
}

// Several instances go in one call. Where that is refused because one is on its way out already, the others still go.
func TestSeveralGoInOneCall(t *testing.T) {
	for name, c := range map[string]struct {
		byHand bool
		calls  int
	}{"all serve": {false, 1}, "one is on its way out already": {true, 4}} {
		inWorld(t, func(t *testing.T, w *world) {
			target, o := w.create(aTarget(), 4)
			var chosen []pool.InstanceRef
			for _, i := range o.Instances[:3] {
				chosen = append(chosen, pool.InstanceRef{ID: i.ID})
			}
			if c.byHand {
				_, err := w.byHand.TerminateInstanceInAutoScalingGroup(t.Context(), &autoscaling.TerminateInstanceInAutoScalingGroupInput{
					InstanceId: &chosen[1].ID, ShouldDecrementDesiredCapacity: new(true),
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			sent := w.operations(func() { w.start(target, pool.Step{Kind: pool.Remove, Targets: chosen}) })
			sent = slices.DeleteFunc(sent, func(op string) bool { return op != "TerminateInstanceInAutoScalingGroup" })
			if o = w.observe(target); len(sent) != c.calls || o.Group.Size != 1 {
				t.Errorf("%s: want a size of 1 after %d calls, got %d after %q", name, c.calls, o.Group.Size, sent)
			}
		})
	}
}

// A read that is behind shows in service what was set aside: from it one more would be set aside than the surge allows.
func TestWhatWasSetAsideIsSoOnAReadThatIsBehind(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 3)
		time.Sleep(time.Minute)
		target = sized(target, 20)
		o := w.observe(target)
		id := o.Instances[0].ID
		w.start(target, pool.Step{Kind: pool.EnterStandby, Targets: []pool.InstanceRef{{ID: id}}})
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "DescribeAutoScalingGroups",
			Delay: sim.Duration(5 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			wait    time.Duration
			entered bool
		}{{3 * time.Second, false}, {20 * time.Second, true}} {
			time.Sleep(c.wait)
			o = w.observe(target)
			at := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return i.ID == id })
			if at < 0 || o.Instances[at].Standby != c.entered || o.Instances[at].EnteringStandby == c.entered {
				t.Errorf("%s later: want %s in standby %t, or else entering it, got %+v", c.wait, id, c.entered, o.Instances)
			}
		}
	})
}

// A request to set an instance aside that the service accepts and ignores does not count for ever: the request would be repeated without a
// back-off.
func TestARequestToSetAsideThatIsIgnored(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 3)
		time.Sleep(time.Minute)
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "EnterStandby"}); err != nil {
			t.Fatal(err)
		}
		stale := sized(target, 20)
		o := w.observe(stale)
		step := pool.Step{Kind: pool.EnterStandby, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}
		enters := func() bool {
			return slices.ContainsFunc(w.observe(stale).Instances, func(i pool.Instance) bool { return i.EnteringStandby || i.Standby })
		}
		w.start(stale, step)
		time.Sleep(3 * time.Second)
		if !enters() {
			t.Error("want the instance shown as entering standby for the moment")
		}
		time.Sleep(time.Minute)
		w.start(stale, step)
		if time.Sleep(3 * time.Second); enters() {
			t.Error("want the second request not to count before its effect is visible")
		}
	})
}

// A list of versions that is behind the template, or both behind Muster's own write: from it a version would be made a second time, and
// machines of the newest would be replaced.
func TestVersionsThatAreBehind(t *testing.T) {
	for _, behind := range []string{"DescribeLaunchTemplateVersions", "DescribeLaunchTemplate*"} {
		inWorld(t, func(t *testing.T, w *world) {
			target, _ := w.kept(aTarget(), 3)
			target, _ = w.kept(sized(target, 20), 3)
			target = sized(target, 30)
			base := w.observe(target).Latest()
			time.Sleep(time.Minute)
			w.start(target, pool.Step{Kind: pool.PutTemplate, Base: base.Ref})
			newest := w.observe(target).Latest()
			if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: behind, Delay: sim.Duration(9 * time.Second)}); err != nil {
				t.Fatal(err)
			}
			w.start(target, pool.Step{Kind: pool.DefaultTemplate, Template: newest.Ref})
			for range 12 {
				time.Sleep(time.Second)
				seen, err := w.driver.Observe(t.Context(), target)
				if err == nil && seen.Latest().Ref != newest.Ref || err != nil && cloud.KindOf(err) != cloud.Conflict {
					t.Fatalf("%s: want %s as the newest, or a conflict, got %+v and %v", behind, newest.Ref, seen.Versions, err)
				}
			}
			if seen := w.observe(target); fixed(seen.Versions) != newest.Ref {
				t.Errorf("%s: want %s as the default once the reads have caught up, got %+v", behind, newest.Ref, seen.Versions)
			}
		})
	}
}

// A version that EC2 made for an earlier request with the same token may be the default by now: it is the only one.
func TestOneVersionIsTheDefault(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.kept(aTarget(), 3)
		target = sized(target, 20)
		base := w.observe(target).Latest()
		put := pool.Step{Kind: pool.PutTemplate, Base: base.Ref}
		w.start(target, put)
		newest := w.observe(target).Latest()
		w.start(target, pool.Step{Kind: pool.DefaultTemplate, Template: newest.Ref})
		w.driver = w.newDriver()
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "DescribeLaunchTemplate*",
			Delay: sim.Duration(9 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		if seen := w.observe(target); seen.Latest().Ref != base.Ref {
			t.Fatalf("want reads that are behind, got %+v", seen.Versions)
		}
		w.start(target, put)
		if seen := w.observe(target); fixed(seen.Versions) != newest.Ref {
			t.Errorf("want %s alone as the default, got %+v", newest.Ref, seen.Versions)
		}
	})
}

// fixed is the ref of the one version that can't be deleted, or the refs of several.
func fixed(versions []pool.Template) string {
	var refs []string
	for _, v := range versions {
		if v.Undeletable {
			refs = append(refs, v.Ref)
		}
	}
	return strings.Join(refs, " ")
}

// A read that is behind does not show the group that was just made: who believed it would leave the group behind when its
// object is deleted.
func TestAGroupMadeAMomentAgoIsNotTakenForGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		time.Sleep(time.Minute)
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "DescribeAutoScalingGroups",
			Delay: sim.Duration(5 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		target := aTarget()
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		o := w.observe(target)
		w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref})
		if o, err := w.driver.Observe(t.Context(), target); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a read that is behind not believed, got %+v, %v", o.Group, err)
		}
		time.Sleep(6 * time.Second)
		if o = w.observe(target); o.Group == nil {
			t.Error("want the group once it is shown")
		}
	})
}

// A step that a rate budget holds back before its first write has changed nothing: what was read before is still known, so that the try
// after it does not begin with the same reads.
func TestAStepThatIsHeldBackKeepsWhatWasRead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.some(2)
		busy, waits := targets[0], targets[1]
		w.observe(waits)
		for cloud.CodeOf(w.driver.Start(t.Context(), busy, pool.Step{Kind: pool.Resize, Size: 1})) != cloud.CodeClientRateLimited {
		}
		later := cloud.WithPriority(t.Context(), cloud.PriorityRotation)
		for _, s := range []pool.Step{{Kind: pool.Resize, Size: 2}, {Kind: pool.DeleteGroup}} {
			if err := w.driver.Start(later, waits, s); cloud.CodeOf(err) != cloud.CodeClientRateLimited {
				t.Fatalf("%s: want it held back, got %v", s.Kind, err)
			}
		}
		waits.Cache.MaxAge = time.Minute
		if sent := w.operations(func() { w.observe(waits) }); len(sent) > 0 {
			t.Errorf("want nothing read again, got %v", sent)
		}
	})
}

// A write to the template leaves the group as it was: a look right before it is taken for a new one, is said to be, and is not where
// another process seems to know better.
func TestALookBeforeATemplateIsSaidToBeReused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 1)
		target = with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })
		w.observe(target)
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		for _, c := range []struct {
			age    time.Duration
			reused bool
		}{{0, true}, {cloud.NoSharedCache, false}, {0, false}} {
			target.Cache.MaxAge = c.age
			n := len(w.wire.calls)
			if o := w.observe(target); o.Cache.Reused != c.reused || slices.Contains(w.wire.since(n), "DescribeAutoScalingGroups") == c.reused {
				t.Errorf("age %s: want reused %t, got %t with %v", c.age, c.reused, o.Cache.Reused, w.wire.since(n))
			}
		}
	})
}

// Slow replies may lie between the look that shows missing machines and the write that gives them up: of machines that were launched
// meanwhile the service would choose which to terminate.
func TestMissingMachinesThatCameMeanwhileAreNotGivenUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
			t.Fatal(err)
		}
		target, o := w.create(aTarget(), 2)
		if len(o.Instances) > 0 {
			t.Fatalf("want no machines yet, got %+v", o.Instances)
		}
		w.server.Faults().Clear()
		time.Sleep(2 * time.Minute)
		if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Resize, Size: 0}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want the size left alone, got %v", err)
		}
		if o = w.observe(target); o.Group.Size != 2 || len(o.Instances) != 2 {
			t.Errorf("want both machines, got size %d, %+v", o.Group.Size, o.Instances)
		}
	})
}

// A machine that was moved to standby and is in service all the same counts: a lower size would have the service choose one to terminate.
func TestMachinesThatMayBeInStandbyAreNotGivenUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 2)
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "EnterStandby"}); err != nil {
			t.Fatal(err)
		}
		w.start(target, pool.Step{Kind: pool.EnterStandby, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		w.observe(target)
		if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Resize, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want the size left alone, got %v", err)
		}
	})
}

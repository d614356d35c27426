package aws_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// refreshed is the newest refresh as the service shows it to others.
func (w *world) refreshed(target aws.Target) asgtypes.InstanceRefresh {
	w.t.Helper()
	out, err := w.byHand.DescribeInstanceRefreshes(w.t.Context(),
		&autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: ptr(target.Owner.ResourceName())})
	if err != nil || len(out.InstanceRefreshes) == 0 {
		w.t.Fatalf("want a refresh, got %v, %v", out, err)
	}
	return out.InstanceRefreshes[0]
}

// rolling points the group at another template and begins a roll of those that are of the first.
func (w *world) rolling(target aws.Target) {
	w.t.Helper()
	o := w.observe(target)
	w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	o = w.observe(target)
	s := pool.Step{Kind: pool.StartProviderRollout, Template: o.Latest().Ref}
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID})
		}
	}
	w.start(target, s)
}

func bigger(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" }

func TestRefreshPreferences(t *testing.T) {
	for _, c := range []struct {
		why   string
		asked *awsv1.RefreshPreferences
		want  asgtypes.RefreshPreferences
	}{
		{"without preferences the service's own hold, but that instances in standby are left alone", nil, asgtypes.RefreshPreferences{
			MinHealthyPercentage: ptr(int32(90)), MaxHealthyPercentage: ptr(int32(100)), InstanceWarmup: ptr(int32(300)), AutoRollback: ptr(false),
			BakeTime: ptr(int32(0)), ScaleInProtectedInstances: "Wait", StandbyInstances: "Ignore", SkipMatching: ptr(true),
		}},
		{"all of them", &awsv1.RefreshPreferences{
			Strategy: ptr("Rolling"), InstanceWarmup: ptr(int64(0)), MinHealthyPercentage: ptr(int64(0)), MaxHealthyPercentage: ptr(int64(100)),
			RefreshChecks: awsv1.RefreshChecks{
				CheckpointPercentages: []int32{30, 100}, CheckpointDelay: ptr(int64(60)), BakeTime: ptr(int64(120)), AutoRollback: true,
				AlarmSpecification:        &awsv1.AlarmSpecification{Alarms: []string{"errors", "latency"}},
				ScaleInProtectedInstances: "Refresh", StandbyInstances: "Terminate",
			},
		}, asgtypes.RefreshPreferences{
			MinHealthyPercentage: ptr(int32(0)), MaxHealthyPercentage: ptr(int32(100)), InstanceWarmup: ptr(int32(0)), AutoRollback: ptr(true),
			CheckpointPercentages: []int32{30, 100}, CheckpointDelay: ptr(int32(60)), BakeTime: ptr(int32(120)),
			AlarmSpecification:        &asgtypes.AlarmSpecification{Alarms: []string{"errors", "latency"}},
			ScaleInProtectedInstances: "Refresh", StandbyInstances: "Terminate", SkipMatching: ptr(true),
		}},
		{"a delay without checkpoints would be refused, and means nothing",
			&awsv1.RefreshPreferences{RefreshChecks: awsv1.RefreshChecks{CheckpointDelay: ptr(int64(60))}}, asgtypes.RefreshPreferences{
				MinHealthyPercentage: ptr(int32(90)), MaxHealthyPercentage: ptr(int32(100)), InstanceWarmup: ptr(int32(300)), AutoRollback: ptr(false),
				BakeTime: ptr(int32(0)), ScaleInProtectedInstances: "Wait", StandbyInstances: "Ignore", SkipMatching: ptr(true),
			}},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target, _ := w.create(aTarget(), 2)
			target = with(target, func(s *awsv1.AWSMachinePoolSpec) {
				bigger(s)
				s.RefreshPreferences = c.asked
			})
			w.rolling(target)
			got := w.refreshed(target)
			if diff := cmp.Diff(&c.want, got.Preferences, cmpopts.EquateEmpty(),
				cmpopts.IgnoreUnexported(asgtypes.RefreshPreferences{}, asgtypes.AlarmSpecification{})); diff != "" {
				t.Errorf("%s: preferences (-want +got):\n%s", c.why, diff)
			}
			if from := got.DesiredConfiguration.LaunchTemplate; from == nil || *from.Version != "2" {
				t.Errorf("%s: want the version pinned by its number, got %+v", c.why, got.DesiredConfiguration)
			}
		})
	}
}

// mixedContent is a group of three of which one has the wanted content from another version than the newest; it gives that one.
func (w *world) mixedContent(change func(*awsv1.AWSMachinePoolSpec)) (aws.Target, string) {
	w.t.Helper()
	target, o := w.create(aTarget(), 3)
	target = with(target, change)
	w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	w.start(target, pool.Step{Kind: pool.UpdateGroup, Template: w.observe(target).Latest().Ref})
	w.start(target, pool.Step{Kind: pool.Replace, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
	settle()
	target.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# next\n"), "cloud-config")
	o = w.observe(target)
	if len(o.Instances) != 3 || !o.Instances[2].Template.Same(o.Wanted) {
		w.t.Fatalf("want the last of three of the wanted content, got %+v", o.Instances)
	}
	return target, o.Instances[2].ID
}

// protectedNow are the instances that are protected from scale-in.
func (w *world) protectedNow() []string {
	var ids []string
	for _, g := range w.server.State(simaws.AccountID, simaws.Region).Groups {
		for _, m := range g.Members {
			if m.Protected {
				ids = append(ids, m.Instance)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// What a refresh is not for is protected while it runs, and no longer; what others protect stays protected.
func TestProtectionOfARollIsTakenBack(t *testing.T) {
	for _, c := range []struct {
		why, preference string
		// stays protected, and is not replaced.
		stays bool
	}{
		{"the service's own way is to wait for an hour: it is left alone, and asked for again later", "", true},
		{"left alone", "Ignore", true},
		{"replaced, as the pool wants it", "Refresh", false},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target, kept := w.mixedContent(func(s *awsv1.AWSMachinePoolSpec) {
				bigger(s)
				s.RefreshPreferences = &awsv1.RefreshPreferences{InstanceWarmup: ptr(int64(1)),
					RefreshChecks: awsv1.RefreshChecks{ScaleInProtectedInstances: c.preference}}
			})
			theirs := w.observe(target).Instances[0].ID
			if _, err := w.byHand.SetInstanceProtection(t.Context(), &autoscaling.SetInstanceProtectionInput{
				AutoScalingGroupName: ptr(target.Owner.ResourceName()), InstanceIds: []string{theirs}, ProtectedFromScaleIn: ptr(true),
			}); err != nil {
				t.Fatal(err)
			}
			w.rolling(target)
			want := []string{kept}
			if c.stays {
				want = append(want, theirs)
				slices.Sort(want)
			}
			if got := w.protectedNow(); !slices.Equal(got, want) {
				t.Errorf("%s: want %v protected while the roll runs, got %v", c.why, want, got)
			}
			w.driver = w.newDriver()
			if o := w.observe(target); len(o.Group.Drift) > 0 {
				t.Errorf("%s: want no drift while the roll runs, got %v", c.why, o.Group.Drift)
			}
			for range 60 {
				w.releaseAll(target)
				time.Sleep(time.Minute)
			}
			o := w.observe(target)
			if o.ProviderRollout == nil || o.ProviderRollout.State != pool.ProviderRolloutSucceeded ||
				!slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == kept }) {
				t.Errorf("%s: want the roll done and %s left, got %+v, %+v", c.why, kept, o.ProviderRollout, o.Instances)
			}
			if there := slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == theirs }); there != c.stays {
				t.Errorf("%s: want what others protect there %t, got %t", c.why, c.stays, there)
			}
			w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
			if got, left := w.protectedNow(), w.observe(target).Group.Drift; c.stays && !slices.Equal(got, []string{theirs}) || !c.stays &&
				len(got) > 0 || len(left) > 0 {
				t.Errorf("%s: want our protection taken away and that of others left, got %v, drift %v", c.why, got, left)
			}
		})
	}
}

// releaseAll lets go what is held.
func (w *world) releaseAll(target aws.Target) {
	w.t.Helper()
	s := pool.Step{Kind: pool.Release}
	for _, i := range w.observe(target).Instances {
		if i.LifecycleHook != nil {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID})
		}
	}
	if len(s.Targets) > 0 {
		w.start(target, s)
	}
}

// What the group launches can't be changed while a roll decides it: that is no drift until the roll has ended.
func TestThePolicyWaitsForTheRoll(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 2)
		target = with(target, bigger)
		w.rolling(target)
		target = with(target, func(s *awsv1.AWSMachinePoolSpec) {
			s.MinSize = 1
			s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: "m5.large"},
				{InstanceType: simaws.InstanceType}}}
		})
		o := w.observe(target)
		if want := []string{"spec.minSize"}; o.ProviderRollout == nil || o.ProviderRollout.State != pool.ProviderRolloutRunning ||
			!slices.Equal(o.Group.Drift, want) {
			t.Fatalf("want drift %v while the roll runs, got %v, %+v", want, o.Group.Drift, o.ProviderRollout)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.mixedInstancesPolicy"}})
		if cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a conflict with the roll, got %v", err)
		}
		for range 60 {
			w.releaseAll(target)
			time.Sleep(time.Minute)
		}
		if o = w.observe(target); !slices.Equal(o.Group.Drift, []string{"spec.mixedInstancesPolicy"}) {
			t.Errorf("want the policy to drift once the roll is over, got %v, %+v", o.Group.Drift, o.ProviderRollout)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		if o = w.observe(target); o.Group.Drift != nil {
			t.Errorf("want nothing to drift any more, got %v", o.Group.Drift)
		}
	})
}

// A roll that is cancelled or fails is told with the service's reason; one that was cancelled has not failed.
func TestRollsThatEnd(t *testing.T) {
	for _, c := range []struct {
		deed     sim.Action
		state    pool.ProviderRolloutState
		failures int
		reason   string
		rollback bool
	}{
		{sim.CancelRollout, pool.ProviderRolloutCancelled, 0, "Cancelled due to user request.", false},
		{sim.FailRollout, pool.ProviderRolloutFailed, 1,
			"The instance refresh has failed because the CloudWatch alarm errors is in ALARM state.", false},
		{sim.FailRollout, pool.ProviderRolloutReverted, 1, "", true},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target, _ := w.create(aTarget(), 2)
			target = with(target, func(s *awsv1.AWSMachinePoolSpec) {
				bigger(s)
				s.RefreshPreferences = &awsv1.RefreshPreferences{RefreshChecks: awsv1.RefreshChecks{
					AutoRollback: c.rollback, AlarmSpecification: &awsv1.AlarmSpecification{Alarms: []string{"errors"}},
				}}
			})
			w.rolling(target)
			time.Sleep(10 * time.Second)
			if has, err := w.server.Capabilities().OutOfBand.Do(c.deed, sim.Resource{Name: target.Owner.ResourceName()}); !has || err != nil {
				t.Fatalf("%s: %t, %v", c.deed, has, err)
			}
			for range 60 {
				w.releaseAll(target)
				time.Sleep(time.Minute)
			}
			r := w.observe(target).ProviderRollout
			if r == nil || r.State != c.state || r.Failures != c.failures || r.Reason != c.reason || r.Ended.IsZero() {
				t.Errorf("%s, rollback %t: want %s, %d failures, %q, got %+v", c.deed, c.rollback, c.state, c.failures, c.reason, r)
			}
		})
	}
}

// TestHeldPassGoesOnWithTheRollThatItRead: a pass that a rate budget has held back spends its next call on what it has not read yet.
func TestHeldPassGoesOnWithTheRollThatItRead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 2)
		target = with(target, bigger)
		w.rolling(target)
		time.Sleep(10 * time.Second)
		for _, c := range []struct {
			reason string
			after  time.Duration
			age    time.Duration
			want   int
		}{
			{"a look that is due reads it", time.Second, 0, 1},
			{"a look that goes on accepts what was read", time.Second, 2 * time.Second, 0},
			{"and nothing older", 3 * time.Second, 2 * time.Second, 1},
			{"what must be wholly new is read again", 0, cloud.NoSharedCache, 1},
		} {
			time.Sleep(c.after)
			target.Cache.MaxAge = c.age
			before := w.calls("DescribeInstanceRefreshes")
			if r := w.observe(target).ProviderRollout; r == nil {
				t.Fatal("want a roll under way")
			}
			if got := w.calls("DescribeInstanceRefreshes") - before; got != c.want {
				t.Errorf("%s: want %d calls, got %d", c.reason, c.want, got)
			}
		}
	})
}

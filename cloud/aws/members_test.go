package aws_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// EC2 may not show an instance yet that the group shows: the others are known all the same, and it is asked for again.
func TestInstancesThatEC2DoesNotShowYet(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 3)
		late := o.Instances[0].ID
		w.driver = w.newDriver()
		if err := w.server.Faults().Add(sim.Fault{
			Kind: sim.ErrorBefore, Action: "DescribeInstances", Times: 1, Status: 400,
			Code: "InvalidInstanceID.NotFound", Message: "The instance ID '" + late + "' does not exist",
		}); err != nil {
			t.Fatal(err)
		}
		o = w.observe(target)
		if len(o.Instances) != 3 || o.Instances[2].ID != late || !o.Instances[2].Created.IsZero() || known(o) != 2 {
			t.Errorf("want %s last, without the moment at which it was made, and both others with theirs, got %+v", late, o.Instances)
		}
		if o = w.observe(target); known(o) != 3 {
			t.Errorf("want all known, got %+v", o.Instances)
		}
		if sent := w.operations(func() { w.observe(target) }); len(sent) != 1 {
			t.Errorf("want what is known not asked again, got %v", sent)
		}
	})
}

// elsewhen is a service whose clock goes before ours.
type elsewhen struct {
	next http.RoundTripper
	by   time.Duration
}

func (e elsewhen) RoundTrip(req *http.Request) (*http.Response, error) {
	reply, err := e.next.RoundTrip(req)
	if err == nil {
		reply.Header.Set("Date", time.Now().Add(e.by).UTC().Format(http.TimeFormat))
	}
	return reply, err
}

// What is decided compares the moments at which machines were made with moments of our own.
func TestMomentsAreToldByOurClock(t *testing.T) {
	for _, c := range []struct {
		why      string
		by, want time.Duration
	}{
		{"the clocks agree", 0, 0},
		{"the service's clock is behind", -3 * time.Minute, 3 * time.Minute},
		{"the service's clock is ahead", 3 * time.Minute, -3 * time.Minute},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target, o := w.create(aTarget(), 2)
			target = with(target, bigger)
			w.rolling(target)
			before := w.observe(target)
			d, err := newDriver(elsewhen{w.wire, c.by})
			if err != nil {
				t.Fatal(err)
			}
			w.driver = d
			after := w.observe(target)
			if got := after.Instances[0].Created.Sub(o.Instances[0].Created); (got - c.want).Abs() >= time.Second {
				t.Errorf("%s: want the moment of creation moved by %s, got %s", c.why, c.want, got)
			}
			if got := after.ProviderRollout.Started.Sub(before.ProviderRollout.Started); (got - c.want).Abs() >= time.Second {
				t.Errorf("%s: want the beginning of the roll moved by %s, got %s", c.why, c.want, got)
			}
		})
	}
}

// known counts the instances of which it is known when they were made.
func known(o pool.Observed) int {
	n := 0
	for _, i := range o.Instances {
		if !i.Created.IsZero() {
			n++
		}
	}
	return n
}

// An instance that a user put into standby is his: it is neither counted nor touched. One that we set aside is seen as such
// by a driver that has seen nothing.
func TestStandbyOfOthersIsLeftToThem(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 3)
		ours, theirs, lent := o.Instances[0].ID, o.Instances[1].ID, o.Instances[1].ProviderID
		if _, err := w.byHand.EnterStandby(t.Context(), &autoscaling.EnterStandbyInput{
			AutoScalingGroupName: ptr(target.Owner.ResourceName()), InstanceIds: []string{theirs}, ShouldDecrementDesiredCapacity: ptr(true),
		}); err != nil {
			t.Fatal(err)
		}
		settle()
		w.start(target, pool.Step{Kind: pool.EnterStandby, Targets: []pool.InstanceRef{{ID: ours}, {ID: theirs}}})
		settle()
		for range 2 {
			o = w.observe(target)
			if o.Group.Size != 2 || len(o.Instances) != 3 || !o.Instances[0].Standby || o.Instances[0].ID != ours || len(o.Issues) > 0 {
				t.Errorf("want a size of 2, with %s set aside, two others and not %s, got %+v with %+v", ours, theirs, o.Group, o.Instances)
			}
			if want := []string{lent}; !slices.Equal(o.ExternalStandby, want) {
				t.Errorf("want %v told as another owner's, got %v", want, o.ExternalStandby)
			}
			w.driver = w.newDriver()
		}
	})
}

// TestInstancesMayNotBeDescribed: a driver that has seen nothing and may not describe instances observes the group. Whether an instance in
// standby is Muster's is unknown: it is left alone, and the group is not deleted with it.
func TestInstancesMayNotBeDescribed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 3)
		aside, other := o.Instances[0], pool.InstanceRef{ID: o.Instances[1].ID}
		w.start(target, pool.Step{Kind: pool.EnterStandby, Targets: []pool.InstanceRef{{ID: aside.ID}}})
		settle()
		w.driver = w.newDriver()
		if err := w.server.Faults().Add(sim.Fault{
			Kind: sim.ErrorBefore, Action: "DescribeInstances", Status: 403, Code: "UnauthorizedOperation",
			Message: "You are not authorized to perform this operation.",
		}); err != nil {
			t.Fatal(err)
		}
		o, err := w.driver.Observe(t.Context(), target)
		if err != nil || o.Group == nil || o.Group.Size != 3 || len(o.Instances) != 3 || known(o) != 0 {
			t.Fatalf("want the group with its 3 instances in service, of unknown age, got %+v with %+v and %v", o.Group, o.Instances, err)
		}
		if len(o.Issues) != 1 || o.Issues[0].Reason != string(cloud.Denied) || !slices.Equal(o.ExternalStandby, []string{aside.ProviderID}) {
			t.Errorf("want the refusal, and %s left alone, got %+v and %v", aside.ProviderID, o.Issues, o.ExternalStandby)
		}
		sent := w.operations(func() { err = w.driver.Start(t.Context(), target, pool.Step{Kind: pool.DeleteGroup}) })
		if cloud.KindOf(err) != cloud.Denied || slices.Contains(sent, "DeleteAutoScalingGroup") {
			t.Errorf("want the group not deleted while the owner of an instance in standby is unknown, got %v and %v", sent, err)
		}
		w.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{other}})
		w.server.Faults().Clear()
		time.Sleep(time.Minute)
		synctest.Wait()
		if o = w.observe(target); len(o.Issues) > 0 || len(o.ExternalStandby) > 0 ||
			!slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return i.ID == aside.ID && i.Standby }) {
			t.Errorf("want all known once it is allowed, got %+v with %v and %+v", o.Instances, o.ExternalStandby, o.Issues)
		}
	})
}

// What is not in service can't be set aside: the pass is to look again.
func TestOnlyWhatServesIsSetAside(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 1)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 2})
		o := w.observe(target)
		for range 100 {
			if len(o.Instances) == 2 {
				break
			}
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			o = w.observe(target)
		}
		if len(o.Instances) != 2 || o.Instances[1].State != pool.Pending {
			t.Fatalf("want one on its way in, got %+v", o.Instances)
		}
		sent := w.operations(func() {
			err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.EnterStandby, Targets: []pool.InstanceRef{{ID: o.Instances[1].ID}}})
			if cloud.KindOf(err) != cloud.Conflict {
				t.Errorf("want a conflict, got %v", err)
			}
		})
		if len(sent) > 0 {
			t.Errorf("want nothing sent, got %v", sent)
		}
	})
}

package nodegroup_test

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// TestSmallerThanWasEverLaunched is what a group becomes whose machines do not come: what is not there needs no drain, and waits for
// no capacity.
func TestSmallerThanWasEverLaunched(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int{1, 0} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			e := w.edge(withTemplate(), 1)
			e.run()
			w.must(w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Limit: 1}))
			e.desired.Replicas = 3
			for range 20 {
				e.pass()
				time.Sleep(20 * time.Second)
			}
			e.check("the size that is asked for", 3, e.seen.Group.Size)
			e.check("machines that have come", 1, len(e.seen.Instances))
			e.desired.Replicas = replicas
			e.run()
			e.check("the size of the smaller pool", replicas, e.seen.Group.Size)
			e.check("its machines", replicas, len(e.seen.Instances))
		})
	}
}

// TestNoneIsTakenByASize holds that a size below what exists is refused: EKS would choose the machines that go, undrained.
func TestNoneIsTakenByASize(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 2)
		e.run()
		if err := w.driver.Start(t.Context(), e.target, pool.Step{Kind: pool.Resize, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a smaller size refused, got %v", err)
		}
		e.check("the size that EKS was asked for", 2, w.nodegroup(e.name()).Desired)
	})
}

// At rest EKS is asked when the backing group has changed, when the answer must be exact, when the specification has changed, and every ten
// minutes: the backing group is read for many pools in one call, a node group is not.
func TestEKSIsAskedForAReason(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 2)
		e.run()
		time.Sleep(30 * time.Minute)
		target := e.target
		w.observe(target)
		scaling := sizer(w)
		for _, c := range []struct {
			reason string
			after  time.Duration
			do     func()
			asked  bool
		}{
			{"nothing has changed", 2 * time.Minute, func() {}, false},
			{"nor a while later", 2 * time.Minute, func() {}, false},
			{"an exact answer is wanted", 2 * time.Minute, func() { target.Cache.MaxAge = 0 }, true},
			{"the specification has changed", 2 * time.Minute, func() {
				target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.Labels = awsv1.NodeLabels{"a": "b"} })(target.Spec)
			}, true},
			{"the backing group has another size", 2 * time.Minute, func() { scaling(3) }, true},
			{"the instance that comes of it", 2 * time.Minute, func() {}, true},
			{"nothing has changed since", 2 * time.Minute, func() {}, false},
			{"it is ten minutes ago", 10 * time.Minute, func() {}, true},
		} {
			time.Sleep(c.after)
			target.Cache.MaxAge = 15 * time.Second
			c.do()
			before := w.server.Calls().Summary(0).Counts["eks"]["DescribeNodegroup"]
			o := w.observe(target)
			if asked := w.server.Calls().Summary(0).Counts["eks"]["DescribeNodegroup"] > before; asked != c.asked || o.Group == nil {
				t.Errorf("%s: want EKS asked %t, got %t with %+v", c.reason, c.asked, asked, o.Group)
			}
		}
	})
}

// The backing group does not show that a node group has been given to another owner: by an earlier answer of EKS it is neither changed nor
// deleted, and none of its instances is terminated.
func TestAnothersIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []pool.Step{
		{Kind: pool.UpdateGroup, Fields: []string{"spec.additionalTags"}}, {Kind: pool.Remove}, {Kind: pool.Replace}, {Kind: pool.DeleteGroup},
	} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			e := w.edge(withTemplate(), 1)
			e.run()
			target := e.target
			target.Cache.MaxAge = 15 * time.Second
			o := w.observe(target)
			settings := config(simaws.Region)
			settings.HTTPClient = &http.Client{Transport: w.over}
			_, err := eks.NewFromConfig(settings).TagResource(t.Context(), &eks.TagResourceInput{
				ResourceArn: &o.Group.ID, Tags: map[string]string{"muster.dev/owner": "another"}})
			w.must(err)
			time.Sleep(2 * time.Minute)
			o = w.observe(target)
			if s.Kind == pool.Remove || s.Kind == pool.Replace {
				s.Targets = []pool.InstanceRef{{ID: o.Instances[0].ID}}
			}
			if err := w.driver.Start(t.Context(), target, s); cloud.KindOf(err) != cloud.Conflict {
				t.Errorf("%s: want it refused for another owner's node group, got %v", s.Kind, err)
			}
			if status := w.nodegroup(e.name()).Status; status != "ACTIVE" {
				t.Errorf("%s: want the node group left alone, got %s", s.Kind, status)
			}
			if n := w.server.Calls().Summary(0).Counts["autoscaling"]["TerminateInstanceInAutoScalingGroup"]; n > 0 {
				t.Errorf("%s: want no instance terminated, got %d requests", s.Kind, n)
			}
		})
	}
}

// TestWhatGoesHasNoUpdates: EKS is asked for no updates of a node group that it deletes.
func TestWhatGoesHasNoUpdates(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		listed := func() int { return w.server.Calls().Summary(0).Counts["eks"]["ListUpdates"] }
		before := listed()
		e.desired.Deleting = true
		for w.nodegroup(e.name()).Status != "DELETING" {
			e.pass()
			time.Sleep(100 * time.Millisecond)
		}
		e.pass()
		e.check("lists of updates while it goes", before, listed())
	})
}

// sizer gives a hand that sets the size of the one Auto Scaling group of the account.
func sizer(w *world) func(size int32) {
	w.t.Helper()
	settings := config(simaws.Region)
	settings.HTTPClient = &http.Client{Transport: w.over}
	client := autoscaling.NewFromConfig(settings)
	return func(size int32) {
		w.t.Helper()
		found, err := client.DescribeAutoScalingGroups(w.t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{})
		w.must(err)
		_, err = client.SetDesiredCapacity(w.t.Context(), &autoscaling.SetDesiredCapacityInput{
			AutoScalingGroupName: found.AutoScalingGroups[0].AutoScalingGroupName, DesiredCapacity: &size,
		})
		w.must(err)
	}
}

// formerSize is a wire on which EKS shows node groups with the size of five that they had before.
type formerSize struct{ http.RoundTripper }

func (w formerSize) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/node-groups/") {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	text := regexp.MustCompile(`"desiredSize":\d+`).ReplaceAllString(string(body), `"desiredSize":5`)
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return answer, err
}

// TestBoundsAndTagsOfOneStep holds that a lower maximum asks for the size that the backing group has, where EKS does not show it yet, also
// in a step that writes tags before.
func TestBoundsAndTagsOfOneStep(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		bound := func(most int32, team string) func(source) source {
			return spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.Scaling = &awsv1.ManagedMachinePoolScaling{MinSize: new(int32(0)), MaxSize: &most}
				s.AdditionalTags = awsv1.Tags{"team": team}
			})
		}
		e := w.edge(bound(6, "a")(withTemplate()), 5)
		e.run()
		sizer(w)(3)
		time.Sleep(10 * time.Minute)
		driver, err := newDriver(formerSize{w.over})
		w.must(err)
		w.driver = driver
		e.target.Spec = bound(4, "b")(e.target.Spec)
		w.observe(e.target)
		w.start(e.target, pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.additionalTags", "spec.scaling.maxSize"}})
		time.Sleep(10 * time.Minute)
		is := w.nodegroup(e.name())
		e.check("the size of the node group", 3, is.Desired)
		e.check("its maximum", 4, is.Max)
		e.check("its tag", "b", is.Tags["team"])
	})
}

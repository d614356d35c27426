package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

func onSpot(s *awsv1.AWSMachinePoolSpec) {
	s.AWSLaunchTemplate.SpotMarketOptions = &awsv1.SpotMarketOptions{}
}

// A spot instance that has its notice is seen as doomed while it still runs; one of which a replacement is only recommended is not,
// unless the group takes it for that.
func TestDoomed(t *testing.T) {
	for _, c := range []struct {
		why    string
		deed   sim.Action
		change func(*awsv1.AWSMachinePoolSpec)
		// reason is that of the instance once the cloud has had a minute; state its state.
		reason string
		state  pool.InstanceState
		held   bool
	}{
		{"the notice", sim.InterruptInstance, onSpot, "SpotInterruption", pool.Running, false},
		{"the notice, with capacity rebalancing: the group takes it at once", sim.InterruptInstance, rebalancing, "SpotInterruption",
			pool.Terminating, true},
		{"a recommendation without an effect is not reported", sim.RecommendReplacement, onSpot, "", pool.Running, false},
		{"a recommendation, with capacity rebalancing", sim.RecommendReplacement, rebalancing, "RebalanceRecommended", pool.Terminating, true},
		{"a user's mark", sim.MarkUnhealthy, func(*awsv1.AWSMachinePoolSpec) {}, "Unhealthy", pool.Terminating, true},
		{"a user's mark, where the group replaces none for that", sim.MarkUnhealthy, func(s *awsv1.AWSMachinePoolSpec) {
			s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{ReplaceUnhealthy: ptr(true)}}
		}, "", pool.Failed, false},
		{"the same, where the group checks no health by itself", sim.MarkUnhealthy, func(s *awsv1.AWSMachinePoolSpec) {
			s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{HealthCheck: ptr(true)}}
		}, "Unhealthy", pool.Terminating, true},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target, o := w.create(with(aTarget(), c.change), 2)
			if len(o.Group.Drift) > 0 {
				w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
			}
			id := o.Instances[0].ID
			if has, err := w.server.Capabilities().OutOfBand.Do(c.deed, sim.Resource{Instance: id}); !has || err != nil {
				t.Fatalf("%s: want it done, got %t, %v", c.why, has, err)
			}
			time.Sleep(time.Minute)
			for _, d := range []*aws.Driver{w.driver, w.newDriver()} {
				w.driver = d
				for _, i := range w.observe(target).Instances {
					reason := ""
					if i.TerminationNotice != nil {
						reason = i.TerminationNotice.Reason
					}
					want, state, held := c.reason, c.state, c.held
					if i.ID != id {
						want, state, held = "", i.State, false
					}
					if reason != want || i.State != state || (i.LifecycleHook != nil) != held {
						t.Errorf("%s: want %s doomed for %q, %s, held %t, got %+v", c.why, i.ID, want, state, held, i)
					}
				}
			}
		})
	}
}

func rebalancing(s *awsv1.AWSMachinePoolSpec) {
	onSpot(s)
	s.CapacityRebalance = true
	s.AWSLaunchTemplate.SpotMarketOptions, s.AWSLaunchTemplate.MarketType = &awsv1.SpotMarketOptions{}, awsv1.MarketTypeSpot
}

// Notices are asked for only where there are spot instances, once for all pools of a region, and who may not ask manages his pools
// all the same.
func TestNoticesAreAskedForTogether(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		plain, o := w.create(aTarget(), 1)
		if o.ShortNotice {
			t.Errorf("want no short notice without spot instances, got it")
		}
		var spots []aws.Target
		for _, name := range []string{"one", "two"} {
			target := with(aTarget(), onSpot)
			target.Owner = cloud.Owner{ID: name, Cluster: "c", Namespace: "default", Name: name}
			target, o = w.create(target, 1)
			if !o.ShortNotice {
				t.Errorf("want spot instances at short notice, got %+v", o)
			}
			spots = append(spots, target)
		}
		time.Sleep(time.Minute)
		w.observe(plain)
		sent := w.operations(func() { w.observe(plain) })
		for _, target := range append(spots, spots...) {
			sent = append(sent, w.operations(func() { w.observe(target) })...)
		}
		asked := 0
		for _, name := range sent {
			if name == "DescribeSpotInstanceRequests" {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("want one question for four looks at two pools, got %v", sent)
		}
		spots[0].Cache.MaxAge = cloud.NoSharedCache
		if sent := w.operations(func() { w.observe(spots[0]) }); !slices.Contains(sent, "DescribeSpotInstanceRequests") {
			t.Errorf("want it asked again for who shares nothing, got %v", sent)
		}
		w.driver = w.newDriver()
		spots[0].Cache.MaxAge = 0
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Action: "DescribeSpotInstanceRequests", Code: "UnauthorizedOperation",
			Status: 403}); err != nil {
			t.Fatal(err)
		}
		for _, target := range spots {
			if o := w.observe(target); len(o.Instances) != 1 || o.Instances[0].TerminationNotice != nil {
				t.Errorf("want the pool seen all the same, got %+v", o)
			}
		}
	})
}

// The fields in which an instance differs from what is wanted have the names that they have in the object.
func TestDiffers(t *testing.T) {
	const at = "spec.awsLaunchTemplate."
	for _, c := range []struct {
		why    string
		change func(*awsv1.AWSLaunchTemplate)
		want   []string
	}{
		{"nothing", func(*awsv1.AWSLaunchTemplate) {}, nil},
		{"type", func(s *awsv1.AWSLaunchTemplate) { s.InstanceType = "m5.large" }, []string{at + "instanceType"}},
		{"image, looked up by another format", func(s *awsv1.AWSLaunchTemplate) { s.ImageLookupFormat = "capa-ami-{{.BaseOS}}-?1.26.*" },
			[]string{at + "ami"}},
		{"metadata", func(s *awsv1.AWSLaunchTemplate) {
			s.InstanceMetadataOptions = &awsv1.InstanceMetadataOptions{HTTPTokens: "required"}
		}, []string{at + "instanceMetadataOptions"}},
		{"key taken away", func(s *awsv1.AWSLaunchTemplate) { s.SSHKeyName = ptr("") }, []string{at + "sshKeyName"}},
		{"spot", func(s *awsv1.AWSLaunchTemplate) { s.SpotMarketOptions = &awsv1.SpotMarketOptions{} }, []string{at + "spotMarketOptions"}},
		{"market", func(s *awsv1.AWSLaunchTemplate) { s.MarketType = awsv1.MarketTypeSpot }, []string{at + "marketType"}},
		{"root volume", func(s *awsv1.AWSLaunchTemplate) { s.RootVolume = &awsv1.Volume{Size: 90, Type: "gp3"} }, []string{at + "rootVolume"}},
		{"another volume", func(s *awsv1.AWSLaunchTemplate) {
			s.NonRootVolumes = []awsv1.Volume{{DeviceName: "/dev/sdz", Size: 90, Type: "gp3"}}
		}, []string{at + "nonRootVolumes"}},
		{"several", func(s *awsv1.AWSLaunchTemplate) {
			s.InstanceType, s.RootVolume = "m5.large", &awsv1.Volume{Size: 90, Type: "gp3"}
		}, []string{at + "instanceType", at + "rootVolume"}},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			first, _ := w.create(with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) {
				s.AWSLaunchTemplate.InstanceMetadataOptions = &awsv1.InstanceMetadataOptions{HTTPTokens: "optional"}
			}), 1)
			changed := with(first, func(s *awsv1.AWSMachinePoolSpec) { c.change(&s.AWSLaunchTemplate) })
			for _, d := range []*aws.Driver{w.driver, w.newDriver()} {
				w.driver = d
				if got := w.observe(changed).Instances[0].TemplateDiff; !slices.Equal(got, c.want) {
					t.Errorf("%s: want %v, got %v", c.why, c.want, got)
				}
				if got := slices.Equal(c.want, d.Traits().ImageFields); got != strings.HasPrefix(c.why, "image") {
					t.Errorf("%s: want images told from other fields, got %v", c.why, d.Traits().ImageFields)
				}
			}
		})
	}
}

package nodegroup_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// TestMendedAfterAFailure makes a group again that EKS could not make, for it changes no such group.
func TestMendedAfterAFailure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		mend func(*awsv1.AWSManagedMachinePoolSpec)
	}{
		{"another template", func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" }},
		{"another label", func(s *awsv1.AWSManagedMachinePoolSpec) { s.Labels = awsv1.NodeLabels{"a": "b"} }},
	} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			w.must(w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity}))
			e := w.edge(withTemplate(), 1)
			for e.pass(); e.seen.Group == nil || e.seen.Group.Failed == nil; e.pass() {
				time.Sleep(20 * time.Second)
			}
			e.target.Spec = spec(c.mend)(e.target.Spec)
			for n := 0; e.plan.Step == nil || e.plan.Step.Kind != pool.DeleteGroup; n++ {
				if n == 10 {
					t.Fatalf("%s: want the group deleted to be made again, got %+v at %+v", c.why, e.plan, e.seen.Group)
				}
				e.pass()
				time.Sleep(20 * time.Second)
			}
			w.server.Faults().Clear()
			e.run()
			e.inPlace(1)
		})
	}
}

// TestLabelsAreBookedFirst holds that no label is put while EKS ignores the tag that books it: without it the label could not be told from
// one of another client, and would stay when the specification drops it.
func TestLabelsAreBookedFirst(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		e.inPlace(1)
		labels := func(l awsv1.NodeLabels) {
			e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.Labels = l })(e.target.Spec)
			for range 5 {
				e.pass()
				time.Sleep(20 * time.Second)
			}
		}
		put := func() int { return w.server.Calls().Count("eks", "UpdateNodegroupConfig") }
		before := put()
		w.must(w.server.Faults().Add(sim.Fault{Kind: sim.Ignore, Service: "eks", Action: "TagResource"}))
		labels(awsv1.NodeLabels{"stage": "test"})
		e.check("updates while the tag is ignored", before, put())
		w.server.Faults().Clear()
		labels(awsv1.NodeLabels{"stage": "test"})
		e.check("updates once it is not", before+1, put())
		labels(nil)
		e.check("updates when the label goes", before+2, put())
		e.check("what differs", []string(nil), e.seen.Group.Drift)
	})
}

// TestTemplateThatIsGone is told, and no update is asked for that EKS can only refuse.
func TestTemplateThatIsGone(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		w.must(w.server.DropTemplate(e.name()))
		time.Sleep(time.Hour)
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })(e.target.Spec)
		e.check("steps without a template", []pool.StepKind(nil), e.run())
		if o := e.seen; len(o.Issues) == 0 || !strings.Contains(o.Issues[0].Message, "is there no more") || o.Wanted.Content != "" {
			t.Errorf("want it said that the template is gone, and nothing wanted, got %+v, %+v", o.Issues, o.Wanted)
		}
		e.desired.Replicas = 2
		e.check("steps of a larger pool", []pool.StepKind{pool.Resize}, e.run())
		e.desired.Deleting = true
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone, got %+v", e.plan)
		}
	})
}

// TestBroughtTemplate is launched from in the version that is named, and never written to.
func TestBroughtTemplate(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		settings := config(simaws.Region)
		settings.HTTPClient = &http.Client{Transport: w.over}
		by := ec2.NewFromConfig(settings)
		made, err := by.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: new("golden"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: ec2types.InstanceType(
				simaws.InstanceType)},
		})
		w.must(err)
		_, err = by.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{
			LaunchTemplateName: new("golden"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: "m5.large"},
		})
		w.must(err)
		brought := func(version int64) source {
			return spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.AWSLaunchTemplate = &awsv1.AWSLaunchTemplate{Existing: &awsv1.ExistingLaunchTemplate{Name: new("golden"), Version: version}}
			})(withTemplate())
		}
		e := w.edge(brought(1), 1)
		e.check("steps of a new pool", []pool.StepKind{pool.CreateGroup, pool.UpdateGroup}, e.run())
		e.inPlace(1)
		e.check("what it is launched from", *made.LaunchTemplate.LaunchTemplateId+":1", e.seen.Group.Template)
		e.target.Spec = brought(2)
		e.check("steps of another version", []pool.StepKind{pool.StartProviderRollout}, e.run())
		e.inPlace(1)
		e.desired.Deleting = true
		e.run()
		state := w.server.State(simaws.AccountID, simaws.Region)
		if !e.plan.DeletionComplete || len(state.Templates) != 1 {
			t.Errorf("want the pool gone and the template left, got %+v, %+v", e.plan, state.Templates)
		}
	})
}

// TestBroughtImage holds that a template which is brought says by itself, in the version that was read, whose image nodes boot.
func TestBroughtImage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, kind string
		own          bool
		want         ekstypes.AMITypes
	}{
		{"EKS gives one for the processor", "m6g.large", false, ekstypes.AMITypesAl2023Arm64Standard},
		{"EKS gives one for the processor", "m5.large", false, ekstypes.AMITypesAl2023X8664Standard},
		{"EKS takes no family, version or release beside an image", "m5.large", true, ekstypes.AMITypesCustom},
	} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			settings := config(simaws.Region)
			settings.HTTPClient = &http.Client{Transport: w.over}
			by := ec2.NewFromConfig(settings)
			data := &ec2types.RequestLaunchTemplateData{InstanceType: ec2types.InstanceType(c.kind)}
			if c.own {
				images, err := by.DescribeImages(t.Context(),
					&ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: new("architecture"), Values: []string{"x86_64"}}}})
				w.must(err)
				data.ImageId = images.Images[0].ImageId
			}
			_, err := by.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: new("golden"),
				LaunchTemplateData: data})
			w.must(err)
			data.KeyName = new("mine")
			_, err = by.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateName: new("golden"),
				LaunchTemplateData: data})
			w.must(err)
			brought := func(version int64) source {
				return spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
					s.AWSLaunchTemplate = &awsv1.AWSLaunchTemplate{Existing: &awsv1.ExistingLaunchTemplate{Name: new("golden"), Version: version}}
				})(withTemplate())
			}
			e := w.edge(brought(1), 0)
			e.run()
			e.target.Spec = brought(2)
			e.check("steps of another version", []pool.StepKind{pool.StartProviderRollout}, e.run())
			found, err := w.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: new(clusterName),
				NodegroupName: new(e.name())})
			w.must(err)
			if is := found.Nodegroup; is.AmiType != c.want || *is.LaunchTemplate.Version != "2" {
				t.Errorf("%s of %s: %s: want images %s, version 2; got %s, version %s", c.kind, e.name(), c.reason, c.want, is.AmiType,
					*is.LaunchTemplate.Version)
			}
		})
	}
}

// bodies notes the bodies of requests whose path ends so.
type bodies struct {
	next http.RoundTripper
	path string
	seen []string
}

func (b *bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && strings.HasSuffix(r.URL.Path, b.path) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		b.seen = append(b.seen, string(text))
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	return b.next.RoundTrip(r)
}

// TestForceIsAChoice sends it with updates where a user has asked for it, and nowhere else.
func TestForceIsAChoice(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			tap := &bodies{next: w.over, path: "/update-version"}
			driver, err := newDriver(tap)
			w.must(err)
			w.driver = driver
			e := w.edge(spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.UpdateConfig = &awsv1.UpdateConfig{MaxUnavailable: new(1), UpdateBehaviour: awsv1.UpdateBehaviour{Force: force}}
			})(withTemplate()), 1)
			e.run()
			e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })(e.target.Spec)
			e.run()
			if len(tap.seen) != 1 || strings.Contains(tap.seen[0], `"force":true`) != force || !strings.Contains(tap.seen[0], `"version":"1.33"`) {
				t.Errorf("want one update with force %t and a version, got %v", force, tap.seen)
			}
		})
	}
}

// TestClusterThatIsGone holds that the pool can be deleted without its cluster.
func TestClusterThatIsGone(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		w.start(e.target, pool.Step{Kind: pool.PutTemplate})
		w.must(w.server.ForgetCluster(simaws.AccountID, simaws.Region, clusterName))
		err := w.driver.Start(t.Context(), e.target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: w.observe(e.target).Latest().Ref})
		if err == nil || cloud.KindOf(err) == cloud.Unavailable || !strings.Contains(err.Error(), clusterName) {
			t.Errorf("want a refusal that names the cluster, got %v", err)
		}
		e.desired.Deleting = true
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone, got %+v", e.plan)
		}
	})
}

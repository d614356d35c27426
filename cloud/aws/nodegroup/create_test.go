package nodegroup_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// TestRemoteAccessForNobody is no access for everybody: EKS opens SSH to all where no group is named.
func TestRemoteAccessForNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why     string
		public  bool
		groups  []string
		refused bool
	}{
		{"no source is named, and open access is not asked for", false, nil, true},
		{"everybody is asked for", true, nil, false},
		{"the cluster's nodes have a group", false, []string{"sg"}, false},
	} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			s := spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.RemoteAccess = &awsv1.ManagedRemoteAccess{SSHKeyName: new(simaws.KeyName), Public: c.public}
			})(withoutTemplate())
			if c.groups == nil {
				s.Cluster.NodeSecurityGroups = nil
			}
			target := aTarget(s)
			o := w.observe(target)
			err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref})
			var e *cloud.Error
			if refused := errors.As(err, &e) && e.Kind == cloud.Invalid &&
				e.Field == "spec.remoteAccess.sourceSecurityGroups"; refused != c.refused || err != nil && !refused {
				t.Errorf("%s: want it refused %t, got %v", c.why, c.refused, err)
			}
		})
	}
}

// TestFamilyBesideATemplate holds that EKS is asked for the family of its images where the template names none.
func TestFamilyBesideATemplate(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		target := aTarget(spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.AMIType = new(awsv1.ManagedMachineAMIType("BOTTLEROCKET_x86_64"))
		})(withTemplate()))
		target.Bootstrap = cloud.Bootstrap{}
		o := w.observe(target)
		w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
		w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: w.observe(target).Latest().Ref})
		time.Sleep(time.Hour)
		o = w.observe(target)
		found, err := w.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: new(clusterName),
			NodegroupName: new(target.Owner.ResourceName())})
		w.must(err)
		if got := found.Nodegroup.AmiType; got != "BOTTLEROCKET_x86_64" || len(o.Group.Unchangeable) > 0 || len(o.Instances) != 1 {
			t.Errorf("want a machine of the family, got %q and %+v", got, o)
		}
	})
}

// TestGroupWhoseReplyWasLost is not taken for one that was never made, on a read that is behind: the object that owns it would go
// and leave it.
func TestGroupWhoseReplyWasLost(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		target := aTarget(withoutTemplate())
		o := w.observe(target)
		w.must(w.server.Faults().Add(sim.Fault{Kind: sim.DropAfter, Service: "eks", Action: "CreateNodegroup", Times: 1}))
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref})
		if cloud.KindOf(err) != cloud.Unavailable {
			t.Fatalf("want no reply, got %v", err)
		}
		w.must(w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Delay: sim.Duration(5 * time.Second)}))
		time.Sleep(time.Second)
		if o, err := w.driver.Observe(t.Context(), target); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want to be told to look again, got %+v, %v", o.Group, err)
		}
		w.server.Faults().Clear()
		if o := w.observe(target); o.Group == nil {
			t.Error("want the group seen, got none")
		}
	})
}

// TestFailedLookupBesideItsTemplate holds that a look-up which fails for now is an error of the look as long as there is no node group,
// also where the launch template exists: it is made again soon, and the node group created then. A pool that is being deleted deletes the
// template.
func TestFailedLookupBesideItsTemplate(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		target := aTarget(withTemplate())
		w.observe(target)
		w.must(w.driver.Start(t.Context(), target, pool.Step{Kind: pool.PutTemplate}))
		w.must(w.server.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Action: "DescribeInstanceTypes", Code: "RequestLimitExceeded",
			Status: http.StatusServiceUnavailable}))
		var err error
		w.driver, err = newDriver(w.over)
		w.must(err)
		for _, target.Deleting = range []bool{false, true} {
			o, err := w.driver.Observe(t.Context(), target)
			var complete *cloud.SpecUnsatisfiableError
			if !errors.As(err, &complete) || o.Group != nil || len(o.Versions) != 1 {
				t.Errorf("deleting %t: want an error of the look beside the template, got %v and %+v", target.Deleting, err, o)
			}
		}
		w.server.Faults().Clear()
		time.Sleep(time.Hour)
		target.Deleting = false
		if o := w.observe(target); o.Wanted.Content == "" {
			t.Errorf("want to know afterwards what is wanted, got %+v", o)
		}
	})
}

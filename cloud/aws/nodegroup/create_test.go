package nodegroup_test

import (
	"errors"
	"testing"
	"time"

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
			if refused := errors.As(err, &e) && e.Kind == cloud.Invalid && e.Field == "spec.remoteAccess.sourceSecurityGroups"; refused != c.refused || err != nil && !refused {
				t.Errorf("%s: want it refused %t, got %v", c.why, c.refused, err)
			}
		})
	}
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

package nodegroup_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
)

// edge plays the Kubernetes edge: machines that run have a Ready node at once, and drains end as soon as they have begun.
type edge struct {
	*world
	desired pool.Desired
	target  nodegroup.Target
	drained map[string]time.Time
	// steps are those that were begun, plan the last plan, seen the last observation.
	steps []pool.StepKind
	plan  pool.Plan
	seen  pool.Observed
}

func (w *world) edge(s source, replicas int) *edge {
	return &edge{world: w, target: aTarget(s), drained: map[string]time.Time{}, desired: pool.Desired{
		Replicas: replicas, Max: 1000, MinField: "spec.scaling.minSize", MaxField: "spec.scaling.maxSize", DeletePolicy: pool.Oldest,
		Strategy: &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: 1}},
	}}
}

// pass looks, decides and begins one step, as the engine does.
func (e *edge) pass() {
	e.t.Helper()
	o := e.observe(e.target)
	e.target.Remembered = o.ResolvedLookups
	for k := range o.Instances {
		if i := &o.Instances[k]; i.State == pool.Running {
			i.Node = &pool.Node{Name: i.ID, Joined: i.Created, Ready: true, ReadySince: i.Created, DrainStarted: e.drained[i.ID],
				Cordoned: !e.drained[i.ID].IsZero()}
		}
	}
	e.seen, e.plan = o, pool.Decide(e.desired, o, e.driver.Traits(), time.Now())
	s := e.plan.Step
	if s == nil {
		return
	}
	e.steps = append(e.steps, s.Kind)
	if s.Kind == pool.Drain {
		for _, target := range s.Targets {
			e.drained[target.ID] = time.Now()
		}
		return
	}
	if err := e.driver.Start(e.t.Context(), e.target, *s); err != nil && cloud.KindOf(err) != cloud.Conflict {
		e.t.Fatalf("start %+v: %v", s, err)
	}
}

// run makes passes until nothing is to be done any more, and gives the steps that it took.
func (e *edge) run() []pool.StepKind {
	e.t.Helper()
	e.steps = nil
	quiet := 0
	for range 2000 {
		e.pass()
		if quiet++; e.plan.Step != nil || !e.plan.Quiescent && !e.plan.DeletionComplete {
			quiet = 0
		}
		if quiet > 3 {
			return e.steps
		}
		time.Sleep(20 * time.Second)
	}
	e.t.Fatalf("want the pool at rest at last, got the plan %+v at %+v", e.plan, e.seen.Group)
	return nil
}

func (e *edge) check(what string, want, got any) {
	e.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		e.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// inPlace reports where the pool is not as it should be.
func (e *edge) inPlace(size int) {
	e.t.Helper()
	o := e.seen
	if o.Group == nil || o.Group.Size != size || len(o.Instances) != size || len(o.Group.Drift) > 0 || len(o.Issues) > 0 {
		e.t.Errorf("want a group of %d in order, got %+v with %d instances, issues %v", size, o.Group, len(o.Instances), o.Issues)
	}
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) {
			e.t.Errorf("want instances as they are wanted, got %+v, wanted %+v", i, o.Wanted)
		}
	}
}

func withoutTemplate() source {
	s := withTemplate()
	s.Pool.AWSLaunchTemplate = nil
	s.Pool.InstanceTypes = []string{simaws.InstanceType}
	return s
}

func TestLifeWithTemplate(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 2)
		e.check("steps of a new pool", []pool.StepKind{pool.PutTemplate, pool.CreateGroup, pool.UpdateGroup}, e.run())
		e.inPlace(2)
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })(e.target.Spec)
		e.check("steps of another template", []pool.StepKind{pool.PutTemplate, pool.StartProviderRollout, pool.DefaultTemplate}, e.run())
		e.inPlace(2)
		if e.seen.ProviderRollout == nil || e.seen.ProviderRollout.State != pool.ProviderRolloutSucceeded {
			t.Errorf("want a roll that has succeeded, got %+v", e.seen.ProviderRollout)
		}
		e.desired.Replicas = 3
		e.check("steps of a larger pool", []pool.StepKind{pool.Resize}, e.run())
		e.inPlace(3)
		e.desired.Replicas = 1
		steps := slices.DeleteFunc(e.run(), func(k pool.StepKind) bool { return k != pool.Remove })
		if len(steps) == 0 {
			t.Error("want machines removed by name, got none")
		}
		e.inPlace(1)
		e.desired.Deleting = true
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone, got %+v", e.plan)
		}
		state := w.server.State(simaws.AccountID, simaws.Region)
		if len(state.Groups) > 0 || len(state.Templates) > 0 {
			t.Errorf("want nothing left, got %+v, %+v", state.Groups, state.Templates)
		}
	})
}

func TestLifeWithoutTemplate(t *testing.T) {
	t.Parallel()
	inWorld(t, "v1.31.0", func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		s := withoutTemplate()
		s.Cluster.ControlPlaneVersion = "v1.31.0"
		e := w.edge(s, 2)
		e.check("steps of a new pool", []pool.StepKind{pool.CreateGroup, pool.UpdateGroup}, e.run())
		e.inPlace(2)
		e.check("what it is launched from", "eks:1.31", e.seen.Group.Template)
		if !e.seen.Latest().UserManaged {
			t.Errorf("want EKS's own version given, got %+v", e.seen.Latest())
		}
		for _, next := range []string{"v1.32.0", "v1.33.0"} {
			if err := putCluster(w.server, next); err != nil {
				t.Fatal(err)
			}
		}
		upgraded := *s
		upgraded.Cluster.ControlPlaneVersion = "v1.33.0"
		e.target.Spec, e.target.KubernetesVersion = &upgraded, "v1.33.1"
		e.pass()
		if e.plan.Step == nil || !strings.Contains(e.plan.Step.Cause.Message, "on the way to 1.33") {
			t.Errorf("want the goal told in the cause, got %+v", e.plan.Step)
		}
		e.pass()
		if r := e.seen.ProviderRollout; r == nil || r.Reason != "Kubernetes 1.31 to 1.32, on the way to 1.33" {
			t.Errorf("want the way told while the roll runs, got %+v", r)
		}
		e.check("steps over two versions", []pool.StepKind{pool.StartProviderRollout}, e.run())
		e.inPlace(2)
		e.check("what it is launched from", "eks:1.33", e.seen.Group.Template)
		e.desired.Deleting = true
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone, got %+v", e.plan)
		}
	})
}

// TestRestart replaces all by our hand: EKS's updates are for what has changed.
func TestRestart(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 2)
		e.run()
		before := e.seen.Instances
		time.Sleep(time.Hour)
		e.desired.Restart = &pool.Restart{Before: time.Now(), Cause: pool.Cause{Reason: "Restart", Message: "a user asked"}}
		steps := e.run()
		e.inPlace(2)
		if slices.Contains(steps, pool.StartProviderRollout) || !slices.Contains(steps, pool.Replace) {
			t.Errorf("want machines replaced one by one and no update of EKS's, got %v", steps)
		}
		for _, i := range e.seen.Instances {
			if slices.ContainsFunc(before, func(b pool.Instance) bool { return b.ID == i.ID }) {
				t.Errorf("want %s replaced", i.ID)
			}
		}
	})
}

// TestSomebodyElseSizes follows a size that is not ours to set, while machines are replaced too.
func TestSomebodyElseSizes(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		e.desired.ReplicasManagedExternally = true
		_, err := w.eks.UpdateNodegroupConfig(t.Context(), &eks.UpdateNodegroupConfigInput{
			ClusterName: new(clusterName), NodegroupName: new(e.name()), ScalingConfig: &ekstypes.NodegroupScalingConfig{DesiredSize: new(int32(3))},
		})
		w.must(err)
		time.Sleep(10 * time.Minute)
		e.check("steps after another owner's size", []pool.StepKind(nil), e.run())
		e.inPlace(3)
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })(e.target.Spec)
		e.check("steps of another template", []pool.StepKind{pool.PutTemplate, pool.StartProviderRollout, pool.DefaultTemplate}, e.run())
		e.inPlace(3)
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.Scaling.MinSize = new(int32(5)) })(e.target.Spec)
		o := w.observe(e.target)
		if len(o.Issues) != 1 || o.Issues[0].Reason != "MinimumWaits" || len(o.Group.Drift) > 0 {
			t.Errorf("want a smallest size above the size waited for and said, got %+v, %v", o.Issues, o.Group.Drift)
		}
	})
}

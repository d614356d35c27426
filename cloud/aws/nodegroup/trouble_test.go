package nodegroup_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	simeks "github.com/muster-project/muster/sim/aws/eks"
)

// name is the node group's.
func (e *edge) name() string { return e.target.Owner.ResourceName() }

// must fails the test with what went wrong by hand.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) nodegroup(name string) simaws.Nodegroup {
	w.t.Helper()
	found, err := w.eks.DescribeNodegroup(w.t.Context(), &eks.DescribeNodegroupInput{ClusterName: new(clusterName), NodegroupName: &name})
	w.must(err)
	n := found.Nodegroup
	return simaws.Nodegroup{
		Labels: n.Labels, Tags: n.Tags, Release: *n.ReleaseVersion, Version: *n.Version, Status: string(n.Status),
		Min: int(*n.ScalingConfig.MinSize), Max: int(*n.ScalingConfig.MaxSize), Desired: int(*n.ScalingConfig.DesiredSize),
	}
}

// TestWhatReadsDoNotShowYetIsRemoved holds that labels, taints and tags which were put a moment ago, and which the specification does not
// have any more, are removed although reads show neither them nor their bookkeeping when the others are updated.
func TestWhatReadsDoNotShowYetIsRemoved(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		put := func(s source, names ...string) source {
			return spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.Labels, s.AdditionalTags, s.Taints = awsv1.NodeLabels{}, awsv1.Tags{}, nil
				for _, name := range names {
					s.Labels[name], s.AdditionalTags[name] = "x", "x"
					s.Taints = append(s.Taints, awsv1.Taint{Key: name, Value: "x", Effect: awsv1.TaintEffectNoSchedule})
				}
			})(s)
		}
		e := w.edge(put(withoutTemplate(), "team"), 1)
		e.run()
		time.Sleep(time.Minute)
		e.target.Spec = put(e.target.Spec, "team", "stage")
		e.pass()
		w.must(w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "Describe*", Delay: sim.Duration(5 * time.Second), Times: 4}))
		e.target.Spec = put(e.target.Spec)
		for range 12 {
			e.pass()
			time.Sleep(15 * time.Second)
		}
		e.run()
		found, err := w.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: new(clusterName),
			NodegroupName: new(e.name())})
		w.must(err)
		n := found.Nodegroup
		e.check("the label that is no longer wanted", "", n.Labels["stage"])
		e.check("the tag that is no longer wanted", "", n.Tags["stage"])
		e.check("taints that are no longer wanted", 0, len(n.Taints))
		for key := range n.Tags {
			if strings.HasPrefix(key, "muster.dev/managed-") {
				t.Errorf("want no bookkeeping of nothing, got %s", key)
			}
		}
	})
}

// TestUpdateThatFails leaves machines of both templates, which are told apart, and is begun again.
func TestUpdateThatFails(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 3)
		e.run()
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })(e.target.Spec)
		for e.pass(); e.seen.ProviderRollout == nil || e.seen.ProviderRollout.Percent == 0; e.pass() {
			time.Sleep(10 * time.Second)
		}
		old := func(i pool.Instance) bool { return !i.Template.Same(e.seen.Wanted) }
		if e.seen.Group.Size != 3 || len(e.seen.Instances) <= 3 || !slices.ContainsFunc(e.seen.Instances, old) || e.seen.Group.Busy == nil {
			t.Errorf("want a size of 3 without the surge, machines of both templates, and a busy group, got %+v with %+v", e.seen.Group,
				e.seen.Instances)
		}
		w.must(w.server.FailUpdate(clusterName, e.name()))
		time.Sleep(time.Minute)
		e.pass()
		r := e.seen.ProviderRollout
		if r == nil || r.State != pool.ProviderRolloutFailed || r.Failures != 1 || !strings.HasPrefix(r.Reason, "NodeCreationFailure: ") ||
			!r.Template.Same(e.seen.Wanted) || r.Ended.IsZero() {
			t.Fatalf("want a roll that has failed once, in EKS's words, to what is wanted, got %+v", r)
		}
		fresh, err := newDriver(w.over)
		w.must(err)
		o, err := fresh.Observe(t.Context(), e.target)
		w.must(err)
		e.check("the roll for a driver that has seen nothing", r.Failures, o.ProviderRollout.Failures)
		for k, i := range o.Instances {
			e.check("the content of an instance for a driver that has seen nothing", e.seen.Instances[k].Template, i.Template)
		}
		w.mayNotDescribe(e)
		time.Sleep(10 * time.Minute)
		e.run()
		e.inPlace(3)
		e.check("failures after a success", 0, e.seen.ProviderRollout.Failures)
	})
}

// TestUpdateThatFailsAndStays holds that machines which a failed update has not replaced count as earlier ones although EKS shows the new
// version as the node group's, also for a driver that has seen nothing, and that the update is started again.
func TestUpdateThatFailsAndStays(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 3)
		e.run()
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })(e.target.Spec)
		for e.pass(); e.seen.ProviderRollout == nil || e.seen.ProviderRollout.Percent == 0; e.pass() {
			time.Sleep(10 * time.Second)
		}
		stale := func(o pool.Observed) (n int) {
			for _, i := range o.Instances {
				if i.Template.Content != "" && !i.Template.Same(o.Wanted) {
					n++
				}
			}
			return n
		}
		before := stale(e.seen)
		w.must(w.server.FailUpdate(clusterName, e.name()))
		time.Sleep(time.Minute)
		e.pass()
		if g := e.seen.Group; g.Content != e.seen.Wanted.Content || e.seen.ProviderRollout.State != pool.ProviderRolloutFailed {
			t.Fatalf("want a failed update that the node group shows as its version, got %+v with %+v", g, e.seen.ProviderRollout)
		}
		e.check("earlier machines", before, stale(e.seen))
		fresh, err := newDriver(w.over)
		w.must(err)
		o, err := fresh.Observe(t.Context(), e.target)
		w.must(err)
		e.check("earlier machines for a driver that has seen nothing", before, stale(o))
		time.Sleep(10 * time.Minute)
		if steps := e.run(); !slices.Contains(steps, pool.StartProviderRollout) {
			t.Errorf("want the update started again, got the steps %v", steps)
		}
		e.inPlace(3)
	}, simeks.FailedStays)
}

// mayNotDescribe looks at a group whose update failed with a driver that has seen nothing and may not describe instances: which of them the
// update launched is unknown, so that no template is guessed and no other update is started. The rest is observed.
func (w *world) mayNotDescribe(e *edge) {
	w.t.Helper()
	w.must(w.server.Faults().Add(sim.Fault{
		Kind: sim.ErrorBefore, Action: "DescribeInstances", Status: http.StatusForbidden, Code: "UnauthorizedOperation",
		Message: "You are not authorized to perform this operation.",
	}))
	fresh, err := newDriver(w.over)
	w.must(err)
	o, err := fresh.Observe(w.t.Context(), e.target)
	w.must(err)
	e.check("instances", len(e.seen.Instances), len(o.Instances))
	for _, i := range o.Instances {
		e.check("the template of an instance of unknown age", pool.Template{}, i.Template)
	}
	if o.ProviderRolloutUnknown == nil || o.ProviderRolloutUnknown.Reason != string(cloud.Denied) || len(o.Issues) == 0 ||
		o.Issues[0] != *o.ProviderRolloutUnknown {
		w.t.Errorf("want the refusal as an issue and as the reason why the updates are unknown, got %+v and %+v", o.ProviderRolloutUnknown,
			o.Issues)
	}
	w.server.Faults().Clear()
}

// TestHealth shows what EKS finds in EKS's words, and goes on managing the group.
func TestHealth(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		w.must(w.server.SetIssue(clusterName, e.name(), "InsufficientFreeAddresses", "no free addresses in the subnet"))
		time.Sleep(time.Minute)
		e.desired.Replicas = 2
		for range 20 {
			e.pass()
			time.Sleep(20 * time.Second)
		}
		e.check("instances of a degraded group that grows", 2, len(e.seen.Instances))
		if len(e.seen.Issues) != 1 || e.seen.Issues[0].Reason != "InsufficientFreeAddresses" ||
			!strings.Contains(e.seen.Issues[0].Message, "no free addresses in the subnet") {
			t.Errorf("want the issue in EKS's code and words, got %+v", e.seen.Issues)
		}
		w.must(w.server.ClearIssues(clusterName, e.name()))
		w.must(w.server.StickDeletion(clusterName, e.name(), "Ec2SecurityGroupDeletionFailure"))
		e.desired.Deleting = true
		for e.pass(); e.seen.Group.Failed == nil; e.pass() {
			time.Sleep(20 * time.Second)
		}
		if g := e.seen.Group; g.Failed.Reason != "Ec2SecurityGroupDeletionFailure" || g.Deleting || g.DeleteFailedAt.IsZero() {
			t.Errorf("want a deletion that has failed, with EKS's code, got %+v", g)
		}
		w.must(w.server.ClearIssues(clusterName, e.name()))
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone at last, got %+v", e.plan)
		}
	})
}

// TestCreationThatFails is shown, and made again when a user asks.
func TestCreationThatFails(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		w.must(w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity}))
		e := w.edge(withTemplate(), 1)
		for e.pass(); e.seen.Group == nil || e.seen.Group.Failed == nil; e.pass() {
			time.Sleep(20 * time.Second)
		}
		if f := e.seen.Group.Failed; f.Reason != "AsgInstanceLaunchFailures" || !strings.Contains(f.Message, "do not have sufficient") ||
			e.seen.Group.Busy != nil {
			t.Errorf("want a creation that has failed in EKS's code and words, got %+v", f)
		}
		time.Sleep(time.Minute)
		e.desired.Restart = &pool.Restart{Before: time.Now(), Cause: pool.Cause{Reason: "Restart", Message: "a user asked"}}
		e.pass()
		if e.plan.Step == nil || e.plan.Step.Kind != pool.DeleteGroup {
			t.Fatalf("want the group deleted to be made again, got %+v", e.plan)
		}
		w.server.Faults().Clear()
		e.run()
		e.inPlace(1)
	})
}

// TestOthersAreLeftAlone changes what another client has put on the node group in no way.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		labelled := spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.Labels = awsv1.NodeLabels{"ours": "1", "both": "1"}
			s.Taints = awsv1.Taints{{Key: "ours", Effect: awsv1.TaintEffectNoSchedule}}
			s.NodeRepairConfig = &awsv1.NodeRepairConfig{Enabled: new(true)}
		})(withTemplate())
		e := w.edge(labelled, 1)
		e.run()
		_, err := w.eks.UpdateNodegroupConfig(t.Context(), &eks.UpdateNodegroupConfigInput{
			ClusterName: new(clusterName), NodegroupName: new(e.name()),
			Labels: &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"theirs": "2"}},
			Taints: &ekstypes.UpdateTaintsPayload{AddOrUpdateTaints: []ekstypes.Taint{{Key: new("theirs"), Value: new("x"),
				Effect: ekstypes.TaintEffectNoExecute}}},
			NodeRepairConfig: &ekstypes.NodeRepairConfig{Enabled: new(true), MaxUnhealthyNodeThresholdCount: new(int32(3))},
		})
		w.must(err)
		time.Sleep(5 * time.Minute)
		e.check("steps after another owner's change", []pool.StepKind(nil), e.run())
		e.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.Labels, s.Taints = awsv1.NodeLabels{"both": "1"}, nil })(labelled)
		e.run()
		e.inPlace(1)
		e.check("labels", map[string]string{"both": "1", "theirs": "2"}, w.nodegroup(e.name()).Labels)
	})
}

// TestTagsReachInstances tags those too that were launched before the backing group had any.
func TestTagsReachInstances(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withoutTemplate(), 2)
		e.run()
		e.desired.Replicas = 3
		e.run()
		state := w.server.State(simaws.AccountID, simaws.Region)
		tagged := 0
		for _, i := range state.Instances {
			if i.Tags["team"] == "a" && i.Tags["muster.dev/owner"] == e.target.Owner.ID && i.Tags["muster.dev/managed-tags"] == "" {
				tagged++
			}
		}
		e.check("instances with the pool's tags, and without its bookkeeping", 3, tagged)
	})
}

// TestRoleIsMadeAndDeleted makes a role where that is allowed, and leaves what others do to it.
func TestRoleIsMadeAndDeleted(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(o *nodegroup.Options) { o.EnableIAM = true }, func(t *testing.T, w *world) {
		s := withTemplate()
		s.Pool.RoleName, s.Pool.RolePath = "", "/nodes/"
		e := w.edge(s, 1)
		e.check("steps of a pool without a role", []pool.StepKind{pool.PutTemplate, pool.EnsurePrerequisites, pool.CreateGroup, pool.UpdateGroup},
			e.run())
		e.inPlace(1)
		name := "east-" + e.name() + "_nodegroup-iam-service-role"
		role, err := w.iam.GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name})
		w.must(err)
		owner := slices.ContainsFunc(role.Role.Tags, func(t iamtypes.Tag) bool {
			return *t.Key == "muster.dev/owner" &&
				*t.Value == e.target.Owner.ID
		})
		if !owner || !strings.Contains(*role.Role.Arn, ":role/nodes/"+name) ||
			!strings.Contains(*role.Role.AssumeRolePolicyDocument, "ec2.amazonaws.com") {
			t.Errorf("want a role below the path, tagged as ours, for EC2, got %+v", role.Role)
		}
		worker, own := "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy", "arn:aws:iam::aws:policy/ReadOnlyAccess"
		_, err = w.iam.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: &worker})
		w.must(err)
		_, err = w.iam.AttachRolePolicy(t.Context(), &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: &own})
		w.must(err)
		time.Sleep(2 * time.Hour)
		e.pass()
		time.Sleep(time.Hour)
		steps := append([]pool.StepKind{}, e.run()...)
		if attached := w.attached(name); !slices.Contains(attached, worker) || !slices.Contains(attached, own) {
			t.Errorf("want what was detached attached again, and what another client has attached left, got %v after %v", attached, steps)
		}
		e.desired.Deleting = true
		for range 100 {
			e.pass()
			time.Sleep(20 * time.Second)
		}
		if e.plan.DeletionComplete || e.seen.Group != nil || !slices.Contains(w.attached(name), worker) {
			t.Errorf("want a role in use left as it is, and waited for, got %+v with %v", e.plan, w.attached(name))
		}
		_, err = w.iam.DetachRolePolicy(t.Context(), &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: &own})
		w.must(err)
		e.run()
		if !e.plan.DeletionComplete {
			t.Errorf("want the pool gone, got %+v", e.plan)
		}
		if _, err = w.iam.GetRole(t.Context(), &iam.GetRoleInput{RoleName: &name}); err == nil {
			t.Error("want the role deleted with the pool, got it")
		}
	})
}

// The tags of what is left tell which object it is for, when the node group has been given to another owner.
func TestWhatIsLeftTellsItsObject(t *testing.T) {
	t.Parallel()
	for what, s := range map[string]source{"role": withoutTemplate(), "launch template": withTemplate()} {
		inWorld(t, version, func(o *nodegroup.Options) { o.EnableIAM = what == "role" }, func(t *testing.T, w *world) {
			if what == "role" {
				s.Pool.RoleName = ""
			}
			e := w.edge(s, 1)
			e.run()
			_, err := w.eks.TagResource(t.Context(), &eks.TagResourceInput{ResourceArn: &e.seen.Group.ID,
				Tags: map[string]string{"muster.dev/owner": "another"}})
			w.must(err)
			time.Sleep(5 * time.Minute)
			if o := w.observe(e.target); o.OwnershipConflict == nil || o.TaggedFor != e.target.Owner.Key() {
				t.Errorf("want %s of the %s, got %q with %+v", e.target.Owner.Key(), what, o.TaggedFor, o.OwnershipConflict)
			}
		})
	}
}

func (w *world) attached(role string) []string {
	w.t.Helper()
	found, err := w.iam.ListAttachedRolePolicies(w.t.Context(), &iam.ListAttachedRolePoliciesInput{RoleName: &role})
	w.must(err)
	var list []string
	for _, p := range found.AttachedPolicies {
		list = append(list, *p.PolicyArn)
	}
	return list
}

// TestRoleOfOthers is used as it is.
func TestRoleOfOthers(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		inWorld(t, version, func(o *nodegroup.Options) { o.EnableIAM, o.AllowAddRoles = allowed, allowed }, func(t *testing.T, w *world) {
			before := w.attached(simaws.NodegroupRole)
			e := w.edge(spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.RoleAdditionalPolicies = []string{"arn:aws:iam::aws:policy/ReadOnlyAccess"}
			})(withTemplate()), 1)
			for range 30 {
				e.pass()
				time.Sleep(20 * time.Second)
			}
			if e.seen.Group == nil || e.seen.Wanted.Content == "" ||
				!slices.ContainsFunc(e.seen.Issues, func(i pool.Cause) bool { return i.Reason == "ForeignRole" }) {
				t.Errorf("with the gates at %t: want the group made, and it said that the policies are not attached, got %+v", allowed, e.seen)
			}
			e.desired.Deleting = true
			e.run()
			e.check("policies of a role that is not ours", before, w.attached(simaws.NodegroupRole))
		})
	}
}

// TestRefused are specifications that can't be followed, each with the field that is to be changed.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, field, words string
		version           string
		spec              func(*awsv1.AWSManagedMachinePoolSpec)
	}{
		{"no role, and none may be made", "spec.roleName", "EKSEnableIAM", version,
			func(s *awsv1.AWSManagedMachinePoolSpec) { s.RoleName = "nope" }},
		{"policies that may not be added", "spec.roleAdditionalPolicies", "EKSAllowAddRoles", version,
			func(s *awsv1.AWSManagedMachinePoolSpec) {
				s.RoleName, s.RoleAdditionalPolicies = "", []string{"arn:aws:iam::aws:policy/ReadOnlyAccess"}
			}},
		{"a version that the control plane does not run yet", "MachinePool spec.template.spec.version", "control plane", "v1.34.0", nil},
		{"a version that the control plane does not run any more", "MachinePool spec.template.spec.version", "control plane", "v1.32.0", nil},
		{"no version", "MachinePool spec.template.spec.version", "no Kubernetes version", "soon", nil},
		{"the minor version 0", "MachinePool spec.template.spec.version", "no Kubernetes version", "v1.0.0", nil},
		{"a release that EKS does not have", "spec.amiVersion", "", version,
			func(s *awsv1.AWSManagedMachinePoolSpec) { s.AMIVersion = new("1.33.0-19990101") }},
	} {
		inWorld(t, version, func(o *nodegroup.Options) { o.EnableIAM = c.field == "spec.roleAdditionalPolicies" }, func(t *testing.T, w *world) {
			s := withTemplate()
			if c.spec != nil {
				s = spec(c.spec)(s)
			}
			target := aTarget(s)
			target.KubernetesVersion = c.version
			o, err := w.driver.Observe(t.Context(), target)
			if err == nil {
				w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
				err = w.driver.Start(t.Context(), target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: w.observe(target).Latest().Ref})
			}
			var e *cloud.Error
			if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != c.field || !strings.Contains(e.Error(), c.words) {
				t.Errorf("%s: want an error about %s with %q, got %v", c.why, c.field, c.words, err)
			}
		})
	}
}

// TestNoWayBack refuses to take a group back, and leaves it as it is.
func TestNoWayBack(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		e.target.KubernetesVersion = "v1.32.0"
		o := w.observe(e.target)
		if o.Wanted.Content != "" || len(o.Issues) != 1 || !strings.Contains(o.Issues[0].Message, "back to 1.32") {
			t.Errorf("want nothing wanted and the reason told, got %+v, %+v", o.Wanted, o.Issues)
		}
		e.target.KubernetesVersion = "v1.34.0"
		o = w.observe(e.target)
		if len(o.Issues) != 1 || o.Issues[0].Reason != "ControlPlaneUpgradePending" || !o.Instances[0].Template.Same(o.Wanted) {
			t.Errorf("want nothing stale and the control plane waited for, got %+v, %+v", o.Wanted, o.Issues)
		}
	})
}

// TestBounds holds with one of them alone, and with none.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why      string
		scaling  *awsv1.ManagedMachinePoolScaling
		low, top int
	}{
		{"none", nil, 0, 3},
		{"the smallest alone", &awsv1.ManagedMachinePoolScaling{MinSize: new(int32(1))}, 1, 3},
		{"the largest alone", &awsv1.ManagedMachinePoolScaling{MaxSize: new(int32(7))}, 0, 7},
	} {
		inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
			e := w.edge(spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.Scaling = c.scaling })(withTemplate()), 2)
			e.run()
			e.desired.Replicas = 3
			e.run()
			e.inPlace(3)
			n := w.nodegroup(e.name())
			e.check(c.why+": the bounds", [2]int{c.low, c.top}, [2]int{n.Min, n.Max})
		})
	}
}

// TestRelease is sent with the creation, so that no update has to follow, and brought in by an update.
func TestRelease(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		newest := w.nodegroup(e.name()).Release
		older := spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
			s.EKSNodegroupName = "other"
			s.AMIVersion = new(earlier(t, newest))
		})(withTemplate())
		other := w.edge(older, 1)
		other.target.Owner = cloud.Owner{ID: "other-owner", Cluster: "c", Namespace: "default", Name: "other"}
		other.run()
		other.inPlace(1)
		e.check("the release that was asked for", *older.Pool.AMIVersion, w.nodegroup("other").Release)
		other.target.Spec = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AMIVersion = &newest })(older)
		e.check("steps of another release", []pool.StepKind{pool.StartProviderRollout}, other.run())
		e.check("the release afterwards", newest, w.nodegroup("other").Release)
	})
}

// earlier is the release of the month before.
func earlier(t *testing.T, release string) string {
	t.Helper()
	var minor, patch int
	var built string
	if _, err := fmt.Sscanf(release, "1.%d.%d-%s", &minor, &patch, &built); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse("20060102", built)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("1.%d.%d-%s", minor, patch-1, at.AddDate(0, -1, 0).Format("20060102"))
}

// A refusal to list updates holds until they were listed: that EKS does not answer the next time tells nothing about them.
func TestUpdatesStayUnknownUntilTheyAreListed(t *testing.T) {
	t.Parallel()
	inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
		e := w.edge(withTemplate(), 1)
		e.run()
		restarted, err := newDriver(w.over)
		w.must(err)
		w.driver = restarted
		list := sim.Fault{Kind: sim.ErrorBefore, Service: "eks", Action: "ListUpdates"}
		denied, unanswered := list, list
		denied.Code, denied.Message, denied.Status = "AccessDeniedException", "not authorized", http.StatusForbidden
		w.must(w.server.Faults().Add(denied))
		if o := w.observe(e.target); o.ProviderRolloutUnknown == nil {
			t.Fatal("want the updates unknown while EKS refuses to list them")
		}
		w.server.Faults().Clear()
		w.must(w.server.Faults().Add(unanswered))
		time.Sleep(time.Minute)
		if o, err := w.driver.Observe(t.Context(), e.target); err == nil && o.ProviderRolloutUnknown == nil {
			t.Fatal("want the updates unknown while EKS fails to list them")
		}
		if o, err := w.driver.Observe(t.Context(), e.target); err == nil && o.ProviderRolloutUnknown == nil {
			t.Error("want the updates unknown until they were listed, got none that runs")
		}
		w.server.Faults().Clear()
		time.Sleep(time.Minute)
		if o := w.observe(e.target); o.ProviderRolloutUnknown != nil {
			t.Errorf("want the updates known once they were listed, got %+v", o.ProviderRolloutUnknown)
		}
	})
}

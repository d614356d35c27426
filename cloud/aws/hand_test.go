package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

func TestWhatOthersPutOnTheGroupStays(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(with(aTarget(), reshape), 2)
		name := target.Owner.ResourceName()
		w.meddle(name)
		plain := aTarget()
		plain.Spec.Pool.AdditionalTags = nil
		for range 4 {
			if o := w.observe(plain); len(o.Group.Drift) > 0 {
				w.start(plain, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
			}
		}
		if o := w.observe(plain); o.Group.Drift != nil {
			t.Errorf("want no drift any more, got %v", o.Group.Drift)
		}
		want := leftovers{tags: []string{"muster.dev/managed-hooks", "theirs"}, hooks: []string{"muster-drain", "theirs"},
			suspended: []string{"AlarmNotification"}}
		if diff := cmp.Diff(want, w.leftovers(name), cmp.AllowUnexported(leftovers{})); diff != "" {
			t.Errorf("what is left on the group beside its fixed tags (-want +got):\n%s", diff)
		}
	})
}

// A hook that was put a moment ago, and that the specification does not have any more, is removed although reads show neither it nor its
// mark when the other hooks are updated.
func TestAHookThatReadsDoNotShowYetIsRemoved(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 1)
		time.Sleep(time.Minute)
		hook := func(name string) aws.Target {
			return with(target, func(s *awsv1.AWSMachinePoolSpec) {
				s.AWSLifecycleHooks = []awsv1.AWSLifecycleHook{{Name: name, LifecycleTransition: awsv1.LifecycleTransitionInstanceTerminating}}
			})
		}
		step := pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.lifecycleHooks"}}
		w.observe(hook("hello"))
		w.start(hook("hello"), step)
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "Describe*", Delay: sim.Duration(5 * time.Second),
			Times: 4}); err != nil {
			t.Fatal(err)
		}
		w.start(hook("bye"), step)
		for range 4 {
			time.Sleep(15 * time.Second)
			if o := w.observe(hook("bye")); len(o.Group.Drift) > 0 {
				w.start(hook("bye"), pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
			}
		}
		if got := w.leftovers(target.Owner.ResourceName()).hooks; !slices.Equal(got, []string{"bye", "muster-drain"}) {
			t.Errorf("want the hooks bye and muster-drain, got %q", got)
		}
	})
}

// A tag that was put a moment ago, and that the specification does not have any more, is removed although reads show neither it nor its
// mark when the other tags are updated.
func TestATagThatReadsDoNotShowYetIsRemoved(t *testing.T) {
	for name, last := range map[string]awsv1.Tags{"others are left": {"team": "b"}, "none is left": nil} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				target, _ := w.create(aTarget(), 1)
				time.Sleep(time.Minute)
				tagged := func(tags awsv1.Tags) aws.Target {
					return with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AdditionalTags = tags })
				}
				step := pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.additionalTags"}}
				more := tagged(awsv1.Tags{"team": "a", "stage": "test"})
				w.observe(more)
				w.start(more, step)
				if err := w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "Describe*", Delay: sim.Duration(5 * time.Second),
					Times: 4}); err != nil {
					t.Fatal(err)
				}
				w.start(tagged(last), step)
				for range 4 {
					time.Sleep(15 * time.Second)
					if o := w.observe(tagged(last)); len(o.Group.Drift) > 0 {
						w.start(tagged(last), pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
					}
				}
				if got := w.leftovers(target.Owner.ResourceName()).tags; slices.Contains(got, "stage") || last == nil &&
					slices.Contains(got, "muster.dev/managed-tags") {
					t.Errorf("want no tag and no mark that the specification does not have, got %q", got)
				}
			})
		})
	}
}

// A notification that others add to a hook of the specification is removed with one write: the service keeps the one that it has unless
// it is sent an empty one. One on the hook by which nodes are drained stays, with the role, which can't be removed.
func TestNotificationsThatOthersAddToHooks(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(with(aTarget(), reshape), 1)
		target.Spec.Pool.AWSLifecycleHooks[0].NotificationTargetARN, target.Spec.Pool.AWSLifecycleHooks[0].RoleARN = nil, nil
		name := target.Owner.ResourceName()
		if o := w.observe(target); o.Group.Drift != nil {
			w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		}
		for _, hook := range []string{target.Spec.Pool.AWSLifecycleHooks[0].Name, "muster-drain"} {
			_, err := w.byHand.PutLifecycleHook(t.Context(), &autoscaling.PutLifecycleHookInput{
				AutoScalingGroupName: &name, LifecycleHookName: &hook, LifecycleTransition: awssdk.String("autoscaling:EC2_INSTANCE_TERMINATING"),
				NotificationTargetARN: awssdk.String("arn:aws:sqs:eu-west-1:123456789012:queue"),
				RoleARN:               awssdk.String("arn:aws:iam::123456789012:role/notifier"),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		settle()
		o := w.observe(target)
		if !slices.Equal(o.Group.Drift, []string{"spec.lifecycleHooks"}) {
			t.Fatalf("want the hook of the specification named, got %v", o.Group.Drift)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		if o := w.observe(target); o.Group.Drift != nil {
			t.Errorf("want no drift after one write, got %v", o.Group.Drift)
		}
		hooks, err := w.byHand.DescribeLifecycleHooks(t.Context(), &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &name})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hooks.LifecycleHooks {
			if kept := awssdk.ToString(h.NotificationTargetARN) != ""; kept != (*h.LifecycleHookName == "muster-drain") {
				t.Errorf("hook %s: got the target %q", *h.LifecycleHookName, awssdk.ToString(h.NotificationTargetARN))
			}
		}
	})
}

// Where the credentials do not allow to list lifecycle hooks the pool is observed as ever. Hooks are neither put nor taken away on a
// guess, other drift is repaired, and what the group's own hook holds is seen as held, so that its node is drained.
func TestHooksThatMayNotBeListed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 2)
		id := o.Instances[0].ID
		if has, err := w.server.Capabilities().OutOfBand.Do(sim.MarkUnhealthy, sim.Resource{Instance: id}); !has || err != nil {
			t.Fatalf("want it marked, got %t, %v", has, err)
		}
		time.Sleep(time.Minute)
		w.driver = w.newDriver()
		if err := w.server.Faults().Add(sim.Fault{
			Kind: sim.ErrorBefore, Action: "DescribeLifecycleHooks", Code: "AccessDenied", Message: "not authorized", Status: 403,
		}); err != nil {
			t.Fatal(err)
		}
		changed := with(target, func(s *awsv1.AWSMachinePoolSpec) {
			s.DefaultCoolDown = &metav1.Duration{Duration: 7 * time.Minute}
			s.AWSLifecycleHooks = append(s.AWSLifecycleHooks, awsv1.AWSLifecycleHook{Name: "more",
				LifecycleTransition: awsv1.LifecycleTransitionInstanceTerminating})
		})
		o = w.observe(changed)
		if len(o.Issues) != 1 || o.Issues[0].Reason != string(cloud.Denied) || !strings.Contains(o.Issues[0].Message, "AccessDenied") {
			t.Errorf("want the refusal reported, got %v", o.Issues)
		}
		for _, i := range o.Instances {
			if (i.ID == id) != (i.LifecycleHook != nil) {
				t.Errorf("want %s alone held, got %+v", id, i)
			}
		}
		if want := []string{"spec.defaultCoolDown"}; !slices.Equal(o.Group.Drift, want) {
			t.Errorf("want %v to repair, got %v", want, o.Group.Drift)
		}
		sent := w.operations(func() { w.start(changed, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift}) })
		if !slices.Contains(sent, "UpdateAutoScalingGroup") {
			t.Errorf("want other drift repaired, got %v", sent)
		}
		sent = w.operations(func() {
			err := w.driver.Start(t.Context(), changed, pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.lifecycleHooks"}})
			if err == nil || cloud.KindOf(err) != cloud.Denied {
				t.Errorf("want hooks left alone that may not be listed, got %v", err)
			}
		})
		if slices.Contains(sent, "PutLifecycleHook") || slices.Contains(sent, "DeleteLifecycleHook") {
			t.Errorf("want no hook put or deleted, got %v", sent)
		}
		w.server.Faults().Clear()
		time.Sleep(time.Minute)
		if o = w.observe(changed); len(o.Issues) > 0 || !slices.Contains(o.Group.Drift, "spec.lifecycleHooks") {
			t.Errorf("want the missing hook seen again, got %v, issues %v", o.Group.Drift, o.Issues)
		}
	})
}

// meddle puts a hook, a tag and a suspension on the group, as other tools do.
func (w *world) meddle(group string) {
	w.t.Helper()
	_, err := w.byHand.PutLifecycleHook(w.t.Context(), &autoscaling.PutLifecycleHookInput{
		AutoScalingGroupName: &group, LifecycleHookName: awssdk.String("theirs"),
		LifecycleTransition: awssdk.String("autoscaling:EC2_INSTANCE_TERMINATING"),
	})
	if err == nil {
		_, err = w.byHand.SuspendProcesses(w.t.Context(), &autoscaling.SuspendProcessesInput{AutoScalingGroupName: &group,
			ScalingProcesses: []string{"AlarmNotification"}})
	}
	if err == nil {
		_, err = w.byHand.CreateOrUpdateTags(w.t.Context(), &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{{
			ResourceId: &group, ResourceType: awssdk.String("auto-scaling-group"), Key: awssdk.String("theirs"), Value: awssdk.String("x"),
			PropagateAtLaunch: awssdk.Bool(false),
		}}})
	}
	if err != nil {
		w.t.Fatalf("meddle with group %s: %v", group, err)
	}
	settle()
}

// leftovers returns the tags of a group besides its fixed ones.
type leftovers struct{ tags, hooks, suspended []string }

func (w *world) leftovers(group string) leftovers {
	w.t.Helper()
	found, err := w.byHand.DescribeAutoScalingGroups(w.t.Context(),
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}})
	if err != nil || len(found.AutoScalingGroups) != 1 {
		w.t.Fatalf("describe group %s: %v", group, err)
	}
	hooks, err := w.byHand.DescribeLifecycleHooks(w.t.Context(), &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &group})
	if err != nil {
		w.t.Fatal(err)
	}
	fixed := []string{"Name", "muster.dev/owner", "muster.dev/cluster", "muster.dev/namespace", "muster.dev/pool"}
	var left leftovers
	for _, tag := range found.AutoScalingGroups[0].Tags {
		if key := *tag.Key; !slices.Contains(fixed, key) && !strings.Contains(key, "k8s.io/") && !strings.HasPrefix(key, "kubernetes.io/") {
			left.tags = append(left.tags, key)
		}
	}
	for _, process := range found.AutoScalingGroups[0].SuspendedProcesses {
		left.suspended = append(left.suspended, *process.ProcessName)
	}
	for _, hook := range hooks.LifecycleHooks {
		left.hooks = append(left.hooks, *hook.LifecycleHookName)
	}
	return left
}

func TestTemplateDeletedByHand(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 1)
		id, _, _ := strings.Cut(o.Latest().Ref, ":")
		if _, err := w.ec2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		o = w.observe(target)
		if len(o.Versions) != 0 || o.Group == nil {
			t.Fatalf("want the group without versions, got %+v", o)
		}
		if got := w.operations(func() { w.observe(target) }); !slices.Equal(got, []string{"DescribeAutoScalingGroups"}) {
			t.Errorf("want versions that are known to be gone not to be asked for in every pass, got %v", got)
		}
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		o = w.observe(target)
		if newID, _, _ := strings.Cut(o.Latest().Ref, ":"); newID == id || newID == "" {
			t.Fatalf("want another template in its place, got %q after %q", newID, id)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
		if o = w.observe(target); o.Group.Template != o.Latest().Ref {
			t.Errorf("want the group to launch from %s, got %s", o.Latest().Ref, o.Group.Template)
		}
	})
}

func TestGroupThatFollowsAnAlias(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 1)
		id, _, _ := strings.Cut(o.Latest().Ref, ":")
		_, err := w.byHand.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{
			AutoScalingGroupName: awssdk.String(target.Owner.ResourceName()),
			LaunchTemplate:       &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: awssdk.String("$Latest")},
		})
		if err != nil {
			t.Fatal(err)
		}
		o = w.observe(target)
		if want := id + ":$Latest"; o.Group.Template != want {
			t.Errorf("want the alias shown as %s, which is no version, got %s", want, o.Group.Template)
		}
		w.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
		if o = w.observe(target); o.Group.Template != o.Latest().Ref {
			t.Errorf("want the group put back to %s, got %s", o.Latest().Ref, o.Group.Template)
		}
	})
}

// stealName deletes the pool's template and makes one of others under its name.
func (w *world) stealName(o pool.Observed, name string) {
	w.t.Helper()
	id, _, _ := strings.Cut(o.Latest().Ref, ":")
	_, err := w.ec2.DeleteLaunchTemplate(w.t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id})
	if err == nil {
		_, err = w.ec2.CreateLaunchTemplate(w.t.Context(), foreignTemplate(name, "ami-0123456789abcdef0"))
	}
	if err != nil {
		w.t.Fatalf("steal the name %s: %v", name, err)
	}
	settle()
}

func TestForeignTemplate(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 1)
		w.stealName(o, target.Owner.ResourceName())
		o = w.observe(target)
		if o.OwnershipConflict != nil || o.Group == nil || len(o.Versions) != 0 || len(o.Issues) == 0 || o.Issues[0].Reason != "ForeignTemplate" {
			t.Fatalf("want our group, none of the foreign versions, and an issue, got %+v", o)
		}
		for _, s := range []pool.Step{{Kind: pool.PutTemplate}, {Kind: pool.DeleteTemplates}} {
			if err := w.driver.Start(t.Context(), target, s); err == nil || cloud.KindOf(err) != cloud.Conflict {
				t.Errorf("%s: want the foreign template left alone, got %v", s.Kind, err)
			}
		}
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		if o = w.observe(target); o.Group != nil || o.OwnershipConflict == nil || o.OwnershipConflict.Reason != "ForeignTemplate" {
			t.Errorf("want the foreign template alone to be left, got %+v", o)
		}
	})
}

func TestVersionDeletedByHand(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 0)
		for n := range 2 {
			target.Bootstrap = cloud.NewBootstrap(fmt.Appendf(nil, "#cloud-config\n# %d\n", n), "cloud-config")
			w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
			o = w.observe(target)
			w.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
			w.start(target, pool.Step{Kind: pool.Resize, Size: n + 1})
			settle()
			o = w.observe(target)
		}
		id, second, _ := strings.Cut(o.Versions[1].Ref, ":")
		if _, err := w.ec2.DeleteLaunchTemplateVersions(t.Context(),
			&ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{second}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(session.TracedPeriod)
		if o = w.observe(target); len(o.Versions) != 2 || len(o.Instances) != 2 {
			t.Fatalf("want two versions and two instances left, got %+v", o)
		}
		unknown := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return i.Template == pool.Template{Ref: id + ":" + second} })
		if unknown < 0 {
			t.Errorf("want an instance of unknown content from %s:%s, got %+v", id, second, o.Instances)
		}
		if got := w.operations(func() { w.observe(target) }); !slices.Equal(got, []string{"DescribeAutoScalingGroups"}) {
			t.Errorf("want a version that is known to be gone not to be asked for in every pass, got %v", got)
		}
	})
}

func TestAFailedLookUpForgetsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 1)
		broken := with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" })
		found := w.observe(broken).ResolvedLookups
		for key, want := range o.ResolvedLookups {
			if found[key] != want {
				t.Errorf("want %s remembered as %q while another look-up fails, got %q", key, want, found[key])
			}
		}
	})
}

func TestDeletionGoesOnWithoutTheCluster(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 1)
		target.Spec = &awsv1.MachinePoolSource{Pool: target.Spec.Pool, Cluster: awsv1.ClusterView{Region: simaws.Region}}
		if o := w.observe(target); o.Group == nil || o.Wanted.Content != "" && len(o.Issues) == 0 {
			t.Errorf("want the group seen and the missing network among the issues, got %+v", o)
		}
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		if o := w.observe(target); o.Group != nil || len(o.Versions) == 0 {
			t.Errorf("want the template seen once the group is gone, got %+v", o)
		}
		w.start(target, pool.Step{Kind: pool.DeleteTemplates})
		o, err := w.driver.Observe(t.Context(), target)
		if cloud.KindOf(err) != cloud.Invalid || o.Group != nil || len(o.Versions) != 0 {
			t.Errorf("want nothing left beside the error on the specification, got %+v, %v", o, err)
		}
	})
}

// The tags of the launch template tell which object what is left is for, when another client has deleted the group.
func TestWhatIsLeftTellsItsObject(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 1)
		if o.TaggedFor != target.Owner.Key() {
			t.Errorf("want %s of the group, got %q", target.Owner.Key(), o.TaggedFor)
		}
		if has, err := w.server.Capabilities().OutOfBand.Do(sim.DeleteGroup, sim.Resource{Name: target.Owner.ResourceName()}); !has ||
			err != nil {
			t.Fatal(has, err)
		}
		time.Sleep(5 * time.Minute)
		if o = w.observe(target); o.Group != nil || o.TaggedFor != target.Owner.Key() {
			t.Errorf("want %s of the launch template, got %q, group %+v", target.Owner.Key(), o.TaggedFor, o.Group)
		}
	})
}

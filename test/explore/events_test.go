package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
)

// happen lets one event happen. Whoever watches the object is told about edits at once.
func (r *run) happen(e event) {
	r.trace.add("event", "%s", e)
	if edit, ok := edits[e.what]; ok {
		edit(r, e)
		r.poked = true
		return
	}
	if do, ok := others[e.what]; ok {
		do(r, e)
		return
	}
	if err := r.byHand(e); err != nil {
		r.trace.add("hand", "failed")
	}
}

// edits are changes of the object, or of what the pass works from.
var edits = map[string]func(*run, event){
	evReplicas: func(r *run, e event) {
		if r.object.replicas = e.n; e.m > 0 {
			r.object.within()
		}
	},
	evBounds:    func(r *run, e event) { r.object.editBounds(e.n, e.m) },
	evTemplate:  func(r *run, e event) { r.object.editTemplate(e.n) },
	evGroup:     func(r *run, e event) { r.object.editGroup(e.n, e.m) },
	evToken:     func(r *run, _ event) { r.rotate() },
	evBootstrap: func(r *run, _ event) { r.rotate() },
	evExternal:  func(r *run, _ event) { r.object.external = !r.object.external },
	evDelete:    func(r *run, _ event) { r.object.deleting = true },
	evMark:      func(r *run, e event) { r.workload.mark(e.n) },
	evNudge:     func(*run, event) {},
}

// others are events that nobody is told about.
var others = map[string]func(*run, event){
	evFault: func(r *run, e event) {
		if err := r.account.server.Faults().Add(e.fault); err != nil {
			r.t.Fatal(err)
		}
	},
	evCalm:     func(r *run, _ event) { r.account.calm() },
	evRestart:  func(r *run, _ event) { r.restart() },
	evCrash:    func(r *run, e event) { r.account.crashAt, r.account.crashBefore = 1+e.n%4, e.m%2 == 0 },
	evAway:     func(r *run, e event) { r.workload.until(&r.workload.away, time.Duration(5+20*e.n)*time.Second) },
	evBlock:    func(r *run, e event) { r.workload.until(&r.workload.blocked, time.Duration(10+30*e.n)*time.Second) },
	evNotReady: func(r *run, e event) { r.workload.until(&r.workload.unready, time.Duration(10+30*e.n)*time.Second) },
	evForeign:  func(r *run, e event) { r.foreign(e.n) },
	evDropForeign: func(r *run, _ event) {
		r.own()
		r.dropForeign()
	},
}

// byHand changes something in the cloud behind the engine's back.
func (r *run) byHand(e event) error {
	name := r.object.owner.ResourceName()
	g := r.account.find(name)
	if e.what == evOwn {
		r.own()
		return nil
	}
	if g == nil || g.Tags[tagOwner] != r.object.owner.ID {
		return nil
	}
	var living []string
	for _, m := range g.Members {
		living = append(living, m.Instance)
	}
	slices.Sort(living)
	switch e.what {
	case evTerminate, evFail:
		if len(living) == 0 {
			return nil
		}
		do := r.account.server.Terminate
		if e.what == evFail {
			do = r.account.server.Fail
		}
		return do(living[e.n%len(living)])
	case evResize:
		return r.resize(g, e.n)
	case evAutoscaler:
		if !r.object.external {
			return nil
		}
		return r.resize(g, e.n)
	case evDropTmpl:
		return r.account.server.DropTemplate(name)
	default:
		return r.account.hand(func(ctx context.Context) error { return r.meddle(ctx, name, e) })
	}
}

// resize sets the group's size within its bounds, as the autoscaler and people do.
func (r *run) resize(g *simaws.Group, n int) error {
	size := int32(min(max(n, g.Min), g.Max))
	return r.account.hand(func(ctx context.Context) error {
		_, err := r.account.byHand.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &size})
		return err
	})
}

// meddle is a change by hand that takes a call.
func (r *run) meddle(ctx context.Context, name string, e event) error {
	c := r.account.byHand
	tag := func(key, value string) error {
		_, err := c.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: []asgtypes.Tag{{
			ResourceId: &name, ResourceType: awssdk.String("auto-scaling-group"), Key: &key, Value: &value, PropagateAtLaunch: awssdk.Bool(true),
		}}})
		return err
	}
	var err error
	switch e.what {
	case evTags:
		key := []string{"team", "stage", "muster.dev/cluster"}[e.n%3]
		if g := r.account.find(name); g == nil || g.Tags[key] == "" {
			key = "theirs" // what others put there stays there, whatever its name
		}
		err = tag(key, "changed by hand")
	case evDisown:
		r.account.disowned = time.Now()
		err = tag(tagOwner, thief)
	case evOwn:
		err = tag(tagOwner, r.object.owner.ID)
	case evDropGroup:
		_, err = c.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name, ForceDelete: awssdk.Bool(true)})
	case evBoundsHand:
		least := int32(e.n % 3)
		most := least + 1 + int32(e.m)
		_, err = c.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &name, MinSize: &least, MaxSize: &most})
	}
	return err
}

// thief is who has the groups that were taken from us.
const thief = "somebody-else"

// own gives the group back that was taken from us.
func (r *run) own() {
	name := r.object.owner.ResourceName()
	if g := r.account.find(name); g != nil && g.Tags[tagOwner] == thief {
		_ = r.account.hand(func(ctx context.Context) error { return r.meddle(ctx, name, event{what: evOwn}) })
	}
}

// The names of what other people have in the account.
const theirTemplate, theirGroup = "by-hand", "by-hand"

// foreign makes a template and a group of somebody else: beside ours, under our name before we have one, or both.
func (r *run) foreign(n int) {
	names := [][]string{{theirGroup}, {r.object.owner.ResourceName()}, {theirGroup, r.object.owner.ResourceName()}}[n]
	err := r.account.hand(func(ctx context.Context) error {
		_, err := r.account.byHandEC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: awssdk.String(theirTemplate),
			LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: simaws.InstanceType, ImageId: awssdk.String(r.image())},
		})
		return err
	})
	for _, name := range names {
		if err == nil {
			err = r.account.hand(func(ctx context.Context) error { return r.theirs(ctx, name) })
		}
	}
	if err != nil {
		r.trace.add("hand", "failed: %v", err)
	}
}

func (r *run) theirs(ctx context.Context, name string) error {
	_, err := r.account.byHand.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredCapacity: awssdk.Int32(1),
		VPCZoneIdentifier: awssdk.String(simaws.SubnetID),
		LaunchTemplate:    &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: awssdk.String(theirTemplate), Version: awssdk.String("$Latest")},
	})
	return err
}

// image is one that exists.
func (r *run) image() string {
	var id string
	_ = r.account.hand(func(ctx context.Context) error {
		found, err := r.account.byHandEC2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{
			{Name: awssdk.String("name"), Values: []string{"capa-ami-ubuntu-24.04-v1.25.0-*"}},
			{Name: awssdk.String("architecture"), Values: []string{"x86_64"}},
		}})
		if err == nil && len(found.Images) == 0 {
			err = fmt.Errorf("there is no image")
		}
		if err == nil {
			id = *found.Images[0].ImageId
		}
		return err
	})
	return id
}

// dropForeign takes away the group of somebody else that has our name.
func (r *run) dropForeign() {
	name := r.object.owner.ResourceName()
	if g := r.account.find(name); g == nil || g.Tags[tagOwner] == r.object.owner.ID {
		return
	}
	_ = r.account.hand(func(ctx context.Context) error {
		_, err := r.account.byHand.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name, ForceDelete: awssdk.Bool(true)})
		return err
	})
}

package aws

import (
	"fmt"
	"maps"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/shapes"
	autoscalingshapes "github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

const (
	// byHandTemplate is what groups that are made by hand launch from, at byHandSize at most.
	byHandTemplate = "by-hand"
	byHandSize     = 1
	// biggerType is what versions that are made by hand ask for.
	biggerType = "m5.large"
)

// Capabilities describes AWS for callers that do not know which cloud it is. Its actions reach the default account at home.
func (s *Server) Capabilities() sim.Capabilities {
	by := func(do func(*region, sim.Resource) error) func(sim.Resource) error {
		return func(on sim.Resource) error { return s.home(func(r *region) error { return do(r, on) }) }
	}
	return sim.Capabilities{
		OutOfBand: sim.OutOfBandActions{
			sim.CreateGroup: func(on sim.Resource) error {
				// Another tool makes its template beside the group.
				if err := by(makeTemplate)(sim.Resource{Name: byHandTemplate}); err != nil {
					return err
				}
				return by(makeGroup)(on)
			},
			sim.CreateTemplate: by(makeTemplate), sim.DeleteGroup: by(dropGroup),
			sim.DeleteTemplate: func(on sim.Resource) error { return s.DropTemplate(on.Name) },
			sim.CreateVersion:  by(makeVersion), sim.DeleteVersion: by(dropVersion), sim.LaunchFrom: by(switchVersion),
			sim.SetSize: by(setSize), sim.SetBounds: by(setBounds), sim.RemoveTag: by(untag), sim.ChangeTag: by(retag),
			sim.ResumeProcesses: by(resume), sim.RemoveHooks: by(unhook),
			sim.TerminateInstance:    func(on sim.Resource) error { return s.Terminate(on.Instance) },
			sim.InterruptInstance:    func(on sim.Resource) error { return s.Interrupt(on.Instance) },
			sim.RecommendReplacement: func(on sim.Resource) error { return s.Recommend(on.Instance) },
			sim.MoveToStandby:        by(putAside), sim.MarkUnhealthy: by(sicken), sim.RebalanceZones: by(evenOut),
			sim.StartRollout: by(beginRefresh), sim.CancelRollout: by(endRefreshByHand), sim.FailRollout: by(failRefreshByHand),
			sim.FailInstance: func(on sim.Resource) error { return s.Fail(on.Instance) },
			sim.StopInstance: nil, sim.RecreateInstance: nil, sim.DetachInstance: nil,
			sim.Autoscale: nil, sim.UpgradeGroup: nil, sim.StopGroup: nil, sim.StartGroup: nil,
		},
		Snapshot: (&snapshots{s, map[versionKey]string{}}).take,
		Denied: sim.Fault{Code: "AccessDenied", Message: "User: arn:aws:iam::" + AccountID + ":user/muster is not authorized to do this",
			Status: 403},
		Groups:     sim.GroupBehavior{RecreatesInstances: true, RecordsRollouts: true},
		NoCapacity: "We currently do not have sufficient",
		Ignorable:  Ignorable(),
	}
}

// NodeGroupBehavior is how EKS's node groups behave. The Auto Scaling group behind one exists only once EKS has created it, and takes what
// node groups have no setting for.
func NodeGroupBehavior() sim.GroupBehavior {
	return sim.GroupBehavior{BusyAfterChange: true, CompletedLater: true, RecreatesInstances: true, RecordsRollouts: true, Bootstraps: true}
}

// only returns the error of an operation and drops its answer.
func only[T any](_ T, err error) error { return err }

// makeTemplate makes a launch template as another tool would, from the newest image for nodes.
func makeTemplate(r *region, on sim.Resource) error {
	image, err := newestImage()
	if err != nil {
		return err
	}
	return only(r.EC2.Templates.CreateLaunchTemplate(&ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &on.Name, LaunchTemplateData: &ec2.RequestLaunchTemplateData{InstanceType: InstanceType, ImageId: &image},
	}))
}

// newestImage is one that machines of the default type can be launched from.
func newestImage() (string, error) {
	var newest *catalogue.Image
	for _, i := range catalogue.Of(Region).Images {
		if i.Architecture == catalogue.Architectures[0] && i.KubeletVersion != "" && (newest == nil || i.Created.After(newest.Created)) {
			newest = i
		}
	}
	if newest == nil {
		return "", fmt.Errorf("no image for nodes is published in %s", Region)
	}
	return newest.ID, nil
}

// makeGroup makes a group as another tool would, from the template beside it.
func makeGroup(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Groups.CreateGroup(&autoscalingshapes.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &on.Name, MinSize: new(int32(0)), MaxSize: new(int32(byHandSize)), VPCZoneIdentifier: new(SubnetID),
		LaunchTemplate: &autoscalingshapes.LaunchTemplateSpecification{LaunchTemplateName: new(byHandTemplate), Version: new("$Latest")},
	}))
}

func dropGroup(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Groups.DeleteGroup(&autoscalingshapes.DeleteAutoScalingGroupInput{AutoScalingGroupName: &on.Name,
		ForceDelete: new(true)}))
}

func makeVersion(r *region, on sim.Resource) error {
	return only(r.EC2.Templates.CreateLaunchTemplateVersion(&ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateName: &on.Name, SourceVersion: new("$Latest"), VersionDescription: new("a bigger one"),
		LaunchTemplateData: &ec2.RequestLaunchTemplateData{InstanceType: biggerType},
	}))
}

func dropVersion(r *region, on sim.Resource) error {
	t := r.EC2.Templates.TemplateNamed(on.Name)
	if t == nil {
		return fmt.Errorf("launch template %s does not exist", on.Name)
	}
	n, err := r.EC2.Templates.VersionAt(t.ID, on.Version)
	if err != nil {
		return err
	}
	done, err := r.EC2.Templates.DeleteLaunchTemplateVersions(&ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &t.ID,
		Versions: []string{n}})
	if err != nil {
		return err
	}
	if failed := done.UnsuccessfullyDeletedLaunchTemplateVersions; len(failed) > 0 {
		return fmt.Errorf("version %s of launch template %s is still there: %s", n, t.ID, shapes.Str(failed[0].ResponseError.Message))
	}
	return nil
}

func switchVersion(r *region, on sim.Resource) error {
	g, err := r.AutoScaling.Groups.FindGroup(&on.Name)
	if err != nil {
		return err
	}
	id := autoscaling.TemplateSpec(&g.Spec).LaunchTemplateId
	n, err := r.EC2.Templates.VersionAt(shapes.Str(id), on.Version)
	if err != nil {
		return err
	}
	if rf := r.AutoScaling.Refreshes.Refreshing(g); rf != nil && rf.DesiredConfiguration != nil {
		// The service rejects the change.
		return nil
	}
	_, err = r.AutoScaling.Groups.UpdateGroup(&autoscalingshapes.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: &on.Name, LaunchTemplate: &autoscalingshapes.LaunchTemplateSpecification{LaunchTemplateId: id, Version: &n},
	})
	return err
}

func setSize(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Groups.SetDesiredCapacity(&autoscalingshapes.SetDesiredCapacityInput{AutoScalingGroupName: &on.Name,
		DesiredCapacity: new(int32(on.Size))}))
}

func setBounds(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Groups.UpdateGroup(&autoscalingshapes.UpdateAutoScalingGroupInput{AutoScalingGroupName: &on.Name,
		MaxSize: new(int32(on.Size))}))
}

// untag removes a tag, and returns an error if there is none.
func untag(r *region, on sim.Resource) error {
	g, err := r.AutoScaling.Groups.FindGroup(&on.Name)
	if err != nil {
		return err
	}
	if _, ok := g.Tags[on.Key]; !ok {
		return fmt.Errorf("group %s has no tag %s", on.Name, on.Key)
	}
	_, err = r.AutoScaling.Groups.DeleteGroupTags(&autoscalingshapes.DeleteTagsInput{Tags: []autoscalingshapes.Tag{{ResourceId: &on.Name,
		Key: &on.Key}}})
	return err
}

func retag(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Groups.CreateOrUpdateGroupTags(&autoscalingshapes.CreateOrUpdateTagsInput{Tags: []autoscalingshapes.Tag{{
		ResourceId: &on.Name, ResourceType: new("auto-scaling-group"), Key: &on.Key, Value: &on.Value, PropagateAtLaunch: new(true),
	}}}))
}

func resume(r *region, on sim.Resource) error {
	return only(r.AutoScaling.Groups.ResumeProcesses(&autoscalingshapes.ResumeProcessesInput{AutoScalingGroupName: &on.Name}))
}

// unhook removes all hooks, and returns an error if there are none.
func unhook(r *region, on sim.Resource) error {
	g, err := r.AutoScaling.Groups.FindGroup(&on.Name)
	if err != nil {
		return err
	}
	if len(g.Hooks) == 0 {
		return fmt.Errorf("group %s has no hooks", on.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(g.Hooks)) {
		if _, err := r.AutoScaling.Hooks.DeleteLifecycleHook(&autoscalingshapes.DeleteLifecycleHookInput{AutoScalingGroupName: &on.Name,
			LifecycleHookName: &name}); err != nil {
			return err
		}
	}
	return nil
}

package aws

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
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
	return sim.Capabilities{
		OutOfBand: sim.OutOfBandActions{
			sim.CreateGroup: s.makeGroup, sim.CreateTemplate: s.makeTemplate,
			sim.DeleteGroup:    s.dropGroup,
			sim.DeleteTemplate: func(on sim.Resource) error { return s.DropTemplate(on.Name) },
			sim.CreateVersion:  s.makeVersion, sim.DeleteVersion: s.dropVersion, sim.LaunchFrom: s.switchVersion,
			sim.SetSize: s.setSize, sim.SetBounds: s.setBounds,
			sim.RemoveTag: s.untag, sim.ChangeTag: s.retag, sim.ResumeProcesses: s.resume, sim.RemoveHooks: s.unhook,
			sim.TerminateInstance:    func(on sim.Resource) error { return s.Terminate(on.Instance) },
			sim.InterruptInstance:    func(on sim.Resource) error { return s.Interrupt(on.Instance) },
			sim.RecommendReplacement: func(on sim.Resource) error { return s.Recommend(on.Instance) },
			sim.MoveToStandby:        s.putAside, sim.MarkUnhealthy: s.sicken, sim.RebalanceZones: s.evenOut,
			sim.StartRollout: s.beginRefresh, sim.CancelRollout: s.endRefreshByHand, sim.FailRollout: s.failRefreshByHand,
		},
		Denied:     sim.Fault{Code: "AccessDenied", Message: "User: arn:aws:iam::" + AccountID + ":user/muster is not authorized to do this", Status: 403},
		NoCapacity: "We currently do not have sufficient",
		Ignorable:  Ignorable(),
	}
}

// did does by hand what an operation does, with its checks, and forgets the answer.
func did[In, Out any](s *Server, f func(*realm, *In) (*Out, error), in *In) error {
	return s.home(func(r *realm) error {
		_, err := f(r, in)
		return err
	})
}

// makeTemplate makes a launch template as another tool would, from the newest image for nodes.
func (s *Server) makeTemplate(on sim.Resource) error {
	image, err := newestImage()
	if err != nil {
		return err
	}
	return did(s, (*realm).createLaunchTemplate, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &on.Name, LaunchTemplateData: &ec2.RequestLaunchTemplateData{InstanceType: InstanceType, ImageId: &image},
	})
}

// newestImage is one that machines of the default type can be launched from.
func newestImage() (string, error) {
	var newest *Image
	for _, i := range catalogueOf(Region).images {
		if i.Architecture == architectures[0] && i.KubeletVersion != "" && (newest == nil || i.Created.After(newest.Created)) {
			newest = i
		}
	}
	if newest == nil {
		return "", fmt.Errorf("no image for nodes is published in %s", Region)
	}
	return newest.ID, nil
}

// makeGroup makes a group as another tool would, with its template beside it.
func (s *Server) makeGroup(on sim.Resource) error {
	if err := s.makeTemplate(sim.Resource{Name: byHandTemplate}); err != nil {
		return err
	}
	return did(s, (*realm).createGroup, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &on.Name, MinSize: ptr(int32(0)), MaxSize: ptr(int32(byHandSize)), VPCZoneIdentifier: ptr(SubnetID),
		LaunchTemplate: &autoscaling.LaunchTemplateSpecification{LaunchTemplateName: ptr(byHandTemplate), Version: ptr("$Latest")},
	})
}

func (s *Server) dropGroup(on sim.Resource) error {
	return did(s, (*realm).deleteGroup, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &on.Name, ForceDelete: ptr(true)})
}

func (s *Server) makeVersion(on sim.Resource) error {
	return did(s, (*realm).createLaunchTemplateVersion, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateName: &on.Name, SourceVersion: ptr("$Latest"), VersionDescription: ptr("a bigger one"),
		LaunchTemplateData: &ec2.RequestLaunchTemplateData{InstanceType: biggerType},
	})
}

func (s *Server) dropVersion(on sim.Resource) error {
	return s.home(func(r *realm) error {
		t := r.templateNamed(on.Name)
		if t == nil {
			return fmt.Errorf("launch template %s does not exist", on.Name)
		}
		n, err := r.howManieth(t.ID, on.Version)
		if err != nil {
			return err
		}
		done, err := r.deleteLaunchTemplateVersions(&ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &t.ID, Versions: []string{n}})
		if err != nil {
			return err
		}
		if failed := done.UnsuccessfullyDeletedLaunchTemplateVersions; len(failed) > 0 {
			return fmt.Errorf("version %s of launch template %s is still there: %s", n, t.ID, str(failed[0].ResponseError.Message))
		}
		return nil
	})
}

// howManieth is the number of a template's version, counted among those that exist, the oldest being 1.
func (r *realm) howManieth(template string, which int) (string, error) {
	var numbers []int64
	for _, v := range r.versions.Under(template + "/") {
		numbers = append(numbers, v.Number)
	}
	if which < 1 || which > len(numbers) {
		return "", fmt.Errorf("launch template %s has %d versions, so that there is none to be counted %d", template, len(numbers), which)
	}
	slices.Sort(numbers)
	return strconv.FormatInt(numbers[which-1], 10), nil
}

func (s *Server) switchVersion(on sim.Resource) error {
	return s.home(func(r *realm) error {
		g, err := r.findGroup(&on.Name)
		if err != nil {
			return err
		}
		id := templateSpec(&g.Spec).LaunchTemplateId
		n, err := r.howManieth(str(id), on.Version)
		if err != nil {
			return err
		}
		if rf := r.refreshing(g); rf != nil && rf.DesiredConfiguration != nil {
			// The service refuses, and he who tried gives up.
			return nil
		}
		_, err = r.updateGroup(&autoscaling.UpdateAutoScalingGroupInput{
			AutoScalingGroupName: &on.Name, LaunchTemplate: &autoscaling.LaunchTemplateSpecification{LaunchTemplateId: id, Version: &n},
		})
		return err
	})
}

func (s *Server) setSize(on sim.Resource) error {
	return did(s, (*realm).setDesiredCapacity, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &on.Name, DesiredCapacity: ptr(int32(on.Size))})
}

func (s *Server) setBounds(on sim.Resource) error {
	return did(s, (*realm).updateGroup, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &on.Name, MaxSize: ptr(int32(on.Size))})
}

// untag wants the tag there: who takes off what is not there has changed nothing and means something else.
func (s *Server) untag(on sim.Resource) error {
	return s.home(func(r *realm) error {
		g, err := r.findGroup(&on.Name)
		if err != nil {
			return err
		}
		if _, ok := g.Tags[on.Key]; !ok {
			return fmt.Errorf("group %s has no tag %s", on.Name, on.Key)
		}
		_, err = r.deleteGroupTags(&autoscaling.DeleteTagsInput{Tags: []autoscaling.Tag{{ResourceId: &on.Name, Key: &on.Key}}})
		return err
	})
}

func (s *Server) retag(on sim.Resource) error {
	return did(s, (*realm).createOrUpdateGroupTags, &autoscaling.CreateOrUpdateTagsInput{Tags: []autoscaling.Tag{{
		ResourceId: &on.Name, ResourceType: ptr("auto-scaling-group"), Key: &on.Key, Value: &on.Value, PropagateAtLaunch: ptr(true),
	}}})
}

func (s *Server) resume(on sim.Resource) error {
	return did(s, (*realm).resumeProcesses, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: &on.Name})
}

// unhook wants hooks there, as untag wants its tag.
func (s *Server) unhook(on sim.Resource) error {
	return s.home(func(r *realm) error {
		g, err := r.findGroup(&on.Name)
		if err != nil {
			return err
		}
		if len(g.Hooks) == 0 {
			return fmt.Errorf("group %s has no hooks", on.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(g.Hooks)) {
			if _, err := r.deleteLifecycleHook(&autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: &on.Name, LifecycleHookName: &name}); err != nil {
				return err
			}
		}
		return nil
	})
}

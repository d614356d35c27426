package aws_test

import (
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/pool"
)

// TestRegionThatIsNone is named, and a pool that was never created there can be deleted.
func TestRegionThatIsNone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		source := *target.Spec
		source.Cluster.Region, target.Spec = cloudtest.Unexpanded, &source
		cloudtest.PlaceThatIsNone(t, w.driver, target, "spec.region",
			"arn:aws:autoscaling:eu-west-1:000000000000:autoScalingGroup:x:autoScalingGroupName/pool")
	})
}

// TestHookOfAnotherTool is named with the instances that it holds.
func TestHookOfAnotherTool(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) {
			s.AWSLifecycleHooks = []awsv1.AWSLifecycleHook{{Name: "hello", LifecycleTransition: awsv1.LifecycleTransitionInstanceLaunching}}
		}), 0)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 1})
		time.Sleep(10 * time.Minute)
		o := w.observe(target)
		if len(o.Instances) != 1 || len(o.Issues) != 1 || o.Issues[0].Reason != "LifecycleHookPending" ||
			o.Issues[0].Message != "lifecycle hook hello holds "+o.Instances[0].ID+" in Pending:Wait: the client that is to complete it has not" {
			t.Errorf("want the hook and the instance named, got %+v", o)
		}
	})
}

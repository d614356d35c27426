package aws_test

import (
	"errors"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/muster-project/muster/sim/aws"
)

// refusal returns the code and the text of a refusal.
func refusal(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return "no refusal"
	}
	return api.ErrorCode() + ": " + api.ErrorMessage()
}

// TestRefusalsAsVerified holds the words of AWS as another client's tests have verified them on AWS.
func TestRefusalsAsVerified(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.settled(0, 1, 1)
		versions := func(in ec2.DescribeLaunchTemplateVersionsInput) error {
			_, err := w.ec2.DescribeLaunchTemplateVersions(ctx, &in)
			return err
		}
		_, update := w.as.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: awssdk.String("fake")})
		_, unreferenced := w.as.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
			AutoScalingGroupName: awssdk.String("other"), MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(3),
			VPCZoneIdentifier: awssdk.String(aws.SubnetID), LaunchTemplate: &astypes.LaunchTemplateSpecification{Version: awssdk.String("1")},
		})
		_, templates := w.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"fake"}})
		_, modify := w.ec2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &id, DefaultVersion: awssdk.String("7")})
		for _, c := range []struct {
			reason, want string
			err          error
		}{
			{"an update of no group", "ValidationError: AutoScalingGroup name not found - null", update},
			{"a template without ID and name",
				"ValidationError: Valid requests must contain either launchTemplateId or LaunchTemplateName", unreferenced},
			{"a description by a name that no template has", "InvalidLaunchTemplateName.NotFoundException: At least one of the launch templates " +
				"specified in the request does not exist.", templates},
			{"a default version that does not exist", "InvalidLaunchTemplateId.VersionNotFound: The launch template version 7 is not found for " +
				"the specified launch template.", modify},
			{"a version that does not exist", "InvalidLaunchTemplateId.VersionNotFound: Could not find the specified version 3 for the launch " +
				"template with ID " + id + ".", versions(ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{"3"}})},
			{"versions of a name that no template has", "InvalidLaunchTemplateName.NotFoundException: The specified launch template, with " +
				"template name fake, does not exist.", versions(ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: awssdk.String("fake")})},
		} {
			if got := refusal(c.err); got != c.want {
				t.Errorf("%s:\nwant %s\ngot  %s", c.reason, c.want, got)
			}
		}
		wantCode(t, versions(ec2.DescribeLaunchTemplateVersionsInput{}), "MissingParameter")
		wantCode(t, versions(ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"1"}}), "InvalidParameterValue")
	})
}

// TestGroupsAsVerified holds what groups show of their templates, as another client's tests have verified it on AWS: no version where the
// request has none, numbers at the instances, and the defaults of a mixed instances policy.
func TestGroupsAsVerified(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.settled(0, 1, 1, func(in *autoscaling.CreateAutoScalingGroupInput) { in.LaunchTemplate.Version = nil })
		g := w.read(pool)
		if got := g.LaunchTemplate.Version; got != nil || *g.LaunchTemplate.LaunchTemplateId != id {
			t.Errorf("want the template without a version, got %v", got)
		}
		if got := awssdk.ToString(g.Instances[0].LaunchTemplate.Version); got != "1" {
			t.Errorf("want an instance of version 1, got %q", got)
		}
		_, err := w.as.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: awssdk.String(pool),
			MixedInstancesPolicy: &astypes.MixedInstancesPolicy{LaunchTemplate: &astypes.LaunchTemplate{
				LaunchTemplateSpecification: &astypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: awssdk.String("$Default")}}}})
		ok(t, err)
		want := &astypes.InstancesDistribution{
			OnDemandAllocationStrategy: awssdk.String("prioritized"), OnDemandBaseCapacity: awssdk.Int32(0),
			OnDemandPercentageAboveBaseCapacity: awssdk.Int32(100), SpotAllocationStrategy: awssdk.String("lowest-price"),
			SpotInstancePools: awssdk.Int32(2),
		}
		got := w.read(pool).MixedInstancesPolicy.InstancesDistribution
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(astypes.InstancesDistribution{})); diff != "" {
			t.Errorf("the defaults of a policy (-want +got):\n%s", diff)
		}
	})
}

// TestVersionsAsVerified holds that a version has what it was given alone, an image that does not exist too, and is the default once it was
// made so.
func TestVersionsAsVerified(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.settled(0, 0, 1)
		_, err := w.ec2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateId: &id,
			LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: awssdk.String("ami-def456")}})
		ok(t, err)
		second := func() ec2types.LaunchTemplateVersion {
			out, err := w.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id,
				Versions: []string{"2"}})
			ok(t, err)
			return out.LaunchTemplateVersions[0]
		}
		if got := second(); *got.LaunchTemplateData.ImageId != "ami-def456" || got.LaunchTemplateData.InstanceType != "" || *got.DefaultVersion {
			t.Errorf("want the image alone, and not the default, got %+v", got)
		}
		_, err = w.ec2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &id, DefaultVersion: awssdk.String("2")})
		ok(t, err)
		if !*second().DefaultVersion {
			t.Error("want it to be the default")
		}
	})
}

// TestRefreshReason holds what the published example of an instance refresh shows as its reason while a new instance warms up.
func TestRefreshReason(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.settled(1, 1, 2)
		w.version(id, w.data())
		_, err := w.as.StartInstanceRefresh(t.Context(), &autoscaling.StartInstanceRefreshInput{AutoScalingGroupName: awssdk.String(pool),
			Preferences: &astypes.RefreshPreferences{MinHealthyPercentage: awssdk.Int32(0), InstanceWarmup: awssdk.Int32(600)}})
		ok(t, err)
		after(30 * time.Second)
		members := w.read(pool).Instances
		want := "Waiting for instances to warm up before continuing. For example: " + *members[len(members)-1].InstanceId + " is warming up."
		if got := awssdk.ToString(w.refreshed().StatusReason); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	})
}

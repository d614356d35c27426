package aws_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// No request, however odd, does worse than be refused in the service's own words; and whatever it has done can be read and
// is found again on disk.
func FuzzRequests(f *testing.F) {
	image := anyImage(f)
	for _, form := range []string{
		"Action=CreateLaunchTemplate&LaunchTemplateName=workers&LaunchTemplateData.InstanceType=t3.large&LaunchTemplateData.ImageId=ami-1&" +
			"LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeType=gp3",
		"Action=CreateLaunchTemplateVersion&LaunchTemplateName=fuzzed&SourceVersion=1&LaunchTemplateData.UserData=I2Nsb3VkLWNvbmZpZwo=",
		"Action=DescribeLaunchTemplateVersions&LaunchTemplateVersion.1=$Latest&MaxResults=1",
		"Action=DeleteLaunchTemplateVersions&LaunchTemplateName=fuzzed&LaunchTemplateVersion.1=1",
		"Action=ModifyLaunchTemplate&LaunchTemplateName=fuzzed&SetDefaultVersion=1",
		"Action=RunInstances&MinCount=1&MaxCount=2&LaunchTemplate.LaunchTemplateName=fuzzed&SubnetId=" + aws.SubnetID,
		"Action=DescribeInstances&Filter.1.Name=tag:x&Filter.1.Value.1=*&MaxResults=5&NextToken=AAAA",
		"Action=DescribeImages&Owner.1=self&Filter.1.Name=name&Filter.1.Value.1=[", "Action=CreateTags&ResourceId.1=lt-1&Tag.1.Key=a",
		"AS&Action=CreateAutoScalingGroup&AutoScalingGroupName=g&MinSize=0&MaxSize=2&DesiredCapacity=1&" +
			"LaunchTemplate.LaunchTemplateName=fuzzed&VPCZoneIdentifier=" + aws.SubnetID,
		"AS&Action=CreateAutoScalingGroup&AutoScalingGroupName=m&MinSize=0&MaxSize=2&" +
			"MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateName=fuzzed" +
			"&MixedInstancesPolicy.LaunchTemplate.Overrides.member.1.InstanceType=c5.large&" +
			"MixedInstancesPolicy.InstancesDistribution.OnDemandPercentageAboveBaseCapacity=50&VPCZoneIdentifier=" + aws.SubnetID,
		"AS&Action=UpdateAutoScalingGroup&AutoScalingGroupName=fuzzed&MinSize=1&MaxSize=3&VPCZoneIdentifier=&TerminationPolicies=",
		"AS&Action=StartInstanceRefresh&AutoScalingGroupName=fuzzed&Preferences.CheckpointPercentages.member.1=50&" +
			"DesiredConfiguration.LaunchTemplate.Version=1",
		"AS&Action=SetDesiredCapacity&AutoScalingGroupName=fuzzed&DesiredCapacity=2",
		"AS&Action=DeleteAutoScalingGroup&AutoScalingGroupName=fuzzed&ForceDelete=true",
		"AS&Action=PutLifecycleHook&AutoScalingGroupName=fuzzed&LifecycleHookName=h&LifecycleTransition=autoscaling:EC2_INSTANCE_LAUNCHING",
		"AS&Action=TerminateInstanceInAutoScalingGroup&InstanceIds.member.1=i-1&ShouldDecrementDesiredCapacity=true",
		"AS&Action=DetachInstances&AutoScalingGroupName=fuzzed&ShouldDecrementDesiredCapacity=true",
		"AS&Action=EnterStandby&AutoScalingGroupName=fuzzed",
		"AS&Action=SetInstanceProtection&AutoScalingGroupName=fuzzed", "AS&Action=CreateOrUpdateTags&Tags.member.1.Key=k",
	} {
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, form string) {
		// Not in virtual time: a fuzzer runs too many of these, and nothing here waits.
		dir := t.TempDir()
		s, err := aws.New(aws.Options{Dir: dir, Speed: 1e9, Limits: aws.Limits{}})
		ok(t, err)
		send(t, s, "Action=CreateLaunchTemplate&LaunchTemplateName=fuzzed&LaunchTemplateData.InstanceType=t3.large&LaunchTemplateData.ImageId="+
			image)
		status := send(t, s, "AS&Action=CreateAutoScalingGroup&AutoScalingGroupName=fuzzed&MinSize=0&MaxSize=2&DesiredCapacity=1&"+
			"LaunchTemplate.LaunchTemplateName=fuzzed&VPCZoneIdentifier="+aws.SubnetID)
		if status != http.StatusOK {
			t.Fatalf("want a group to play with, got %d", status)
		}
		send(t, s, form)
		for _, read := range []string{"Action=DescribeLaunchTemplates", "Action=DescribeInstances", "AS&Action=DescribeAutoScalingGroups",
			"AS&Action=DescribeScalingActivities"} {
			if status := send(t, s, read); status != http.StatusOK {
				t.Errorf("after %q: want %s to work, got %d", form, read, status)
			}
		}
		ok(t, s.Close())
		again, err := aws.New(aws.Options{Dir: dir})
		ok(t, err)
		ok(t, again.Close())
	})
}

// anyImage is an image of the catalogue, which is the same in every simulator.
func anyImage(f *testing.F) string {
	f.Helper()
	s, err := aws.New(aws.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	_, e, _, _ := clients(s, aws.DefaultAccount(), aws.Region)
	out, err := e.DescribeImages(f.Context(), &ec2.DescribeImagesInput{Filters: nameFilter("capa-ami-ubuntu-24.04-v1.34.1-*")})
	if err != nil || len(out.Images) == 0 {
		f.Fatalf("want an image, got %v, %v", out, err)
	}
	return *out.Images[0].ImageId
}

// send signs a form and sends it; AS& in front of it sends it to Auto Scaling.
func send(t *testing.T, s *aws.Server, form string) int {
	t.Helper()
	service, version := "ec2", "2016-11-15"
	if rest, is := strings.CutPrefix(form, "AS&"); is {
		service, version, form = "autoscaling", "2011-01-01", rest
	}
	values, err := url.ParseQuery(form)
	if err != nil {
		return http.StatusBadRequest
	}
	values.Set("Version", version)
	body := values.Encode()
	status, answer := sendForm(t, s, service, body)
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable &&
		!strings.Contains(answer, "InsufficientInstanceCapacity") {
		t.Errorf("%q: want no internal error, got\n%s", form, answer)
	}
	return status
}

// sendForm signs a form and sends it to a service.
func sendForm(t *testing.T, s *aws.Server, service, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://simulated.aws/", strings.NewReader(body))
	ok(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	sum := sha256.Sum256([]byte(body))
	keys := awssdk.Credentials{AccessKeyID: aws.AccessKeyID, SecretAccessKey: aws.SecretAccessKey}
	ok(t, v4.NewSigner().SignHTTP(t.Context(), keys, r, hex.EncodeToString(sum[:]), service, aws.Region, time.Now()))
	resp, err := sim.Transport{Handler: s}.RoundTrip(r)
	ok(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	ok(t, err)
	return resp.StatusCode, string(text)
}

package aws_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/sim/aws"
)

// run launches instances and returns their IDs.
func (w *world) run(n int32, change ...func(*ec2.RunInstancesInput)) []string {
	w.t.Helper()
	in := &ec2.RunInstancesInput{
		MinCount: &n, MaxCount: &n, ImageId: awssdk.String(w.image("1.34.1")), InstanceType: aws.InstanceType,
		SubnetId: awssdk.String(aws.SubnetID),
		UserData: awssdk.String(base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))),
		TagSpecifications: []types.TagSpecification{{ResourceType: "instance",
			Tags: []types.Tag{{Key: awssdk.String("Name"), Value: awssdk.String("node")}}}},
	}
	for _, f := range change {
		f(in)
	}
	out, err := w.ec2.RunInstances(w.t.Context(), in)
	ok(w.t, err)
	var ids []string
	for _, i := range out.Instances {
		ids = append(ids, *i.InstanceId)
	}
	return ids
}

func (w *world) instance(id string) types.Instance {
	w.t.Helper()
	out, err := w.ec2.DescribeInstances(w.t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	ok(w.t, err)
	return out.Reservations[0].Instances[0]
}

// An instance goes through its states in the time of life divided by the speed, and its machine with it.
func TestInstanceStates(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.run(1)[0]
		for _, step := range []struct {
			after    time.Duration
			state    types.InstanceStateName
			machines int
		}{
			{0, types.InstanceStateNamePending, 0},
			{time.Second, types.InstanceStateNamePending, 0},
			{time.Second, types.InstanceStateNameRunning, 1},
		} {
			after(step.after)
			if got := w.instance(id).State.Name; got != step.state || w.guests.count() != step.machines {
				t.Fatalf("want %s with %d machines, got %s with %d", step.state, step.machines, got, w.guests.count())
			}
		}
		i := w.instance(id)
		m := w.guests.running[id]
		if want := "aws:///" + aws.Zone + "/" + id; m.ProviderID != want {
			t.Errorf("provider ID: want %s, got %s", want, m.ProviderID)
		}
		if m.KubeletVersion != "v1.34.1" || string(m.UserData) != "#cloud-config\n" || m.CPUs != 2 || m.MemoryMiB != 8192 {
			t.Errorf("want the image's version, the user data and the type's size, got %+v", m)
		}
		want := "ip-" + strings.ReplaceAll(*i.PrivateIpAddress, ".", "-") + ".eu-west-1.compute.internal"
		if *i.PrivateDnsName != want || m.Hostname != want || m.Address != *i.PrivateIpAddress {
			t.Errorf("names: want %s everywhere, got %s and %s at %s", want, *i.PrivateDnsName, m.Hostname, m.Address)
		}
		console, err := w.ec2.GetConsoleOutput(t.Context(), &ec2.GetConsoleOutputInput{InstanceId: &id})
		ok(t, err)
		if raw, _ := base64.StdEncoding.DecodeString(*console.Output); !strings.Contains(string(raw), id) {
			t.Errorf("console: want what the machine printed, got %q", raw)
		}

		out, err := w.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
		ok(t, err)
		if c := out.TerminatingInstances[0]; c.PreviousState.Name != "running" || c.CurrentState.Name != "shutting-down" {
			t.Errorf("want running to shutting-down, got %s to %s", c.PreviousState.Name, c.CurrentState.Name)
		}
		if w.guests.count() != 0 {
			t.Errorf("want the machine powered off at once")
		}
		after(3 * time.Second)
		if i := w.instance(id); i.State.Name != "terminated" || i.PrivateIpAddress != nil ||
			*i.StateReason.Code != "Client.UserInitiatedShutdown" {
			t.Errorf("want it terminated by its user and without address, got %s, %v, %s", i.State.Name, i.PrivateIpAddress, *i.StateReason.Code)
		}
		after(6 * time.Minute)
		_, err = w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
		wantCode(t, err, "InvalidInstanceID.NotFound")
	})
}

func TestRunInstancesRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*ec2.RunInstancesInput)
		want   string
	}{
		{"no such image", func(in *ec2.RunInstancesInput) { in.ImageId = awssdk.String("ami-0000000000000000f") }, "InvalidAMIID.NotFound"},
		{"no image at all", func(in *ec2.RunInstancesInput) { in.ImageId = nil }, "MissingParameter"},
		{"no such type", func(in *ec2.RunInstancesInput) { in.InstanceType = "t3.huge" }, "InvalidParameterValue"},
		{"type of another architecture", func(in *ec2.RunInstancesInput) { in.InstanceType = "m6g.large" }, "InvalidParameterValue"},
		{"no such subnet", func(in *ec2.RunInstancesInput) { in.SubnetId = awssdk.String("subnet-0000000000000000f") },
			"InvalidSubnetID.NotFound"},
		{"no subnet at all", func(in *ec2.RunInstancesInput) { in.SubnetId = nil }, "MissingInput"},
		{"no such key", func(in *ec2.RunInstancesInput) { in.KeyName = awssdk.String("outsider") }, "InvalidKeyPair.NotFound"},
		{"no such group", func(in *ec2.RunInstancesInput) { in.SecurityGroupIds = []string{"sg-0000000000000000f"} }, "InvalidGroup.NotFound"},
		{"fewer at most than at least", func(in *ec2.RunInstancesInput) { in.MaxCount = awssdk.Int32(0) }, "InvalidParameterValue"},
		{"no such template", func(in *ec2.RunInstancesInput) {
			in.LaunchTemplate = &types.LaunchTemplateSpecification{LaunchTemplateName: awssdk.String("nothing")}
		}, "InvalidLaunchTemplateName.NotFoundException"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				in := &ec2.RunInstancesInput{
					MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1), ImageId: awssdk.String(w.image("1.34.1")), InstanceType: aws.InstanceType,
					SubnetId: awssdk.String(aws.SubnetID),
				}
				c.change(in)
				_, err := w.ec2.RunInstances(t.Context(), in)
				wantCode(t, err, c.want)
				if n := len(w.server.State(aws.AccountID, aws.Region).Instances); n != 0 {
					t.Errorf("want no instance after a refusal, got %d", n)
				}
			})
		})
	}
}

func TestDescribeInstances(t *testing.T) {
	inWorld(t, aws.Options{Limits: aws.Limits{}}, func(t *testing.T, w *world) {
		ctx := t.Context()
		ids := append(w.run(7), w.run(5, func(in *ec2.RunInstancesInput) { in.TagSpecifications[0].Tags[0].Value = awssdk.String("other") })...)
		after(5 * time.Second)
		_, err := w.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids[:1]})
		ok(t, err)
		for _, c := range []struct {
			why    string
			filter types.Filter
			want   int
		}{
			{"by tag", types.Filter{Name: awssdk.String("tag:Name"), Values: []string{"other"}}, 5},
			{"by tag with a pattern", types.Filter{Name: awssdk.String("tag:Name"), Values: []string{"n?d*"}}, 7},
			{"by state", types.Filter{Name: awssdk.String("instance-state-name"), Values: []string{"pending", "running"}}, 11},
			{"by zone", types.Filter{Name: awssdk.String("availability-zone"), Values: []string{"eu-west-1b"}}, 0},
		} {
			out, err := w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: []types.Filter{c.filter}})
			ok(t, err)
			n := 0
			for _, r := range out.Reservations {
				n += len(r.Instances)
			}
			if n != c.want {
				t.Errorf("%s: want %d, got %d", c.why, c.want, n)
			}
		}
		var seen []string
		p := ec2.NewDescribeInstancesPaginator(w.ec2, &ec2.DescribeInstancesInput{MaxResults: awssdk.Int32(5)})
		for p.HasMorePages() {
			page, err := p.NextPage(ctx)
			ok(t, err)
			for _, r := range page.Reservations {
				for _, i := range r.Instances {
					seen = append(seen, *i.InstanceId)
				}
			}
		}
		if !slices.Equal(seen, ids) {
			t.Errorf("pages: want every instance once in the order of launch, got %d of %d", len(seen), len(ids))
		}
		_, err = w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: awssdk.Int32(5), InstanceIds: ids[:1]})
		wantCode(t, err, "InvalidParameterCombination")
		_, err = w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: awssdk.Int32(4)})
		wantCode(t, err, "InvalidParameterValue")
		_, err = w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{"i-0000000000000000f"}})
		wantCode(t, err, "InvalidInstanceID.NotFound")
		status, err := w.ec2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{})
		ok(t, err)
		if n := len(status.InstanceStatuses); n != 11 {
			t.Errorf("status: want the 11 that run, got %d", n)
		}
	})
}

// A subnet gives each address once, and none when all are taken.
func TestSubnetRunsOutOfAddresses(t *testing.T) {
	small := aws.DefaultAccount()
	small.Network.Subnets = []aws.Subnet{{ID: aws.SubnetID, Zone: aws.Zone, CIDR: "10.0.0.16/28"}}
	inWorld(t, aws.Options{Accounts: []aws.Account{small}, Limits: aws.Limits{}}, func(t *testing.T, w *world) {
		ids := w.run(11)
		seen := map[string]bool{}
		for _, id := range ids {
			seen[*w.instance(id).PrivateIpAddress] = true
		}
		if len(seen) != 11 || !seen["10.0.0.20"] || !seen["10.0.0.30"] {
			t.Errorf("want 11 addresses from .20 to .30, got %v", seen)
		}
		_, err := w.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{
			MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1), ImageId: awssdk.String(w.image("1.34.1")), InstanceType: aws.InstanceType,
			SubnetId: awssdk.String(aws.SubnetID),
		})
		wantCode(t, err, "InsufficientFreeAddressesInSubnet")
		_, err = w.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: ids[:1]})
		ok(t, err)
		after(5 * time.Second)
		if got := *w.instance(w.run(1)[0]).PrivateIpAddress; got != "10.0.0.20" {
			t.Errorf("want the address that was given back, got %s", got)
		}
	})
}

func TestCatalogue(t *testing.T) {
	inWorld(t, aws.Options{Limits: aws.Limits{}}, func(t *testing.T, w *world) {
		ctx := t.Context()
		n := aws.DefaultAccount().Network
		for minor := 16; minor <= 36; minor++ {
			for _, patch := range []int{0, 20} {
				w.image(fmt.Sprintf("1.%d.%d", minor, patch))
			}
		}
		subnets, err := w.ec2.DescribeSubnets(ctx,
			&ec2.DescribeSubnetsInput{Filters: []types.Filter{{Name: awssdk.String("vpc-id"), Values: []string{aws.VPCID}}}})
		ok(t, err)
		if len(subnets.Subnets) != 6 || len(n.Subnets) != 6 {
			t.Errorf("want a private and a public subnet in each of three zones, got %d", len(subnets.Subnets))
		}
		private, err := w.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{aws.SubnetID}})
		ok(t, err)
		if s := private.Subnets[0]; *s.AvailabilityZone != aws.Zone || *s.MapPublicIpOnLaunch {
			t.Errorf("want the private subnet of %s, got %s, public %v", aws.Zone, *s.AvailabilityZone, *s.MapPublicIpOnLaunch)
		}
		_, err = w.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-0000000000000000f"}})
		wantCode(t, err, "InvalidSubnetID.NotFound")
		groups, err := w.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{aws.NodeSecurityGroupID}})
		ok(t, err)
		if *groups.SecurityGroups[0].VpcId != aws.VPCID {
			t.Errorf("want the nodes' group in %s, got %s", aws.VPCID, *groups.SecurityGroups[0].VpcId)
		}
		keys, err := w.ec2.DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{KeyNames: []string{aws.KeyName}})
		ok(t, err)
		if len(keys.KeyPairs) != 1 {
			t.Errorf("want the key pair %s, got %d", aws.KeyName, len(keys.KeyPairs))
		}
		_, err = w.ec2.DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{KeyNames: []string{"outsider"}})
		wantCode(t, err, "InvalidKeyPair.NotFound")
		zones, err := w.ec2.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
		ok(t, err)
		if len(zones.AvailabilityZones) != 3 || *zones.AvailabilityZones[0].ZoneId != "euw1-az1" {
			t.Errorf("want three zones with their IDs, got %d", len(zones.AvailabilityZones))
		}
		vpcs, err := w.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
		ok(t, err)
		if len(vpcs.Vpcs) != 1 || *vpcs.Vpcs[0].VpcId != aws.VPCID {
			t.Errorf("want the one VPC, got %d", len(vpcs.Vpcs))
		}
		for name, want := range map[string]struct {
			cpus   int32
			memory int64
			arch   types.ArchitectureType
			gpus   int
		}{
			"t3.large": {2, 8192, "x86_64", 0}, "t3.xlarge": {4, 16384, "x86_64", 0}, "m5.2xlarge": {8, 32768, "x86_64", 0},
			"c5.large":   {2, 4096, "x86_64", 0},
			"m6g.medium": {1, 4096, "arm64", 0}, "r5.large": {2, 16384, "x86_64", 0}, "g4dn.xlarge": {4, 16384, "x86_64", 1},
			"g4dn.12xlarge": {48, 196608, "x86_64", 4},
		} {
			out, err := w.ec2.DescribeInstanceTypes(ctx,
				&ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(name)}})
			ok(t, err)
			i := out.InstanceTypes[0]
			gpus := 0
			if i.GpuInfo != nil {
				gpus = int(*i.GpuInfo.Gpus[0].Count)
			}
			if *i.VCpuInfo.DefaultVCpus != want.cpus || *i.MemoryInfo.SizeInMiB != want.memory ||
				i.ProcessorInfo.SupportedArchitectures[0] != want.arch || gpus != want.gpus {
				t.Errorf("%s: want %+v, got %d, %d, %v, %d", name, want, *i.VCpuInfo.DefaultVCpus, *i.MemoryInfo.SizeInMiB,
					i.ProcessorInfo.SupportedArchitectures, gpus)
			}
		}
		_, err = w.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{"t3.huge"}})
		wantCode(t, err, "InvalidInstanceType")
		offers, err := w.ec2.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: "availability-zone", Filters: []types.Filter{{Name: awssdk.String("instance-type"), Values: []string{"t3.large"}}},
		})
		ok(t, err)
		if len(offers.InstanceTypeOfferings) != 3 {
			t.Errorf("want the type offered in three zones, got %d", len(offers.InstanceTypeOfferings))
		}
	})
}

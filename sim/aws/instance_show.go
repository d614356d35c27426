package aws

import (
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// showInstance is an instance as EC2 describes it.
func (r *realm) showInstance(i *instance) ec2.Instance {
	out := ec2.Instance{
		InstanceId: ptr(i.ID), ImageId: ptr(i.Image), InstanceType: i.Type, State: stateOf(i), LaunchTime: stamp(i.Launch),
		AmiLaunchIndex: ptr(int32(0)), KeyName: opt(i.Key), ClientToken: opt(i.Token), Tags: tagsOf(i.Tags), StateTransitionReason: ptr(""),
		Placement:  &ec2.Placement{AvailabilityZone: ptr(i.Zone), AvailabilityZoneId: ptr(zoneID(r.region, i.Zone)), Tenancy: "default"},
		Monitoring: &ec2.Monitoring{State: "disabled"}, RootDeviceName: ptr("/dev/sda1"), RootDeviceType: "ebs", VirtualizationType: "hvm",
		Hypervisor: "xen", EnaSupport: ptr(true), SourceDestCheck: ptr(true), EbsOptimized: ptr(val(i.Data.EbsOptimized)),
		PlatformDetails: ptr("Linux/UNIX"), UsageOperation: ptr("RunInstances"),
		Architecture: instanceTypes[i.Type].architecture,
		CpuOptions:   &ec2.CpuOptions{CoreCount: ptr(int32(max(1, instanceTypes[i.Type].cpus/2))), ThreadsPerCore: ptr(int32(2))},
	}
	if i.Spot {
		out.InstanceLifecycle = "spot"
		out.SpotInstanceRequestId = ptr(spotRequest(i))
	}
	if i.ReasonCode != "" {
		out.StateReason = &ec2.StateReason{Code: ptr(i.ReasonCode), Message: ptr(i.Reason)}
		out.StateTransitionReason = ptr("User initiated (" + i.Since.UTC().Format("2006-01-02 15:04:05 GMT") + ")")
	}
	if i.Profile != "" {
		out.IamInstanceProfile = &ec2.IamInstanceProfile{Arn: ptr(r.profileARN(i)), Id: ptr("AIPA" + strings.ToUpper(sim.Seed(0).Hex(16, i.Profile)))}
	}
	if m := i.Data.MetadataOptions; m != nil {
		out.MetadataOptions = &ec2.InstanceMetadataOptionsResponse{
			State: "applied", HttpEndpoint: m.HttpEndpoint, HttpProtocolIpv6: m.HttpProtocolIpv6, HttpPutResponseHopLimit: m.HttpPutResponseHopLimit,
			HttpTokens: m.HttpTokens, InstanceMetadataTags: m.InstanceMetadataTags,
		}
	}
	if i.State != stateTerminated {
		r.showNetwork(i, &out)
	}
	return out
}

// spotRequest is the ID of the request that a spot instance fulfils.
func spotRequest(i *instance) string { return "sir-" + sim.Seed(0).Hex(8, i.ID) }

// showNetwork adds what an instance has until it is gone.
func (r *realm) showNetwork(i *instance, out *ec2.Instance) {
	out.PrivateIpAddress, out.PrivateDnsName, out.SubnetId, out.PublicDnsName = ptr(i.Address), ptr(r.hostname(i)), ptr(i.Subnet), ptr("")
	for _, id := range i.Groups {
		g := ec2.GroupIdentifier{GroupId: ptr(id)}
		if known := r.securityGroups.Get(id); known != nil {
			g.GroupName = ptr(known.Name)
		}
		out.SecurityGroups = append(out.SecurityGroups, g)
	}
	s := r.subnets.Get(i.Subnet)
	if s == nil {
		return
	}
	out.VpcId = ptr(s.VPC)
	out.NetworkInterfaces = []ec2.InstanceNetworkInterface{{
		NetworkInterfaceId: ptr("eni-0" + sim.Seed(0).Hex(16, i.ID)), PrivateIpAddress: ptr(i.Address), PrivateDnsName: ptr(r.hostname(i)),
		SubnetId: ptr(i.Subnet), VpcId: ptr(s.VPC), OwnerId: ptr(r.account), Status: "in-use", Groups: out.SecurityGroups,
	}}
}

// profileARN is the ARN of the instance's profile, which a launch may name by either.
func (r *realm) profileARN(i *instance) string {
	if i.Profile == "" || strings.HasPrefix(i.Profile, "arn:") {
		return i.Profile
	}
	return "arn:aws:iam::" + r.account + ":instance-profile/" + i.Profile
}

package ec2

import (
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// showInstance is an instance as EC2 describes it.
func (r *Instances) showInstance(i *Instance) ec2.Instance {
	out := ec2.Instance{
		InstanceId: new(i.ID), ImageId: new(i.Image), InstanceType: i.Type, State: stateOf(i), LaunchTime: shapes.Stamp(i.Launch),
		AmiLaunchIndex: new(int32(0)), KeyName: shapes.Opt(i.Key), ClientToken: shapes.Opt(i.Token), Tags: tagsOf(i.Tags),
		StateTransitionReason: new(""),
		Placement: &ec2.Placement{AvailabilityZone: new(i.Zone), AvailabilityZoneId: new(account.ZoneID(r.Region, i.Zone)),
			Tenancy: "default"},
		Monitoring: &ec2.Monitoring{State: "disabled"}, RootDeviceName: new("/dev/sda1"), RootDeviceType: "ebs", VirtualizationType: "hvm",
		Hypervisor: "xen", EnaSupport: new(true), SourceDestCheck: new(true), EbsOptimized: new(shapes.Val(i.Data.EbsOptimized)),
		PlatformDetails: new("Linux/UNIX"), UsageOperation: new("RunInstances"),
		Architecture: catalogue.InstanceTypes[i.Type].Architecture,
		CpuOptions:   &ec2.CpuOptions{CoreCount: new(int32(max(1, catalogue.InstanceTypes[i.Type].CPUs/2))), ThreadsPerCore: new(int32(2))},
	}
	if i.Spot {
		out.InstanceLifecycle = "spot"
		out.SpotInstanceRequestId = new(spotRequest(i))
	}
	if i.ReasonCode != "" {
		out.StateReason = &ec2.StateReason{Code: new(i.ReasonCode), Message: new(i.Reason)}
		out.StateTransitionReason = new("User initiated (" + i.Since.UTC().Format("2006-01-02 15:04:05 GMT") + ")")
	}
	if i.Profile != "" {
		out.IamInstanceProfile = &ec2.IamInstanceProfile{Arn: new(r.profileARN(i)),
			Id: new("AIPA" + strings.ToUpper(sim.Seed(0).Hex(16, i.Profile)))}
	}
	if m := i.Data.MetadataOptions; m != nil {
		out.MetadataOptions = &ec2.InstanceMetadataOptionsResponse{
			State: "applied", HttpEndpoint: m.HttpEndpoint, HttpProtocolIpv6: m.HttpProtocolIpv6, HttpPutResponseHopLimit: m.HttpPutResponseHopLimit,
			HttpTokens: m.HttpTokens, InstanceMetadataTags: m.InstanceMetadataTags,
		}
	}
	if i.State != StateTerminated {
		r.showNetwork(i, &out)
	}
	return out
}

// spotRequest is the ID of the request that a spot instance fulfils.
func spotRequest(i *Instance) string { return "sir-" + sim.Seed(0).Hex(8, i.ID) }

// showNetwork adds what an instance has until it is gone.
func (r *Instances) showNetwork(i *Instance, out *ec2.Instance) {
	out.PrivateIpAddress, out.PrivateDnsName, out.SubnetId, out.PublicDnsName = new(i.Address), new(r.Hostname(i)), new(i.Subnet), new("")
	for _, id := range i.Groups {
		g := ec2.GroupIdentifier{GroupId: new(id)}
		if known := r.Network.SecurityGroups.Get(id); known != nil {
			g.GroupName = new(known.Name)
		}
		out.SecurityGroups = append(out.SecurityGroups, g)
	}
	s := r.Network.Subnets.Get(i.Subnet)
	if s == nil {
		return
	}
	out.VpcId = new(s.VPC)
	out.NetworkInterfaces = []ec2.InstanceNetworkInterface{{
		NetworkInterfaceId: new("eni-0" + sim.Seed(0).Hex(16, i.ID)), PrivateIpAddress: new(i.Address), PrivateDnsName: new(r.Hostname(i)),
		SubnetId: new(i.Subnet), VpcId: new(s.VPC), OwnerId: new(r.Account), Status: "in-use", Groups: out.SecurityGroups,
	}}
}

// profileARN is the ARN of the instance's profile, which a launch may name by either.
func (r *Instances) profileARN(i *Instance) string {
	if i.Profile == "" || strings.HasPrefix(i.Profile, "arn:") {
		return i.Profile
	}
	return "arn:aws:iam::" + r.Account + ":instance-profile/" + i.Profile
}

package launch

import (
	"context"
	"fmt"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/session"
)

// placement says where in the data centres instances run.
func placement(p *awsv1.Placement) *ec2types.LaunchTemplatePlacementRequest {
	if p == nil || *p == (awsv1.Placement{}) {
		return nil
	}
	sent := &ec2types.LaunchTemplatePlacementRequest{
		Affinity:             p.Affinity,
		GroupId:              p.GroupID,
		GroupName:            p.GroupName,
		HostId:               p.HostID,
		HostResourceGroupArn: p.HostResourceGroupArn,
		PartitionNumber:      p.PartitionNumber,
	}
	if p.Tenancy != nil {
		sent.Tenancy = ec2types.Tenancy(*p.Tenancy)
	}
	return sent
}

// interfaces are the network interfaces. EC2 takes security groups for each of them or for the instance, never both: those of the
// instance are given to each interface that names none.
func interfaces(list []awsv1.NetworkInterface, groups []string,
	own map[int][]string) []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	var out []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest
	for i, n := range list {
		sent := ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
			AssociatePublicIpAddress:       n.AssociatePublicIPAddress,
			DeleteOnTermination:            new(ptr.Deref(n.DeleteOnTermination, deletedWithInstance)),
			Description:                    n.Description,
			DeviceIndex:                    new(n.DeviceIndex),
			Groups:                         groups,
			Ipv4PrefixCount:                n.IPv4PrefixCount,
			Ipv6AddressCount:               n.IPv6AddressCount,
			Ipv6PrefixCount:                n.IPv6PrefixCount,
			NetworkCardIndex:               n.NetworkCardIndex,
			PrimaryIpv6:                    n.PrimaryIPv6,
			SecondaryPrivateIpAddressCount: n.SecondaryPrivateIPAddressCount,
		}
		if n.InterfaceType != nil {
			sent.InterfaceType = new(string(*n.InterfaceType))
		}
		if len(own[i]) > 0 {
			sent.Groups = own[i]
		}
		out = append(out, sent)
	}
	return out
}

// interfaceGroups looks up the security groups of those network interfaces that have their own.
func (r resolver) interfaceGroups(ctx context.Context) (map[int][]string, error) {
	found := map[int][]string{}
	for i, n := range r.s.Spec.NetworkInterfaces {
		if len(n.SecurityGroups) == 0 {
			continue
		}
		groups, err := r.securityGroups(ctx, fmt.Sprintf("%s.networkInterfaces[%d].securityGroups", Field, i), n.SecurityGroups)
		if err != nil {
			return nil, err
		}
		found[i] = session.Unique(groups)
	}
	return found, nil
}

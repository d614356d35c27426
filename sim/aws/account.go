package aws

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/s3"
)

// What the default account holds from the start, for seeding and for examples.
const (
	AccountID       = "123456789012"
	AccessKeyID     = "AKIAMUSTERSIMULATED0"
	SecretAccessKey = "simulated/secret+access+key+of+muster+0x"
	Region          = "eu-west-1"
	Zone            = "eu-west-1a"
	VPCID           = "vpc-0a1b2c3d4e5f60001"
	// SubnetID is the private subnet of Zone.
	SubnetID = "subnet-0a1b2c3d4e5f60001"
	// NodeSecurityGroupID is the security group that nodes carry, ControlPlaneSecurityGroupID that of control planes.
	NodeSecurityGroupID         = "sg-0a1b2c3d4e5f60001"
	ControlPlaneSecurityGroupID = "sg-0a1b2c3d4e5f60002"
	KeyName                     = "default"
	// InstanceType is one that the catalogue has and that suits a small node.
	InstanceType = "t3.large"
	// BucketName is the account's bucket.
	BucketName = "muster-bootstrap"
)

// Account is one account of the simulated cloud.
type Account struct {
	// ID is the twelve digits, AccessKeyID and SecretAccessKey what its clients sign with.
	ID, AccessKeyID, SecretAccessKey string
	// Region is where Network lies; the account can use every other region too and finds a like network there.
	Region string
	// Network holds the resources that exist in Region from the start.
	Network Network
	// Roles that exist from the start; nil means DefaultRoles.
	Roles []Role
	// Buckets of S3 that the account has.
	Buckets []s3.Bucket
	// Policy is a document of IAM that says what the account's keys may do; nil lets them do everything.
	Policy []byte
	// Groups is the quota of Auto Scaling groups in a region; zero means AWS's default.
	Groups int
}

// Network holds the resources of an account in a region before anything is created.
type Network struct {
	VPCID, CIDR string
	Zones       []string
	Subnets     []Subnet
	// NodeSecurityGroupID and ControlPlaneSecurityGroupID belong to the VPC, KeyName is a key pair.
	NodeSecurityGroupID, ControlPlaneSecurityGroupID string
	KeyName                                          string
}

// Subnet is one subnet of a Network.
type Subnet struct {
	ID, Zone, CIDR string
	// Public is whether it routes to the internet and gives its instances public addresses.
	Public bool
}

// DefaultAccount is the account that a simulator has unless told otherwise.
func DefaultAccount() Account {
	return Account{
		ID: AccountID, AccessKeyID: AccessKeyID, SecretAccessKey: SecretAccessKey,
		Region: Region, Network: networkIn(AccountID, Region), Buckets: []s3.Bucket{{Name: BucketName}},
	}
}

// NewAccount is an account of that ID with keys of its own, made from the ID.
func NewAccount(id string) Account {
	return Account{
		ID: id, AccessKeyID: "AKIA" + id + "SIM0", SecretAccessKey: "simulated/secret+of+" + id + "+0123456",
		Region: Region, Network: networkIn(id, Region),
	}
}

// NetworkIn returns the resources that the account has in a region before anything is created there.
func (a Account) NetworkIn(region string) Network {
	if a.Region == region && a.Network.VPCID != "" {
		return a.Network
	}
	return networkIn(a.ID, region)
}

// networkIn returns the resources that an account finds in a region: the documented IDs for the default account at home, others made from
// the names.
func networkIn(id, region string) Network {
	home := id == AccountID && region == Region
	resource := func(prefix, fixed string, n int) string {
		if home {
			return fixed[:len(fixed)-1] + fmt.Sprint(n)
		}
		return prefix + "-0" + sim.Seed(0).Hex(16, id, region, prefix, n)
	}
	n := Network{
		VPCID: resource("vpc", VPCID, 1), CIDR: "10.0.0.0/16", Zones: account.ZonesOf(region), KeyName: KeyName,
		NodeSecurityGroupID:         resource("sg", NodeSecurityGroupID, 1),
		ControlPlaneSecurityGroupID: resource("sg", ControlPlaneSecurityGroupID, 2),
	}
	for i, z := range n.Zones {
		n.Subnets = append(n.Subnets, Subnet{ID: resource("subnet", SubnetID, i+1), Zone: z, CIDR: fmt.Sprintf("10.0.%d.0/19", 32*i)})
	}
	for i, z := range n.Zones {
		n.Subnets = append(n.Subnets, Subnet{
			ID: resource("subnet", SubnetID, i+4), Zone: z, CIDR: fmt.Sprintf("10.0.%d.0/22", 128+4*i), Public: true,
		})
	}
	return n
}

// accounts are those of a simulator, by access key.
type accounts map[string]Account

// withID returns the account of that ID, the zero Account if there is none.
func (a accounts) withID(id string) Account {
	for _, one := range a {
		if one.ID == id {
			return one
		}
	}
	return Account{}
}

// knows reports whether the account exists.
func (a accounts) knows(id string) bool { return a.withID(id).ID != "" }

// networkOf returns the network that an account finds in a region: its own at home, a like one elsewhere.
func (a accounts) networkOf(id, region string) Network {
	if one := a.withID(id); one.ID != "" {
		return one.NetworkIn(region)
	}
	return networkIn(id, region)
}

// bucketOf returns the account's bucket that a host is named after, "" for none.
func (a accounts) bucketOf(id, host string) string {
	for _, b := range a.withID(id).Buckets {
		if strings.HasPrefix(host, b.Name+".") {
			return b.Name
		}
	}
	return ""
}

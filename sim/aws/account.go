package aws

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/muster-project/muster/sim"
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
	// Network is what exists in Region from the start.
	Network Network
	// Roles that exist from the start; nil means DefaultRoles.
	Roles []Role
	// Buckets of S3 that the account has.
	Buckets []Bucket
	// Policy is a document of IAM that says what the account's keys may do; nil lets them do everything.
	Policy []byte
	// Groups is the quota of Auto Scaling groups in a region; zero means AWS's default.
	Groups int
}

// Network is what an account has in a region before anything is created.
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
		Region: Region, Network: networkIn(AccountID, Region), Buckets: []Bucket{{Name: BucketName}},
	}
}

// NewAccount is an account of that ID with keys of its own, made from the ID.
func NewAccount(id string) Account {
	return Account{
		ID: id, AccessKeyID: "AKIA" + id + "SIM0", SecretAccessKey: "simulated/secret+of+" + id + "+0123456",
		Region: Region, Network: networkIn(id, Region),
	}
}

// NetworkIn is what the account finds in a region before anything is created there.
func (a Account) NetworkIn(region string) Network {
	if a.Region == region && a.Network.VPCID != "" {
		return a.Network
	}
	return networkIn(a.ID, region)
}

// regions are those that can be asked, with the prefix of their zone IDs.
var regions = map[string]string{
	"eu-west-1": "euw1", "eu-west-2": "euw2", "eu-west-3": "euw3", "eu-central-1": "euc1", "eu-north-1": "eun1",
	"us-east-1": "use1", "us-east-2": "use2", "us-west-1": "usw1", "us-west-2": "usw2",
	"ap-southeast-1": "apse1", "ap-southeast-2": "apse2", "ap-northeast-1": "apne1", "ap-south-1": "aps1", "sa-east-1": "sae1",
}

// zoneLetters are the zones that every simulated region has.
var zoneLetters = []string{"a", "b", "c"}

func zonesOf(region string) []string {
	out := make([]string, len(zoneLetters))
	for i, l := range zoneLetters {
		out[i] = region + l
	}
	return out
}

// zoneID is the ID that stands for the same place in every account.
func zoneID(region, zone string) string {
	return fmt.Sprintf("%s-az%d", regions[region], 1+slices.Index(zonesOf(region), zone))
}

// networkIn is what an account finds in a region: the documented IDs for the default account at home, others made from the names.
func networkIn(account, region string) Network {
	home := account == AccountID && region == Region
	id := func(prefix, fixed string, n int) string {
		if home {
			return fixed[:len(fixed)-1] + fmt.Sprint(n)
		}
		return prefix + "-0" + sim.Seed(0).Hex(16, account, region, prefix, n)
	}
	n := Network{
		VPCID: id("vpc", VPCID, 1), CIDR: "10.0.0.0/16", Zones: zonesOf(region), KeyName: KeyName,
		NodeSecurityGroupID:         id("sg", NodeSecurityGroupID, 1),
		ControlPlaneSecurityGroupID: id("sg", ControlPlaneSecurityGroupID, 2),
	}
	for i, z := range n.Zones {
		n.Subnets = append(n.Subnets, Subnet{ID: id("subnet", SubnetID, i+1), Zone: z, CIDR: fmt.Sprintf("10.0.%d.0/19", 32*i)})
	}
	for i, z := range n.Zones {
		n.Subnets = append(n.Subnets, Subnet{
			ID: id("subnet", SubnetID, i+4), Zone: z, CIDR: fmt.Sprintf("10.0.%d.0/22", 128+4*i), Public: true,
		})
	}
	return n
}

// reservedAddresses are the first addresses of a subnet, which AWS keeps for itself.
const reservedAddresses = 4

// addressesIn is how many instances a subnet has addresses for: the last one is AWS's too.
func addressesIn(cidr string) int {
	p, err := netip.ParsePrefix(cidr)
	if err != nil || p.Bits() > 28 {
		return 0
	}
	return 1<<(32-p.Bits()) - reservedAddresses - 1
}

// addressAt is the n-th address that a subnet gives to instances.
func addressAt(cidr string, n int) string {
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return ""
	}
	b := p.Masked().Addr().As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n + reservedAddresses)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String()
}

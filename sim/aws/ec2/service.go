// Package ec2 simulates Amazon EC2: launch templates, instances, images and the network that instances are launched into.
package ec2

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

// Service is EC2 of an account in a region. Its parts hold the state.
type Service struct {
	*account.Core
	IAM *iam.Service

	Templates *Templates
	Instances *Instances
	Launcher  *Launcher
	Images    *Images
	Network   *Network
	Tags      *Tags
}

// The parts of the service.
type (
	// Templates are launch templates with their versions and user data.
	Templates struct {
		*Service
		Rows     *core.Table[Template]
		Versions *core.Table[Version]
		// UserData holds the user data of instances, stored once for equal ones.
		UserData core.Contents[string]
	}
	// Instances are virtual machines.
	Instances struct {
		*Service
		Rows *fleet.Machines[Instance, *Instance]
		// Managed returns what an instance learns from the service that manages its node group, nil for none.
		Managed func(*Instance) *sim.Managed
	}
	// Launcher checks and starts launches.
	Launcher struct {
		*Service
	}
	// Images are the images of the account and those that are published.
	Images struct {
		*Service
		Rows *core.Table[catalogue.Image]
	}
	// Network holds the subnets and security groups of instances.
	Network struct {
		*Service
		VPCs           *core.Table[VPC]
		Subnets        *core.Table[Subnet]
		SecurityGroups *core.Table[SecurityGroup]
		KeyPairs       *core.Table[KeyPair]
	}
	// Tags are the tags of all resources.
	Tags struct {
		*Service
	}
)

// New returns the empty service of an account in a region.
func New(base *account.Core, iam *iam.Service) *Service {
	s, p := &Service{Core: base, IAM: iam}, base.Prefix()
	s.Templates = &Templates{
		Service: s, Rows: core.NewTable[Template](p + "template/"), Versions: core.NewTable[Version](p + "version/"),
		UserData: core.NewContents[string](p + "blob/"),
	}
	s.Instances = &Instances{Service: s, Managed: func(*Instance) *sim.Managed { return nil }}
	s.Instances.Rows = fleet.New(base.State, p+"instance/", fleet.Kind[*Instance]{
		Group:    func(i *Instance) string { return i.Tags[GroupTagKey] },
		Occupies: (*Instance).Alive, Runs: func(i *Instance) bool { return i.State == StateRunning }, Guest: s.Instances.machine,
	})
	s.Images = &Images{Service: s, Rows: core.NewTable[catalogue.Image](p + "image/")}
	s.Network = &Network{
		Service: s, VPCs: core.NewTable[VPC](p + "vpc/"), Subnets: core.NewTable[Subnet](p + "subnet/"),
		SecurityGroups: core.NewTable[SecurityGroup](p + "security-group/"), KeyPairs: core.NewTable[KeyPair](p + "key-pair/"),
	}
	s.Launcher, s.Tags = &Launcher{s}, &Tags{s}
	return s
}

// GroupTagKey is the tag by which an instance names its Auto Scaling group.
const GroupTagKey = "aws:autoscaling:groupName"

// Tables returns the tables of the service.
func (r *Service) Tables() core.Tables {
	return core.Tables{
		r.Templates.Rows, r.Templates.Versions, r.Templates.UserData, r.Instances.Rows, r.Images.Rows,
		r.Network.VPCs, r.Network.Subnets, r.Network.SecurityGroups, r.Network.KeyPairs,
	}
}

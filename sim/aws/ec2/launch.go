package ec2

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/fleet"
)

// checkProfile refuses a launch with an instance profile that does not exist, where the simulator is strict.
func (r *Launcher) checkProfile(l Launch) error {
	p := l.Data.IamInstanceProfile
	if p == nil || !r.Strict {
		return nil
	}
	name, arn := shapes.Str(p.Name), shapes.Str(p.Arn)
	if found := r.IAM.Directory.Profiles.Get(iam.RoleKey(cmp.Or(name, arn[strings.LastIndex(arn, "/")+1:]))); found != nil &&
		found.Role != "" {
		return nil
	}
	return wire.Refuse("InvalidParameterValue",
		"Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", cmp.Or(name, arn))
}

// How long things take in life.
const (
	// lifeBoot is from a launch to running, lifeStop from a termination's begin to its end.
	lifeBoot = 15 * time.Second
	lifeStop = 30 * time.Second
	// lifeShown is the time for which a terminated instance can be described.
	lifeShown = time.Hour
	// spotNotice is how long before it is taken away a spot instance is told. It is given to users of the machine, and passes as
	// in life, whatever the speed of machines.
	spotNotice = 2 * time.Minute
)

// Launch is one instance to be: what was asked for, resolved as far as it goes.
type Launch struct {
	Data        ec2.ResponseLaunchTemplateData
	Image       string
	Kind        string
	Subnet      string
	groups      []string
	Spot        bool
	Tags        map[string]string
	Blob        string
	token       string
	Reservation string
	// Group is the Auto Scaling group that launches it, "" for none.
	Group string
}

// LaunchFrom reads a launch out of launch template data.
func (r *Launcher) LaunchFrom(d *ec2.ResponseLaunchTemplateData) Launch {
	l := Launch{Data: *d, Image: shapes.Str(d.ImageId), Kind: d.InstanceType, groups: slices.Clone(d.SecurityGroupIds),
		Tags: map[string]string{}}
	if parameter, ok := strings.CutPrefix(l.Image, "resolve:ssm:"); ok {
		l.Image = r.Catalogue.Parameters[parameter]
	}
	for _, name := range d.SecurityGroups {
		l.groups = append(l.groups, r.Network.groupNamed(name))
	}
	for _, n := range d.NetworkInterfaces {
		l.groups = append(l.groups, n.Groups...)
		if shapes.Val(n.DeviceIndex) == 0 && shapes.Str(n.SubnetId) != "" {
			l.Subnet = *n.SubnetId
		}
	}
	l.Spot = d.InstanceMarketOptions != nil && d.InstanceMarketOptions.MarketType == "spot"
	for _, s := range d.TagSpecifications {
		if s.ResourceType == "instance" {
			for _, t := range s.Tags {
				l.Tags[shapes.Str(t.Key)] = shapes.Str(t.Value)
			}
		}
	}
	return l
}

// groupNamed is the ID of the security group of that name, or the name itself, which no group then has.
func (r *Network) groupNamed(name string) string {
	for id, g := range r.SecurityGroups.All() {
		if g.Name == name {
			return id
		}
	}
	return name
}

// image finds an image that is published or that was put there by hand.
func (r *Images) image(id string) *catalogue.Image {
	if i := r.Rows.Get(id); i != nil {
		return i
	}
	return r.Catalogue.ByID[id]
}

func (r *Launcher) checkImage(l Launch) error {
	if l.Image == "" && l.Data.ImageId == nil {
		return nil
	}
	if r.Images.image(l.Image) == nil {
		return wire.Refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", shapes.Str(l.Data.ImageId))
	}
	return nil
}

func (r *Launcher) checkType(l Launch) error {
	if l.Kind == "" {
		return nil
	}
	t, ok := catalogue.InstanceTypes[l.Kind]
	if !ok {
		return wire.Refuse("InvalidParameterValue", "Invalid value '%s' for InstanceType.", l.Kind)
	}
	if i := r.Images.image(l.Image); i != nil && i.Architecture != t.Architecture {
		return wire.Refuse("InvalidParameterValue",
			"The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. "+
				"Specify an instance type and an AMI that have matching architectures, and try again.", t.Architecture, i.Architecture)
	}
	return nil
}

func (r *Launcher) checkKey(l Launch) error {
	if name := shapes.Str(l.Data.KeyName); name != "" && r.Network.KeyPairs.Get(name) == nil {
		return wire.Refuse("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", name)
	}
	return nil
}

func (r *Launcher) checkGroups(l Launch) error {
	for _, id := range l.groups {
		if r.Network.SecurityGroups.Get(id) == nil {
			return wire.Refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	return nil
}

func (r *Launcher) checkSubnet(l Launch) error {
	if l.Subnet == "" {
		return wire.Refuse("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
	}
	s := r.Network.Subnets.Get(l.Subnet)
	if s == nil {
		return wire.Refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", l.Subnet)
	}
	for _, id := range l.groups {
		if g := r.Network.SecurityGroups.Get(id); g != nil && g.VPC != s.VPC {
			return wire.Refuse("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, l.Subnet)
		}
	}
	return nil
}

// Check refuses what EC2 refuses of a launch before it looks for capacity.
func (r *Launcher) Check(l Launch) error {
	if l.Image == "" && l.Data.ImageId == nil {
		return wire.Refuse("MissingParameter", "The request must contain the parameter ImageId")
	}
	for _, f := range []func(Launch) error{r.checkImage, r.checkType, r.checkKey, r.checkGroups, r.checkSubnet, r.checkProfile} {
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

// Start launches an instance that was checked, unless there is no capacity or no address for it.
func (r *Launcher) Start(l Launch) (*Instance, error) {
	s := r.Network.Subnets.Get(l.Subnet)
	_, faults, full := r.Instances.Rows.Place([]string{s.Zone}, l.Kind, l.Group)
	if full != nil {
		return nil, r.noCapacity(l, s.Zone, full)
	}
	address, err := r.Network.nextAddress(s)
	if err != nil {
		return nil, err
	}
	i := &Instance{
		ID: r.NewID("i"), State: statePending, Since: r.Now, Launch: r.Now, Reservation: l.Reservation, Image: l.Image, Subnet: s.ID,
		Machine: fleet.Machine{Number: r.Number(), Type: l.Kind, Zone: s.Zone, Spot: l.Spot},
		Address: address, Key: shapes.Str(l.Data.KeyName), Groups: l.groups, Tags: l.Tags, Blob: l.Blob, Token: l.token, Data: l.Data,
	}
	i.Data.UserData = nil
	if p := l.Data.IamInstanceProfile; p != nil {
		i.Profile = shapes.Str(p.Name) + shapes.Str(p.Arn)
	}
	// No two machines take equally long to boot: a fifth more or less, drawn from the instance's name.
	spread := 0.8 + 0.4*r.Seed.Chance("boot", i.ID)
	i.Next = r.Now.Add(r.Life(time.Duration(float64(lifeBoot) * spread)))
	i.Disrupt(faults, i.Spot, r.Now)
	r.Instances.Rows.Put(i.ID, i)
	return i, nil
}

// noCapacity is EC2's refusal, with the zones that have what this one has not.
func (r *Launcher) noCapacity(l Launch, zone string, f *sim.Fault) error {
	code, message := cmp.Or(f.Code, "InsufficientInstanceCapacity"), f.Message
	if message == "" {
		others := slices.DeleteFunc(account.ZonesOf(r.Region), func(z string) bool { return z == zone })
		message = fmt.Sprintf("We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). "+
			"Our system will be working on provisioning additional capacity. You can currently get %s capacity by not specifying an "+
			"Availability Zone in your request or choosing %s.", l.Kind, zone, l.Kind, strings.Join(others, ", "))
	}
	return &wire.APIError{Code: code, Message: message, Status: 500}
}

// nextAddress gives the subnet's next free address.
func (r *Network) nextAddress(s *Subnet) (string, error) {
	used := map[string]bool{}
	for _, i := range r.Instances.Rows.All() {
		if i.Subnet == s.ID && i.State != StateTerminated {
			used[i.Address] = true
		}
	}
	room := addressesIn(s.CIDR)
	if len(used) >= room {
		return "", wire.Refuse("InsufficientFreeAddressesInSubnet",
			"There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", s.ID)
	}
	for {
		a := addressAt(s.CIDR, s.Given%room)
		s.Given++
		r.Subnets.Touch(s.ID)
		if !used[a] {
			return a, nil
		}
	}
}

// Stop begins the end of an instance; one that has ended already stays as it is.
func (r *Instances) Stop(i *Instance, code, reason string) {
	if !i.Alive() {
		return
	}
	i.State, i.Since, i.ReasonCode, i.Reason = StateShuttingDown, r.Now, code, reason
	i.Next = r.Now.Add(r.Life(lifeStop))
	r.Rows.Touch(i.ID)
	r.Rows.PowerOff(i.ID)
}

// The reasons that EC2 gives for an instance's end.
const (
	ByUserCode  = "Client.UserInitiatedShutdown"
	ByUser      = "Client.UserInitiatedShutdown: User initiated shutdown"
	bySpotCode  = "Server.SpotInstanceTermination"
	bySpot      = "Server.SpotInstanceTermination: Spot instance termination"
	ByFaultCode = "Server.InternalError"
	ByFault     = "Server.InternalError: Internal error"
)

package aws

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// How long things take in life.
const (
	// lifeBoot is from a launch to running, lifeStop from a termination's begin to its end.
	lifeBoot = 15 * time.Second
	lifeStop = 30 * time.Second
	// lifeShown is how long a terminated instance can still be described.
	lifeShown = time.Hour
	// spotNotice is how long before it is taken away a spot instance is told. It is given to those who use the machine, and passes as
	// in life, whatever the speed of machines.
	spotNotice = 2 * time.Minute
)

// launch is one instance to be: what was asked for, resolved as far as it goes.
type launch struct {
	data        ec2.ResponseLaunchTemplateData
	image       string
	kind        string
	subnet      string
	groups      []string
	spot        bool
	tags        map[string]string
	blob        string
	token       string
	reservation string
	// group is the Auto Scaling group that launches it, "" for none.
	group string
}

// launchFrom reads a launch out of launch template data.
func (r *realm) launchFrom(d *ec2.ResponseLaunchTemplateData) launch {
	l := launch{data: *d, image: str(d.ImageId), kind: d.InstanceType, groups: slices.Clone(d.SecurityGroupIds), tags: map[string]string{}}
	if parameter, ok := strings.CutPrefix(l.image, "resolve:ssm:"); ok {
		l.image = r.published.parameters[parameter]
	}
	for _, name := range d.SecurityGroups {
		l.groups = append(l.groups, r.groupNamed(name))
	}
	for _, n := range d.NetworkInterfaces {
		l.groups = append(l.groups, n.Groups...)
		if val(n.DeviceIndex) == 0 && str(n.SubnetId) != "" {
			l.subnet = *n.SubnetId
		}
	}
	l.spot = d.InstanceMarketOptions != nil && d.InstanceMarketOptions.MarketType == "spot"
	for _, s := range d.TagSpecifications {
		if s.ResourceType == "instance" {
			for _, t := range s.Tags {
				l.tags[str(t.Key)] = str(t.Value)
			}
		}
	}
	return l
}

// groupNamed is the ID of the security group of that name, or the name itself, which no group then has.
func (r *realm) groupNamed(name string) string {
	for id, g := range r.securityGroups.All() {
		if g.Name == name {
			return id
		}
	}
	return name
}

// image finds an image that is published or that was put there by hand.
func (r *realm) image(id string) *Image {
	if i := r.images.Get(id); i != nil {
		return i
	}
	return r.published.byID[id]
}

func (r *realm) checkImage(l launch) error {
	if l.image == "" && l.data.ImageId == nil {
		return nil
	}
	if r.image(l.image) == nil {
		return refuse("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", str(l.data.ImageId))
	}
	return nil
}

func (r *realm) checkType(l launch) error {
	if l.kind == "" {
		return nil
	}
	t, ok := instanceTypes[l.kind]
	if !ok {
		return refuse("InvalidParameterValue", "Invalid value '%s' for InstanceType.", l.kind)
	}
	if i := r.image(l.image); i != nil && i.Architecture != t.architecture {
		return refuse("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. "+
			"Specify an instance type and an AMI that have matching architectures, and try again.", t.architecture, i.Architecture)
	}
	return nil
}

func (r *realm) checkKey(l launch) error {
	if name := str(l.data.KeyName); name != "" && r.keyPairs.Get(name) == nil {
		return refuse("InvalidKeyPair.NotFound", "The key pair '%s' does not exist", name)
	}
	return nil
}

func (r *realm) checkGroups(l launch) error {
	for _, id := range l.groups {
		if r.securityGroups.Get(id) == nil {
			return refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	return nil
}

func (r *realm) checkSubnet(l launch) error {
	if l.subnet == "" {
		return refuse("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
	}
	s := r.subnets.Get(l.subnet)
	if s == nil {
		return refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", l.subnet)
	}
	for _, id := range l.groups {
		if g := r.securityGroups.Get(id); g != nil && g.VPC != s.VPC {
			return refuse("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, l.subnet)
		}
	}
	return nil
}

// check refuses what EC2 refuses of a launch before it looks for capacity.
func (r *realm) check(l launch) error {
	if l.image == "" && l.data.ImageId == nil {
		return refuse("MissingParameter", "The request must contain the parameter ImageId")
	}
	for _, f := range []func(launch) error{r.checkImage, r.checkType, r.checkKey, r.checkGroups, r.checkSubnet, r.checkProfile} {
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

// start launches an instance that was checked, unless there is no capacity or no address for it.
func (r *realm) start(l launch) (*instance, error) {
	s := r.subnets.Get(l.subnet)
	faults := r.server.faults.ForLaunch(sim.Launch{Zone: s.Zone, Type: l.kind, Group: l.group, Existing: r.counter()})
	for _, f := range faults {
		if f.Kind == sim.NoCapacity {
			return nil, r.noCapacity(l, s.Zone, f)
		}
	}
	address, err := r.nextAddress(s)
	if err != nil {
		return nil, err
	}
	i := &instance{
		ID: r.newID("i"), Number: r.number(), State: statePending, Since: r.now, Launch: r.now, Reservation: l.reservation,
		Type: l.kind, Image: l.image, Subnet: s.ID, Zone: s.Zone, Address: address, Key: str(l.data.KeyName), Groups: l.groups,
		Spot: l.spot, Tags: l.tags, Blob: l.blob, Token: l.token, Data: l.data,
	}
	i.Data.UserData = nil
	if p := l.data.IamInstanceProfile; p != nil {
		i.Profile = str(p.Name) + str(p.Arn)
	}
	// No two machines take equally long to boot: a fifth more or less, drawn from the instance's name.
	spread := 0.8 + 0.4*r.server.seed.Chance("boot", i.ID)
	i.Next = r.now.Add(r.life(time.Duration(float64(lifeBoot) * spread)))
	r.plague(i, faults)
	r.instances.Put(i.ID, i)
	return i, nil
}

// plague notes on the instance what faults it was launched with.
func (r *realm) plague(i *instance, faults []sim.Fault) {
	for _, f := range faults {
		at := r.now.Add(time.Duration(f.Delay))
		switch f.Kind {
		case sim.NeverBoots:
			i.NeverBoots = true
		case sim.Impaired:
			i.ImpairedAt = at
		case sim.Dies:
			i.DiesAt = at
		case sim.SpotInterruption:
			if i.Spot {
				i.NoticeAt, i.TakenAt = at, at.Add(spotNotice)
			}
		}
	}
}

// counter counts the living instances that a rule about machines matches.
func (r *realm) counter() func(sim.Fault) int {
	return func(f sim.Fault) int {
		n := 0
		for _, i := range r.instances.All() {
			if i.alive() && (f.Zone == "" || glob(f.Zone, i.Zone)) && (f.Type == "" || glob(f.Type, i.Type)) {
				n++
			}
		}
		return n
	}
}

// noCapacity is EC2's refusal, with the zones that have what this one has not.
func (r *realm) noCapacity(l launch, zone string, f sim.Fault) error {
	code, message := f.Code, f.Message
	if code == "" {
		code = "InsufficientInstanceCapacity"
	}
	if message == "" {
		others := slices.DeleteFunc(zonesOf(r.region), func(z string) bool { return z == zone })
		message = fmt.Sprintf("We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). "+
			"Our system will be working on provisioning additional capacity. You can currently get %s capacity by not specifying an "+
			"Availability Zone in your request or choosing %s.", l.kind, zone, l.kind, strings.Join(others, ", "))
	}
	return &apiError{Code: code, Message: message, Status: 500}
}

// nextAddress gives the subnet's next free address.
func (r *realm) nextAddress(s *subnet) (string, error) {
	used := map[string]bool{}
	for _, i := range r.instances.All() {
		if i.Subnet == s.ID && i.State != stateTerminated {
			used[i.Address] = true
		}
	}
	room := addressesIn(s.CIDR)
	if len(used) >= room {
		return "", refuse("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", s.ID)
	}
	for {
		a := addressAt(s.CIDR, s.Given%room)
		s.Given++
		r.subnets.Touch(s.ID)
		if !used[a] {
			return a, nil
		}
	}
}

// stop begins the end of an instance; one that has ended already stays as it is.
func (r *realm) stop(i *instance, code, reason string) {
	if !i.alive() {
		return
	}
	i.State, i.Since, i.ReasonCode, i.Reason = stateShuttingDown, r.now, code, reason
	i.Next = r.now.Add(r.life(lifeStop))
	r.instances.Touch(i.ID)
	r.powerOff = append(r.powerOff, i.ID)
}

// The reasons that EC2 gives for an instance's end.
const (
	byUserCode, byUser   = "Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"
	bySpotCode, bySpot   = "Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"
	byFaultCode, byFault = "Server.InternalError", "Server.InternalError: Internal error"
)

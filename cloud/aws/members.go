package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// askMost is how many instances one question names: what EC2 recommends as the most.
const askMost = 1000

// memberRead is what EC2 says about one instance and does not take back.
type memberRead struct {
	created time.Time
	// aside and kept say that it carries our tag of those that were set aside, or protected while a refresh ran.
	aside, kept bool
	// standby is when we put it into standby, as the service has said: reads may not show it for a moment.
	standby time.Time
	// spot says that the cloud may take it back.
	spot bool
	// at is when that was asked.
	at time.Time
}

// incomplete says that what is known about an instance may have changed with what the group says of it: somebody put it into
// standby or protected it, and it may have been us.
func (r memberRead) incomplete(i asgtypes.Instance, now time.Time) bool {
	return inStandby(i) && !r.aside || session.Deref(i.ProtectedFromScaleIn) && !r.kept && now.Sub(r.at) > session.SlowPeriod
}

// readMembers asks EC2 about instances that are not known yet: the group's own answer does not tell when they were made, nor
// by whom they were put into standby or protected. What EC2 does not show yet, for its reads are eventually consistent, is asked
// for again.
func (p *pass) readMembers(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	known := p.memory.members
	current := make(map[string]memberRead, len(is.Instances))
	var unknown []string
	for _, i := range is.Instances {
		id := session.Deref(i.InstanceId)
		if _, member := stateOf(i); !member {
			continue
		}
		read, ok := known[id]
		if ok {
			current[id] = read
		}
		if !ok || read.incomplete(i, p.now) {
			unknown = append(unknown, id)
		}
	}
	p.memory.members = current
	for ids := range slices.Chunk(unknown, askMost) {
		found, err := p.instancesNamed(ctx, ids)
		if err != nil {
			return err
		}
		for _, i := range found {
			known := current[session.Deref(i.InstanceId)]
			current[session.Deref(i.InstanceId)] = memberRead{
				created: session.Deref(i.LaunchTime), spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot, at: p.now,
				standby: known.standby, aside: known.aside || session.TaggedFor(i.Tags, tagSetAside, p.t.Owner), kept: known.kept || session.TaggedFor(i.Tags, tagKept, p.t.Owner),
			}
		}
	}
	return nil
}

// codeNoInstance is how EC2 refuses a question that names an instance which it does not know.
const codeNoInstance = "InvalidInstanceID.NotFound"

// instancesNamed asks for the instances of those names. One name that EC2 does not know, or not yet, makes it refuse all of
// them: it says which, and is asked for the others.
func (p *pass) instancesNamed(ctx context.Context, ids []string) ([]ec2types.Instance, error) {
	found, err := p.c.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
	if err = session.Refusal(err, p.now); session.CodeOf(err) == codeNoInstance {
		missing := session.InstanceID.FindAllString(err.Error(), -1)
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(missing, id) })
		if len(ids) == 0 || len(missing) == 0 {
			return nil, nil
		}
		found, err = p.c.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
		err = session.Refusal(err, p.now)
	}
	if err != nil {
		if session.CodeOf(err) == codeNoInstance {
			return nil, nil
		}
		return nil, err
	}
	var all []ec2types.Instance
	for _, r := range found.Reservations {
		for _, i := range r.Instances {
			i.LaunchTime = session.OurTime(i.LaunchTime, found.ResultMetadata)
			all = append(all, i)
		}
	}
	return all, nil
}

// instances are the group's members, in the order in which they were made. Those of which it is not known yet are the
// youngest. Those that somebody put into standby himself are left to him.
func (p *pass) instances(is *asgtypes.AutoScalingGroup, want wanted) []pool.Instance {
	var list []pool.Instance
	differs := p.launch.Differences(want.template)
	for _, i := range is.Instances {
		state, member := stateOf(i)
		if !member {
			continue
		}
		id := session.Deref(i.InstanceId)
		read := p.memory.members[id]
		if inStandby(i) && !read.aside {
			continue
		}
		list = append(list, pool.Instance{
			ID:         id,
			ProviderID: providerID(i),
			Zone:       session.Deref(i.AvailabilityZone),
			Template:   p.memory.template.TemplateOf(p.refOf(i.LaunchTemplate)),
			State:      state,
			Created:    read.created,
			Aside:      inStandby(i) || p.now.Sub(read.standby) < visibleWithin,
			Hold:       p.holdOf(id),
			Doomed:     p.doomOf(is, i),
			Differs:    differs(p.refOf(i.LaunchTemplate)),
		})
	}
	slices.SortFunc(list, func(a, b pool.Instance) int {
		if a.Created.IsZero() != b.Created.IsZero() {
			return cmp.Compare(b.Created.Unix(), a.Created.Unix())
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// lent are the instances that somebody put into standby himself.
func (p *pass) lent(is *asgtypes.AutoScalingGroup) []string {
	var ids []string
	for _, i := range is.Instances {
		if inStandby(i) && !p.memory.members[session.Deref(i.InstanceId)].aside {
			ids = append(ids, providerID(i))
		}
	}
	slices.Sort(ids)
	return ids
}

// providerID is what the Node of an instance carries.
func providerID(i asgtypes.Instance) string {
	return fmt.Sprintf("aws:///%s/%s", session.Deref(i.AvailabilityZone), session.Deref(i.InstanceId))
}

// stateOf puts the service's lifecycle states into pool's. Warm instances do not belong to the group's size, and detached
// ones do not belong to the group.
func stateOf(i asgtypes.Instance) (state pool.InstanceState, member bool) {
	name := string(i.LifecycleState)
	first, _, _ := strings.Cut(name, ":")
	switch first {
	case "Warmed", "Detached", "Terminated":
		return "", false
	case "Terminating", "Detaching":
		return pool.Terminating, true
	}
	if strings.EqualFold(session.Deref(i.HealthStatus), "Unhealthy") {
		return pool.Failed, true
	}
	if first == "Pending" {
		return pool.Pending, true
	}
	return pool.Running, true
}

package nodegroup

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// memberRead is what EC2 says about one instance.
type memberRead struct {
	created time.Time
	// spot is true if the cloud may take it back.
	spot bool
	// tags are those that it was seen to have.
	tags map[string]string
}

// behindName is the name of the Auto Scaling group behind the node group. There is one.
func behindName(is *ekstypes.Nodegroup) string {
	if is.Resources == nil || len(is.Resources.AutoScalingGroups) == 0 {
		return ""
	}
	return session.Deref(is.Resources.AutoScalingGroups[0].Name)
}

// readBehind reads the group behind with its instances, in one call.
func (p *pass) readBehind(ctx context.Context, is *ekstypes.Nodegroup) error {
	name := behindName(is)
	p.memory.behindName = name
	if name == "" {
		p.memory.behind = behindRead{at: p.now}
		return nil
	}
	group, at, err := p.c.Group(ctx, name, p.t.MaxAge)
	if err != nil {
		return err
	}
	p.memory.behind = behindRead{is: group, at: at}
	return nil
}

// size is the number of machines that the node group is asked to keep: what the group behind says, but for an update that adds some
// for a while.
func (p *pass) size() int32 {
	is, behind := p.memory.group.is, p.memory.behind.is
	if is == nil {
		return 0
	}
	said := session.Deref(scalingOf(is).DesiredSize)
	switch {
	case behind == nil, p.memory.updates.rolls():
		return said
	default:
		return session.Deref(behind.DesiredCapacity)
	}
}

// readMembers asks EC2 about instances that are not known yet: the group's own answer does not tell when they were made. What EC2
// does not show yet, for its reads are eventually consistent, is asked for again.
func (p *pass) readMembers(ctx context.Context) error {
	current, err := asg.Details[memberRead]{Keep: func(_ memberRead, i ec2types.Instance) memberRead {
		read := memberRead{created: session.Deref(i.LaunchTime), spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot, tags: map[string]string{}}
		for _, t := range i.Tags {
			read.tags[session.Deref(t.Key)] = session.Deref(t.Value)
		}
		return read
	}}.Read(ctx, p.c, p.memory.behind.is, p.memory.members)
	p.memory.members = current
	return err
}

// observeMembers is readMembers for an observation. If EC2 denies the call, launch times and tags stay unknown and the rest of the pool
// is observed.
func (p *pass) observeMembers(ctx context.Context) error {
	return p.memory.membersRefused.Tolerate(p.now, session.RefusedPeriod, func() error { return p.readMembers(ctx) })
}

// membersIssues returns EC2's refusal to describe instances, if there is one.
func (p *pass) membersIssues() []pool.Cause {
	if refused := p.memory.membersRefused.Err; refused != nil {
		return []pool.Cause{driverkit.CauseOf(refused)}
	}
	return nil
}

// rollUnknown returns why it is unknown what the updates did: EKS refused to report them, or EC2 refused the launch times that tell which
// instances an open update launched. The templates of those are unknown then, and no update is begun on a guess.
func (p *pass) rollUnknown() *pool.Cause {
	if refused := p.memory.updates.refused; refused != nil {
		return refused
	}
	behind := p.memory.behind.is
	if behind != nil && slices.ContainsFunc(behind.Instances, p.templateUnknown) {
		return new(driverkit.CauseOf(p.memory.membersRefused.Err))
	}
	return nil
}

// templateUnknown reports whether it is unknown which template an instance was launched from: an update is open, and EC2 refused to
// report when the instance was launched.
func (p *pass) templateUnknown(i asgtypes.Instance) bool {
	_, member := asg.StateOf(i)
	_, known := p.memory.members[session.Deref(i.InstanceId)]
	return member && !known && p.memory.membersRefused.Err != nil && len(p.memory.updates.open()) > 0
}

// ownVersion is the version of EKS's own template that an instance was launched from.
func ownVersion(i asgtypes.Instance) int64 {
	if i.LaunchTemplate == nil {
		return 0
	}
	number, _ := strconv.ParseInt(session.Deref(i.LaunchTemplate.Version), 10, 64)
	return number
}

// attribute finds out which instances an update has brought that has not succeeded, or not yet: its ID, by theirs. Updates that did
// succeed, and those before, have left nothing else.
func (p *pass) attribute() {
	p.brought = map[string]string{}
	behind := p.memory.behind.is
	if behind == nil {
		return
	}
	for _, u := range p.memory.updates.open() {
		for _, i := range behind.Instances {
			if p.broughtBy(u, i) {
				p.brought[session.Deref(i.InstanceId)] = session.Deref(u.Id)
			}
		}
	}
}

// broughtBy reports whether an instance is younger than an update's beginning, and of a later version of EKS's own template than any that
// is older. An instance of which it is not known yet when it was made is as young as can be.
func (p *pass) broughtBy(u updateRead, i asgtypes.Instance) bool {
	began, read := session.Deref(u.CreatedAt), p.memory.members[session.Deref(i.InstanceId)]
	if !read.created.IsZero() && read.created.Before(began) {
		return false
	}
	for _, other := range p.memory.behind.is.Instances {
		o, ok := p.memory.members[session.Deref(other.InstanceId)]
		if ok && !o.created.IsZero() && o.created.Before(began) && ownVersion(other) >= ownVersion(i) {
			return false
		}
	}
	return true
}

// instances are the members of the group behind, in the order in which they were made. Those of which it is not known yet are the
// youngest.
func (p *pass) instances(is *ekstypes.Nodegroup, want wanted) []pool.Instance {
	behind := p.memory.behind.is
	if behind == nil {
		return nil
	}
	templates := map[string]pool.Template{"": p.templateNow(is, want)}
	for _, u := range p.memory.updates.open() {
		templates[session.Deref(u.Id)] = p.rolledTo(u, is, want)
	}
	differs := p.differences(want)
	var list []pool.Instance
	for _, i := range behind.Instances {
		state, member := asg.StateOf(i)
		if !member || asg.InStandby(i) {
			continue
		}
		read := p.memory.members[session.Deref(i.InstanceId)]
		template := templates[p.brought[session.Deref(i.InstanceId)]]
		if p.templateUnknown(i) {
			template = pool.Template{}
		}
		list = append(list, pool.Instance{
			ID: session.Deref(i.InstanceId), ProviderID: asg.ProviderID(i), Zone: session.Deref(i.AvailabilityZone),
			Template: template, State: state, Created: read.created, TerminationNotice: asg.Unhealthy(behind, i), TemplateDiff: differs(template),
		})
	}
	asg.SortByAge(list)
	return list
}

// untagged are the instances that lack tags which instances shall have: they were launched before the group behind had them.
func (p *pass) untagged(want groupSpec) []string {
	var ids []string
	tags := withoutBooks(want.passed)
	if p.memory.behind.is == nil {
		return nil
	}
	for _, i := range p.memory.behind.is.Instances {
		id := session.Deref(i.InstanceId)
		read, known := p.memory.members[id]
		if state, _ := asg.StateOf(i); !known || state != pool.Running && state != pool.Pending {
			continue
		}
		for key, text := range tags {
			if found, ok := read.tags[key]; !ok || found != text {
				ids = append(ids, id)
				break
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// readActivities asks the group behind why instances are missing. A group that was deleted meanwhile tells nothing.
func (p *pass) readActivities(ctx context.Context) ([]pool.Cause, error) {
	issues, err := p.memory.activities.Read(ctx, p.c, p.memory.behind.is, p.memory.resized, p.now)
	if session.Absent(err) {
		return nil, nil
	}
	return issues, err
}

// healthIssues are EKS's own words on what is wrong with the node group, in EKS's codes, most telling first as EKS has them.
func healthIssues(is *ekstypes.Nodegroup) []pool.Cause {
	if is.Health == nil {
		return nil
	}
	var issues []pool.Cause
	for _, i := range is.Health.Issues {
		issues = append(issues, pool.Cause{Reason: cmp.Or(string(i.Code), "Unknown"), Message: errorLine("", cmp.Or(session.Deref(i.Message), strings.ToLower(string(is.Status))), i.ResourceIds)})
	}
	return issues
}

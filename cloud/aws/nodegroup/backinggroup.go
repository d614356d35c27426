package nodegroup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

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
func (r *reads) size() int32 {
	is, behind := r.group.is, r.behind.is
	if is == nil {
		return 0
	}
	said := session.Deref(scalingOf(is).DesiredSize)
	switch {
	case behind == nil, r.updates.rolls():
		return said
	default:
		return session.Deref(behind.DesiredCapacity)
	}
}

// rollSurge is how many machines an update adds in each zone before it takes others, as EKS's documentation has it.
const rollSurge = 2

// surge returns how many machines an update of the node group adds.
func (b behindRead) surge() int {
	if b.is == nil {
		return 0
	}
	return rollSurge * len(b.is.AvailabilityZones)
}

// present returns the instances that are not on their way out. Nothing else is ever terminated.
func (b behindRead) present() map[string]bool {
	ids := map[string]bool{}
	if b.is != nil {
		for _, i := range b.is.Instances {
			if asg.Present(i) {
				ids[session.Deref(i.InstanceId)] = true
			}
		}
	}
	return ids
}

// drifted reports whether the group, or an instance in it, lacks a tag that it shall have.
func (b behindRead) drifted(want groupSpec, members instancesRead) bool {
	if b.is == nil {
		return false
	}
	put, remove := want.passedChanges(b.is)
	return len(put)+len(remove) > 0 || len(members.untagged(b, want)) > 0
}

// rollUnknown returns why it is unknown what the updates did: EKS refused to report them, or EC2 refused the launch times that tell which
// instances an open update launched. The templates of those are unknown then, and no update is begun on a guess.
func (p *pass) rollUnknown() *pool.Cause {
	if refused := p.memory.updates.refused; refused != nil {
		return refused
	}
	behind := p.memory.behind.is
	unknown := func(i asgtypes.Instance) bool { return p.memory.members.templateUnknown(i, p.memory.updates) }
	if behind != nil && slices.ContainsFunc(behind.Instances, unknown) {
		return new(driverkit.CauseOf(p.memory.members.refused.Err))
	}
	return nil
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
		read := p.memory.members.known[session.Deref(i.InstanceId)]
		template := templates[p.brought[session.Deref(i.InstanceId)]]
		if p.memory.members.templateUnknown(i, p.memory.updates) {
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

package nodegroup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// behindName is the name of the Auto Scaling group behind the node group. There is one.
func behindName(is *ekstypes.Nodegroup) string {
	if is.Resources == nil || len(is.Resources.AutoScalingGroups) == 0 {
		return ""
	}
	return ptr.Deref(is.Resources.AutoScalingGroups[0].Name, "")
}

// behind reads the group behind with its instances, in one call.
func (r *reader) behind(ctx context.Context, is *ekstypes.Nodegroup) error {
	name := behindName(is)
	r.memory.behindName = name
	if name == "" {
		r.memory.behind = behindRead{at: r.now}
		return nil
	}
	group, at, err := r.c.Group(ctx, name, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	r.memory.behind = behindRead{is: group, at: at}
	return nil
}

// size is the number of machines that the node group is asked to keep: what the group behind says, but for an update that adds some
// for a while.
func (r *reads) size() int32 {
	is, behind := r.group.is, r.behind.is
	if is == nil {
		return 0
	}
	said := ptr.Deref(scalingOf(is).DesiredSize, 0)
	switch {
	case behind == nil, r.updates.rolls():
		return said
	default:
		return ptr.Deref(behind.DesiredCapacity, 0)
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
				ids[ptr.Deref(i.InstanceId, "")] = true
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

// rolloutUnknown returns why it is unknown what the updates did: EKS did not report them, or EC2 did not report the launch times that tell
// which instances an open update launched. The templates of those are unknown then, and no update is begun on a guess.
func (m *memory) rolloutUnknown() *pool.Cause {
	if refused := m.updates.refused.Cause(); refused != nil {
		return refused
	}
	behind := m.behind.is
	unknown := func(i asgtypes.Instance) bool { return m.members.templateUnknown(i, m.updates) }
	if behind != nil && slices.ContainsFunc(behind.Instances, unknown) {
		return m.members.refused.Cause()
	}
	return nil
}

// instances returns the members of the group behind, in the order in which they were created. Those whose creation is not known yet are the
// youngest.
func (m *memory) instances(is *ekstypes.Nodegroup, want wanted, seen templates, brought map[string]string) []pool.Instance {
	behind := m.behind.is
	if behind == nil {
		return nil
	}
	templates, open := map[string]pool.Template{"": seen.now(is, want)}, m.updates.open()
	unfinished := seen.showsUnfinished(open, is)
	for _, u := range open {
		templates[ptr.Deref(u.Id, "")] = seen.goal(u, is, want)
	}
	differs := seen.differences(want)
	var list []pool.Instance
	for _, i := range behind.Instances {
		state, member := asg.StateOf(i)
		if !member || asg.InStandby(i) {
			continue
		}
		read := m.members.known[ptr.Deref(i.InstanceId, "")]
		update := brought[ptr.Deref(i.InstanceId, "")]
		template := templates[update]
		switch {
		case m.members.templateUnknown(i, m.updates):
			template = pool.Template{}
		case update == "" && unfinished:
			template = earlierTemplate(i)
		}
		list = append(list, pool.Instance{
			ID: ptr.Deref(i.InstanceId, ""), ProviderID: asg.ProviderID(i), Zone: ptr.Deref(i.AvailabilityZone, ""),
			Template: template, State: state, Created: read.created, TerminationNotice: asg.Unhealthy(behind, i), TemplateDiff: differs(template),
		})
	}
	driverkit.SortByAge(list)
	return list
}

// earlierTemplate returns the template of an instance from before a change that has not replaced it. It is named after the version of EKS's
// own launch template, because EKS does not report what it was made of.
func earlierTemplate(i asgtypes.Instance) pool.Template {
	ref := "earlier"
	if from := i.LaunchTemplate; from != nil {
		ref = launch.Ref(ptr.Deref(from.LaunchTemplateId, ""), ptr.Deref(from.Version, ""))
	}
	return pool.Template{Ref: ref, Content: algorithm + ":" + cloud.Digest([]byte(ref), contentLength), UserManaged: true}
}

// activities asks the group behind why instances are missing. A group that was deleted meanwhile tells nothing.
func (r *reader) activities(ctx context.Context) ([]pool.Cause, error) {
	issues, err := r.memory.activities.Read(ctx, r.c, r.memory.behind.is, r.memory.resized, r.now)
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
		issues = append(issues, pool.Cause{Reason: cmp.Or(string(i.Code), "Unknown"),
			Message: errorLine("", cmp.Or(ptr.Deref(i.Message, ""), strings.ToLower(string(is.Status))), i.ResourceIds)})
	}
	return issues
}

package nodegroup

import (
	"slices"
	"strconv"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// instances returns the members of the backing group, in the order in which they were created. Those whose creation is not known yet are
// the youngest. brought are those that an update has brought.
func (s *state) instances(brought map[string]string) []pool.Instance {
	if s.backing == nil {
		return nil
	}
	templates, open := map[string]pool.Template{"": s.current()}, s.m.updates.open()
	unfinished := s.showsUnfinished(open)
	for _, u := range open {
		templates[ptr.Deref(u.Id, "")] = s.goal(u)
	}
	differs := s.differences()
	var list []pool.Instance
	for _, i := range s.backing.Instances {
		state, member := asg.StateOf(i)
		if !member || asg.InStandby(i) {
			continue
		}
		id := ptr.Deref(i.InstanceId, "")
		update := brought[id]
		template := templates[update]
		switch {
		case s.m.members.templateUnknown(i, open):
			template = pool.Template{}
		case update == "" && unfinished:
			template = earlierTemplate(i)
		}
		list = append(list, pool.Instance{
			ID: id, ProviderID: asg.ProviderID(i), Zone: ptr.Deref(i.AvailabilityZone, ""), Template: template, State: state,
			Created: s.m.members.known[id].created, TerminationNotice: asg.Unhealthy(s.backing, i), TemplateDiff: differs(template),
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

// templateUnknown reports whether it is unknown which template an instance was launched from: an update is open, and EC2 did not
// report when the instance was launched.
func (m instancesRead) templateUnknown(i asgtypes.Instance, open []updateRead) bool {
	_, member := asg.StateOf(i)
	_, known := m.known[ptr.Deref(i.InstanceId, "")]
	return member && !known && m.refused.Err != nil && len(open) > 0
}

// ownVersion is the version of EKS's own template that an instance was launched from.
func ownVersion(i asgtypes.Instance) int64 {
	if i.LaunchTemplate == nil {
		return 0
	}
	number, _ := strconv.ParseInt(ptr.Deref(i.LaunchTemplate.Version, ""), 10, 64)
	return number
}

// broughtBy returns which instances an update has brought that is open: its ID, by theirs. Updates that did succeed, and those before, have
// left nothing else.
func (m instancesRead) broughtBy(open []updateRead, backing *asgtypes.AutoScalingGroup) map[string]string {
	brought := map[string]string{}
	if backing == nil {
		return brought
	}
	for _, u := range open {
		for _, i := range backing.Instances {
			if m.youngerThan(u, i, backing) {
				brought[ptr.Deref(i.InstanceId, "")] = ptr.Deref(u.Id, "")
			}
		}
	}
	return brought
}

// youngerThan reports whether an instance is younger than an update's beginning, and of a later version of EKS's own template than any that
// is older. An instance of which it is not known yet when it was made is as young as can be.
func (m instancesRead) youngerThan(u updateRead, i asgtypes.Instance, backing *asgtypes.AutoScalingGroup) bool {
	began, read := ptr.Deref(u.CreatedAt, time.Time{}), m.known[ptr.Deref(i.InstanceId, "")]
	if !read.created.IsZero() && read.created.Before(began) {
		return false
	}
	for _, other := range backing.Instances {
		o, ok := m.known[ptr.Deref(other.InstanceId, "")]
		if ok && !o.created.IsZero() && o.created.Before(began) && ownVersion(other) >= ownVersion(i) {
			return false
		}
	}
	return true
}

// percentOf is the share of instances that a roll has brought; EKS does not tell.
func (m instancesRead) percentOf(r *pool.ProviderRollout, brought map[string]string) int {
	if r.State == pool.ProviderRolloutSucceeded {
		return 100
	}
	fresh, all := 0, 0
	for id := range m.known {
		all++
		if brought[id] == r.ID {
			fresh++
		}
	}
	if all == 0 {
		return 0
	}
	return 100 * fresh / all
}

// untagged are the instances that lack tags which instances shall have: they were launched before the backing group had them.
func (m instancesRead) untagged(backing *asgtypes.AutoScalingGroup, want groupSpec) []string {
	var ids []string
	tags := withoutBooks(want.passed)
	if backing == nil {
		return nil
	}
	for _, i := range backing.Instances {
		id := ptr.Deref(i.InstanceId, "")
		read, known := m.known[id]
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

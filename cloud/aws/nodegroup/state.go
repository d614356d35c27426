package nodegroup

import (
	"fmt"
	"maps"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// state is one pool as a pass has read it. Its methods compute from that: they read nothing.
type state struct {
	t   target
	now time.Time
	// groupRead is the node group as it was when the state was made; a write drops what memory holds of it.
	groupRead
	m *memory
	// launch and role read and write the pool's launch template and its node role.
	launch launch.Pass
	role   noderole.Pass
	// want holds the requested group as far as it was looked up, failed the reason why the specification can't be met.
	want   desired
	failed error
	// needs holds the findings about the node role, objects the names of missing bootstrap data of versions of the launch template.
	needs   noderole.Findings
	objects []string
	// objectIssues are those of that data, launchIssues why machines were not launched.
	objectIssues, launchIssues []pool.Cause
	cache                      pool.CacheStatus
}

// state returns the pool as far as it has been read.
func (r *reader) state() *state {
	r.followTemplate()
	s := &state{t: r.t, now: r.now, groupRead: r.memory.group, m: r.memory}
	s.cache = pool.CacheStatus{Reused: r.reused, GroupFresh: !s.at.Before(r.now)}
	source := s.t.source()
	source.IgnitionAllowed = r.c.BootstrapFormatIgnition
	s.launch = launch.Pass{
		Session: r.c, Source: source, Memory: &r.memory.template, Now: r.now, Deleting: s.t.Deleting,
		ByEvent: s.t.Cache.ByEvent && !s.t.Adopt, Trouble: len(r.memory.activities.Issues()) > 0,
	}
	own := s.t.pool
	role := noderole.Spec{
		Name: own.RoleName, GroupExists: s.is != nil, Cluster: s.t.eks, Group: s.t.name, Owner: s.t.Owner, Tags: s.t.tags(),
		Path: own.RolePath, Boundary: own.RolePermissionsBoundary, Policies: own.RoleAdditionalPolicies,
		Partition: s.t.cluster.Partition, Remembered: s.t.Remembered,
		MayCreate: r.options.EnableIAM, MayAttach: r.options.AllowAddRoles,
	}
	if s.is != nil && s.t.owns(s.is) {
		role.Current = ptr.Deref(s.is.NodeRole, "")
	}
	s.role = noderole.Pass{Session: r.c, Now: r.now, Spec: role, Memory: &r.memory.role, Slow: &r.slow}
	s.want.group = groupSpecOf(s.t, r.memory.written, r.now)
	return s
}

// followTemplate makes the launch template of an unowned node group the pool's, if the object asks to adopt the node group: EKS takes no
// other in its place. The name is remembered.
func (r *reader) followTemplate() {
	is := r.memory.group.is
	if !r.t.Adopt || r.t.template == "" || is == nil || is.LaunchTemplate == nil || is.Tags[session.TagOwner] != "" {
		return
	}
	name := ptr.Deref(is.LaunchTemplate.Name, "")
	if name == "" || name == r.t.template {
		return
	}
	r.t.template = name
	r.t.Remembered = maps.Clone(r.t.Remembered)
	if r.t.Remembered == nil {
		r.t.Remembered = map[string]string{}
	}
	r.t.Remembered[cloud.AdoptedTemplate] = name
}

// ownership returns what decides whether the node group may be changed.
func (s *state) ownership() driverkit.Ownership { return s.t.ownership(s.groupRead) }

// conflict returns what prevents the pool from being created, or from being reconciled.
func (s *state) conflict() *pool.Cause { return s.ownership().ConflictWith(s.foreignTemplate()) }

// foreignTemplate returns the cause of a launch template that has the pool's name without its owner tag.
func (s *state) foreignTemplate() *pool.Cause {
	if s.t.template == "" {
		return nil
	}
	return s.launch.Foreign()
}

// launchesForeign reports whether a node group with the pool's name and another owner is launched from the pool's template: it was taken
// over.
func (s *state) launchesForeign() bool {
	return s.is != nil && s.ownership().Conflict() != nil && s.is.LaunchTemplate != nil && s.m.template.Holds(s.ref(""))
}

// ref returns the ref of the version of the launch template that the node group is launched from, or of another version of it. Without a
// launch template it is empty: EKS's own version identifies the content.
func (s *state) ref(version string) string {
	from := s.is.LaunchTemplate
	switch {
	case from == nil:
		return ""
	case version == "":
		return s.launch.RefOf(from.Id, from.Name, from.Version)
	}
	return s.launch.RefOf(from.Id, from.Name, &version)
}

// orphaned reports whether the launch template that the node group was created with no longer exists: EKS accepts no other in its place.
func (s *state) orphaned() bool {
	return s.t.template != "" && s.is.LaunchTemplate != nil && ptr.Deref(s.is.LaunchTemplate.Id, "") != s.m.template.ID()
}

// orphan is orphaned as an error about the specification. What is not shown yet may be shown soon.
func (s *state) orphan() error {
	if s.is == nil || !s.t.owns(s.is) || !s.orphaned() {
		return nil
	}
	if s.m.template.ID() == "" {
		s.m.template.Forget()
	}
	return cloud.Invalidf(fieldTemplate, "launch template %s, which node group %s was made with, is there no more, and EKS takes no other "+
		"in its place: its machines stay as they are; make another pool",
		ptr.Deref(s.is.LaunchTemplate.Id, ""), s.t.name)
}

// untagged returns, for messages, the launch template of an adopted node group that lacks the pool's owner tags, or carries those of a pool
// that lost the node group; empty if there is none.
func (s *state) untagged() string {
	if s.is == nil || s.t.template == "" || s.is.Status == ekstypes.NodegroupStatusDeleting ||
		!s.t.Adopt && s.t.Remembered[pool.AdoptedKey] != s.t.name {
		return ""
	}
	return launch.FollowsGroup(s.launch, s.ref(""))
}

// unowned returns the node group that has the pool's name and lacks its owner tag, nil if there is none, with what its adoption depends on.
func (s *state) unowned() *pool.Unowned {
	out := s.ownership().Unowned(s.t.name)
	if out == nil {
		return nil
	}
	out.OtherCluster = session.OtherCluster(s.is.Tags, s.t.Owner.Cluster, s.t.eks)
	out.OfCluster = session.OfCluster(s.is.Tags, s.t.Owner.Cluster, s.t.eks)
	if on := s.t.groupNamed(); s.t.namesAnother(on) || session.Elsewhere(on.region, s.t.cluster) {
		out.NamedInstead = s.t.GroupID
	}
	if s.t.template != "" {
		id, conflict := s.launch.Unowned()
		if out.TemplateConflict = conflict; id != "" {
			out.Resources = append(out.Resources, fmt.Sprintf("launch template %s (%s)", s.t.template, id))
		}
	}
	out.Resources = append(out.Resources, out.Group)
	return out
}

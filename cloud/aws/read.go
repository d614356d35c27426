package aws

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/refresh"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct {
	c      *session.Session
	t      target
	now    time.Time
	memory *memory
	// reused is true if the group was not read although the call wants it as it is now.
	reused bool
	// launch reads and writes the pool's launch template.
	launch launch.Pass
}

// client sends requests about the pool's group.
func (r *reader) client() asg.Client {
	return asg.Client{Session: r.c, Name: r.t.group, Now: r.now}
}

// templates returns the templates that launch template specifications name.
func (r *reader) templates() templates { return templates{r.launch} }

// ownership returns what decides whether the group may be changed.
func (r *reader) ownership() driverkit.Ownership { return r.t.ownership(r.memory.group) }

// group reads the group with its instances, in one call that pools share.
func (r *reader) group(ctx context.Context) error {
	at, maxAge := r.memory.group.at, r.t.Cache.MaxAge
	if driverkit.Reusable(at, r.now, maxAge) || r.memory.template.GroupStillKnown(at, r.now, maxAge) {
		r.reused = r.t.Cache.MaxAge == 0
		return nil
	}
	is, at, err := r.c.Group(ctx, r.t.group, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	r.memory.group = groupRead{is: is, at: at}
	r.memory.template.Wrote = false
	if is != nil {
		return nil
	}
	if err := driverkit.NotYetShown("Auto Scaling group "+r.t.group, r.memory.made, at, session.VisibleWithin); err != nil {
		r.memory.group = groupRead{}
		return err
	}
	return nil
}

// named reads the group that the object names, if that is not the pool's own and the pool's own does not exist: another tool may have
// managed the pool before.
func (r *reader) named(ctx context.Context) error {
	region, name := r.t.groupNamed()
	group := &r.memory.group
	if group.is != nil || name == "" || name == r.t.group || group.named.ID == r.t.GroupID {
		return nil
	}
	label := "Auto Scaling group " + name
	if session.Elsewhere(region, r.t.cluster) {
		group.named = driverkit.NamedGroup{ID: r.t.GroupID, Conflict: cloud.NamedElsewhere(label, "it is in region "+region)}
		return nil
	}
	is, _, err := r.c.Group(ctx, name, r.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	group.named = driverkit.NamedGroup{ID: r.t.GroupID}
	if is != nil && !r.t.owns(is) {
		group.named.Conflict = driverkit.NamedConflict(label, name, r.t.claim(is))
	}
	return nil
}

// followTemplate makes the launch template that an unowned group launches from the pool's, if the object asks to adopt the group: another
// one in its place would replace every instance. The name is remembered.
func (r *reader) followTemplate() {
	is := r.memory.group.is
	if !r.t.Adopt || is == nil || asg.Tag(is, session.TagOwner) != "" {
		return
	}
	from := asg.LaunchedFrom(is)
	if from == nil || ptr.Deref(from.LaunchTemplateName, "") == "" || ptr.Deref(from.LaunchTemplateName, "") == r.t.template {
		return
	}
	r.t.template = *from.LaunchTemplateName
	r.launch.Source.Name = r.t.template
	r.t.Remembered = maps.Clone(r.t.Remembered)
	if r.t.Remembered == nil {
		r.t.Remembered = map[string]string{}
	}
	r.t.Remembered[cloud.AdoptedTemplate] = r.t.template
}

// untagged returns, for messages, what belongs to an adopted group of the pool's and lacks its owner tags, or carries those of a pool that
// lost the group.
func (r *reader) untagged(is *asgtypes.AutoScalingGroup) []string {
	if !r.t.Adopt && r.t.Remembered[pool.AdoptedKey] != r.t.group || asg.Deleting(is) {
		return nil
	}
	var out []string
	if template := launch.FollowsGroup(r.launch, r.templates().ref(asg.LaunchedFrom(is))); template != "" {
		out = append(out, template)
	}
	if n := len(r.memory.members.Untagged(is)); n > 0 {
		out = append(out, fmt.Sprintf("owner tags of instances (%d)", n))
	}
	return out
}

// template reads the launch template and its versions, when they may have changed.
func (r *reader) template(ctx context.Context) error {
	r.launch.Trouble = len(r.memory.activities.Issues()) > 0
	return r.launch.Read(ctx, r.templates().refs(r.t, r.memory.group.is))
}

// rest reads what the group's own answer does not show of it and of its instances.
func (r *reader) rest(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	m, c := r.memory, r.client()
	if err := m.hooks.Read(ctx, c, is); err != nil {
		return err
	}
	if err := m.members.Observe(ctx, c, is, r.t.Owner); err != nil {
		return err
	}
	if err := r.refreshes(ctx, is); err != nil {
		return err
	}
	if err := m.members.ReadNotices(ctx, c, is, r.t.Cache.MaxAge == cloud.NoSharedCache); err != nil {
		return err
	}
	return m.holds.Read(ctx, c, is, m.hooks, desired.HookMarks(is))
}

// refreshes reads the group's instance refreshes, when they may have changed.
func (r *reader) refreshes(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	return r.memory.refreshes.Read(ctx, r.client(), refresh.Change{
		Group: is, MaxAge: r.t.Cache.MaxAge, TemplateOf: r.templates().of, Requested: r.memory.holds.Requested,
	})
}

// all reads the group and the template, unless they have been read.
func (r *reader) all(ctx context.Context) error {
	if r.memory.group.at.IsZero() {
		if err := r.group(ctx); err != nil {
			return err
		}
	}
	if err := r.named(ctx); err != nil {
		return err
	}
	r.followTemplate()
	if !r.memory.template.Known() {
		return r.template(ctx)
	}
	return nil
}

// wanted is the group and the template that the specification asks for now.
type wanted struct {
	group    desired.Group
	template launch.Want
	remember map[string]string
	// failed are the errors of the parts of the specification that could not be translated.
	failed []error
}

// want translates the specification, with the look-ups that this needs. Beside an error it returns what does not depend on the failed
// look-up.
func (r *reader) want(ctx context.Context) (wanted, error) {
	look := r.c.Resolver(r.t.Remembered, r.now)
	removable := session.Unique(slices.Concat(r.t.additionalTags(), r.memory.tagged.Names(r.now)))
	w := wanted{group: desired.Of(r.t.pool, r.t.tags(), removable), remember: look.Remember}
	session.KeepAdopted(r.t.Remembered, look.Remember)
	subnets, err := launch.Subnets(ctx, look, r.t.cluster, r.t.places())
	if err == nil {
		err = r.launch.Source.FitsIn(subnets)
	}
	if err == nil {
		err = r.t.checkHooks()
	}
	if err != nil {
		w.failed = append(w.failed, err)
	} else {
		w.group.Subnets = subnets
	}
	if err = w.group.CheckTags(); err != nil {
		w.failed = append(w.failed, err)
	}
	if w.template, err = r.launch.Want(ctx, look); err != nil {
		w.failed = append(w.failed, err)
	}
	if len(w.failed) > 0 {
		look.Keep()
		return w, w.failed[0]
	}
	return w, nil
}

// templates are the templates of a pool, by what groups and instances name them.
type templates struct{ launch launch.Pass }

// ref returns the reference of a launch template specification; empty for none.
func (l templates) ref(s *asgtypes.LaunchTemplateSpecification) string {
	if s == nil {
		return ""
	}
	return l.launch.RefOf(s.LaunchTemplateId, s.LaunchTemplateName, s.Version)
}

// of returns the template of a launch template specification.
func (l templates) of(s *asgtypes.LaunchTemplateSpecification) pool.Template {
	return l.launch.Memory.TemplateOf(l.ref(s))
}

// refs returns what the pool's own group and its instances name as their templates.
func (l templates) refs(t target, is *asgtypes.AutoScalingGroup) []string {
	if is == nil || !t.owns(is) {
		return nil
	}
	refs := []string{l.ref(asg.LaunchedFrom(is))}
	for _, i := range is.Instances {
		refs = append(refs, l.ref(i.LaunchTemplate))
	}
	return refs
}

// foreignLaunches reports whether a group with the pool's name and another owner launches from the pool's template: it was taken over.
func (l templates) foreignLaunches(t target, group groupRead) bool {
	return group.is != nil && t.ownership(group).Conflict() != nil && l.launch.Memory.Holds(l.ref(asg.LaunchedFrom(group.is)))
}

// toDelete returns the versions of the pool's template beside a group of another owner, unless that group launches from them: they are
// deleted with the pool.
func (l templates) toDelete(t target, group groupRead) []pool.Template {
	if l.foreignLaunches(t, group) {
		return nil
	}
	return l.launch.Memory.Versions()
}

// unowned returns the group that has the pool's name and lacks its owner tag, nil if there is none, with what its adoption depends on.
func (l templates) unowned(t target, group groupRead) *pool.Unowned {
	out := t.ownership(group).Unowned(t.group)
	if out == nil {
		return nil
	}
	tags, cluster := asg.Tags(group.is), []string{t.Owner.Cluster, t.cluster.EKSClusterName}
	out.OtherCluster, out.OfCluster = session.OtherCluster(tags, cluster...), session.OfCluster(tags, cluster...)
	if region, name := t.groupNamed(); name != "" && name != t.group || session.Elsewhere(region, t.cluster) {
		out.NamedInstead = t.GroupID
	}
	template, conflict := l.launch.Unowned()
	if out.TemplateConflict = conflict; template != "" {
		out.Resources = append(out.Resources, fmt.Sprintf("launch template %s (%s)", t.template, template))
	}
	if n := len(group.is.Instances); n > 0 {
		out.Resources = append(out.Resources, fmt.Sprintf("%d instances", n))
	}
	out.Resources = append(out.Resources, out.Group)
	return out
}

package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// pass is one call of Observe or Start for one pool.
type pass struct {
	driver *Driver
	c      *clients
	t      target
	now    time.Time
	memory *memory
}

// wanted is what the specification asks for now.
type wanted struct {
	group    groupSpec
	template pool.Template
	data     *ec2types.RequestLaunchTemplateData
	// rootDevice is what the image, or the specification, calls the root volume.
	rootDevice string
	remember   map[string]string
}

// observe reads what is not known any more and puts it into pool's words.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.readGroup(ctx); err != nil {
		return pool.Observed{}, err
	}
	if err := p.readTemplate(ctx); err != nil {
		return pool.Observed{}, err
	}
	if foreign := p.foreign(); foreign != nil {
		return pool.Observed{Foreign: foreign, Versions: p.versionsToDelete(), Remember: p.t.Remembered}, nil
	}
	out := pool.Observed{Versions: p.versions()}
	if template := p.foreignTemplate(); template != nil {
		out.Issues = append(out.Issues, *template)
	}
	is := p.memory.group.is
	want, err := p.want(ctx)
	out.Remember = want.remember
	if err != nil {
		if is == nil && len(out.Versions) == 0 {
			return out, &cloud.Unmet{Err: err}
		}
		out.Issues = append(out.Issues, causeOf(err))
	}
	out.Wanted = want.template
	if is == nil {
		return out, nil
	}
	if err := p.readRest(ctx, is); err != nil {
		return pool.Observed{}, err
	}
	out.Group = p.group(is, want.group)
	out.Instances, out.Lent = p.instances(is, want), p.lent(is)
	out.ShortNotice = p.atShortNotice(is)
	out.Roll = p.roll()
	issues, err := p.readActivities(ctx, is)
	if err != nil {
		return pool.Observed{}, err
	}
	out.Issues = append(out.Issues, issues...)
	return out, nil
}

// readGroup reads the group with its instances, in one call.
func (p *pass) readGroup(ctx context.Context) error {
	if p.memory.groupAsRead(p.now, p.t.MaxAge) {
		return nil
	}
	found, err := p.c.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
		AutoScalingGroupNames: []string{p.t.group},
	})
	if err != nil {
		return refusal(err, p.now)
	}
	p.memory.group = groupRead{at: p.now}
	p.memory.wrote = false
	if len(found.AutoScalingGroups) > 0 {
		p.memory.group.is = &found.AutoScalingGroups[0]
		return nil
	}
	if p.now.Sub(p.memory.made) < visibleWithin {
		// To believe it would make the group twice, or let the object of one go that is there.
		p.memory.group = groupRead{}
		return &cloud.Error{Kind: cloud.Conflict, Code: "GroupNotShown", Message: fmt.Sprintf(
			"Auto Scaling group %s was made a moment ago and is not shown yet", p.t.group)}
	}
	return nil
}

// ours says whether the group carries our owner tag.
func (p *pass) ours(is *asgtypes.AutoScalingGroup) bool { return tagOf(is, tagOwner) == p.t.Owner.ID }

// foreignGroup says that a group has our name without being ours.
func (p *pass) foreignGroup() *pool.Cause {
	is := p.memory.group.is
	if is == nil || p.ours(is) {
		return nil
	}
	return &pool.Cause{Reason: "ForeignGroup", Message: fmt.Sprintf(
		"Auto Scaling group %s exists and is not this pool's: its tag %s is %s. It is left alone. Delete it, or give this pool's group another name by the annotation muster.dev/group-name",
		p.t.group, tagOwner, quoted(tagOf(is, tagOwner)))}
}

// foreignTemplate says that a launch template has our name without being ours.
func (p *pass) foreignTemplate() *pool.Cause {
	known := p.memory.template
	if known.id == "" || known.ours {
		return nil
	}
	return &pool.Cause{Reason: "ForeignTemplate", Message: fmt.Sprintf(
		"launch template %s (%s) exists and is not this pool's: it has no tag %s of ours. It is left alone. Delete it, or give this pool's template another name in %s",
		p.t.template, known.id, tagOwner, fieldTemplateName)}
}

// foreign says what keeps the pool from being made, or from being looked after. Once the group exists, a template that is
// not ours is an issue and no more, so that the group can still be sized and deleted.
func (p *pass) foreign() *pool.Cause {
	if group := p.foreignGroup(); group != nil || p.memory.group.is != nil {
		return group
	}
	return p.foreignTemplate()
}

// versionsToDelete are the versions of our template beside a group that is not ours, unless that group launches from them:
// they are ours to delete with the pool.
func (p *pass) versionsToDelete() []pool.Template {
	if p.foreignLaunches() {
		return nil
	}
	return p.versions()
}

// foreignLaunches says whether a group of our name that is not ours launches from our template: somebody took it over.
func (p *pass) foreignLaunches() bool {
	is := p.memory.group.is
	return p.foreignGroup() != nil && strings.HasPrefix(p.refOf(launchedFrom(is)), p.memory.template.id+":")
}

func quoted(text string) string {
	if text == "" {
		return "missing"
	}
	return fmt.Sprintf("%q", text)
}

// want translates the specification, with whatever look-ups that takes. What does not depend on a look-up that failed is
// there even so.
func (p *pass) want(ctx context.Context) (wanted, error) {
	r := &resolver{driver: p.driver, c: p.c, t: p.t, now: p.now, remember: map[string]string{}}
	w := wanted{group: groupSpecOf(p.t), remember: r.remember}
	var failed []error
	subnets, err := r.subnets(ctx)
	if err == nil {
		err = noEnclavesAtTheEdge(p.t, subnets)
	}
	if err == nil {
		err = hookNameFree(p.t)
	}
	if err != nil {
		failed = append(failed, err)
	} else {
		w.group.subnets = subnets
	}
	if err = p.wantTemplate(ctx, r, &w); err != nil {
		failed = append(failed, err)
	}
	if len(failed) > 0 {
		keep(w.remember, p.t.Remembered)
		return w, failed[0]
	}
	return w, nil
}

// keep holds on to what was remembered before: a look-up that failed in front of another one must not make that forget
// its answer.
func keep(remember, before map[string]string) {
	for key, answer := range before {
		if _, ok := remember[key]; !ok {
			remember[key] = answer
		}
	}
}

// wantTemplate translates the launch template. Without bootstrap data there is none to ask for.
func (p *pass) wantTemplate(ctx context.Context, r *resolver, w *wanted) error {
	architecture, err := r.architecture(ctx)
	if err != nil {
		return err
	}
	image, err := r.image(ctx, architecture)
	if err != nil {
		return err
	}
	groups, err := r.additionalGroups(ctx)
	if err != nil {
		return err
	}
	data, err := launchData(p.t, image, groups)
	if err != nil || p.t.Bootstrap.Empty() {
		return err
	}
	text, err := userData(p.t.Bootstrap)
	if err != nil {
		return err
	}
	data.UserData = &text
	content, err := contentHash(data)
	if err != nil {
		return err
	}
	w.template, w.data, w.rootDevice = pool.Template{Content: content, Data: p.t.Bootstrap.Hash()}, data, rootDevice(&p.t.pool.AWSLaunchTemplate, image)
	return nil
}

// causeOf says in an observation what went wrong with a look-up.
func causeOf(err error) pool.Cause {
	var e *cloud.Error
	if errors.As(err, &e) {
		return pool.Cause{Reason: string(e.Kind), Message: e.Error()}
	}
	return pool.Cause{Reason: string(cloud.Unavailable), Message: err.Error()}
}

func (p *pass) versions() []pool.Template {
	var list []pool.Template
	for _, v := range p.memory.template.versions {
		list = append(list, v.Template)
	}
	return list
}

// launchedFrom is the template that the group launches from, wherever it says so.
func launchedFrom(is *asgtypes.AutoScalingGroup) *asgtypes.LaunchTemplateSpecification {
	if m := is.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		return m.LaunchTemplate.LaunchTemplateSpecification
	}
	return is.LaunchTemplate
}

// refOf is the ref of what a group or instance says about its template: "lt-0abc:$Latest" is possible for a group that
// somebody changed by hand.
func (p *pass) refOf(s *asgtypes.LaunchTemplateSpecification) string {
	if s == nil {
		return ""
	}
	id := deref(s.LaunchTemplateId)
	if id == "" && deref(s.LaunchTemplateName) == p.t.template {
		id = p.memory.template.id
	}
	return ref(cmp.Or(id, deref(s.LaunchTemplateName)), cmp.Or(deref(s.Version), "$Default"))
}

// statusDeleting is how a group's status begins while it is being deleted.
const statusDeleting = "Delete in progress"

func (p *pass) group(is *asgtypes.AutoScalingGroup, want groupSpec) *pool.Group {
	g := &pool.Group{
		ID:       deref(is.AutoScalingGroupARN),
		Size:     int(deref(is.DesiredCapacity)),
		Min:      int(deref(is.MinSize)),
		Max:      int(deref(is.MaxSize)),
		Template: p.refOf(launchedFrom(is)),
		Deleting: strings.HasPrefix(deref(is.Status), statusDeleting),
	}
	if !g.Deleting {
		g.Drift = want.drift(is, p.memory.hooks.list)
		if p.memory.rolls.fixed() {
			g.Drift = slices.DeleteFunc(g.Drift, func(field string) bool { return field == driftMixed })
		}
		if len(p.leftProtected(is)) > 0 {
			g.Drift = append(g.Drift, driftKept)
		}
	}
	return g
}

// readRest reads what is not known of a group and its instances and does not change with them.
func (p *pass) readRest(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	if err := p.readHooks(ctx); err != nil {
		return err
	}
	if err := p.readMembers(ctx, is); err != nil {
		return err
	}
	if err := p.readRolls(ctx, is); err != nil {
		return err
	}
	if err := p.readMarks(ctx, is); err != nil {
		return err
	}
	return p.readHolds(ctx, is)
}

// readHooks reads the group's lifecycle hooks once in a while, and as a rule not in a pass that has read the template again,
// so that no pass reads much. A group that is being deleted has none.
func (p *pass) readHooks(ctx context.Context) error {
	known := &p.memory.hooks
	age := p.now.Sub(known.at)
	young := age < slowPeriod || age < 2*slowPeriod && p.memory.template.at.Equal(p.now)
	if !known.at.IsZero() && young || strings.HasPrefix(deref(p.memory.group.is.Status), statusDeleting) {
		return nil
	}
	found, err := p.c.autoscaling.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &p.t.group})
	if err = refusal(err, p.now); absent(err) || beingDeleted(err) {
		// The group as it was read is older than its deletion.
		return nil
	}
	if err != nil {
		return err
	}
	*known = hooksRead{list: found.LifecycleHooks, at: p.now}
	return nil
}

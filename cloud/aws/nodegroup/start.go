package nodegroup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// codeInUse is how EKS refuses what another update, or a group that exists, stands in the way of.
const codeInUse = "ResourceInUseException"

// steps are how each step is begun.
var steps = driverkit.Steps[*pass]{
	pool.PutTemplate:          (*pass).putTemplate,
	pool.DefaultTemplate:      (*pass).defaultTemplate,
	pool.PruneTemplates:       (*pass).pruneTemplates,
	pool.DeleteTemplates:      func(p *pass, ctx context.Context, _ pool.Step) error { return p.deleteTemplates(ctx) },
	pool.EnsurePrerequisites:  (*pass).provide,
	pool.CleanUp:              (*pass).cleanUp,
	pool.CreateGroup:          (*pass).createGroup,
	pool.Adopt:                func(p *pass, ctx context.Context, _ pool.Step) error { return adopt(ctx, p) },
	pool.UpdateGroup:          (*pass).updateGroup,
	pool.Resize:               (*pass).resize,
	pool.Remove:               func(p *pass, ctx context.Context, s pool.Step) error { return p.terminate(ctx, s, true) },
	pool.Replace:              func(p *pass, ctx context.Context, s pool.Step) error { return p.terminate(ctx, s, false) },
	pool.StartProviderRollout: (*pass).startRoll,
	pool.DeleteGroup:          func(p *pass, ctx context.Context, _ pool.Step) error { return p.deleteGroup(ctx) },
}

// start begins the step.
func (p *pass) start(ctx context.Context, s pool.Step) error {
	run, err := steps.Step(s.Kind, "a node group")
	if err != nil {
		return err
	}
	return run(p, ctx, s)
}

// known makes sure that the group has been read before something depends on it, and that it is the pool's own.
func (p *pass) known(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	return driverkit.Owned(p.foreignGroup())
}

// read makes sure that the group and the template have been read.
func (p *pass) read(ctx context.Context) error {
	if p.memory.group.at.IsZero() {
		if err := p.readGroup(ctx); err != nil {
			return err
		}
	}
	if err := p.readNamed(ctx); err != nil {
		return err
	}
	followTemplate(p)
	if p.t.template != "" && !p.memory.template.Known() {
		return p.readTemplate(ctx)
	}
	return nil
}

// createGroup makes the node group, with everything that it shall have from the beginning.
func (p *pass) createGroup(ctx context.Context, s pool.Step) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	role, err := p.nodeRole().ARN(ctx)
	if err != nil {
		return err
	}
	input := p.t.createInput(want, role, int32(s.Size))
	if err := closed(p.t, input.RemoteAccess); err != nil {
		return err
	}
	if p.t.template != "" {
		if input.LaunchTemplate, err = specification(s.Template); err != nil {
			return err
		}
	}
	p.memory.touchedUpdates()
	p.memory.resized = p.now
	err = p.sendCreate(ctx, input)
	if cloud.CodeOf(err) == codeInUse {
		return p.confirmGroupCreated(ctx, err)
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.made = p.now
	}
	return err
}

// sendCreate asks for the group, with the first client token that is not spent.
func (p *pass) sendCreate(ctx context.Context, input *eks.CreateNodegroupInput) (err error) {
	for k := range tokensMost {
		input.ClientRequestToken = nil
		if input.ClientRequestToken, err = p.t.tokenOf(input, strconv.Itoa(k)); err != nil {
			return err
		}
		_, err = p.c.EKS.CreateNodegroup(ctx, input)
		if err = p.memory.role.NotYetVisible(session.Refusal(err, p.now), p.now); !spent(err) {
			break
		}
	}
	return err
}

// tokenOf is the client token of a request: it covers everything that is sent, and what was there before.
func (t target) tokenOf(input any, before string) (*string, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("encode the request for its token: %w", err)
	}
	return new(clientToken(t.Owner.ID, string(text), before)), nil
}

// tokensMost bounds the client tokens that are tried. The service remembers what a token has made, and goes on answering with it when
// that was deleted meanwhile, or refuses the token when what goes with it has changed (tags, a size): then the next token is due.
const tokensMost = 5

// spent reports whether the client token once made something else, or something that does not exist any more. Tokens of credentials that
// are denied are others: the words about them are no reason to ask again.
func spent(err error) bool {
	if kind := cloud.KindOf(err); kind != cloud.Invalid && kind != cloud.Conflict {
		return false
	}
	text := strings.ToLower(err.Error())
	return session.Absent(err) && strings.Contains(text, "node group") || strings.Contains(text, "token") || strings.Contains(text, "idempotent")
}

// createInput is the request for a node group of that size.
func (t target) createInput(want wanted, role string, size int32) *eks.CreateNodegroupInput {
	g := want.group
	largest := max(size, 1)
	if g.max != nil {
		largest = max(*g.max, size)
	}
	smallest := min(g.min, size)
	input := &eks.CreateNodegroupInput{
		ClusterName: &t.eks, NodegroupName: &t.name, NodeRole: &role, Subnets: g.subnets,
		AmiType: g.images, CapacityType: g.capacity, DiskSize: g.diskSize, InstanceTypes: g.instanceTypes, RemoteAccess: g.remote,
		Labels: g.labels, Taints: g.taints, Tags: g.tags,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: &smallest, MaxSize: &largest, DesiredSize: &size},
		UpdateConfig:  &g.update,
	}
	if g.repair {
		input.NodeRepairConfig = &ekstypes.NodeRepairConfig{Enabled: &g.repair}
	}
	if next := want.course.next; next.minor != 0 {
		input.Version = new(eksVersion(next.minor))
	}
	if want.course.next.release != "" {
		input.ReleaseVersion = &want.course.next.release
	}
	return input
}

// confirmGroupCreated finds out whether a group that exists already is the one that an earlier, unanswered request made.
func (p *pass) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, p.readGroup(ctx), func() bool {
		is := p.memory.group.is
		return is != nil && p.t.owns(is) && is.Status != ekstypes.NodegroupStatusDeleting
	})
}

// ownedNow makes sure that the node group is the pool's at this moment. The group behind, by which a look may go, does not show whose the
// node group is now: EKS is asked before the node group is written to.
func ownedNow(ctx context.Context, p *pass) error {
	if p.now.Sub(p.memory.group.asked) > session.SameMoment {
		p.t.MaxAge = cloud.NoSharedCache
		if err := p.readGroup(ctx); err != nil {
			return err
		}
	}
	return p.known(ctx)
}

// deleteGroup deletes the node group with what is still in it, if it is the pool's.
func (p *pass) deleteGroup(ctx context.Context) error {
	if err := ownedNow(ctx, p); err != nil {
		return err
	}
	if is := p.memory.group.is; is == nil || is.Status == ekstypes.NodegroupStatusDeleting {
		return nil
	}
	// Whether the reply comes or not, it may be gone from now on.
	p.memory.made = time.Time{}
	p.memory.touchedUpdates()
	_, err := p.c.EKS.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: &p.t.eks, NodegroupName: &p.t.name})
	if err = session.Refusal(err, p.now); session.Absent(err) {
		return nil
	}
	return err
}

// terminate terminates exactly the given instances, in the group behind: EKS itself would choose. A removal lowers the group's size
// by one in the same call; otherwise the group launches another in the place of each.
func (p *pass) terminate(ctx context.Context, s pool.Step, lower bool) error {
	if err := asg.NoMoreThan(s.Targets, "terminate"); err != nil {
		return err
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	if err := p.upToDate(); err != nil {
		return err
	}
	if p.memory.behind.is == nil {
		return nil
	}
	size, name := int(p.memory.size()), session.Deref(p.memory.behind.is.AutoScalingGroupName)
	members := p.memory.behind.present()
	p.memory.touchedGroup()
	there := slices.DeleteFunc(slices.Clone(s.Targets), func(t pool.InstanceRef) bool { return !members[t.ID] })
	return asg.Termination{Session: p.c, Now: p.now, Group: name, Size: size, Lower: lower, Asked: &p.memory.asked, Going: p.going}.Terminate(ctx, there)
}

// upToDate makes sure that what is taken away is chosen from what is there after all that we asked for.
func (p *pass) upToDate() error {
	size := int(p.memory.size())
	if p.memory.behind.is == nil || !p.memory.asked.NotYetVisible(size, p.now, session.VisibleWithin) {
		return nil
	}
	p.memory.touchedGroup()
	return p.memory.asked.Conflict("node group "+p.t.name, size)
}

// going reports whether an instance is on its way out already, or gone.
func (p *pass) going(ctx context.Context, id string) (bool, error) {
	defer p.memory.touchedGroup()
	if err := p.readGroup(ctx); err != nil || p.memory.group.is == nil {
		return err == nil, err
	}
	return !p.memory.behind.present()[id], nil
}

// ownTemplate makes sure that there is a launch template of the pool's own, which has no other owner.
func (p *pass) ownTemplate(ctx context.Context) error {
	if p.t.template == "" {
		return fmt.Errorf("node group %s is launched from EKS's own template, which is not written to", p.t.name)
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	return driverkit.Owned(p.foreignTemplate())
}

// putTemplate makes the template with its first version, or a new version of it.
func (p *pass) putTemplate(ctx context.Context, s pool.Step) error {
	if err := p.ownTemplate(ctx); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	predecessor := s.Base
	if is := p.memory.group.is; predecessor == "" && is != nil {
		predecessor = p.launchRef(is, "")
	}
	return p.template().Put(ctx, want.launch, s.Base, predecessor)
}

// defaultTemplate makes a version the template's default.
func (p *pass) defaultTemplate(ctx context.Context, s pool.Step) error {
	if err := p.ownTemplate(ctx); err != nil {
		return err
	}
	return p.template().SetDefault(ctx, s.Template)
}

// pruneTemplates deletes versions. One that is gone already is no error.
func (p *pass) pruneTemplates(ctx context.Context, s pool.Step) error {
	if err := p.ownTemplate(ctx); err != nil {
		return err
	}
	return p.template().Prune(ctx, s.Refs)
}

// deleteTemplates deletes the template with all its versions, if it is ours. A node group of our name that is not ours is no
// obstacle, unless it is launched from the template.
func (p *pass) deleteTemplates(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	if p.t.template == "" {
		return nil
	}
	if p.foreignLaunches() {
		return driverkit.Owned(p.foreignGroup())
	}
	return p.template().Delete(ctx)
}

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
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// codeInUse is how EKS refuses what another update, or a group that exists, stands in the way of.
const codeInUse = "ResourceInUseException"

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.PutTemplate: (*writer).putTemplate,
	pool.DefaultTemplate: onTemplate(func(ctx context.Context, l launch.Pass,
		s pool.Step) error {
		return l.SetDefault(ctx, s.Template)
	}),
	pool.PruneTemplates:       onTemplate(func(ctx context.Context, l launch.Pass, s pool.Step) error { return l.Prune(ctx, s.Refs) }),
	pool.DeleteTemplates:      (*writer).deleteTemplates,
	pool.EnsurePrerequisites:  (*writer).ensurePrerequisites,
	pool.CleanUp:              (*writer).cleanUp,
	pool.CreateGroup:          (*writer).createGroup,
	pool.Adopt:                (*writer).adopt,
	pool.UpdateGroup:          (*writer).updateGroup,
	pool.Resize:               (*writer).resize,
	pool.Remove:               func(w *writer, ctx context.Context, s pool.Step) error { return w.terminate(ctx, s, true) },
	pool.Replace:              func(w *writer, ctx context.Context, s pool.Step) error { return w.terminate(ctx, s, false) },
	pool.StartProviderRollout: (*writer).startRoll,
	pool.DeleteGroup:          (*writer).deleteGroup,
}

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct {
	*pass
	reader *reader
}

// onTemplate returns a step that concerns the launch template alone, which must be the pool's own.
func onTemplate(do func(ctx context.Context, l launch.Pass, s pool.Step) error) func(w *writer, ctx context.Context, s pool.Step) error {
	return func(w *writer, ctx context.Context, s pool.Step) error {
		if err := w.ownTemplate(); err != nil {
			return err
		}
		return do(ctx, w.reader.launch(), s)
	}
}

// look reads the group and the template, unless they have been read. The group behind, by which a look may go, does not show whose the
// node group is now: EKS is asked before the node group is written to.
func (w *writer) look(ctx context.Context, s pool.Step) error {
	switch s.Kind {
	case pool.UpdateGroup, pool.Resize, pool.Remove, pool.Replace, pool.StartProviderRollout, pool.DeleteGroup:
		return w.recent(ctx)
	}
	return w.reader.all(ctx)
}

// recent reads what look does, and the group as it is at this moment.
func (w *writer) recent(ctx context.Context) error {
	if w.now.Sub(w.memory.group.asked) > session.SameMoment {
		w.t.Cache.MaxAge = cloud.NoSharedCache
		if err := w.reader.group(ctx); err != nil {
			return err
		}
	}
	return w.reader.all(ctx)
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
	if r.t.template != "" && !r.memory.template.Known() {
		return r.template(ctx)
	}
	return nil
}

// createGroup creates the node group, with everything that it shall have from the beginning.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.reader.want(ctx)
	if err != nil {
		return err
	}
	role, err := w.reader.nodeRole().ARN(ctx)
	if err != nil {
		return err
	}
	input := w.t.createInput(want, role, int32(s.Size))
	if err := closed(w.t, input.RemoteAccess); err != nil {
		return err
	}
	if w.t.template != "" {
		if input.LaunchTemplate, err = specification(s.Template); err != nil {
			return err
		}
	}
	w.memory.touchedUpdates()
	w.memory.resized = w.now
	err = w.sendCreate(ctx, input)
	if cloud.CodeOf(err) == codeInUse {
		return w.confirmGroupCreated(ctx, err)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made = w.now
	}
	return err
}

// sendCreate asks for the group, with the first client token that is not spent.
func (w *writer) sendCreate(ctx context.Context, input *eks.CreateNodegroupInput) (err error) {
	for k := range tokensMost {
		input.ClientRequestToken = nil
		if input.ClientRequestToken, err = w.t.tokenOf(input, strconv.Itoa(k)); err != nil {
			return err
		}
		_, err = w.c.EKS.CreateNodegroup(ctx, input)
		if err = w.memory.role.NotYetVisible(session.Refusal(err, w.now), w.now); !spent(err) {
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
	return session.Absent(err) && strings.Contains(text, "node group") || strings.Contains(text, "token") ||
		strings.Contains(text, "idempotent")
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

// confirmGroupCreated reads whether a group that exists already was created by an earlier request, whose reply was lost.
func (w *writer) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, w.reader.group(ctx), func() bool {
		is := w.memory.group.is
		return is != nil && w.t.owns(is) && is.Status != ekstypes.NodegroupStatusDeleting
	})
}

// deleteGroup deletes the node group with what is still in it, if it is the pool's.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if is := w.memory.group.is; is == nil || is.Status == ekstypes.NodegroupStatusDeleting {
		return nil
	}
	// Whether the reply comes or not, it may be gone from now on.
	w.memory.made = time.Time{}
	w.memory.touchedUpdates()
	_, err := w.c.EKS.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: &w.t.eks, NodegroupName: &w.t.name})
	if err = session.Refusal(err, w.now); session.Absent(err) {
		return nil
	}
	return err
}

// terminate terminates exactly the given instances, in the group behind: EKS itself would choose. A removal lowers the group's size
// by one in the same call; otherwise the group launches another in the place of each.
func (w *writer) terminate(ctx context.Context, s pool.Step, lower bool) error {
	if err := asg.NoMoreThan(asg.RemoveBatch, s.Targets, "terminate"); err != nil {
		return err
	}
	if err := w.upToDate(); err != nil {
		return err
	}
	if w.memory.behind.is == nil {
		return nil
	}
	size, name := int(w.memory.size()), ptr.Deref(w.memory.behind.is.AutoScalingGroupName, "")
	members := w.memory.behind.present()
	w.memory.touchedGroup()
	there := slices.DeleteFunc(slices.Clone(s.Targets), func(t pool.InstanceRef) bool { return !members[t.ID] })
	return asg.Termination{Session: w.c, Now: w.now, Group: name, Size: size, Lower: lower, Asked: &w.memory.asked,
		Going: w.going}.Terminate(ctx, there)
}

// upToDate returns an error unless the group shows the size that was last requested: what is removed is chosen from the instances that
// exist after all requests.
func (w *writer) upToDate() error {
	if w.memory.behind.is == nil {
		return nil
	}
	err := w.memory.asked.Check("node group "+w.t.name, int(w.memory.size()), w.now, session.VisibleWithin)
	if err != nil {
		w.memory.touchedGroup()
	}
	return err
}

// going reads the group again, and reports whether an instance is being terminated already, or gone.
func (w *writer) going(ctx context.Context, id string) (bool, error) {
	defer w.memory.touchedGroup()
	if err := w.reader.group(ctx); err != nil || w.memory.group.is == nil {
		return err == nil, err
	}
	return !w.memory.behind.present()[id], nil
}

// ownTemplate makes sure that there is a launch template of the pool's own, which has no other owner.
func (w *writer) ownTemplate() error {
	if w.t.template == "" {
		return fmt.Errorf("node group %s is launched from EKS's own template, which is not written to", w.t.name)
	}
	return driverkit.Owned(w.reader.templates().foreign())
}

// putTemplate makes the template with its first version, or a new version of it.
func (w *writer) putTemplate(ctx context.Context, s pool.Step) error {
	if err := w.ownTemplate(); err != nil {
		return err
	}
	want, err := w.reader.want(ctx)
	if err != nil {
		return err
	}
	predecessor := s.Base
	if is := w.memory.group.is; predecessor == "" && is != nil {
		predecessor = w.reader.templates().ref(is, "")
	}
	return w.reader.launch().Put(ctx, want.launch, s.Base, predecessor)
}

// deleteTemplates deletes the template with all its versions, if it is ours. A node group of our name that is not ours is no
// obstacle, unless it is launched from the template.
func (w *writer) deleteTemplates(ctx context.Context, _ pool.Step) error {
	if w.t.template == "" {
		return nil
	}
	if w.reader.templates().foreignLaunches(w.memory.group) {
		return driverkit.Owned(w.reader.ownership().Conflict())
	}
	return w.reader.launch().Delete(ctx)
}

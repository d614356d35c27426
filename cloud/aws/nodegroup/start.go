package nodegroup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// steps maps each step to the function that begins it.
var steps = driverkit.Steps[*writer]{
	pool.PutTemplate: onTemplate((*writer).putTemplate),
	pool.DefaultTemplate: onTemplate(func(w *writer, ctx context.Context, s pool.Step) error {
		return w.state.launch.SetDefault(ctx, s.Template)
	}),
	pool.PruneTemplates: onTemplate(func(w *writer, ctx context.Context, s pool.Step) error {
		return w.state.launch.Prune(ctx, s.Refs)
	}),
	pool.DeleteTemplates:      (*writer).deleteTemplates,
	pool.EnsurePrerequisites:  (*writer).ensurePrerequisites,
	pool.CleanUp:              func(w *writer, ctx context.Context, _ pool.Step) error { return w.state.role.CleanUp(ctx) },
	pool.CreateGroup:          (*writer).createGroup,
	pool.Adopt:                (*writer).adopt,
	pool.UpdateGroup:          (*writer).updateGroup,
	pool.Resize:               (*writer).resize,
	pool.Remove:               func(w *writer, ctx context.Context, s pool.Step) error { return w.terminate(ctx, s, true) },
	pool.Replace:              func(w *writer, ctx context.Context, s pool.Step) error { return w.terminate(ctx, s, false) },
	pool.StartProviderRollout: (*writer).startRollout,
	pool.DeleteGroup:          (*writer).deleteGroup,
}

// writer begins the steps of one pool.
type writer struct {
	*pass
	reader *reader
	// state holds the reads of the step.
	state *state
}

// look reads the group and the template, unless they have been read. The backing group, by which a look may go, does not show whose the
// node group is now: EKS is asked before the node group is written to.
func (w *writer) look(ctx context.Context, s pool.Step) (err error) {
	switch s.Kind {
	case pool.UpdateGroup, pool.Resize, pool.Remove, pool.Replace, pool.StartProviderRollout, pool.DeleteGroup:
		w.state, err = w.reader.recent(ctx)
	default:
		w.state, err = w.reader.known(ctx)
	}
	return err
}

// again reads the node group after a write of the step. It returns an error if it is not the pool's own any more, or does not exist.
func (w *writer) again(ctx context.Context) (err error) {
	if w.state, err = w.reader.recent(ctx); err != nil {
		return err
	}
	if err = driverkit.Owned(w.state.ownership().Conflict()); err != nil {
		return err
	}
	return w.there()
}

// there returns an error if the node group does not exist.
func (w *writer) there() error {
	if w.state.is == nil {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NoGroup",
			Message: "node group " + w.t.name + " is gone: there is nothing to change"}
	}
	return nil
}

// desire looks up what the specification names, and completes what it asks for.
func (w *writer) desire(ctx context.Context) error {
	err := w.reader.lookUp(ctx, w.state)
	w.state.complete()
	return err
}

// onTemplate returns a step that concerns the launch template alone, which must be the pool's own.
func onTemplate(do func(w *writer, ctx context.Context, s pool.Step) error) func(w *writer, ctx context.Context, s pool.Step) error {
	return func(w *writer, ctx context.Context, s pool.Step) error {
		if w.t.template == "" {
			return fmt.Errorf("node group %s is launched from EKS's own template, which is not written to", w.t.name)
		}
		if err := driverkit.Owned(w.state.foreignTemplate()); err != nil {
			return err
		}
		return do(w, ctx, s)
	}
}

// putTemplate makes the template with its first version, or a new version of it.
func (w *writer) putTemplate(ctx context.Context, s pool.Step) error {
	if err := w.desire(ctx); err != nil {
		return err
	}
	predecessor := s.Base
	if predecessor == "" && w.state.is != nil {
		predecessor = w.state.ref("")
	}
	return w.state.launch.Put(ctx, w.state.want.launch, s.Base, predecessor)
}

// deleteTemplates deletes the template with all its versions, if it is ours. A node group of our name that is not ours is no
// obstacle, unless it is launched from the template.
func (w *writer) deleteTemplates(ctx context.Context, _ pool.Step) error {
	switch {
	case w.t.template == "":
		return nil
	case w.state.launchesForeign():
		return driverkit.Owned(w.state.ownership().Conflict())
	}
	return w.state.launch.Delete(ctx)
}

// ensurePrerequisites tags the launch template of an adopted node group, or creates what the group needs.
func (w *writer) ensurePrerequisites(ctx context.Context, s pool.Step) error {
	if w.state.untagged() != "" {
		return launch.TakeOver(ctx, w.state.launch)
	}
	if slices.ContainsFunc(s.Fields, launch.IsObject) {
		if err := w.state.launch.EnsurePrerequisites(ctx, s.Fields); err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Fields, func(need string) bool { return !launch.IsObject(need) }) {
			return nil
		}
	}
	return w.state.role.EnsurePrerequisites(ctx)
}

// adopt writes the owner tags to the node group, in one call: that decides whose it is, also among pools that adopt it at the same time.
// The launch template follows (untagged), and the backing group and the instances get their tags as those of any node group do.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	if is := w.state.is; is != nil && w.t.owns(is) {
		return nil
	}
	if err := w.state.ownership().Adoptable(w.state.unowned()); err != nil {
		return err
	}
	return w.retag(ctx, session.OwnerTags(w.t.Owner), nil)
}

// deleteGroup deletes the node group with what is still in it, if it is the pool's.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if is := w.state.is; is == nil || is.Status == ekstypes.NodegroupStatusDeleting {
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

package nodepool

import (
	"context"
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

const allPercent = 100

// rollout returns the replacement of nodes that runs, or that ended and left machines of another configuration. GKE keeps no record of one
// that ended well.
func (r *reader) rollout(want desired) *pool.ProviderRollout {
	read := r.memory.read
	target := want.target(read)
	out := &pool.ProviderRollout{ID: want.last.operation.Token, Template: pool.Template{}, Percent: allPercent, Started: want.last.begun}
	if target.known() {
		out.Template, out.Percent = target.template(), want.percent(target, read)
	}
	if want.rolling(read) || want.last.cancelling(r.now) {
		out.ByOthers = want.byService(target.version)
		if out.State, out.Reason = phase(read.pool); want.last.aborting {
			out.State = pool.ProviderRolloutCancelling
		}
		return out
	}
	if last := want.last.outcome; last == nil || !want.last.mayRoll() || out.Percent == allPercent && !read.paused() {
		return nil
	}
	return want.last.ending(out)
}

// ending fills in how the rollout ended; nil for one that ended well.
func (l lastOperation) ending(r *pool.ProviderRollout) *pool.ProviderRollout {
	switch last := l.outcome; {
	case last.cancelled:
		r.State, r.Ended = pool.ProviderRolloutCancelled, l.ended
	case last.failed != nil:
		r.State, r.Ended, r.Failures, r.Reason = pool.ProviderRolloutFailed, l.ended, 1, driverkit.FailureOf(last.failed).Message
	default:
		return nil
	}
	return r
}

// target returns the configuration that the rollout leads to: the one that Muster requested, the green one, or that of the node pool, which
// shows everything of it but the version as soon as it begins. It is zero where nothing tells.
func (w desired) target(read poolRead) configuration {
	out := w.launched
	switch green := greenVersion(read.pool); {
	case w.last.rolls():
		out = w.last.to
		out.version = w.canonical(out.version)
	case green.Known():
		out.version = w.canonical(green)
	case w.last.origin == byGKE && w.last.leadsTo.Known():
		out.version = w.canonical(w.last.leadsTo)
	default:
		unlike := w.unlike(read)
		if len(unlike) == 0 {
			return configuration{}
		}
		for _, c := range unlike {
			if c.version.Compare(out.version) > 0 {
				out.version = c.version
			}
		}
	}
	return out
}

// unlike returns the configurations of machines that are not that of the node pool.
func (w desired) unlike(read poolRead) []configuration {
	var out []configuration
	launched := w.launched.template()
	for _, m := range read.machines() {
		if c := w.configurationOf(m, read); c.known() && !c.template().Same(launched) {
			out = append(out, c)
		}
	}
	return out
}

// rolling reports whether GKE replaces nodes. It calls every update of a node pool an upgrade of nodes, so that one which Muster did not
// begin is known by the machines. One that Muster began in place is none, whatever machines an earlier rollout has left.
func (w desired) rolling(read poolRead) bool {
	if w.status != statusReconciling {
		return false
	}
	switch {
	case w.last.rolls(), w.last.origin == byGKE, blueGreen(read.pool) != nil:
		return true
	}
	return w.last.mayRoll() && len(w.unlike(read)) > 0
}

// percent returns the share of machines that have a configuration.
func (w desired) percent(c configuration, read poolRead) int {
	machines := read.machines()
	if len(machines) == 0 {
		return allPercent
	}
	n := 0
	for _, m := range machines {
		if is := w.configurationOf(m, read); is.known() && is.template().Same(c.template()) {
			n++
		}
	}
	return allPercent * n / len(machines)
}

// startRollout has GKE replace the machines that have another configuration. A rollout that failed or was cancelled is resumed by the same
// request; one that is not wanted any more is taken back.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	if want.reverts {
		return w.rollBack(ctx, want)
	}
	read := w.memory.read
	if !want.moves() && want.percent(want.launched, read) == allPercent && !read.paused() {
		return nil
	}
	r := want.request(is)
	w.memory.rememberMachines(want, w.memory.read.machines())
	w.reader.forget()
	o, err := w.c.Container.Projects.Locations.Clusters.NodePools.Update(w.reader.path(), r).Context(ctx).Do()
	return w.began(o, err, want)
}

// moves reports whether the next step leads to another configuration.
func (w desired) moves() bool { return !w.next.template().Same(w.launched.template()) }

// request returns the request that replaces machines.
func (w desired) request(is *container.NodePool) *container.UpdateNodePoolRequest {
	r := request.Request(w.changed, w.step, is)
	if w.next.version != w.launched.version || len(w.changed) == 0 {
		r.NodeVersion = w.next.version.String()
	}
	return r
}

// rollBack has GKE take back an upgrade that was cancelled or failed. Budgets of pods hold for it as for the upgrade. The machines of which
// it is not known what they have are those that stay, and as the node pool is then.
func (w *writer) rollBack(ctx context.Context, want desired) error {
	read := w.memory.read
	w.memory.rememberMachines(want, slices.DeleteFunc(read.machines(), func(m groups.Instance) bool { return read.lost(want, m) }))
	w.reader.forget()
	o, err := w.c.Container.Projects.Locations.Clusters.NodePools.Rollback(w.reader.path(), &container.RollbackNodePoolUpgradeRequest{
		RespectPdb: true,
	}).Context(ctx).Do()
	return w.began(o, err, want)
}

// cancelRollout has GKE cancel the rollout that the step names, if it runs. Machines that were replaced stay.
func (w *writer) cancelRollout(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	roll := w.reader.rollout(want)
	if !roll.Runs() || roll.ID == "" || !slices.Contains(s.Refs, roll.ID) {
		return nil
	}
	w.reader.forget()
	_, err = w.c.Container.Projects.Locations.Operations.Cancel(w.t.operationPath(w.c.Project, roll.ID),
		&container.CancelOperationRequest{}).Context(ctx).Do()
	if err = session.Vanished(w.c.Refusal(err)); err == nil {
		w.memory.last.aborting = true
	}
	return err
}

// began remembers an operation, and what it leads to where it is a rollout; zero for none.
func (w *writer) began(o *container.Operation, err error, want desired) error {
	if err = w.c.Refusal(err); err != nil {
		return err
	}
	last := lastOperation{operation: operationOf(o, w.reader.path()), begun: w.now, origin: byMuster, from: want.launched, to: want.next}
	last.inPlace = !last.rolls()
	if want.resumes {
		last.origin, last.leadsTo, last.originKnown = want.last.origin, want.last.leadsTo, want.last.originKnown
	}
	w.memory.began(last)
	return nil
}

package infrapool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/status"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/kube/tokens"
	"github.com/muster-project/muster/pool"
)

// pass is one reconciliation of one object. Each step sets one field, once, and reads those of the steps before it.
type pass[O Object, S any] struct {
	scope    scope[O]
	facts    facts[S]
	machines *poolMachines
	// mayObserve is true if the cloud is read. blocked, when set, prevents creations that the facts alone would allow.
	mayObserve bool
	blocked    *pool.Cause
	tokens     tokenState
	outcome    engine.Outcome
	// rollback is what the status has of a return to a former template after this pass.
	rollback *common.RollbackStatus
}

// desired returns the desired state, reduced to what this pass may do.
func (p *pass[O, S]) desired() pool.Desired { return p.input().Desired }

// input returns what the engine receives.
func (p *pass[O, S]) input() engine.Input[S] {
	in := extend(p.facts.input, p.machines)
	in.Desired.CreateBlocked = cmp.Or(p.blocked, in.Desired.CreateBlocked)
	in.Desired.LostBootstrapData = p.tokens.lost
	in.Desired.RotatedBootstrapData = bootstrap.Rotated(in.Target.Remembered, p.scope.bootstrap.Bootstrap.Hash())
	return in
}

// tokenState holds the result of refreshing the bootstrap tokens of a pool.
type tokenState struct {
	tokens.Refreshed
	// lost are the hashes of bootstrap data whose token is gone.
	lost []string
	// err does not keep the pass from anything else.
	err error
}

// run runs the steps of a pass in order, until one of them stops it.
func (r *Reconciler[O, S]) run(ctx context.Context, s scope[O]) control.Result {
	return control.Run(ctx, &pass[O, S]{scope: s}, []control.Step[*pass[O, S]]{
		r.connect, r.gatherFacts, r.gatherMachines, r.checkOwner, r.refreshTokens, r.runEngine, r.rollbacks.begin, r.forgetTokens,
		r.syncMachines, r.finish,
	})
}

// connect waits for the first connection to the workload cluster, and watches its nodes.
func (r *Reconciler[O, S]) connect(ctx context.Context, p *pass[O, S]) control.Result {
	if wait := r.workloads.Connecting(ctx, p.scope.workload()); wait > 0 {
		return control.Stop(wait)
	}
	return control.Require(r.watches.nodes(ctx, r.Options, r.kind.controllerName(), r.requests, p.scope.cluster))
}

// gatherFacts translates the scope.
func (r *Reconciler[O, S]) gatherFacts(ctx context.Context, p *pass[O, S]) control.Result {
	var err error
	p.facts, err = r.facts(ctx, p.scope)
	return control.Require(err)
}

// gatherMachines reads the machines of the pool.
func (r *Reconciler[O, S]) gatherMachines(ctx context.Context, p *pass[O, S]) control.Result {
	var err error
	p.machines, err = r.readMachines(ctx, p.scope, p.facts.input.Desired)
	return control.Require(err)
}

// checkOwner decides whether the cloud is read: not if another object owns the group, if its location is unknown, or if nothing may be
// created and nothing can have been. Before it is read, the object is claimed, so that everything that will be created can be found again.
func (r *Reconciler[O, S]) checkOwner(ctx context.Context, p *pass[O, S]) control.Result {
	s, f := p.scope, p.facts
	if s.ownedElsewhere != nil {
		return r.leave(ctx, p)
	}
	other, err := r.otherOwner(ctx, s.object, f)
	if err != nil {
		return control.Require(err)
	}
	switch {
	case other.Name.Name != "" && s.deleting() && other.Certain:
		return control.Require(r.release(ctx, s.object, f.input.Target.Owner.ID)).Join(control.Stop(0))
	case other.Name.Name != "":
		p.blocked = &pool.Cause{Reason: reasonOwnerIDTaken, Message: fmt.Sprintf(
			"%s %s has the same annotation %s: remove it from this object to give it a group of its own", other.Kind, other.Name,
			ownership.Annotation)}
		return control.Continue()
	case f.notObservable != nil:
		return control.Continue()
	case f.input.Desired.CreateBlocked != nil && !s.deleting() && (s.observeBlocked || !r.kind.hasIdentity(s.object)):
		return control.Continue()
	}
	p.mayObserve = true
	return control.Require(r.writer.claim(ctx, s.object, r.kind.Finalizer, f.keep, f.drop))
}

// leave keeps the pass from asking the cloud about a group that another controller runs, and releases an object that is deleted.
func (r *Reconciler[O, S]) leave(ctx context.Context, p *pass[O, S]) control.Result {
	if s := p.scope; s.deleting() {
		emit(r.Recorder, s.object, status.LeftEvents(s.ownedElsewhere))
		return control.Require(r.release(ctx, s.object, p.facts.input.Target.Owner.ID)).Join(control.Stop(0))
	}
	p.blocked = p.scope.ownedElsewhere
	return control.Continue()
}

// otherOwner returns the object that owns the group instead of this one.
func (r *Reconciler[O, S]) otherOwner(ctx context.Context, o O, f facts[S]) (ownership.OtherOwner, error) {
	if f.notObservable != nil {
		other, err := r.owners.Find(ctx, o, ownership.Tags{})
		// An object that names no group has nothing to lose.
		other.Certain = other.Certain || o.GetProviderID() == ""
		return other, err
	}
	target := f.input.Target
	tags := ownership.Tags{Now: f.input.Now, MaxAge: ownership.TagsMaxAge, Read: func(ctx context.Context) (string, error) {
		seen, err := r.driver.Observe(ctx, target)
		if isUnsatisfiable(err) {
			err = nil
		}
		return seen.TaggedFor, err
	}}
	if target.Cache.MaxAge = tags.MaxAge; f.input.Desired.Deleting {
		target.Cache.MaxAge, tags.MaxAge = cloud.NoSharedCache, 0 // an object that is released leaves the group behind
	}
	return r.owners.Find(ctx, o, tags)
}

// refreshTokens keeps the tokens alive that machines may still be launched with. Its failure keeps nothing else from being done. It runs
// also if the cloud is not read, because the cloud may launch machines all the same.
func (r *Reconciler[O, S]) refreshTokens(ctx context.Context, p *pass[O, S]) control.Result {
	p.tokens = r.refresh(ctx, p.scope, p.facts.input.Target.Remembered)
	return control.RequeueAfter(p.tokens.Next)
}

// refresh keeps the stored tokens of a pool alive. While the workload cluster is out of reach no machine joins it either, and the tokens of
// a pool that is being deleted expire.
func (r *Reconciler[O, S]) refresh(ctx context.Context, s scope[O], values map[string]string) (t tokenState) {
	if _, err := r.workloads.Client(ctx, s.workload()); err != nil || s.deleting() {
		return tokenState{}
	}
	live := func() (client.Client, error) { return r.workloads.Live(ctx, s.workload()) }
	t.Refreshed, t.lost, t.err = bootstrap.Refresh(ctx, &r.tokens, s.clusterKey().String(), live, values, s.bootstrap.Bootstrap.Hash(),
		r.Now())
	return t
}

// runEngine runs the engine's pass, and stores what was resolved and adopted.
func (r *Reconciler[O, S]) runEngine(ctx context.Context, p *pass[O, S]) control.Result {
	if !p.mayObserve {
		p.outcome = engine.Outcome{RequeueAfter: engine.DefaultSteady}
		return control.Continue()
	}
	s, lookups := p.scope, lookups[O]{r.writer, p.scope.object, p.facts.keep}
	in := p.input()
	in.NeedsFreshRead = func(o pool.Observed) bool {
		if p.facts.adopted(o) != nil && !o.Cache.Fresh && !o.Cache.GroupFresh {
			return true // a read of before the group was given back would end an adoption that has not begun
		}
		return contradicts(s, p.facts.sizing, o)
	}
	workload := s.workload()
	workload.ForceAfter = forceAfter(in.Desired.Strategy)
	p.outcome = r.engine.Run(ctx, in, throughMachines(p.machines, r.workloads.Nodes(ctx, workload)), lookups)
	if p.outcome.Seen {
		r.Policies.Done(ctx, limited(r.kind.Name, s, in.Now), p.outcome.Plan.Progress)
	}
	if !p.outcome.Seen || p.outcome.Plan.DeletionComplete {
		return control.Continue()
	}
	return control.Require(lookups.Store(ctx, stored.Merged(p.facts.adopted(p.outcome.Observed), p.outcome.Observed.ResolvedLookups)))
}

// lookups stores look-ups on the object, as the engine requires before a step.
type lookups[O Object] struct {
	writer *writer[O]
	object O
	keep   map[string]string
}

// Store writes look-ups, if they are new.
func (l lookups[O]) Store(ctx context.Context, resolved map[string]string) error {
	if len(resolved) == 0 {
		return nil
	}
	return l.writer.store(ctx, l.object, stored.Merged(resolved, l.keep))
}

// contradicts reports whether an observation is not what the objects have. Another process has seen something newer, such as a second
// manager while a lease changes hands: writing the older observation would have the two overwrite each other.
func contradicts[O Object](s scope[O], z sizing, o pool.Observed) bool {
	if !writesInstances(s, o) {
		return false
	}
	if !slices.Equal(report.ProviderIDs(o), s.object.GetProviderIDList()) {
		return true
	}
	return o.Group != nil && (o.Group.ID != s.object.GetProviderID() || z.external && replicas(s.machinePool) != o.Group.Size-o.Group.Surge)
}

// forgetTokens drops the stored tokens with which no machine can be launched or joins any more.
func (r *Reconciler[O, S]) forgetTokens(ctx context.Context, p *pass[O, S]) control.Result {
	if !p.outcome.Seen || p.outcome.Plan.DeletionComplete {
		return control.Continue()
	}
	in := p.facts.input
	drop := bootstrap.Unneeded(in.Target.Remembered, p.scope.bootstrap.Bootstrap.Hash(), p.outcome.Observed,
		cmp.Or(in.Desired.JoinDeadline, pool.DefaultJoinDeadline), in.Now)
	return control.Require(r.writer.store(ctx, p.scope.object, nil, drop...))
}

// syncMachines updates the machines of the pool to what was observed.
func (r *Reconciler[O, S]) syncMachines(ctx context.Context, p *pass[O, S]) control.Result {
	var err error
	p.outcome, err = syncMachines(ctx, p.machines, p.scope, r.workloads.Nodes(ctx, p.scope.workload()), p.outcome)
	return control.Failed(err)
}

// finish releases an object of which nothing is left, or writes what was observed.
func (r *Reconciler[O, S]) finish(ctx context.Context, p *pass[O, S]) control.Result {
	s, out, traits := p.scope, p.outcome, r.engine.Traits()
	r.metrics.observe(client.ObjectKeyFromObject(s.object), metrics.Pass{Cluster: s.clusterName(), Outcome: out, TokensEnd: p.tokens.Until,
		RolledBack: p.rollback != nil && p.rollback.To != nil, Now: p.facts.input.Now})
	rep := report.Build(p.desired(), out, traits)
	reportConflicts(p.machines.conflicts(), &rep)
	status.ReportRollback(p.rollback, &rep)
	reportGroupName(p.facts.groupName, p.facts.input.Desired.Adopt, traits.Group, &rep)
	logPass(ctx, out)
	emit(r.Recorder, s.object, status.StepEvents(rep.Events))
	if s.deleting() && out.Plan.DeletionComplete {
		emit(r.Recorder, s.object, append(status.LifecycleEvents(s.object.GetCommonStatus(), out, traits),
			status.LeftEvents(out.Observed.OwnershipConflict)...))
		r.endTokens(ctx, s, out.Observed)
		return control.Failed(r.release(ctx, s.object, p.facts.input.Target.Owner.ID))
	}
	return control.Result{After: out.RequeueAfter, Err: errors.Join(r.write(ctx, p, rep), p.tokens.err)}
}

// endTokens revokes the tokens of a deleted pool, unless its group belongs to another owner. The deletion does not wait for it: tokens
// expire. A pool whose MachinePool stays may be given another infrastructure object.
func (r *Reconciler[O, S]) endTokens(ctx context.Context, s scope[O], o pool.Observed) {
	mp, cluster := s.machinePool, s.cluster
	if o.OwnershipConflict != nil || mp == nil || mp.DeletionTimestamp.IsZero() || cluster == nil || !cluster.DeletionTimestamp.IsZero() {
		return
	}
	deleted := bootstrap.Deleted{Object: s.object, MachinePool: mp, Kind: r.kind.Name, List: r.kind.NewList()}
	err := bootstrap.RevokeTokens(ctx, r.Client, deleted, func() (client.Client, error) {
		if _, err := r.workloads.Client(ctx, s.workload()); err != nil {
			return nil, err
		}
		return r.workloads.Live(ctx, s.workload())
	})
	if err != nil {
		ctrl.LoggerFrom(ctx).V(levelStep).Info("bootstrap tokens were not revoked and will expire", "reason", err.Error())
	}
}

// release lets the object go: nothing of it is left in the cloud, or nothing there was ever its own.
func (r *Reconciler[O, S]) release(ctx context.Context, o O, owner string) error {
	if err := r.writer.dropFinalizer(ctx, o, r.kind.Finalizer); err != nil {
		return client.IgnoreNotFound(err)
	}
	r.engine.Forget(owner)
	r.metrics.forget(client.ObjectKeyFromObject(o))
	return nil
}

// reconcilePaused is a pass over a paused object. Its tokens are kept alive, because the cloud may launch machines all the same.
func (r *Reconciler[O, S]) reconcilePaused(ctx context.Context, s scope[O], cause string) (ctrl.Result, error) {
	o := s.object
	before := o.DeepCopyObject().(O)
	status.SetPaused(o, cause, r.Now())
	values, _ := stored.Values(o)
	kept := r.refresh(ctx, s, values)
	return ctrl.Result{RequeueAfter: kept.Next}, errors.Join(r.writer.status(ctx, before, o), kept.err)
}

package infrapool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/infrapool/revision"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/status"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
	"github.com/muster-project/muster/pool/upgrade"
)

// asked is what is asked of a pool: its objects, or copies of them that have a former template in place of their own.
type asked[O Object] struct {
	object      O
	machinePool *clusterv1.MachinePool
	// rollback is why the template is not that of the specification, or should not be; nil otherwise.
	rollback *common.RollbackStatus
	// returns is true while the machines of the failed template are on their way out.
	returns bool
	// held, when set, is why no machine is replaced, and lost why nothing at all is done: the template of the machines is not known.
	held, lost *pool.Cause
}

// limit applies a return to a former template to the desired state.
func (a asked[O]) limit(d *pool.Desired) {
	d.Limits.Returns = a.returns
	if a.held != nil && d.RolloutDisabled == nil {
		d.RolloutDisabled = a.held
	}
}

// rollbacks has the pools of a kind return to former templates.
type rollbacks[O Object, S any] struct {
	kind   Kind[O, S]
	store  revision.Store
	hashes revision.Memo
	now    func() time.Time
	// refused is when the manager was last refused to keep a template, in seconds.
	refused atomic.Int64
	// observe reads the cloud as a pass does. The cause, when set, is why it can't be read, or can't have what is asked.
	observe func(context.Context, scope[O]) (pool.Observed, *pool.Cause, error)
}

// newRollbacks returns the rollbacks of a reconciler.
func newRollbacks[O Object, S any](r *Reconciler[O, S]) *rollbacks[O, S] {
	live := r.Live
	if live == nil {
		live = r.Client
	}
	return &rollbacks[O, S]{kind: r.kind, now: r.Now, store: revision.Store{Client: r.Client, Reader: live},
		observe: func(ctx context.Context, s scope[O]) (pool.Observed, *pool.Cause, error) {
			f, err := r.facts(ctx, s)
			if err != nil || f.notObservable != nil {
				return pool.Observed{}, f.notObservable, err
			}
			seen, err := r.driver.Observe(ctx, f.input.Target)
			if isUnsatisfiable(err) {
				return seen, asCause(err), nil
			}
			return seen, nil, err
		}}
}

// hash identifies the template of a pool's specification.
func (r *rollbacks[O, S]) hash(s scope[O]) (string, error) {
	return r.hashes.Hash(s.object, r.kind.template(), s.machinePool)
}

// none reports whether pools of the kind can't return to a former template, or this one does not.
func (r *rollbacks[O, S]) none(s scope[O]) bool {
	return s.deleting() || len(r.kind.TemplateFields) == 0
}

// ask returns what is asked of a pool. A recorded return to a former template holds until the template of the specification changes, or a
// user requests another try.
func (r *rollbacks[O, S]) ask(ctx context.Context, s scope[O]) (asked[O], error) {
	a := asked[O]{object: s.object, machinePool: s.machinePool}
	last := s.object.GetCommonStatus().Rollback
	if r.none(s) {
		return a, nil
	}
	if s.settings.RolloutAborted {
		a.held = &pool.Cause{Reason: reasonAborted, Message: "no machine is replaced: the annotation " + settings.RolloutAnnotation + " is " +
			settings.RolloutAborted}
	}
	if stands, err := r.stands(s, last); err != nil || !stands {
		return a, err
	}
	if a.rollback = last; last.To == nil {
		a.held = impossible(last.Message)
		return a, nil
	}
	a.held = nil
	to, err := r.store.Get(ctx, s.object, last.To.Name)
	if lost := (*revision.LostError)(nil); errors.As(err, &lost) || apierrors.IsForbidden(err) {
		a.lost = impossible(err.Error())
		return a, nil
	}
	if err != nil {
		return a, err
	}
	roll := s.object.GetCommonStatus().Rollout
	a.returns = roll == nil || roll.ID == last.Rollout || roll.Returns && roll.State != status.Ended
	return r.withTemplate(a, to)
}

// stands reports whether a recorded return to a former template holds: until the template of the specification changes, or a user requests
// another try and aborts nothing.
func (r *rollbacks[O, S]) stands(s scope[O], last *common.RollbackStatus) (bool, error) {
	if last == nil || !s.settings.RolloutAborted && (last.Aborted || s.settings.Retried == last.Rollout) {
		return false, nil
	}
	hash, err := r.hash(s)
	return hash == last.Specification, err
}

// reasonAborted is the reason of a rollout that a user aborts.
const reasonAborted = "RolloutAborted"

// impossible returns why a pool can't return to a former template.
func impossible(why string) *pool.Cause {
	return &pool.Cause{Reason: status.ReasonRollbackImpossible, Message: "no machine is replaced: the rollout can't be rolled back: " + why}
}

// withTemplate returns what is asked with the template of a revision.
func (r *rollbacks[O, S]) withTemplate(a asked[O], to revision.Revision) (asked[O], error) {
	o := r.kind.New()
	if err := to.Template.Onto(o, a.object, r.kind.template()); err != nil {
		return a, err
	}
	a.object = o
	if a.machinePool != nil {
		a.machinePool = a.machinePool.DeepCopy()
		a.machinePool.Spec.Template.Spec.Version = to.Template.MachinePool.Version
	}
	return a, nil
}

// begin decides whether the rollout of the pass has failed, and records the return to the last template whose rollout ended: once for a
// template of the specification. The next pass begins it.
func (r *rollbacks[O, S]) begin(ctx context.Context, p *pass[O, S]) control.Result {
	p.rollback = p.scope.asked.rollback
	why := r.failure(p)
	if why == "" {
		return control.Continue()
	}
	s := p.scope
	hash, err := r.hash(s)
	if err != nil {
		return control.Failed(err)
	}
	to, cannot, err := r.former(ctx, s, hash)
	if err != nil {
		return control.Failed(err)
	}
	p.rollback = &common.RollbackStatus{Rollout: p.outcome.Plan.Progress.Record.ID, Specification: hash, To: to, Message: cmp.Or(cannot, why),
		Aborted: s.settings.RolloutAborted, At: metav1.NewTime(r.now().UTC().Truncate(time.Second))}
	return control.RequeueAfter(staleRetry)
}

// failure returns why the pool should return to a former template; empty if it should not.
func (r *rollbacks[O, S]) failure(p *pass[O, S]) string {
	s, out := p.scope, p.outcome
	if !out.Seen || r.none(s) || s.asked.rollback != nil {
		return ""
	}
	t := rollouts.Trial{Verdict: out.Plan.Progress, Template: templateID(out.Observed), Aborted: s.settings.RolloutAborted,
		RollsBack: p.facts.input.Desired.Limits.RollsBack, Retried: s.settings.Retried}
	if last := s.object.GetCommonStatus().Revision; last != nil {
		t.Last = last.Template
	}
	if roll := out.Plan.Rollout; roll.State == pool.RolloutHalted {
		t.Halted = rollouts.Cause(roll.Cause)
	}
	return t.Failure()
}

// former returns the revision to return to, or why there is none. It must make the same machines as it did: what the cloud chooses for a
// specification may have changed.
func (r *rollbacks[O, S]) former(ctx context.Context, s scope[O], hash string) (*common.RevisionStatus, string, error) {
	last := s.object.GetCommonStatus().Revision
	switch {
	case last == nil:
		return nil, "no rollout of the pool has ended before", nil
	case last.Name == revision.Name(s.object, hash):
		return nil, "its template is that of the last rollout that ended: what the cloud chooses for it has changed", nil
	}
	to, err := r.store.Get(ctx, s.object, last.Name)
	if lost := (*revision.LostError)(nil); errors.As(err, &lost) {
		return nil, lost.Error(), nil
	}
	if apierrors.IsForbidden(err) {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	if is, was := s.version(), to.Template.MachinePool.Version; r.kind.VersionRises && isLower(was, is) {
		return nil, fmt.Sprintf("version %s is lower than %s, and nodes of the cloud do not go back", was, is), nil
	}
	if s.asked, err = r.withTemplate(s.asked, to); err != nil {
		return nil, "", err
	}
	seen, cannot, err := r.observe(ctx, s)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("look whether %s %s can return to revision %d: %w", r.kind.Name, client.ObjectKeyFromObject(s.object),
			last.Number, err)
	case cannot != nil:
		return nil, cannot.Message, nil
	case templateID(seen) != last.Template:
		return nil, fmt.Sprintf("the template of revision %d can't be made again: the image, the version or the bootstrap configuration "+
			"that it had is another one now", last.Number), nil
	}
	return last, "", nil
}

// isLower reports whether a version of Kubernetes is lower than another one. One that can't be read is not.
func isLower(version, than string) bool {
	a, known := upgrade.Parse(version)
	b, other := upgrade.Parse(than)
	return known && other && a.Compare(b) < 0
}

// templateID identifies the template that is wanted, as the ID of its rollout does.
func templateID(o pool.Observed) string { return rollouts.ID(o.Wanted.Content, time.Time{}) }

// ended reports whether every machine of a pool serves and was launched from the wanted template, and no rollout is on its way.
func ended[O Object, S any](p *pass[O, S], rep report.Report) bool {
	record, counts := p.outcome.Plan.Progress.Record, rep.Counts
	if !p.outcome.Seen || p.outcome.Observed.Group == nil || record.ID != "" && !record.Ended {
		return false
	}
	return rep.Condition(report.UpToDate).Status == report.True && counts.Desired > 0 && counts.Ready != nil && *counts.Ready >= counts.Desired
}

// refusedFor is for how long no template is kept after the API server has refused it, which it would do for every pool.
const refusedFor = 10 * time.Minute

// keep stores the template of a pool whose rollout has ended.
func (r *rollbacks[O, S]) keep(ctx context.Context, p *pass[O, S], rep report.Report) error {
	s, out := p.scope, p.outcome
	refused := time.Unix(r.refused.Load(), 0)
	if r.none(s) || s.asked.rollback != nil || !ended(p, rep) || r.now().Before(refused.Add(refusedFor)) {
		return nil
	}
	hash, err := r.hash(s)
	if err != nil {
		return err
	}
	into := s.object.GetCommonStatus()
	id := templateID(out.Observed)
	if last := into.Revision; last != nil && last.Name == revision.Name(s.object, hash) && last.Template == id {
		return nil
	}
	t, err := revision.Of(s.object, r.kind.template(), s.machinePool)
	if err != nil {
		return err
	}
	kept, err := r.store.Keep(ctx, s.object, t, id)
	if apierrors.IsForbidden(err) {
		r.refused.Store(r.now().Unix())
		ctrl.LoggerFrom(ctx).V(levelStep).Info("the template was not kept: a failed rollout can't return to it", "reason", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	into.Revision = &kept
	return nil
}

package infrapool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// facts are the engine's facts, and what the reconciler needs beside them.
type facts[S any] struct {
	engine.Input[S]
	// keep is what must stay on the object, drop the keys of what it remembers in vain.
	keep map[string]string
	drop []string
	// notObservable says why the cloud is not asked: the specification can't be followed at all, or nobody may ask.
	notObservable *pool.Cause
	// tokensEnd is when the first of the bootstrap tokens runs out that machines join with; zero when none does, or nobody knows.
	tokensEnd time.Time
	// groupNameAsked is what GroupNameAnnotation says.
	groupNameAsked string
	// failed is what went wrong without keeping the pass from anything else.
	failed error
}

// facts translate the scope into the domain's words.
func (r *Reconciler[O, S]) facts(ctx context.Context, s *scope[O]) (*facts[S], error) {
	f := &facts[S]{}
	remembered, err := resolved(s.object)
	var t Translation[S]
	in := Inputs{InfraCluster: s.infraCluster, Resolved: remembered, MachinePool: s.pool, Cluster: s.clusterName()}
	if err == nil {
		t, err = r.adapter.Translate(s.object, in)
	}
	if err != nil {
		f.notObservable = untranslated(err)
	} else if f.notObservable, err = r.identify(ctx, s, in, &t); err != nil {
		return nil, err
	}
	f.keep = maps.Clone(t.Keep)
	f.Now = r.Now()
	f.Desired = pool.Desired{
		Replicas:                  replicas(s.pool),
		ReplicasManagedExternally: sizedElsewhere(s.pool),
		Min:                       t.Min,
		Max:                       t.Max,
		MinField:                  t.MinField,
		MaxField:                  t.MaxField,
		Deleting:                  s.deleting(),
		CreateBlocked:             s.heldBecause(f.notObservable, t.CreateBlocked),
		NoPrerequisites:           t.NoPrerequisites,
		DrainTimeout:              drainTimeout(s.pool),
		NoDrain:                   r.noDrain(ctx, s),
		DeletePolicy:              t.DeletePolicy,
		Strategy:                  t.Strategy,
		Rollback:                  t.Rollback,
		TemplateHistoryLimit:      t.KeepTemplates,
		SkipModel:                 r.SkipModelReconciliation,
		MinReady:                  minReady(s.pool),
	}
	f.steer(s.settings, remembered, t.RollDisabled)
	mark, history := s.configuration(remembered)
	f.keep = merged(s.tokensToRemember(remembered), merged(history, f.keep))
	r.aim(s, f, t, remembered, mark)
	if err := r.nameGroup(ctx, s, f, remembered); err != nil {
		return nil, err
	}
	if f.Marked, err = r.marked(ctx, s); err != nil {
		return nil, err
	}
	if f.Generation, err = generation(f.Input, f.Target.Bootstrap.Hash()); err != nil {
		return nil, err
	}
	f.ContentGeneration, err = generation(f.Input, "")
	f.Edited = f.Desired.Deleting || !f.Desired.ReplicasManagedExternally && int(ptr.Deref(s.object.GetCommonStatus().DesiredReplicas, -1)) != f.Desired.Replicas
	return f, err
}

// aim fills in what the driver needs to know about the pool.
func (r *Reconciler[O, S]) aim(s *scope[O], f *facts[S], t Translation[S], remembered map[string]string, mark string) {
	f.Target = cloud.Target[S]{
		Owner:      ownerOf(s.object, s.clusterName()),
		GroupID:    s.object.GetProviderID(),
		Bootstrap:  s.bootstrap.Marked(mark),
		Remembered: f.remembered(remembered),
		Operations: t.Operations,
		Spec:       t.Spec,
	}
	f.Desired.Seed = f.Target.Owner.ID
	if s.pool != nil {
		f.Target.KubernetesVersion = s.pool.Spec.Template.Spec.Version
		f.Target.FailureDomains = s.pool.Spec.FailureDomains
	}
}

// heldBecause returns why nothing may be created: what the scope lacks, or else why the cloud is not asked, or else what the translation says.
func (s *scope[O]) heldBecause(unasked, translated *pool.Cause) *pool.Cause {
	switch {
	// An object that goes waits for nothing but this: what else is missing no longer counts.
	case unasked != nil && (s.held == nil || s.deleting()):
		return unasked
	case s.held != nil:
		return s.held
	}
	return translated
}

// untranslated is why the specification can't be followed: it means nothing, or what it leads to is still to come.
func untranslated(err error) *pool.Cause {
	var notYet *NotYet
	if errors.As(err, &notYet) {
		return &notYet.Cause
	}
	return &pool.Cause{Reason: reasonNotTranslated, Message: err.Error()}
}

// remembered is what the object remembers from now on. A driver gives back what it is handed, so that it is not to be handed
// what has been dropped or is known better by now.
func (f *facts[S]) remembered(before map[string]string) map[string]string {
	after := maps.Clone(before)
	for _, key := range f.drop {
		delete(after, key)
	}
	if len(f.keep) == 0 {
		return after
	}
	return merged(f.keep, after)
}

// steer applies the annotations that control rollouts. If the object disables rollouts, machines are replaced by a requested restart, and
// those alone.
func (f *facts[S]) steer(asked settings, remembered map[string]string, disabled *pool.Cause) {
	d := &f.Desired
	d.JoinDeadline, d.ProgressDeadline, d.RemediationHint = asked.join, asked.progress, asked.healHint
	var keep map[string]string
	d.Restart, keep, f.drop = restarting(asked.restarts, remembered, f.Now)
	f.keep = merged(keep, f.keep)
	d.RolloutPaused, d.Remediation = asked.held, asked.healing
	switch {
	case disabled == nil:
	case d.Restart == nil && d.RolloutPaused == nil:
		d.RolloutDisabled = disabled
	case !d.SkipModel:
		d.SkipModel, d.SkipModelCause = true, *disabled
	}
}

// settings returns what the object's and its MachinePool's annotations ask for.
func (k Kind[O, S]) settings(s *scope[O], machinesByDefault bool) settings {
	var machinePool *annotated
	if s.pool != nil {
		machinePool = &annotated{"MachinePool", keyRestartPool, s.pool}
	}
	machines, on := standsNever, false
	if kind := k.Machines; kind != nil {
		machines, on = standsMaybe, k.wantsMachines(s.object, machinesByDefault)
		if kind.Always {
			machines = standsAlways
		}
	}
	return settingsOf(annotated{k.Name, keyRestart, s.object}, machinePool, machines, on)
}

// minReady is how long a node must have been Ready to count as available.
func minReady(mp *clusterv1.MachinePool) time.Duration {
	if mp == nil {
		return 0
	}
	return time.Duration(ptr.Deref(mp.Spec.Template.Spec.MinReadySeconds, 0)) * time.Second
}

// drainTimeout bounds the drain of one node; zero is no bound, as the API has it.
func drainTimeout(mp *clusterv1.MachinePool) time.Duration {
	if mp == nil {
		return 0
	}
	return time.Duration(ptr.Deref(mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds, 0)) * time.Second
}

// generation is a hash of all that people and other controllers ask of the pool, the hash of the bootstrap data among it. What the reconciler itself writes, and
// what changes with time, is not in it: it would end every back-off.
func generation[S any](f engine.Input[S], data string) (string, error) {
	desired := f.Desired
	desired.NoDrain = nil
	text, err := json.Marshal([]any{desired, f.Target.Owner, f.Target.KubernetesVersion, f.Target.FailureDomains,
		data, f.Target.Bootstrap.Mark(), f.Target.Spec})
	if err != nil {
		return "", fmt.Errorf("encode what is asked of pool %s/%s: %w", f.Target.Owner.Namespace, f.Target.Owner.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// marked returns the provider keys of the instances whose Node is marked to go before others, by a user or by the
// cluster-autoscaler. While the workload cluster is out of reach there are none: nothing is removed then anyway.
func (r *Reconciler[O, S]) marked(ctx context.Context, s *scope[O]) (map[string]bool, error) {
	remote, away := r.remote(ctx, s)
	if away != nil {
		return nil, nil
	}
	found, err := nodes.ByProviderKeys(ctx, remote, nodes.Keys(s.object.GetProviderIDList()))
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	marked := map[string]bool{}
	for key, node := range found {
		if nodes.Marked(node) {
			marked[key] = true
		}
	}
	return marked, nil
}

// merged is a with what only b has.
func merged(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(b)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, a)
	return out
}

package infrapool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/status"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// facts is the scope translated into terms of the domain. Nothing of it changes once it is gathered.
type facts[S any] struct {
	// input is the engine's input without the contributions of the pool's Machines and tokens.
	input engine.Input[S]
	// keep and drop are the values to store on the object and to drop from it.
	keep map[string]string
	drop []string
	// notObservable is set if the cloud cannot be read: the specification is invalid, or no identity is available.
	notObservable *pool.Cause
	// groupName is the name of the pool's group.
	groupName ownership.GroupName
	// sizing names the owner of the group's size.
	sizing sizing
}

// translation is an object as its kind's adapter has translated it.
type translation[S any] struct {
	Translation[S]
	// values are those stored on the object.
	values        map[string]string
	notObservable *pool.Cause
	// from has read the identity, and reads what else is not the object's own; nil if the object could not be translated.
	from *identity.Credentials
}

// translate has the adapter translate the object, and finds the identity for it.
func (r *Reconciler[O, S]) translate(ctx context.Context, s scope[O]) (translation[S], error) {
	values, err := stored.Values(s.object)
	t := translation[S]{values: values}
	if err == nil {
		in := Inputs{
			InfraCluster: s.infraCluster, ControlPlane: s.controlPlane, Resolved: values, MachinePool: s.asked.machinePool,
			Cluster: s.clusterName(), ClusterDeleting: s.clusterDeleting(),
		}
		t.Translation, err = r.adapter.Translate(s.asked.object, in)
	}
	if s.asked.lost != nil {
		t.notObservable = s.asked.lost
		return t, nil
	}
	if err != nil {
		t.notObservable = untranslated(err)
		return t, nil
	}
	t.from = r.identities.Of(client.ObjectKeyFromObject(s.object))
	if r.kind.Identify == nil {
		return t, nil
	}
	keep, err := r.kind.Identify(ctx, identity.Referrer{InfraCluster: s.infraCluster, Stored: values}, t.from, t.Spec)
	t.Keep = stored.Merged(keep, t.Keep)
	var none *identity.Error
	if errors.As(err, &none) {
		t.notObservable = &none.Cause
		return t, nil
	}
	return t, err
}

// untranslated returns why a translation failed: the specification is invalid, or something that it references does not exist yet.
func untranslated(err error) *pool.Cause {
	var notYet *NotYet
	if errors.As(err, &notYet) {
		return &notYet.Cause
	}
	return &pool.Cause{Reason: reasonNotTranslated, Message: err.Error()}
}

// facts translates the scope.
func (r *Reconciler[O, S]) facts(ctx context.Context, s scope[O]) (facts[S], error) {
	t, err := r.translate(ctx, s)
	if t.from != nil {
		defer r.identities.Use(client.ObjectKeyFromObject(s.object), t.from)
	}
	if err != nil {
		return facts[S]{}, err
	}
	now := r.Now()
	sizes := sizingOf(s.machinePool, t.Autoscaler, t.values)
	desired := desiredOf(s, t)
	desired.ReplicasManagedExternally = sizes.external
	desired.PodsHold, desired.Version = len(r.ForeignHolds) > 0, s.version()
	desired.NoDrain, desired.SkipModel = r.workloads.NoDrain(ctx, s.workload()), r.SkipModelReconciliation
	desired.Limits = limits(ctx, r.Policies, r.kind.Name, s, now)
	var restarts map[string]string
	f := facts[S]{notObservable: t.notObservable, sizing: sizes}
	desired.Restart, restarts, f.drop = settings.Restarting(s.settings.Restarts, t.values, now)
	disableRollout(&desired, t.RollDisabled)
	s.asked.limit(&desired)
	mark, history := bootstrap.Configuration(s.bootstrap, s.settings.BootstrapRolls, t.values)
	f.keep = stored.Merged(history, stored.Merged(restarts, maps.Clone(t.Keep)))
	if !s.deleting() {
		f.keep = stored.Merged(sizes.keep(s.machinePool), f.keep)
		f.keep = stored.Merged(bootstrap.Tokens(s.bootstrap.Bootstrap, t.values), f.keep)
	}
	target := targetOf(s, t, mark)
	target.Owner.Kind = strings.ToLower(r.kind.Name)
	desired.Seed = target.Owner.ID
	desired.Adopt, target.Adopt = adoption(s, t.values)
	if desired.Adopt, err = consents(ctx, r.Client, r.kind, s, t, desired.Adopt, target.Adopt); err != nil {
		return f, err
	}
	target.Owner.GroupName = cmp.Or(desired.Adopt.Name, target.Owner.GroupName, t.values[pool.AdoptedKey])
	target.Remembered = stored.After(t.values, f.keep, f.drop)
	if f.groupName, err = r.nameGroup(ctx, s, target, t); err != nil {
		return f, err
	}
	target.Owner.GroupName = f.groupName.Name
	f.keep, f.drop = stored.Merged(f.groupName.Keep, f.keep), append(f.drop, f.groupName.Drop...)
	target.Remembered = stored.After(t.values, f.keep, f.drop)
	marked, err := r.workloads.Marked(ctx, s.workload(), s.object.GetProviderIDList())
	if err != nil {
		return f, err
	}
	f.input = engine.Input[S]{Target: target, Desired: desired, Marked: marked, Now: now, Edited: edited(s, desired),
		Created: s.object.GetCreationTimestamp().Time}
	if f.input.Generation, err = generation(desired, target, target.Bootstrap.Hash()); err != nil {
		return f, err
	}
	if f.input.ContentGeneration, err = generation(desired, target, ""); err != nil {
		return f, err
	}
	f.input.TargetGeneration, err = generation(pool.Desired{}, target, "")
	return f, err
}

// desiredOf returns what the object asks for, without what the reconciler and the cloud add.
func desiredOf[O Object, S any](s scope[O], t translation[S]) pool.Desired {
	return pool.Desired{
		Replicas:             replicas(s.machinePool),
		Min:                  t.Min,
		Max:                  t.Max,
		MinField:             t.MinField,
		MaxField:             t.MaxField,
		AutoscalerField:      t.AutoscalerField,
		Deleting:             s.deleting(),
		CreateBlocked:        createBlocked(s, t.notObservable, t.CreateBlocked),
		NoPrerequisites:      t.NoPrerequisites,
		DrainTimeout:         drainTimeout(s.machinePool),
		DeletePolicy:         t.DeletePolicy,
		Strategy:             t.Strategy,
		Rollback:             t.Rollback,
		TemplateHistoryLimit: t.KeepTemplates,
		MinReady:             max(minReady(s.machinePool), t.MinReady),
		JoinDeadline:         s.settings.JoinDeadline,
		ProgressDeadline:     s.settings.ProgressDeadline,
		RolloutPaused:        s.settings.RolloutPaused,
		Remediation:          delayed(s.settings.Remediation, t.RemediationDelay),
		RemediationHint:      s.settings.RemediationHint,
		Progress:             status.Progress(s.object.GetCommonStatus()),
	}
}

// delayed returns a remediation that waits for what the cloud does itself.
func delayed(r *pool.Remediation, delay time.Duration) *pool.Remediation {
	if r == nil || r.After >= delay {
		return r
	}
	later := *r
	later.After = delay
	return &later
}

// targetOf returns what the driver needs to know about the pool.
func targetOf[O Object, S any](s scope[O], t translation[S], mark string) cloud.Target[S] {
	target := cloud.Target[S]{
		Owner:      ownership.Of(s.object, s.clusterName()),
		GroupID:    s.object.GetProviderID(),
		Bootstrap:  s.bootstrap.Bootstrap.Marked(mark),
		Operations: t.Operations,
		Spec:       t.Spec,
	}
	if s.machinePool != nil {
		target.KubernetesVersion = s.asked.machinePool.Spec.Template.Spec.Version
		target.FailureDomains = s.machinePool.Spec.FailureDomains
	}
	return target
}

// createBlocked returns why nothing may be created: what the scope lacks, else why the cloud is not read, else what the translation lacks.
func createBlocked[O Object](s scope[O], notObservable, translated *pool.Cause) *pool.Cause {
	switch {
	// A deletion waits for nothing but this: what else is missing no longer counts.
	case notObservable != nil && (s.createBlocked == nil || s.deleting()):
		return notObservable
	case s.createBlocked != nil:
		return s.createBlocked
	}
	return translated
}

// disableRollout applies a field of the object that disables rollouts: machines are replaced by a requested restart, and those alone.
func disableRollout(d *pool.Desired, disabled *pool.Cause) {
	switch {
	case disabled == nil:
	case d.Restart == nil && d.RolloutPaused == nil:
		d.RolloutDisabled = disabled
	case !d.SkipModel:
		d.SkipModel, d.SkipModelCause = true, *disabled
	}
}

// edited reports whether the status has another size than the pool asks for, or the pool is being deleted.
func edited[O Object](s scope[O], d pool.Desired) bool {
	return d.Deleting || !d.ReplicasManagedExternally && int(ptr.Deref(s.object.GetCommonStatus().DesiredReplicas, -1)) != d.Replicas
}

// nameGroup returns the name of the pool's group. The target has the name that the annotations ask for.
func (r *Reconciler[O, S]) nameGroup(ctx context.Context, s scope[O], target cloud.Target[S],
	t translation[S]) (ownership.GroupName, error) {
	return ownership.NameGroup(ownership.Named{
		Requested: target.Owner.GroupName, Claimed: r.kind.hasIdentity(s.object), Observed: s.object.GetProviderID() != "" || s.deleting(),
		Stored: t.values,
	}, func(name string) (bool, error) {
		if t.notObservable != nil {
			return false, nil
		}
		target.Owner.GroupName = name
		seen, err := r.driver.Observe(ctx, target)
		if err != nil && !isUnsatisfiable(err) {
			return false, fmt.Errorf("look for the group of %s %s under its former name: %w", r.kind.Name, client.ObjectKeyFromObject(s.object), err)
		}
		return seen.Group != nil || slices.ContainsFunc(seen.Versions, func(v pool.Template) bool { return !v.UserManaged }), nil
	})
}

// isUnsatisfiable reports whether an observation is complete although the specification cannot be satisfied.
func isUnsatisfiable(err error) bool {
	var unmet *cloud.SpecUnsatisfiableError
	return errors.As(err, &unmet)
}

// replicas returns how many machines the MachinePool asks for; 1 without a value, as its defaulting sets.
func replicas(mp *clusterv1.MachinePool) int {
	if mp == nil {
		return 0
	}
	return int(ptr.Deref(mp.Spec.Replicas, 1))
}

// minReady returns how long a node must have been Ready to count as available.
func minReady(mp *clusterv1.MachinePool) time.Duration {
	if mp == nil {
		return 0
	}
	return time.Duration(ptr.Deref(mp.Spec.Template.Spec.MinReadySeconds, 0)) * time.Second
}

// drainTimeout returns the bound on the drain of one node; zero is no bound, as in the API.
func drainTimeout(mp *clusterv1.MachinePool) time.Duration {
	if mp == nil {
		return 0
	}
	return time.Duration(ptr.Deref(mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds, 0)) * time.Second
}

// generation returns a hash of all that users and other controllers ask of the pool, with the hash of the bootstrap data. What the
// reconciler itself writes, and what changes with time, is not in it: it would end every back-off.
func generation[S any](desired pool.Desired, target cloud.Target[S], data string) (string, error) {
	desired.NoDrain, desired.Limits, desired.Progress = nil, rollouts.Limits{}, rollouts.Record{}
	text, err := json.Marshal([]any{desired, target.Owner, target.KubernetesVersion, target.FailureDomains, data, target.Bootstrap.Mark(),
		target.Spec})
	if err != nil {
		return "", fmt.Errorf("encode what is asked of pool %s/%s: %w", target.Owner.Namespace, target.Owner.Name, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

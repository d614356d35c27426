package machinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/machinepool/status"
)

// write writes what the pass has changed, and nothing when it changed nothing; then it tells what happened. Both patches
// fail when somebody else has changed the pool since it was read, so that no pass undoes what it has not seen. The status
// is made last, for it names the generation that the first patch may have changed.
func (r *Reconciler) write(ctx context.Context, p *pass) result {
	outcome := failed(r.writeObject(ctx, p))
	if outcome.err != nil && !p.refused(outcome.err) {
		return outcome
	}
	status.Apply(p.pool, &p.facts)
	p.compare()
	if !p.gone() && !equality.Semantic.DeepEqual(p.before.Status, p.pool.Status) {
		before := p.pool.DeepCopy()
		before.Status = p.before.Status
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Status().Patch(ctx, p.pool.DeepCopy(), patch); err != nil {
			return outcome.join(failed(fmt.Errorf("write the status of MachinePool %s: %w", client.ObjectKeyFromObject(p.pool), err)))
		}
	}
	r.announce(p)
	return outcome
}

// refused says that admission does not take what the pass wants to write, and undoes that: nothing becomes of it by itself, so the
// status has to say so.
func (p *pass) refused(err error) bool {
	if !controllerutil.ContainsFinalizer(p.before, clusterv1.MachinePoolFinalizer) || !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		return false
	}
	p.facts.Infrastructure.Problem = err.Error()
	p.pool.ObjectMeta, p.pool.Spec = p.before.ObjectMeta, p.before.Spec
	return true
}

// writeObject writes metadata and spec when they differ from what was last read or written.
func (r *Reconciler) writeObject(ctx context.Context, p *pass) error {
	if equality.Semantic.DeepEqual(p.before.ObjectMeta, p.pool.ObjectMeta) && equality.Semantic.DeepEqual(p.before.Spec, p.pool.Spec) {
		return nil
	}
	wanted := p.pool.DeepCopy()
	patch := client.MergeFromWithOptions(p.before.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, wanted, patch); err != nil {
		if p.gone() && apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("write MachinePool %s: %w", client.ObjectKeyFromObject(p.pool), err)
	}
	p.pool, p.before = wanted, wanted.DeepCopy()
	return nil
}

// gone says that the pass has let go of a pool that is being deleted: it may not exist any more.
func (p *pass) gone() bool {
	return p.deleting() && !controllerutil.ContainsFinalizer(p.pool, clusterv1.MachinePoolFinalizer)
}

// Reasons of events.
const (
	eventNodes       = "SuccessfulSetNodeRefs"
	eventBootstrap   = "BootstrapDataReady"
	eventProvisioned = "InfrastructureProvisioned"
	eventRefused     = "BootstrapRefused"
	eventNodeDeleted = "SuccessfulDeleteNode"
	eventNodesLeft   = "NodesLeft"

	eventMachineMade    = "SuccessfulCreateMachine"
	eventMachineDeleted = "SuccessfulDeleteMachine"
	eventRemediated     = "UnhealthyMachine"
)

// compare finds what has happened by looking at the status before and after the pass. What had happened before the pool was moved or
// restored without its status is not recorded again.
func (p *pass) compare() {
	was, is := p.before.Status, p.pool.Status
	if !p.restored && turned(was.Initialization.BootstrapDataSecretCreated, is.Initialization.BootstrapDataSecretCreated) {
		p.event(corev1.EventTypeNormal, eventBootstrap, "Bootstrap data is ready")
	}
	if !p.restored && turned(was.Initialization.InfrastructureProvisioned, is.Initialization.InfrastructureProvisioned) {
		p.event(corev1.EventTypeNormal, eventProvisioned, "%s is provisioned", p.facts.Infrastructure)
	}
	if refusal := p.facts.Refusal; refusal != nil && reasonOf(was, clusterv1.BootstrapConfigReadyCondition) != refusal.Reason {
		p.event(corev1.EventTypeWarning, eventRefused, "%s", refusal.Message)
	}
	if slices.Equal(is.NodeRefs, was.NodeRefs) {
		return
	}
	joined, left := without(is.NodeRefs, was.NodeRefs), without(was.NodeRefs, is.NodeRefs)
	joined = slices.DeleteFunc(joined, func(name string) bool { return p.joinedBefore[name] })
	if len(joined) > 0 || len(left) > 0 {
		first := append(slices.Clone(joined), left...)[0]
		p.eventOn(nodeReference(first), eventNodes, "%s; nodes now: %d", moved(joined, left), len(is.NodeRefs))
	}
}

func turned(was, is *bool) bool { return is != nil && *is && (was == nil || !*was) }

func reasonOf(s clusterv1.MachinePoolStatus, conditionType string) string {
	for _, c := range s.Conditions {
		if c.Type == conditionType {
			return c.Reason
		}
	}
	return ""
}

// without are the names of the references in a that are not in b.
func without(a, b []corev1.ObjectReference) []string {
	have := make(map[string]bool, len(b))
	for i := range b {
		have[b[i].Name+string(b[i].UID)] = true
	}
	var names []string
	for i := range a {
		if !have[a[i].Name+string(a[i].UID)] {
			names = append(names, a[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// announce records the events that are to be told by now. Pools that are gone still get theirs: events outlive what they tell of.
func (r *Reconciler) announce(p *pass) {
	if r.Recorder == nil {
		return
	}
	for _, e := range p.events {
		note := e.message
		if len(note) > noteLimit {
			note = strings.ToValidUTF8(note[:noteLimit-len("...")], "") + "..."
		}
		var about runtime.Object
		if e.about != nil {
			about = e.about
		}
		r.Recorder.Eventf(p.pool, about, e.kind, e.reason, action, "%s", note)
	}
	p.events = nil
}

// noteLimit is what the API takes of an event's text; it refuses events with more.
const noteLimit = 1024

// action is what the controller was about when something happened, as the events API wants to know.
const action = "Reconcile"

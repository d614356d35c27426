package infrapool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/status"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

const (
	// eventAction is the action of all events.
	eventAction = "Reconcile"
	// noteLimit is the length of an event's note that the API accepts.
	noteLimit = 1024
)

// writer writes the objects of one kind, and knows which versions of them its own writes have replaced.
type writer[O Object] struct {
	client client.Client
	kind   string
	stale  *staleCache
}

func newWriter[O Object](c client.Client, kind string) *writer[O] {
	return &writer[O]{client: c, kind: kind, stale: newStaleCache()}
}

// claim writes the owner ID of the pool's cloud objects and what finds them again, and adds the finalizer. It is one write, before the
// cloud is called for the first time, and none later.
func (w *writer[O]) claim(ctx context.Context, o O, finalizer string, keep map[string]string, drop []string) error {
	return w.metadata(ctx, o, func() error {
		controllerutil.AddFinalizer(o, finalizer)
		if o.GetAnnotations()[ownership.Annotation] == "" {
			stored.Annotate(o, ownership.Annotation, string(o.GetUID()))
		}
		return stored.Update(o, keep, drop...)
	})
}

// dropFinalizer removes the finalizer.
func (w *writer[O]) dropFinalizer(ctx context.Context, o O, finalizer string) error {
	return w.metadata(ctx, o, func() error {
		controllerutil.RemoveFinalizer(o, finalizer)
		return nil
	})
}

// store writes values to be stored on the object and drops others, if that changes anything.
func (w *writer[O]) store(ctx context.Context, o O, found map[string]string, drop ...string) error {
	return w.metadata(ctx, o, func() error { return stored.Update(o, found, drop...) })
}

// metadata writes the changes to the object's finalizers and annotations, if there are any, on exactly the version that was read.
func (w *writer[O]) metadata(ctx context.Context, o O, change func() error) error {
	finalizers, noted := slices.Clone(o.GetFinalizers()), maps.Clone(o.GetAnnotations())
	if err := change(); err != nil {
		return err
	}
	if slices.Equal(finalizers, o.GetFinalizers()) && maps.Equal(noted, o.GetAnnotations()) {
		return nil // as in nearly every pass: no object is copied for it
	}
	before := o.DeepCopyObject().(O)
	before.SetFinalizers(finalizers)
	before.SetAnnotations(noted)
	if err := w.client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		o.SetFinalizers(before.GetFinalizers())
		o.SetAnnotations(before.GetAnnotations())
		return fmt.Errorf("write finalizer and annotations of %s %s: %w", w.kind, client.ObjectKeyFromObject(o), err)
	}
	w.stale.wrote(o, before.GetResourceVersion())
	return nil
}

// providerIDs writes spec.providerID and spec.providerIDList, if they have changed.
func (w *writer[O]) providerIDs(ctx context.Context, o O, groupID string, ids []string) error {
	groupID = cmp.Or(groupID, o.GetProviderID())
	if groupID == o.GetProviderID() && slices.Equal(ids, o.GetProviderIDList()) {
		return nil
	}
	before := o.DeepCopyObject().(O)
	o.SetProviderID(groupID)
	o.SetProviderIDList(ids)
	if err := w.client.Patch(ctx, o, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write the provider IDs of %s %s: %w", w.kind, client.ObjectKeyFromObject(o), err)
	}
	w.stale.wrote(o, before.GetResourceVersion())
	return nil
}

// status writes the status if it differs from before.
func (w *writer[O]) status(ctx context.Context, before, o O) error {
	if equality.Semantic.DeepEqual(before, o) {
		return nil // what a patch would find out too, at many times the cost
	}
	patch := client.MergeFrom(before)
	data, err := patch.Data(o)
	if err != nil {
		return fmt.Errorf("compare the status of %s %s: %w", w.kind, client.ObjectKeyFromObject(o), err)
	}
	if !changesSomething(data) {
		return nil
	}
	if err := w.client.Status().Patch(ctx, o, client.RawPatch(patch.Type(), data)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of %s %s: %w", w.kind, client.ObjectKeyFromObject(o), err)
	}
	w.stale.wrote(o, before.GetResourceVersion())
	return nil
}

func changesSomething(patch []byte) bool {
	var fields map[string]any
	return json.Unmarshal(patch, &fields) != nil || len(fields) > 0
}

// emit records events.
func emit(recorder events.EventRecorder, o Object, list []report.Event) {
	for _, e := range list {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		note := e.Message
		if len(note) > noteLimit {
			note = strings.ToValidUTF8(note[:noteLimit-len("...")], "") + "..."
		}
		recorder.Eventf(o, nil, kind, e.Reason, eventAction, "%s", note)
	}
}

// write writes what a pass has observed: the fields of the specification that the contract asks for, the size that an external autoscaler
// gave the group, and the status last. What has not changed is not written, and the status keeps its value while the cloud is not read
// because of a rate limit.
func (r *Reconciler[O, S]) write(ctx context.Context, p *pass[O, S], rep report.Report) error {
	s, out := p.scope, p.outcome
	o := s.object
	if out.RateLimited && meta.FindStatusCondition(o.GetConditions(), clusterv1.ReadyCondition) != nil {
		return nil
	}
	if err := r.writer.spec(ctx, s, p.facts.sizing, out, rep); err != nil {
		return err
	}
	before := o.DeepCopyObject().(O)
	status.SetPaused(o, "", r.Now())
	if r.kind.Conditions != nil && rep.Seen {
		rep.Conditions = append(rep.Conditions, r.kind.Conditions(o, rep, out)...)
	}
	status.KeepRollout(before.GetConditions(), &rep)
	announceMachines(r.kind, s, p.machines)
	fillStatus(s, rep, r.kind.Aliases, r.Now())
	status.MarkRemoved(out, o.GetCommonStatus().Instances)
	if out.Seen && !s.deleting() {
		set, limits := clientsOf(r).name(ctx, s, out.Plan.Progress.Record, p.facts.input.Desired.Limits)
		status.SetRollout(o.GetCommonStatus(), out.Plan, out.Observed, limits, set, s.asked.returns)
	}
	status.SetRollback(o.GetCommonStatus(), p.rollback)
	kept := r.rollbacks.keep(ctx, p, rep)
	if rep.Seen {
		r.adapter.Report(o, rep, out)
	}
	list := status.Events(before, o, rep, out, r.engine.Traits())
	if err := r.writer.status(ctx, before, o); err != nil {
		return err
	}
	emit(r.Recorder, o, list)
	return kept
}

// spec writes the provider IDs of the object, and what its MachinePool says about the size of the group.
func (w *writer[O]) spec(ctx context.Context, s scope[O], z sizing, out engine.Outcome, rep report.Report) error {
	if !out.Seen || out.Observed.OwnershipConflict != nil {
		return nil // another controller may run the group
	}
	ids := rep.ProviderIDs
	if s.deleting() {
		ids = withNew(s.object.GetProviderIDList(), ids)
	}
	if err := w.providerIDs(ctx, s.object, rep.GroupID, ids); err != nil {
		return err
	}
	return w.followSize(ctx, s, z, rep.Size)
}

// fillStatus sets the part of the status that all kinds share.
func fillStatus[O Object](s scope[O], rep report.Report, aliases map[string]string, now time.Time) {
	common := s.object.GetCommonStatus()
	common.ObservedGeneration = s.object.GetGeneration()
	status.SetConditions(s.object, append(s.settings.Conditions(), rep.Conditions...), aliases, now)
	var version *string
	if s.machinePool != nil {
		version = &s.asked.machinePool.Spec.Template.Spec.Version
	}
	status.Fill(common, rep, version)
}

// withNew returns a list of provider IDs with those of another one that it lacks.
func withNew(list, others []string) []string {
	out := slices.Clone(list)
	for _, id := range others {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// writesInstances reports whether the lists of instances are written from this pass's observation. A pool that is being deleted keeps its
// last list for the clean-up of its Nodes and adds instances that are launched meanwhile: otherwise their Nodes would be deleted while they
// are drained. A pool whose group was found to belong to another owner keeps its list too: its instances are unknown then, and the Nodes
// of running machines would count as orphans.
func writesInstances[O Object](s scope[O], o pool.Observed) bool {
	return !s.deleting() && o.OwnershipConflict == nil
}

// reasonGroupUnchangeable is the reason of an annotation that the group cannot follow.
const reasonGroupUnchangeable = "GroupUnchangeable"

// reportGroupName reports that the annotations ask for another name than the group has.
func reportGroupName(g ownership.GroupName, adopt pool.Adoption, group string, rep *report.Report) {
	if g.Name == g.Requested {
		return
	}
	annotation, before := ownership.GroupNameAnnotation, fmt.Sprintf("set it to %q again", g.Name)
	if adopt.Name != "" {
		annotation = pool.AdoptAnnotation
	}
	if g.Name == "" {
		before = "remove it"
	}
	text := fmt.Sprintf("the %s keeps the name that it was created with, although metadata.annotations[%s] has changed: %s, or make "+
		"another pool",
		group, annotation, before)
	for i := range rep.Conditions {
		c := &rep.Conditions[i]
		if (c.Type == report.Ready || c.Type == report.GroupReady) && c.Status == report.True {
			c.Status, c.Reason, c.Message = report.False, reasonGroupUnchangeable, text
		}
	}
}

// pausedBy returns why the object is paused, or "".
func pausedBy(kind string, cluster *clusterv1.Cluster, o client.Object) string {
	var causes []string
	if cluster != nil && ptr.Deref(cluster.Spec.Paused, false) {
		causes = append(causes, "Cluster spec.paused is set to true")
	}
	if annotations.HasPaused(o) {
		causes = append(causes, kind+" has the cluster.x-k8s.io/paused annotation")
	}
	if len(causes) > 0 && !o.GetDeletionTimestamp().IsZero() {
		causes = append(causes, "its deletion waits for that to end")
	}
	return strings.Join(causes, ", ")
}

// ReasonDefinitionIncompatible is the reason of Ready while the kind is not reconciled, because its CustomResourceDefinition is not the one
// of this build.
const ReasonDefinitionIncompatible = "DefinitionIncompatible"

// reportDefinition reports on the object why its kind is not reconciled. It does nothing if the definition does not serve the status.
func (r *Reconciler[O, S]) reportDefinition(ctx context.Context, o O, is definitions.Result) error {
	gvk, err := r.Client.GroupVersionKindFor(o)
	if err != nil || !is.Serves(gvk.Version) {
		return err
	}
	before := o.DeepCopyObject().(O)
	list := slices.Clone(o.GetConditions())
	meta.SetStatusCondition(&list, metav1.Condition{
		Type: report.Ready, Status: metav1.ConditionFalse, Reason: ReasonDefinitionIncompatible, Message: is.Message(),
		ObservedGeneration: o.GetGeneration(), LastTransitionTime: metav1.NewTime(r.Now()),
	})
	o.SetConditions(list)
	return r.writer.status(ctx, before, o)
}

package infrapool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/pool"
)

const (
	// eventAction is what events say was being done.
	eventAction = "Reconcile"
	// noteLimit is what the API takes of an event's text.
	noteLimit = 1024
)

// write writes down what a pass has seen: first the fields of the specification that the contract asks for, then the
// size that somebody else gave the group, and the status last. What is as it should be is not written, and what was written holds
// while the cloud is spared for a moment.
func (r *Reconciler[O, S]) write(ctx context.Context, s *scope[O], rep report.Report, out engine.Outcome) error {
	if out.RateLimited && meta.FindStatusCondition(s.object.GetConditions(), clusterv1.ReadyCondition) != nil {
		return nil
	}
	if out.Seen && lists(s, out.Observed) {
		if err := r.writeLists(ctx, s, rep); err != nil {
			return err
		}
	}
	if err := r.writeReplicas(ctx, s, rep); err != nil {
		return err
	}
	o := s.object
	before := o.DeepCopyObject().(O)
	setPaused(o, "", r.Now())
	rep.Conditions = append(rep.Conditions, r.kind.ownConditions(o, rep, out)...)
	holdRollout(before.GetConditions(), &rep)
	r.fillStatus(s, rep)
	takenBy(out, o.GetCommonStatus().Instances)
	if rep.Seen {
		r.adapter.Report(o, rep, out)
	}
	events := r.statusEvents(before, o, rep, out)
	if err := r.writeStatus(ctx, before, o); err != nil {
		return err
	}
	r.emitEvents(o, events)
	return nil
}

// ownConditions returns the conditions that only this kind has.
func (k Kind[O, S]) ownConditions(o O, rep report.Report, out engine.Outcome) []report.Condition {
	if k.Conditions == nil || !rep.Seen {
		return nil
	}
	return k.Conditions(o, rep, out)
}

// conditionEvents are the events of what a pass has seen that is told of once: what conditions have begun to say, and what the cloud has
// done since the status was written. What the pass itself has told already, as of a look-up that is refused, is not repeated.
// A status that was lost, as in a move, tells nothing of a group that exists already: it was told before.
func (r *Reconciler[O, S]) statusEvents(before, o O, rep report.Report, out engine.Outcome) []report.Event {
	if out.Observed.Group != nil && meta.FindStatusCondition(before.GetConditions(), report.Ready) == nil {
		return nil
	}
	list := lifecycleEvents(before.GetCommonStatus(), out, r.engine.Traits())
	list = append(list, conditionEvents(before.GetConditions(), o.GetConditions())...)
	list = append(list, troubled(before.GetConditions(), o.GetConditions(), out.Observed)...)
	return slices.DeleteFunc(list, func(e report.Event) bool {
		return slices.ContainsFunc(rep.Events, func(told report.Event) bool { return told.Message == e.Message })
	})
}

// lists says whether a pass may write the lists of instances. A pool that is being deleted keeps its last list, so that
// whoever cleans up its Nodes knows them; so does one whose group was found in other hands, for nothing is known of its
// instances then, and the Nodes of machines that still run would be taken for left behind.
func lists[O Object](s *scope[O], o pool.Observed) bool {
	return !s.deleting() && o.OwnershipConflict == nil
}

// writeLists keeps spec.providerID and spec.providerIDList.
func (r *Reconciler[O, S]) writeLists(ctx context.Context, s *scope[O], rep report.Report) error {
	o := s.object
	before := o.DeepCopyObject().(O)
	if rep.GroupID != "" {
		o.SetProviderID(rep.GroupID)
	}
	o.SetProviderIDList(rep.ProviderIDs)
	if before.GetProviderID() == o.GetProviderID() && slices.Equal(before.GetProviderIDList(), o.GetProviderIDList()) {
		return nil
	}
	if err := r.Client.Patch(ctx, o, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write the provider IDs of %s %s: %w", r.kind.Name, client.ObjectKeyFromObject(o), err)
	}
	r.stale.wrote(o, before.GetResourceVersion())
	return nil
}

// writeReplicas keeps the MachinePool's replicas at the group's own size where somebody else sizes the group.
func (r *Reconciler[O, S]) writeReplicas(ctx context.Context, s *scope[O], rep report.Report) error {
	if rep.Size == nil || s.deleting() || !sizedElsewhere(s.pool) {
		return nil
	}
	size := int32(*rep.Size)
	if s.pool.Spec.Replicas != nil && *s.pool.Spec.Replicas == size {
		return nil
	}
	mp := s.pool.DeepCopy()
	mp.Spec.Replicas = &size
	if err := r.Client.Patch(ctx, mp, client.MergeFrom(s.pool)); err != nil {
		return fmt.Errorf("write the group's size to MachinePool %s: %w", client.ObjectKeyFromObject(mp), err)
	}
	return nil
}

// fillStatus writes the part of the status that all kinds share.
func (r *Reconciler[O, S]) fillStatus(s *scope[O], rep report.Report) {
	status := s.object.GetCommonStatus()
	status.ObservedGeneration = s.object.GetGeneration()
	status.State = string(rep.State)
	status.DesiredReplicas = ptr.To(int32(rep.Counts.Desired))
	if s.pool != nil {
		status.Version = s.pool.Spec.Template.Spec.Version
	}
	announceMachines(r.kind, s)
	r.fillConditions(s, rep)
	if !rep.Seen {
		return
	}
	status.Replicas = count(rep.Counts.Current)
	status.ReadyReplicas = count(rep.Counts.Ready)
	status.UpToDateReplicas = count(rep.Counts.UpToDate)
	status.Template = rep.Template
	status.Instances = instances(rep.Instances)
	fillCapacity(status, rep.Capacity)
	if rep.Provisioned {
		status.SetProvisioned()
	}
}

func count(n *int) *int32 {
	if n == nil {
		return nil
	}
	return ptr.To(int32(*n))
}

// instancesTold bounds how many instances a status tells of one by one: an object has to fit into what etcd takes of one, with
// the list of all provider IDs, and thousands of rows are read by nobody.
const instancesTold = 250

// told are the instances that a status tells of, in their order: all, or in a large pool first those that do not serve.
func told(list []report.Instance) []report.Instance {
	if len(list) <= instancesTold {
		return list
	}
	serves := func(i report.Instance) bool { return i.Ready && i.State == pool.Running }
	serving := instancesTold
	for _, i := range list {
		if !serves(i) {
			serving--
		}
	}
	others := instancesTold - max(serving, 0)
	return slices.DeleteFunc(slices.Clone(list), func(i report.Instance) bool {
		left := &others
		if serves(i) {
			left = &serving
		}
		*left--
		return *left < 0
	})
}

func instances(list []report.Instance) []common.InstanceStatus {
	var out []common.InstanceStatus
	for _, i := range told(list) {
		status := common.InstanceStatus{
			InstanceID: i.ID, ProviderID: i.ProviderID, Zone: i.Zone, State: string(i.State), Node: i.Node, Ready: i.Ready, Template: i.Template,
		}
		if i.Version != "" {
			status.Version = ptr.To(i.Version)
		}
		out = append(out, status)
	}
	return out
}

// fillConditions sets the report's conditions, under the ecosystem's names as well, and takes away those of ours that
// the report no longer has.
func (r *Reconciler[O, S]) fillConditions(s *scope[O], rep report.Report) {
	o := s.object
	list := slices.Clone(o.GetConditions())
	said := map[string]bool{clusterv1.PausedCondition: true}
	for _, c := range append(s.settings.conditions(), rep.Conditions...) {
		for _, name := range []string{c.Type, r.kind.Aliases[c.Type]} {
			if name == "" {
				continue
			}
			said[name] = true
			meta.SetStatusCondition(&list, metav1.Condition{
				Type: name, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				ObservedGeneration: o.GetGeneration(), LastTransitionTime: metav1.NewTime(r.Now()),
			})
		}
	}
	list = slices.DeleteFunc(list, func(c metav1.Condition) bool { return r.kind.reported(c.Type) && !said[c.Type] })
	o.SetConditions(list)
}

// reported reports whether a condition is one that reports set: what was said earlier and is not said any more is taken
// away, and conditions of others are left alone.
func (k Kind[O, S]) reported(name string) bool {
	for _, t := range []string{report.Ready, report.TemplateReady, report.PrerequisitesReady, report.GroupReady, report.InstancesReady, report.UpToDate,
		report.Draining, report.Deleting, SettingsValid, MachinesOwned} {
		if name == t || name == k.Aliases[t] {
			return true
		}
	}
	return false
}

// pauses says why the object is not to be touched, or nothing.
func pauses(kind string, cluster *clusterv1.Cluster, o client.Object) string {
	var why []string
	if cluster != nil && ptr.Deref(cluster.Spec.Paused, false) {
		why = append(why, "Cluster spec.paused is set to true")
	}
	if annotations.HasPaused(o) {
		why = append(why, kind+" has the cluster.x-k8s.io/paused annotation")
	}
	if len(why) > 0 && !o.GetDeletionTimestamp().IsZero() {
		why = append(why, "its deletion waits for that to end")
	}
	return strings.Join(why, ", ")
}

// setPaused sets the condition Paused, as every provider has it.
func setPaused(o Object, why string, now time.Time) {
	condition := metav1.Condition{
		Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason,
		ObservedGeneration: o.GetGeneration(), LastTransitionTime: metav1.NewTime(now),
	}
	if why != "" {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionTrue, clusterv1.PausedReason, why
	}
	list := slices.Clone(o.GetConditions())
	meta.SetStatusCondition(&list, condition)
	o.SetConditions(list)
}

// ReasonDefinitionIncompatible is the reason of Ready while the kind is not run, because its CustomResourceDefinition is not the one that this build comes with.
const ReasonDefinitionIncompatible = "DefinitionIncompatible"

// reportDefinition says on the object why its kind is not run. A status that the definition does not have, or has no room for, says nothing.
func reportDefinition[O Object, S any](ctx context.Context, r *Reconciler[O, S], o O, is definitions.Result) error {
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
	return r.writeStatus(ctx, before, o)
}

// writeStatus writes the status if it differs from before.
func (r *Reconciler[O, S]) writeStatus(ctx context.Context, before, o O) error {
	if equality.Semantic.DeepEqual(before, o) {
		return nil // what a patch would find out too, at many times the cost
	}
	patch := client.MergeFrom(before)
	data, err := patch.Data(o)
	if err != nil {
		return fmt.Errorf("compare the status of %s %s: %w", r.kind.Name, client.ObjectKeyFromObject(o), err)
	}
	if !changesSomething(data) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, o, client.RawPatch(patch.Type(), data)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of %s %s: %w", r.kind.Name, client.ObjectKeyFromObject(o), err)
	}
	r.stale.wrote(o, before.GetResourceVersion())
	return nil
}

func changesSomething(patch []byte) bool {
	var fields map[string]any
	return json.Unmarshal(patch, &fields) != nil || len(fields) > 0
}

// emitEvents records what happened in this pass.
func (r *Reconciler[O, S]) emitEvents(o O, list []report.Event) {
	for _, e := range list {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		note := e.Message
		if len(note) > noteLimit {
			note = strings.ToValidUTF8(note[:noteLimit-len("...")], "") + "..."
		}
		r.Recorder.Eventf(o, nil, kind, e.Reason, eventAction, "%s", note)
	}
}

// fillCapacity writes what machines of the wanted template offer. While that is not known the status keeps what it was.
func fillCapacity(status *common.Status, c *pool.NodeCapacity) {
	if c == nil {
		return
	}
	list := corev1.ResourceList{}
	set := func(name corev1.ResourceName, n int, unit int64, format resource.Format) {
		if n > 0 {
			list[name] = *resource.NewQuantity(int64(n)*unit, format)
		}
	}
	const mib = 1 << 20
	set(corev1.ResourceCPU, c.CPUs, 1, resource.DecimalSI)
	set(corev1.ResourceMemory, c.MemoryMiB, mib, resource.BinarySI)
	set(corev1.ResourcePods, c.Pods, 1, resource.DecimalSI)
	for name, n := range c.Devices {
		set(corev1.ResourceName(name), n, 1, resource.DecimalSI)
	}
	if !equality.Semantic.DeepEqual(status.Capacity, list) {
		status.Capacity = list // an equal quantity of another form would be written again and again
	}
	status.NodeInfo = common.NodeInfo{Architecture: c.Architecture, OperatingSystem: c.OperatingSystem}
}

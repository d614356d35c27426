// Package machinecontroller replaces Cluster API's controller of Machines in explored scenarios.
package machinecontroller

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/test/explore/workload"
	"github.com/muster-project/muster/test/memapi"
)

// Environment is implemented by the world of a scenario.
type Environment interface {
	// At schedules do.
	At(when time.Time, do func())
	// Blame records a violation of an oracle.
	Blame(oracle, format string, args ...any)
	// Must ends the test on an error.
	Must(err error, format string, args ...any)
	Context() context.Context
}

// Infra describes the infrastructure objects of single machines.
type Infra struct {
	New  func() client.Object
	List func() client.ObjectList
	// ProviderID returns the provider ID in the object. Provisioned reports whether the machine exists.
	ProviderID  func(client.Object) string
	Provisioned func(client.Object) bool
}

// Options holds the dependencies of the controller.
type Options struct {
	// Infra is nil if the pool has no infrastructure machine objects. The controller then does nothing.
	Infra  *Infra
	Scheme *runtime.Scheme
	// Server is the API server of the management cluster, User the client with which the controller reads and writes it.
	Server   *memapi.Server
	User     client.Client
	Workload *workload.Cluster
}

// Controller does for Machines what Cluster API's own controller does: it links them to their infrastructure objects, reports the state of
// their Nodes, and drains and deletes them. It is another manager, and has no faults.
type Controller struct {
	Options
	env Environment
	// mgmt and workload are the revisions of both clusters when it looked last.
	mgmt, workload int64
	// due is true if it will look.
	due bool
	// drains are since when machines have been condemned by the deletion of their Machines, by ID.
	drains map[string]time.Time
}

// New returns a controller that has looked at nothing yet.
func New(env Environment, o Options) *Controller {
	return &Controller{Options: o, env: env, drains: map[string]time.Time{}}
}

// namespace is that of all objects.
const namespace = metav1.NamespaceDefault

const (
	// lookPause delays a look after a change. lookAgain is the interval between looks while the controller waits for something.
	lookPause, lookAgain = 200 * time.Millisecond, 5 * time.Second
)

// Wake schedules a look if either cluster has changed since the last one.
func (k *Controller) Wake() {
	if k.Infra == nil || k.Server.Revision() == k.mgmt && k.Workload.API.Revision() == k.workload {
		return
	}
	k.mgmt, k.workload = k.Server.Revision(), k.Workload.API.Revision()
	k.soon(lookPause)
}

func (k *Controller) soon(pause time.Duration) {
	if k.due {
		return
	}
	k.due = true
	k.env.At(time.Now().Add(pause), k.look)
}

// look looks after all Machines.
func (k *Controller) look() {
	k.due = false
	env := k.env
	list := &clusterv1.MachineList{}
	env.Must(k.User.List(env.Context(), list, client.InNamespace(namespace)), "list Machines")
	again := false
	for i := range list.Items {
		m := &list.Items[i]
		if annotations.HasPaused(m) {
			continue
		}
		if m.DeletionTimestamp.IsZero() {
			k.sync(m)
			continue
		}
		again = k.end(m) || again
	}
	k.mgmt, k.workload = k.Server.Revision(), k.Workload.API.Revision()
	if again {
		k.soon(lookAgain)
	}
}

// Greet puts the finalizer on a new Machine, which is the first thing that its controller does.
func (k *Controller) Greet(op memapi.Op) {
	env, m := k.env, &clusterv1.Machine{}
	if op.Verb == "create" && op.Kind == "Machine" && k.User.Get(env.Context(), op.Key, m) == nil &&
		controllerutil.AddFinalizer(m, clusterv1.MachineFinalizer) {
		env.Must(k.User.Update(env.Context(), m), "keep Machine %s", m.Name)
	}
}

// InfraOf returns the infrastructure object of a Machine, nil if it does not exist.
func (k *Controller) InfraOf(m *clusterv1.Machine) client.Object {
	if k.Infra == nil {
		return nil
	}
	o := k.Infra.New()
	if k.User.Get(k.env.Context(), client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.InfrastructureRef.Name}, o) != nil {
		return nil
	}
	return o
}

// nodeOf returns the Node of a Machine, nil when there is none.
func (k *Controller) nodeOf(providerID string) *corev1.Node {
	return k.Workload.NodeOf(providerID)
}

// sync updates a Machine that is not being deleted.
func (k *Controller) sync(m *clusterv1.Machine) {
	env, ctx, infra := k.env, k.env.Context(), k.InfraOf(m)
	before := m.DeepCopy()
	if infra != nil {
		owned := infra.DeepCopyObject().(client.Object)
		env.Must(controllerutil.SetControllerReference(m, owned, k.Scheme), "tie %s to its Machine", infra.GetName())
		if !equality.Semantic.DeepEqual(infra, owned) {
			env.Must(k.User.Update(ctx, owned), "tie %s to its Machine", infra.GetName())
		}
		if k.Infra.Provisioned(infra) {
			m.Spec.ProviderID = k.Infra.ProviderID(infra)
		}
	}
	if !equality.Semantic.DeepEqual(before, m) {
		env.Must(k.User.Update(ctx, m), "write Machine %s", m.Name)
	}
	before = m.DeepCopy()
	k.setNodeConditions(m)
	if !equality.Semantic.DeepEqual(before.Status, m.Status) {
		env.Must(k.User.Status().Update(ctx, m), "write the status of Machine %s", m.Name)
	}
}

// setNodeConditions sets the Node conditions of a Machine.
func (k *Controller) setNodeConditions(m *clusterv1.Machine) {
	status, phase := metav1.ConditionFalse, "Provisioning"
	if node := k.nodeOf(m.Spec.ProviderID); node != nil {
		m.Status.NodeRef = clusterv1.MachineNodeReference{Name: node.Name}
		phase = "Running"
		if node.Status.Conditions[0].Status == corev1.ConditionTrue {
			status = metav1.ConditionTrue
		}
	}
	m.Status.Phase = phase
	for _, of := range []string{clusterv1.MachineReadyCondition, clusterv1.MachineAvailableCondition} {
		meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: of, Status: status, Reason: "Explored",
			LastTransitionTime: metav1.Now()})
	}
}

// end continues the deletion of a Machine as Cluster API's reconcileDelete does, and reports whether it waits.
func (k *Controller) end(m *clusterv1.Machine) bool {
	env, ctx, infra := k.env, k.env.Context(), k.InfraOf(m)
	before := m.DeepCopy()
	k.refer(m, infra)
	reason := k.advance(m, infra)
	k.follow(m)
	meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
		Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.Now(),
	})
	if !equality.Semantic.DeepEqual(before.Status, m.Status) {
		env.Must(k.User.Status().Update(ctx, m), "write the status of Machine %s", m.Name)
	}
	if infra != nil || reason == clusterv1.MachineDeletingWaitingForPreDrainHookReason {
		return true
	}
	if node := k.referred(m); node != nil && !k.Workload.Outage.Away() {
		if id, pods := k.Workload.MachineOf(node.Name), len(k.Workload.App.PodsOn(node.Name)); id != "" && pods > 0 && !takenForGone(m, node) &&
			!timeUp(m) {
			env.Blame("undrained", "the deletion of Machine %s deleted node %s with %d pods, whose instance %s runs", m.Name, node.Name, pods, id)
		}
		env.Must(client.IgnoreNotFound(k.Workload.User.Delete(ctx, node)), "delete node %s", node.Name)
	}
	controllerutil.RemoveFinalizer(m, clusterv1.MachineFinalizer)
	env.Must(k.User.Update(ctx, m), "let Machine %s go", m.Name)
	return false
}

// takenForGone reports whether the pool has deleted a Machine whose instance had left the group while its Node was not Ready. Such a
// machine looks like a terminated one, and its pods answer no eviction.
func takenForGone(m *clusterv1.Machine, node *corev1.Node) bool {
	return strings.HasPrefix(m.Annotations[machines.CauseAnnotation], "InstanceGone:") &&
		node.Status.Conditions[0].Status != corev1.ConditionTrue
}

// advance continues with the hook, the drain or the infrastructure object of a Machine, and returns what it waits for.
func (k *Controller) advance(m *clusterv1.Machine, infra client.Object) string {
	env := k.env
	if m.Status.NodeRef.IsDefined() && annotations.HasWithPrefix(clusterv1.PreDrainDeleteHookAnnotationPrefix, m.Annotations) {
		return clusterv1.MachineDeletingWaitingForPreDrainHookReason
	}
	if m.Status.NodeRef.IsDefined() && drainAllowed(m, infra) && !k.drained(m) {
		return clusterv1.MachineDeletingDrainingNodeReason
	}
	if infra != nil && infra.GetDeletionTimestamp().IsZero() {
		env.Must(k.User.Delete(env.Context(), infra), "delete infrastructure machine %s", infra.GetName())
	}
	return clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason
}

// refer looks once more for the Node of a Machine that knows of none. Without one nothing is drained.
func (k *Controller) refer(m *clusterv1.Machine, infra client.Object) {
	id := m.Spec.ProviderID
	if infra != nil && id == "" {
		id = k.Infra.ProviderID(infra)
	}
	if m.Status.NodeRef.IsDefined() || k.Workload.Outage.Away() {
		return
	}
	if node := k.nodeOf(id); node != nil {
		m.Status.NodeRef = clusterv1.MachineNodeReference{Name: node.Name}
	}
}

// referred returns the Node that a Machine refers to; nil when it is gone.
func (k *Controller) referred(m *clusterv1.Machine) *corev1.Node {
	node := &corev1.Node{}
	if !m.Status.NodeRef.IsDefined() || k.Workload.User.Get(k.env.Context(), client.ObjectKey{Name: m.Status.NodeRef.Name}, node) != nil {
		return nil
	}
	return node
}

// drainAllowed is cluster-api's isNodeDrainAllowed: nothing is drained, or no more, once the object below the Machine is being deleted,
// or when the time of the drain is up.
func drainAllowed(m *clusterv1.Machine, infra client.Object) bool {
	if _, excluded := m.Annotations[clusterv1.ExcludeNodeDrainingAnnotation]; excluded || infra == nil ||
		!infra.GetDeletionTimestamp().IsZero() {
		return false
	}
	return !timeUp(m)
}

// timeUp reports whether the drain of a Machine's Node has had all the time that the user gives it.
func timeUp(m *clusterv1.Machine) bool {
	limit, d := m.Spec.Deletion.NodeDrainTimeoutSeconds, m.Status.Deletion
	return limit != nil && *limit > 0 && d != nil && !d.NodeDrainStartTime.IsZero() &&
		time.Since(d.NodeDrainStartTime.Time) >= time.Duration(*limit)*time.Second
}

// drained continues the drain of a Machine's Node, and reports whether it is complete.
func (k *Controller) drained(m *clusterv1.Machine) bool {
	if m.Status.Deletion == nil {
		m.Status.Deletion = &clusterv1.MachineDeletionStatus{}
	}
	if m.Status.Deletion.NodeDrainStartTime.IsZero() {
		m.Status.Deletion.NodeDrainStartTime = metav1.Now().Rfc3339Copy()
	}
	l := k.Workload
	done := !l.Outage.Away() && k.empty(k.referred(m))
	succeeded := clusterv1.Condition{Type: clusterv1.DrainingSucceededV1Beta1Condition, Status: corev1.ConditionFalse,
		LastTransitionTime: metav1.Now()}
	if done {
		succeeded.Status = corev1.ConditionTrue
	}
	if old := m.GetV1Beta1Conditions(); len(old) != 1 || old[0].Status != succeeded.Status {
		m.SetV1Beta1Conditions(clusterv1.Conditions{succeeded})
	}
	return done
}

// empty cordons a Node and evicts its pods, and reports whether none is left. From a Node that is gone nothing is drained.
func (k *Controller) empty(node *corev1.Node) bool {
	if node == nil {
		return true
	}
	l := k.Workload
	if !node.Spec.Unschedulable {
		node.Spec.Unschedulable = true
		l.Change(node, "cordoned by the keeper of Machines")
	}
	left := l.App.PodsOn(node.Name)
	for _, pod := range left {
		if !l.App.Blocked() {
			l.App.Expel(&pod)
		}
	}
	return len(left) == 0
}

// RequestDeletion notes that a Machine, or what stands below it, is to go, and gives its instance: of those that ever had the provider ID
// the one that runs.
func (k *Controller) RequestDeletion(providerID string) string {
	for _, m := range k.Workload.Running() {
		if cloud.ProviderKey(m.ProviderID) != cloud.ProviderKey(providerID) {
			continue
		}
		if k.drains[m.ID].IsZero() {
			k.drains[m.ID] = time.Now()
		}
		return m.ID
	}
	return ""
}

// Succeed notes that the deletion of a Machine, with the drain that it has begun, is that of the instance which is in the place of an
// earlier one now.
func (k *Controller) Succeed(m *clusterv1.Machine) {
	before := len(k.drains)
	id, d := k.RequestDeletion(m.Spec.ProviderID), m.Status.Deletion
	if len(k.drains) > before && d != nil && !d.NodeDrainStartTime.IsZero() {
		k.drains[id] = d.NodeDrainStartTime.Time
	}
}

// follow notes that the drain of a Machine is that of the instance which has its Node now. One that is gone may have had the Node, or the
// provider ID, when the deletion began.
func (k *Controller) follow(m *clusterv1.Machine) {
	d := m.Status.Deletion
	if d == nil || d.NodeDrainStartTime.IsZero() || !m.Status.NodeRef.IsDefined() {
		return
	}
	if id := k.Workload.MachineOf(m.Status.NodeRef.Name); id != "" && k.drains[id].IsZero() {
		k.drains[id] = d.NodeDrainStartTime.Time
	}
}

// RevertDeletion takes back what Condemn has noted.
func (k *Controller) RevertDeletion(providerID string) {
	for _, m := range k.Workload.Running() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(providerID) {
			delete(k.drains, m.ID)
		}
	}
}

// DrainStarted returns when the drain of an instance began that the deletion of its Machine began; zero for none.
func (k *Controller) DrainStarted(id string) time.Time { return k.drains[id] }

// Forget discards all drains, as after the loss of the requests for them.
func (k *Controller) Forget() { clear(k.drains) }

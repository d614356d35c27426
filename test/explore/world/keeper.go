package world

import (
	"maps"
	"slices"
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
	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

// keeper does for Machines what cluster-api's own controller does: it ties them to what stands below them, tells of their Nodes, and
// drains and deletes those that are to go. It is another manager, which no fault meets.
type keeper struct {
	world *World
	// mgmt and workload are the revisions of both clusters when it looked last.
	mgmt, workload int64
	// due is true if it will look.
	due bool
	// drains are since when machines have been condemned by the deletion of their Machines, by ID.
	drains map[string]time.Time
}

const (
	// keeperPause is how long it takes to look after something has changed, keeperAgain until it looks again at what it waits for.
	keeperPause, keeperAgain = 200 * time.Millisecond, 5 * time.Second
)

// uncached are the kinds for which no decision rests on a cache.
func (k *Kind) uncached() []client.Object {
	list := []client.Object{&clusterv1.Machine{}}
	if k.Machines != nil {
		list = append(list, k.Machines.New())
	}
	return list
}

// wake has the keeper look when something has changed.
func (k *keeper) wake() {
	w := k.world
	if w.Scenario.Kind.Machines == nil || w.mgmt.Revision() == k.mgmt && w.Workload.API.Revision() == k.workload {
		return
	}
	k.mgmt, k.workload = w.mgmt.Revision(), w.Workload.API.Revision()
	k.soon(keeperPause)
}

func (k *keeper) soon(pause time.Duration) {
	if k.due {
		return
	}
	k.due = true
	k.world.At(time.Now().Add(pause), k.look)
}

// look looks after all Machines.
func (k *keeper) look() {
	k.due = false
	w := k.world
	list := &clusterv1.MachineList{}
	w.Must(w.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list Machines")
	again := false
	for i := range list.Items {
		m := &list.Items[i]
		if annotations.HasPaused(m) {
			continue
		}
		if m.DeletionTimestamp.IsZero() {
			k.tend(m)
			continue
		}
		again = k.end(m) || again
	}
	k.mgmt, k.workload = w.mgmt.Revision(), w.Workload.API.Revision()
	if again {
		k.soon(keeperAgain)
	}
}

// greet puts the finalizer on a new Machine, which is the first thing that its controller does.
func (k *keeper) greet(op memapi.Op) {
	w, m := k.world, &clusterv1.Machine{}
	if op.Verb == "create" && op.Kind == "Machine" && w.User.Get(w.t.Context(), op.Key, m) == nil && controllerutil.AddFinalizer(m, clusterv1.MachineFinalizer) {
		w.Must(w.User.Update(w.t.Context(), m), "keep Machine %s", m.Name)
	}
}

// infraOf is what stands below a Machine, nil when it is gone.
func (k *keeper) infraOf(m *clusterv1.Machine) client.Object {
	if k.world.Scenario.Kind.Machines == nil {
		return nil
	}
	o := k.world.Scenario.Kind.Machines.New()
	if k.world.User.Get(k.world.t.Context(), client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.InfrastructureRef.Name}, o) != nil {
		return nil
	}
	return o
}

// nodeOf is the Node of a Machine, nil when there is none.
func (k *keeper) nodeOf(providerID string) *corev1.Node {
	return k.world.Workload.NodeOf(providerID)
}

// tend brings a Machine that is to stay to what there is.
func (k *keeper) tend(m *clusterv1.Machine) {
	w, ctx, infra := k.world, k.world.t.Context(), k.infraOf(m)
	types, err := w.Scenario.Kind.scheme()
	w.Must(err, "make the scheme")
	before := m.DeepCopy()
	if infra != nil {
		owned := infra.DeepCopyObject().(client.Object)
		w.Must(controllerutil.SetControllerReference(m, owned, types), "tie %s to its Machine", infra.GetName())
		if !equality.Semantic.DeepEqual(infra, owned) {
			w.Must(w.User.Update(ctx, owned), "tie %s to its Machine", infra.GetName())
		}
		if of := w.Scenario.Kind.Machines; of.Provisioned(infra) {
			m.Spec.ProviderID = of.ProviderID(infra)
		}
	}
	if !equality.Semantic.DeepEqual(before, m) {
		w.Must(w.User.Update(ctx, m), "write Machine %s", m.Name)
	}
	before = m.DeepCopy()
	k.tell(m)
	if !equality.Semantic.DeepEqual(before.Status, m.Status) {
		w.Must(w.User.Status().Update(ctx, m), "write the status of Machine %s", m.Name)
	}
}

// tell says how a Machine's Node is.
func (k *keeper) tell(m *clusterv1.Machine) {
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
		meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: of, Status: status, Reason: "Explored", LastTransitionTime: metav1.Now()})
	}
}

// end goes on with the end of a Machine as cluster-api's reconcileDelete does, and says whether it is waited for.
func (k *keeper) end(m *clusterv1.Machine) bool {
	w, ctx, infra := k.world, k.world.t.Context(), k.infraOf(m)
	before := m.DeepCopy()
	k.refer(m, infra)
	reason := k.advance(m, infra)
	meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
		Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.Now(),
	})
	if !equality.Semantic.DeepEqual(before.Status, m.Status) {
		w.Must(w.User.Status().Update(ctx, m), "write the status of Machine %s", m.Name)
	}
	if infra != nil || reason == clusterv1.MachineDeletingWaitingForPreDrainHookReason {
		return true
	}
	if node := k.referred(m); node != nil && !w.Workload.Away() {
		if id, pods := w.Workload.MachineOf(node.Name), len(w.Workload.PodsOn(node.Name)); id != "" && pods > 0 {
			w.blame("undrained", "the deletion of Machine %s deleted node %s with %d pods, whose instance %s runs", m.Name, node.Name, pods, id)
		}
		w.Must(client.IgnoreNotFound(w.Workload.User.Delete(ctx, node)), "delete node %s", node.Name)
	}
	controllerutil.RemoveFinalizer(m, clusterv1.MachineFinalizer)
	w.Must(w.User.Update(ctx, m), "let Machine %s go", m.Name)
	return false
}

// advance goes on with the hook, the drain or the infrastructure machine of a Machine, and says what is waited for.
func (k *keeper) advance(m *clusterv1.Machine, infra client.Object) string {
	w := k.world
	if m.Status.NodeRef.IsDefined() && annotations.HasWithPrefix(clusterv1.PreDrainDeleteHookAnnotationPrefix, m.Annotations) {
		return clusterv1.MachineDeletingWaitingForPreDrainHookReason
	}
	if m.Status.NodeRef.IsDefined() && drainAllowed(m, infra) && !k.drained(m) {
		return clusterv1.MachineDeletingDrainingNodeReason
	}
	if infra != nil && infra.GetDeletionTimestamp().IsZero() {
		w.Must(w.User.Delete(w.t.Context(), infra), "delete infrastructure machine %s", infra.GetName())
	}
	return clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason
}

// refer looks once more for the Node of a Machine that knows of none. Without one nothing is drained.
func (k *keeper) refer(m *clusterv1.Machine, infra client.Object) {
	id := m.Spec.ProviderID
	if infra != nil && id == "" {
		id = k.world.Scenario.Kind.Machines.ProviderID(infra)
	}
	if m.Status.NodeRef.IsDefined() || k.world.Workload.Away() {
		return
	}
	if node := k.nodeOf(id); node != nil {
		m.Status.NodeRef = clusterv1.MachineNodeReference{Name: node.Name}
	}
}

// referred is the Node that a Machine refers to; nil when it is gone.
func (k *keeper) referred(m *clusterv1.Machine) *corev1.Node {
	node := &corev1.Node{}
	if !m.Status.NodeRef.IsDefined() || k.world.Workload.User.Get(k.world.t.Context(), client.ObjectKey{Name: m.Status.NodeRef.Name}, node) != nil {
		return nil
	}
	return node
}

// drainAllowed is cluster-api's isNodeDrainAllowed: nothing is drained, or no more, once the object below the Machine is being deleted,
// or when the time of the drain is up.
func drainAllowed(m *clusterv1.Machine, infra client.Object) bool {
	if _, excluded := m.Annotations[clusterv1.ExcludeNodeDrainingAnnotation]; excluded || infra == nil || !infra.GetDeletionTimestamp().IsZero() {
		return false
	}
	limit, d := m.Spec.Deletion.NodeDrainTimeoutSeconds, m.Status.Deletion
	return limit == nil || *limit <= 0 || d == nil || d.NodeDrainStartTime.IsZero() ||
		time.Since(d.NodeDrainStartTime.Time) < time.Duration(*limit)*time.Second
}

// drained goes on with the drain of a Machine's Node, and says whether nothing is left there.
func (k *keeper) drained(m *clusterv1.Machine) bool {
	if m.Status.Deletion == nil {
		m.Status.Deletion = &clusterv1.MachineDeletionStatus{}
	}
	if m.Status.Deletion.NodeDrainStartTime.IsZero() {
		m.Status.Deletion.NodeDrainStartTime = metav1.Now().Rfc3339Copy()
	}
	l := k.world.Workload
	done := !l.Away() && k.empty(k.referred(m))
	succeeded := clusterv1.Condition{Type: clusterv1.DrainingSucceededV1Beta1Condition, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()}
	if done {
		succeeded.Status = corev1.ConditionTrue
	}
	if old := m.GetV1Beta1Conditions(); len(old) != 1 || old[0].Status != succeeded.Status {
		m.SetV1Beta1Conditions(clusterv1.Conditions{succeeded})
	}
	return done
}

// empty cordons a Node and evicts its pods, and says whether none is left. From a Node that is gone nothing is drained.
func (k *keeper) empty(node *corev1.Node) bool {
	if node == nil {
		return true
	}
	l := k.world.Workload
	if !node.Spec.Unschedulable {
		node.Spec.Unschedulable = true
		l.Change(node, "cordoned by the keeper of Machines")
	}
	left := l.PodsOn(node.Name)
	for _, pod := range left {
		if !l.Blocked() {
			l.Expel(&pod)
		}
	}
	return len(left) == 0
}

// former reports whether what stands below a Machine names an instance that is gone, whichever has its provider ID now: the
// deletion of that Machine takes no instance along.
func (w *World) former(infra client.Object) bool {
	uid := infra.GetAnnotations()[machines.InstanceUIDAnnotation]
	return uid != "" && !slices.ContainsFunc(w.instances(), func(m Instance) bool { return m.UID == uid })
}

// causes wants a cause for the deletion of a Machine. It can't be taken back: whatever is wanted later, its instance goes.
func (p *process) causes(name string, before oracle.Cloud, providerID string) {
	w := p.world
	if w.account.recently() {
		w.condemnByHand(providerID)
		return
	}
	after := oracle.Cloud{Groups: slices.Clone(before.Groups)}
	before.Groups = slices.Clone(before.Groups)
	condemned := maps.Clone(w.condemned)
	w.condemnByHand(providerID)
	for k := range before.Groups {
		of := &before.Groups[k].Members
		*of = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return condemned[m.ID] })
		after.Groups[k].Members = slices.DeleteFunc(slices.Clone(*of), func(m oracle.Member) bool { return w.condemned[m.ID] })
		if !p.wanted.External { // there another may be brought before it goes
			after.Groups[k].Size -= len(*of) - len(after.Groups[k].Members)
		}
	}
	w.blameAll("unwanted removal", oracle.Removal(oracle.Write{
		At: time.Now(), Call: "the deletion of Machine " + name, Shrinks: true, Before: before, After: after, Wanted: p.wanted, Unseen: 2 * unseen,
	}))
}

// ownsNow reports whether the pool as it is now owns an object. The deletion of one that it does not own, after a restore, asks for nothing.
func (w *World) ownsNow(o client.Object) bool {
	_, pool := w.Objects()
	return pool != nil && slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == pool.GetUID() })
}

// condemnByHand notes that a user wants the instance to go.
func (w *World) condemnByHand(providerID string) {
	for _, m := range w.instances() {
		if cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(providerID) {
			w.condemned[m.UID] = true
		}
	}
}

// instances are the machines of the pool's group.
func (w *World) instances() []Instance {
	if w.pool.Instances == nil {
		return nil
	}
	return w.pool.Instances()
}

// infraMachines are the objects that stand for single machines.
func (w *World) infraMachines() []client.Object {
	if w.Scenario.Kind.Machines == nil {
		return nil
	}
	list := w.Scenario.Kind.Machines.List()
	w.Must(w.User.List(w.t.Context(), list, client.InNamespace(Namespace)), "list infrastructure machines")
	var all []client.Object
	w.Must(meta.EachListItem(list, func(o runtime.Object) error {
		all = append(all, o.(client.Object))
		return nil
	}), "list infrastructure machines")
	return all
}

// allCondemned are the instances that are to go by name.
func (w *World) allCondemned() map[string]bool {
	if w.Scenario.Kind.Machines == nil {
		return nil
	}
	return maps.Clone(w.condemned)
}

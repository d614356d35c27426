package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/memapi"
	"github.com/muster-project/muster/test/explore/oracle"
)

// Workload is the workload cluster: machines that the cloud powers on join it some time later, if their token is good; its
// pods are evicted under a budget, end a moment later, and are started again where there is room.
type Workload struct {
	world *World
	seed  sim.Seed
	api   *memapi.Server
	user  client.Client
	by    map[string]*machine
	// cordoned are the nodes that users have cordoned.
	cordoned map[string]bool
	// made are the tokens that were ever made, whatever has become of them.
	made map[string]bool
	// lasting is a token that is good for ever: that of machines which are given no other.
	lasting string
	// away is until when the API server does not answer, left since when; blocked is until when the budget keeps every pod.
	away, left, blocked time.Time
	// homeless pods wait for room, pods counts all.
	homeless, pods int

	// mu guards what the cloud asks for in its own time, beside the world.
	mu sync.Mutex
	// powered are the machines that the cloud powered on and off since the last call of arrive.
	powered []powered
}

type powered struct {
	id string
	on *sim.Machine
}

// machine is one machine and its node.
type machine struct {
	sim.Machine
	token string
	// off is when it was powered off, joined that it has become a node.
	off    time.Time
	joined bool
	// marked is when a user or the autoscaler asked for it to go first.
	marked time.Time
}

const (
	// Times that machines and clusters take in life.
	joinLeast, joinSpread = 12, 48
	nodeUnknown           = 40 * time.Second
	nodeStays             = 90 * time.Second
	podEnds               = 2 * time.Second
	// tokenStays is how long a token is good after the next one was made, unless it is kept alive: longer than any fault lasts.
	tokenStays = 30 * time.Minute
	budgetName = "web"
)

// tokenIn finds the token in the bootstrap data.
var tokenIn = regexp.MustCompile(`token:? ([a-z0-9]{6}\.[a-z0-9]{16})`)

func newWorkload(w *World, types *runtime.Scheme) *Workload {
	l := &Workload{world: w, seed: sim.Seed(w.Scenario.Seed), by: map[string]*machine{}, cordoned: map[string]bool{}, made: map[string]bool{}}
	l.api = memapi.New(memapi.Options{
		Scheme: types, Now: time.Now, Subresources: map[string]func(context.Context, client.Object, client.Object) error{"eviction": l.evict},
		Indexes: append(workloadIndexes(), memapi.Index{Object: &corev1.Pod{}, Field: "spec.nodeName", Values: func(o client.Object) []string {
			if pod, ok := o.(*corev1.Pod); ok {
				return []string{pod.Spec.NodeName}
			}
			return nil
		}}),
	})
	l.user = l.api.Client()
	ctx := w.t.Context()
	w.Must(l.user.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}), "make the namespace")
	w.Must(l.user.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: budgetName},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": budgetName}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: Plenty},
	}), "make the budget")
	return l
}

// Plenty is as good as no limit.
const Plenty = 1000

// everything is all that a client of the workload cluster may read without a cache.
func everything() []client.Object {
	return []client.Object{&corev1.Node{}, &corev1.Pod{}, &policyv1.PodDisruptionBudget{}, &storagev1.VolumeAttachment{}, &corev1.PersistentVolume{}, &corev1.Secret{}, &appsv1.DaemonSet{}}
}

func workloadIndexes() []memapi.Index {
	var list []memapi.Index
	for _, i := range nodes.Indexes() {
		list = append(list, memapi.Index{Object: i.Object, Field: i.Field, Values: i.ExtractValue})
	}
	return list
}

// PowerOn lets a machine boot. It is called by the cloud, whenever that comes to it.
func (l *Workload) PowerOn(m sim.Machine) { l.power(powered{id: m.ID, on: &m}) }

// PowerOff ends a machine.
func (l *Workload) PowerOff(id string) { l.power(powered{id: id}) }

func (l *Workload) power(p powered) {
	l.mu.Lock()
	l.powered = append(l.powered, p)
	l.mu.Unlock()
	l.world.stir()
}

// Console is empty.
func (l *Workload) Console(string) []byte { return nil }

// arrive takes up what the cloud has powered on and off, in an order that depends on nothing but names.
func (l *Workload) arrive() {
	l.mu.Lock()
	list := l.powered
	l.powered = nil
	l.mu.Unlock()
	slices.SortStableFunc(list, func(a, b powered) int { return cmp.Compare(a.id, b.id) })
	for _, p := range list {
		if p.on != nil {
			l.boot(*p.on)
		} else {
			l.end(p.id)
		}
	}
}

func (l *Workload) boot(on sim.Machine) {
	if is := l.by[on.ID]; is != nil && (is.off.IsZero() || !l.world.Scenario.Kind.Restarts) {
		return
	}
	m := &machine{Machine: on}
	if found := tokenIn.FindSubmatch(on.UserData); found != nil {
		m.token = string(found[1])
	}
	if on.Managed != nil && !on.Managed.Own {
		m.token = on.Managed.Token // the cloud's own images join by themselves
	}
	l.guarded(func() { l.by[on.ID] = m })
	takes := time.Duration((joinLeast + joinSpread*l.seed.Chance("join", on.ID)) * float64(time.Second))
	l.world.At(on.Launched.Add(takes), func() { l.join(m) })
}

// join makes the machine a node, if it still runs and its token is good.
func (l *Workload) join(m *machine) {
	if !m.off.IsZero() || m.Type == l.world.Scenario.Kind.BadType || !l.good(m.token) {
		l.world.Trace("node", "%s does not join", m.ID)
		return
	}
	l.guarded(func() { m.joined = true })
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: m.Hostname}, Spec: corev1.NodeSpec{ProviderID: m.ProviderID},
		Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: m.KubeletVersion}, Conditions: []corev1.NodeCondition{readiness(corev1.ConditionTrue)}},
	}
	if m.Managed != nil {
		node.Labels = maps.Clone(m.Managed.Labels)
		for _, t := range m.Managed.Taints {
			node.Spec.Taints = append(node.Spec.Taints, taint(t))
		}
	}
	if is := l.node(m); is != nil {
		// One of the same name went before it, and its node is still there. A kubelet takes such a node over as it is, cordoned or not;
		// a Machine that is being deleted has been drained on it already.
		node.ResourceVersion, node.UID, node.Annotations, node.Spec.Unschedulable = is.ResourceVersion, is.UID, is.Annotations, is.Spec.Unschedulable
		l.world.Must(l.user.Update(l.world.t.Context(), node), "make the node of %s anew", m.ID)
	} else {
		delete(l.cordoned, m.Hostname) // a user cordoned another node of that name
		l.world.Must(l.user.Create(l.world.t.Context(), node), "make the node of %s", m.ID)
	}
	l.world.Trace("node", "%s joins as %s", m.ID, m.Hostname)
	s := l.world.Scenario
	for range s.Pods {
		if l.pods < s.Pods*s.Most {
			l.pods++
			l.homeless++
		}
	}
	l.house()
}

func readiness(is corev1.ConditionStatus) corev1.NodeCondition {
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: is, LastTransitionTime: metav1.Now(), Reason: "Explored"}
}

// end powers a machine off: its node goes silent, and is taken away some time later.
func (l *Workload) end(id string) {
	m := l.by[id]
	if m == nil || !m.off.IsZero() {
		return
	}
	l.guarded(func() { m.off = time.Now() })
	if !m.joined {
		return
	}
	l.world.At(m.off.Add(nodeUnknown), func() {
		if !l.succeeded(m) {
			l.ready(m, corev1.ConditionUnknown)
		}
	})
	l.world.At(m.off.Add(nodeStays), func() { l.remove(m) })
}

// succeeded reports whether another machine of the same name has taken over the machine's node.
func (l *Workload) succeeded(m *machine) bool {
	for _, other := range l.by {
		if other != m && other.Hostname == m.Hostname && other.joined && other.off.IsZero() {
			return true
		}
	}
	return false
}

// node is the machine's node as it is, nil when there is none.
func (l *Workload) node(m *machine) *corev1.Node {
	node := &corev1.Node{}
	if l.user.Get(l.world.t.Context(), client.ObjectKey{Name: m.Hostname}, node) != nil {
		return nil
	}
	return node
}

func (l *Workload) ready(m *machine, is corev1.ConditionStatus) {
	if node := l.node(m); node != nil && node.Status.Conditions[0].Status != is {
		node.Status.Conditions = []corev1.NodeCondition{readiness(is)}
		l.world.Must(l.user.Update(l.world.t.Context(), node), "turn node %s", node.Name)
	}
}

// remove takes away a node and what ran there.
func (l *Workload) remove(m *machine) {
	if l.succeeded(m) {
		return
	}
	if node := l.node(m); node != nil {
		l.world.Must(l.user.Delete(l.world.t.Context(), node), "delete node %s", node.Name)
	}
	for _, pod := range l.podsOn(m.Hostname) {
		l.finish(pod.Name)
	}
}

// podsOn are the pods on a node.
func (l *Workload) podsOn(node string) []corev1.Pod {
	list := &corev1.PodList{}
	l.world.Must(l.user.List(l.world.t.Context(), list, client.MatchingFields{"spec.nodeName": node}), "list pods")
	return list.Items
}

// evict begins the end of a pod, unless its budget keeps it.
func (l *Workload) evict(ctx context.Context, o, _ client.Object) error {
	if time.Now().Before(l.blocked) {
		return tooMany()
	}
	if !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	name := o.GetName()
	l.world.At(time.Now().Add(podEnds), func() { l.finish(name) })
	if err := l.user.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name}}); err != nil {
		return fmt.Errorf("delete pod %s: %w", name, err)
	}
	return nil
}

// finish ends a pod for good, and has it started again where there is room.
func (l *Workload) finish(name string) {
	ctx, pod := l.world.t.Context(), &corev1.Pod{}
	if l.user.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name}, pod) != nil {
		return
	}
	l.world.Must(l.user.Delete(ctx, pod, client.GracePeriodSeconds(0)), "end pod %s", name)
	l.homeless++
	l.house()
}

// house starts the pods that wait on the nodes that take any, the emptiest first.
func (l *Workload) house() {
	list := &corev1.NodeList{}
	l.world.Must(l.user.List(l.world.t.Context(), list), "list nodes")
	room := map[string]int{}
	for _, n := range list.Items {
		if !n.Spec.Unschedulable && n.Status.Conditions[0].Status == corev1.ConditionTrue {
			room[n.Name] = len(l.podsOn(n.Name))
		}
	}
	names := slices.Sorted(maps.Keys(room))
	for ; l.homeless > 0 && len(names) > 0; l.homeless-- {
		best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(room[a], room[b]) })
		room[best]++
		l.world.Must(l.user.Create(l.world.t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: Namespace, GenerateName: budgetName + "-", Labels: map[string]string{"app": budgetName},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: budgetName, UID: "web", Controller: ptr.To(true)}},
			},
			Spec:   corev1.PodSpec{NodeName: best},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}), "start a pod on %s", best)
	}
}

// truth is what is so, whether the API server answers or not.
func (l *Workload) truth() map[string]oracle.Node {
	l.arrive()
	all := map[string]oracle.Node{}
	for id, m := range l.by {
		n := oracle.Node{Joined: m.joined && m.off.IsZero(), Marked: m.marked}
		if !n.Joined {
			all[id] = n
			continue
		}
		if node := l.node(m); node != nil {
			n.Ready = node.Status.Conditions[0].Status == corev1.ConditionTrue
			n.Cordoned = node.Spec.Unschedulable
			n.Pods = len(l.podsOn(m.Hostname))
			if at, err := time.Parse(time.RFC3339, node.Annotations[drain.StartedAnnotation]); err == nil && node.Spec.Unschedulable {
				n.DrainStarted = at
			}
			if at := l.world.keeper.drains[id]; !at.IsZero() {
				n.DrainStarted = at
			}
		}
		all[id] = n
	}
	return all
}

// draining reports whether a drain by Muster has begun on a node.
func (l *Workload) draining(name string) bool {
	node := &corev1.Node{}
	return l.user.Get(l.world.t.Context(), client.ObjectKey{Name: name}, node) == nil && node.Spec.Unschedulable && node.Annotations[drain.StartedAnnotation] != ""
}

// machineOf is the instance of the machine that runs and has become the node of that name, empty when there is none.
func (l *Workload) machineOf(node string) string {
	l.arrive()
	for _, m := range l.running() {
		if m.joined && m.Hostname == node {
			return m.ID
		}
	}
	return ""
}

// Counts are how many nodes of running machines there are, and how many of them are cordoned or marked by a drain.
func (l *Workload) Counts() (joined, cordoned int) {
	for _, m := range l.by {
		if !m.joined || !m.off.IsZero() {
			continue
		}
		node := l.node(m)
		if node == nil {
			continue
		}
		joined++
		if node.Spec.Unschedulable || node.Annotations[drain.StartedAnnotation] != "" {
			cordoned++
		}
	}
	return joined, cordoned
}

// running are the machines that run, by their IDs.
func (l *Workload) running() []*machine {
	var list []*machine
	for _, id := range slices.Sorted(maps.Keys(l.by)) {
		if l.by[id].off.IsZero() {
			list = append(list, l.by[id])
		}
	}
	return list
}

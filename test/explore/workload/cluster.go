// Package workload is the workload cluster of an explored scenario: its API server, machines that boot and join with bootstrap tokens,
// nodes, pods under a budget, and what goes wrong there. It is also what a simulated cloud sees of it.
package workload

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/memapi"
)

// Environment is implemented by the world of a scenario.
type Environment interface {
	// At schedules do. Stir ends the world's sleep early.
	At(when time.Time, do func())
	Stir()
	Trace(what, format string, args ...any)
	// Must ends the test on an error.
	Must(err error, format string, args ...any)
	Context() context.Context
}

// Options holds the parameters of a workload cluster.
type Options struct {
	Seed   uint64
	Scheme *runtime.Scheme
	// Refuses is true if a machine whose Node name is already Ready does not join.
	Refuses bool
	// Restarts is true if the cloud restarts machines that were powered off. Machines of BadType never join.
	Restarts bool
	BadType  string
	// Pods is the number of pods that each joining machine adds, MostPods the limit on all pods.
	Pods, MostPods int
	// Neighbours is true if other controllers are at work: a DaemonSet, and one that holds some pods with a finalizer.
	Neighbours bool
	// DrainStarted returns the start of a drain that the deletion of the instance's Machine began, zero for none.
	DrainStarted func(id string) time.Time
	// Reconnect resets all clients. It is called when the API server has been unreachable long enough for clients to give up, and when it is
	// reachable again.
	Reconnect func()
}

// Cluster is the workload cluster. Machines that the cloud launches join it some time later, if their token is valid. Its pods are evicted
// under a budget, end a moment later, and are restarted where there is room.
type Cluster struct {
	Options
	env  Environment
	seed sim.Seed
	// API is its API server, User how users read and write it.
	API  *memapi.Server
	User client.Client
	by   map[string]*machine
	// closed are the nodes that the cloud has closed.
	closed map[string]bool

	// The parts of the cluster other than machines and their nodes.
	Tokens *Tokens
	App    *App
	Users  *Users
	Drains *Drains
	Outage *Outage

	// mu guards the fields that the cloud accesses at its own times, concurrently with the world.
	mu sync.Mutex
	// powered are the machines that the cloud powered on and off since the last call of Arrive.
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
	// marked is the time when a user or the autoscaler requested the node's removal first.
	marked time.Time
	// drained is when the drain of its node began that Muster has deleted since; zero for none.
	drained time.Time
}

const (
	// Times that machines and clusters take in life.
	joinLeast, joinSpread = 12, 48
	nodeUnknown           = 40 * time.Second
	nodeStays             = 90 * time.Second
	podEnds               = 2 * time.Second
	// tokenStays is the validity of a replaced token unless it is renewed. It is longer than any fault.
	tokenStays = 30 * time.Minute
	budgetName = "web"
	namespace  = "default"
)

// tokenIn finds the token in the bootstrap data.
var tokenIn = regexp.MustCompile(`token:? ([a-z0-9]{6}\.[a-z0-9]{16})`)

// New returns a cluster with a budget for its pods and without machines.
func New(env Environment, o Options) *Cluster {
	l := &Cluster{Options: o, env: env, seed: sim.Seed(o.Seed), by: map[string]*machine{}, closed: map[string]bool{}}
	l.Tokens, l.App, l.Users = &Tokens{cluster: l, made: map[string]int{}}, &App{cluster: l}, &Users{cluster: l, cordoned: map[string]bool{}}
	l.Drains, l.Outage = &Drains{cluster: l}, &Outage{cluster: l}
	l.API = memapi.New(memapi.Options{
		Scheme: o.Scheme, Now: time.Now,
		Subresources: map[string]func(context.Context, client.Object, client.Object) error{"eviction": l.App.evict},
		Indexes: append(indexes(), memapi.Index{Object: &corev1.Pod{}, Field: "spec.nodeName", Values: func(o client.Object) []string {
			if pod, ok := o.(*corev1.Pod); ok {
				return []string{pod.Spec.NodeName}
			}
			return nil
		}}),
	})
	l.User = l.API.Client()
	ctx := env.Context()
	env.Must(l.User.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}), "make the namespace")
	env.Must(l.User.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: budgetName},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": budgetName}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: plenty},
	}), "make the budget")
	l.neighbours()
	return l
}

// plenty is as good as no limit.
const plenty = 1000

func indexes() []memapi.Index {
	var list []memapi.Index
	for _, i := range nodes.Indexes() {
		list = append(list, memapi.Index{Object: i.Object, Field: i.Field, Values: i.ExtractValue})
	}
	return list
}

// PowerOn lets a machine boot. It is called by the cloud, whenever that comes to it.
func (l *Cluster) PowerOn(m sim.Machine) { l.power(powered{id: m.ID, on: &m}) }

// PowerOff ends a machine.
func (l *Cluster) PowerOff(id string) { l.power(powered{id: id}) }

func (l *Cluster) power(p powered) {
	l.mu.Lock()
	l.powered = append(l.powered, p)
	l.mu.Unlock()
	l.env.Stir()
}

// Console is empty.
func (l *Cluster) Console(string) []byte { return nil }

// Arrive takes up what the cloud has powered on and off, in an order that depends on nothing but names.
func (l *Cluster) Arrive() {
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

func (l *Cluster) boot(on sim.Machine) {
	if is := l.by[on.ID]; is != nil && (is.off.IsZero() || !l.Restarts) {
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
	l.env.At(on.Launched.Add(takes), func() { l.join(m) })
}

// join makes the machine a node, if it still runs and its token is good.
func (l *Cluster) join(m *machine) {
	if !m.off.IsZero() || m.Type == l.BadType || !l.Tokens.good(m.token) {
		l.env.Trace("node", "%s does not join", m.ID)
		return
	}
	is := l.node(m)
	if l.Refuses && is != nil && is.Status.Conditions[0].Status == corev1.ConditionTrue {
		l.env.Trace("node", "%s does not join: node %s is Ready", m.ID, is.Name) // kubeadm rejects it, and runs once
		return
	}
	l.guarded(func() { m.joined = true })
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: m.Hostname}, Spec: corev1.NodeSpec{ProviderID: m.ProviderID},
		Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: m.KubeletVersion},
			Conditions: []corev1.NodeCondition{readiness(corev1.ConditionTrue)}},
	}
	if m.Managed != nil {
		node.Labels = maps.Clone(m.Managed.Labels)
		for _, t := range m.Managed.Taints {
			node.Spec.Taints = append(node.Spec.Taints, taint(t))
		}
	}
	if is != nil {
		// One of the same name went before it, and its node is still there. A kubelet takes such a node over as it is, cordoned or not;
		// a Machine that is being deleted has been drained on it already.
		node.ResourceVersion, node.UID, node.Annotations, node.Spec.Unschedulable = is.ResourceVersion, is.UID, is.Annotations,
			is.Spec.Unschedulable
		l.env.Must(l.User.Update(l.env.Context(), node), "make the node of %s anew", m.ID)
	} else {
		delete(l.Users.cordoned, m.Hostname) // a user cordoned another node of that name, or the cloud did
		delete(l.closed, m.Hostname)
		l.env.Must(l.User.Create(l.env.Context(), node), "make the node of %s", m.ID)
	}
	l.env.Trace("node", "%s joins as %s", m.ID, m.Hostname)
	for range l.Pods {
		if l.App.pods < l.MostPods {
			l.App.pods++
			l.App.homeless++
		}
	}
	l.App.startAgent(m.Hostname)
	l.App.house()
}

func readiness(is corev1.ConditionStatus) corev1.NodeCondition {
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: is, LastTransitionTime: metav1.Now(), Reason: "Explored"}
}

// end powers a machine off: its node stops its heartbeats, and is deleted some time later.
func (l *Cluster) end(id string) {
	m := l.by[id]
	if m == nil || !m.off.IsZero() {
		return
	}
	l.guarded(func() { m.off = time.Now() })
	if !m.joined {
		return
	}
	l.env.At(m.off.Add(nodeUnknown), func() {
		if !l.succeeded(m) {
			l.ready(m, corev1.ConditionUnknown)
		}
	})
	l.env.At(m.off.Add(nodeStays), func() { l.remove(m) })
}

// succeeded reports whether another machine of the same name has taken over the machine's node.
func (l *Cluster) succeeded(m *machine) bool {
	for _, other := range l.by {
		if other != m && other.Hostname == m.Hostname && other.joined && other.off.IsZero() {
			return true
		}
	}
	return false
}

// node returns the machine's node as it is, nil when there is none.
func (l *Cluster) node(m *machine) *corev1.Node {
	node := &corev1.Node{}
	if l.User.Get(l.env.Context(), client.ObjectKey{Name: m.Hostname}, node) != nil {
		return nil
	}
	return node
}

func (l *Cluster) ready(m *machine, is corev1.ConditionStatus) {
	if node := l.node(m); node != nil && node.Status.Conditions[0].Status != is {
		node.Status.Conditions = []corev1.NodeCondition{readiness(is)}
		l.env.Must(l.User.Update(l.env.Context(), node), "turn node %s", node.Name)
	}
}

// remove takes away a node and what ran there.
func (l *Cluster) remove(m *machine) {
	if l.succeeded(m) {
		return
	}
	if node := l.node(m); node != nil {
		l.env.Must(l.User.Delete(l.env.Context(), node), "delete node %s", node.Name)
	}
	l.App.stopAgent(m.Hostname)
	for _, pod := range l.App.PodsOn(m.Hostname) {
		l.App.lose(pod.Name)
	}
}

// MachineOf returns the instance of the machine that runs and has become the node of that name, empty when there is none.
func (l *Cluster) MachineOf(node string) string {
	l.Arrive()
	for _, m := range l.running() {
		if m.joined && m.Hostname == node {
			return m.ID
		}
	}
	return ""
}

// Counts returns the number of Nodes of running machines, and how many of them are cordoned or marked by a drain.
func (l *Cluster) Counts() (joined, cordoned int) {
	for _, m := range l.by {
		if !m.joined || !m.off.IsZero() {
			continue
		}
		node := l.node(m)
		if node == nil {
			continue
		}
		joined++
		if node.Spec.Unschedulable || node.Annotations[nodes.DrainStartedAnnotation] != "" {
			cordoned++
		}
	}
	return joined, cordoned
}

// Running returns the machines that run, by their IDs.
func (l *Cluster) Running() []sim.Machine {
	var list []sim.Machine
	for _, m := range l.running() {
		list = append(list, m.Machine)
	}
	return list
}

// NodeOf returns the Node of a machine with the provider ID, nil when there is none.
func (l *Cluster) NodeOf(providerID string) *corev1.Node {
	for _, m := range l.by {
		if m.joined && cloud.ProviderKey(m.ProviderID) == cloud.ProviderKey(providerID) {
			return l.node(m)
		}
	}
	return nil
}

// running returns the machines that run, by their IDs.
func (l *Cluster) running() []*machine {
	var list []*machine
	for _, id := range slices.Sorted(maps.Keys(l.by)) {
		if l.by[id].off.IsZero() {
			list = append(list, l.by[id])
		}
	}
	return list
}

package nodes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes/apiclient"
)

const (
	// drainPause is the time until evictions that a budget refused are retried.
	drainPause = time.Second
	// bindingPause is the time during which a pod may still be bound to a cordoned node, because the scheduler had chosen it before.
	bindingPause = 2 * time.Second
	// minRetry and maxRetry bound the interval between attempts to reach an API server that does not respond.
	minRetry, maxRetry = 200 * time.Millisecond, 5 * time.Second
	// managerCall bounds one call.
	managerCall = 10 * time.Second
)

// operator begins the lines of the console about what the cloud does to the machine's Node.
func (g *guest) operator() string { return g.Managed.Operator + ": " }

// manager represents the cloud's operations on the Node of one of its machines. It uses the cloud's own identity in the cluster, which also
// lets machines join. Requests are carried out in the background, one after the other, and retried until they succeed.
type manager struct {
	guest *guest

	mu sync.Mutex
	// node is the name of the machine's Node; empty until it has joined.
	node  string
	ready bool
	// working is true while a goroutine carries out the requests.
	working bool
	// closed is the requested state of the node; nil once it is applied. marks are the pending changes of labels and taints.
	closed *bool
	marks  []sim.Marks
	// closedAt is the time at which the node was cordoned; zero while it is not, as far as is known.
	closedAt time.Time
	// draining is true while pods are evicted, force if they are deleted instead; drained is true if none is left.
	draining, force, drained bool
	// unregistered is true once the node is being deleted.
	unregistered bool
}

func (m *manager) isReady() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ready
}

func (m *manager) setReady(ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = ready
}

func (m *manager) hasNode() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node != "" && m.guest.Managed != nil
}

// close requests that the node is cordoned or uncordoned. Repeated requests do not delay others. The lock is held.
func (m *manager) close(closed bool) {
	known := closed && !m.closedAt.IsZero()
	if m.closed != nil {
		known = *m.closed == closed
	}
	if !known {
		m.closed = &closed
	}
}

// joined sets the node's name. Earlier requests are carried out now. A machine whose Node was there before gets its group's labels and
// taints once more: they may have changed while the process, or the machine, was off.
func (m *manager) joined(node string, again bool) {
	m.ask(func(m *manager) {
		m.node = node
		if again && m.guest.byItself() {
			m.marks = append(m.marks, sim.Marks{Labels: m.guest.Managed.Labels, Taints: m.guest.Managed.Taints})
		}
	})
}

// ask changes what is wanted and has it done. The fleet is not closed while it runs.
func (m *manager) ask(change func(*manager)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
	if m.working || m.node == "" || m.guest.Managed == nil || m.guest.Managed.Token == "" || m.next() == nil {
		return
	}
	m.working = true
	m.guest.fleet.wg.Go(m.work)
}

// unregister deletes the node in the background, whether the machine stays on or not. The fleet is not closed while it runs.
func (m *manager) unregister() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unregistered || m.node == "" || m.guest.Managed == nil || m.guest.Managed.Token == "" {
		return
	}
	m.unregistered = true
	m.guest.fleet.wg.Go(func() { m.deleteNode(m.node) })
}

// deleteNode deletes a node, again and again until it has worked or the fleet is closed. A node that has registered under its name since,
// as a machine does that was reimaged, stays.
func (m *manager) deleteNode(node string) {
	g, ctx := m.guest, m.guest.fleet.ctx
	c, err := apiclient.Open(apiclient.Access{Server: g.Managed.Server, CA: g.Managed.CA, Token: g.Managed.Token}, g.fleet.options.Dial)
	if err != nil {
		g.print(g.operator(), "%v", err)
		return
	}
	defer c.Close()
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	var uid types.UID
	for ctx.Err() == nil {
		err := deleteOne(ctx, c, node, &uid)
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		b.Wait(ctx)
	}
}

// deleteOne tries once to delete the node of that name which was there at the first try, whose UID it keeps.
func deleteOne(ctx context.Context, c *apiclient.Client, node string, uid *types.UID) error {
	call, cancel := context.WithTimeout(ctx, managerCall)
	defer cancel()
	if *uid == "" {
		is, err := c.Core.Nodes().Get(call, node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		*uid = is.UID
	}
	return c.Core.Nodes().Delete(call, node, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: uid}})
}

// nodeAction is one change of a node. done is called with the lock held after it has succeeded.
type nodeAction struct {
	what string
	do   func(ctx context.Context, c *apiclient.Client, node string) (done bool, err error)
	done func()
}

// next returns the action to run next; nil if there is none. The lock is held.
func (m *manager) next() *nodeAction {
	switch {
	case len(m.marks) > 0:
		change := m.marks[0]
		return &nodeAction{"label and taint", func(ctx context.Context, c *apiclient.Client, node string) (bool, error) {
			return true, mark(ctx, c, node, change)
		}, func() { m.marks = m.marks[1:] }}
	case m.closed != nil:
		closed := m.closed
		return &nodeAction{"cordon", func(ctx context.Context, c *apiclient.Client, node string) (bool, error) {
			return true, cordon(ctx, c, node, *closed)
		}, func() {
			m.closedAt = time.Time{}
			if *closed {
				m.closedAt = time.Now()
			}
			if m.closed == closed {
				m.closed = nil
			}
		}}
	case m.draining && !m.drained:
		force, closedAt := m.force, m.closedAt
		return &nodeAction{"drain", func(ctx context.Context, c *apiclient.Client, node string) (bool, error) {
			none, err := evict(ctx, c, node, force)
			return none && time.Since(closedAt) > bindingPause, err
		}, func() { m.drained = m.draining }}
	default:
		return nil
	}
}

// work carries out the requests until none is left, or the machine is off.
func (m *manager) work() {
	g := m.guest
	c, err := apiclient.Open(apiclient.Access{Server: g.Managed.Server, CA: g.Managed.CA, Token: g.Managed.Token}, g.fleet.options.Dial)
	if err != nil {
		g.print(g.operator(), "%v", err)
		m.rest()
		return
	}
	defer c.Close()
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	printed := ""
	for {
		d, node := m.take()
		if d == nil {
			return
		}
		done, err := m.try(d, c, node)
		if text := fmt.Sprint(err); err != nil && text != printed && g.ctx.Err() == nil {
			printed = text
			g.print(g.operator(), "%s %s: %v", d.what, node, err)
		}
		switch {
		case done:
			b.Reset()
		case err == nil || apierrors.IsTooManyRequests(err):
			apiclient.Wait(g.ctx, drainPause)
		default:
			b.Wait(g.ctx)
		}
		if g.ctx.Err() != nil {
			m.rest()
			return
		}
	}
}

// take gives the next deed; without one the work is over.
func (m *manager) take() (*nodeAction, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.next()
	m.working = d != nil
	return d, m.node
}

func (m *manager) rest() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.working = false
}

// try does a deed once. One on a node that is no more is done.
func (m *manager) try(d *nodeAction, c *apiclient.Client, node string) (bool, error) {
	ctx, cancel := context.WithTimeout(m.guest.ctx, managerCall)
	defer cancel()
	done, err := d.do(ctx, c, node)
	if apierrors.IsNotFound(err) {
		done, err = true, nil
	}
	if !done || err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d.done()
	return true, nil
}

// cordon closes or opens a node.
func cordon(ctx context.Context, c *apiclient.Client, node string, closed bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, closed)
	_, err := c.Core.Nodes().Patch(ctx, node, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	return err
}

// mark changes labels and taints: what is to go first, and then what is to be there.
func mark(ctx context.Context, c *apiclient.Client, name string, change sim.Marks) error {
	node, err := c.Core.Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, key := range change.Unlabel {
		delete(node.Labels, key)
	}
	for key, value := range change.Labels {
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[key] = value
	}
	for _, t := range slices.Concat(change.Untaint, change.Taints) {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(o corev1.Taint) bool {
			return o.Key == t.Key &&
				string(o.Effect) == t.Effect
		})
	}
	for _, t := range change.Taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	_, err = c.Core.Nodes().Update(ctx, node, metav1.UpdateOptions{})
	return err
}

// evict asks every pod of a node to go that a drain takes, and reports whether none is left. The error is the last refusal.
func evict(ctx context.Context, c *apiclient.Client, node string, force bool) (bool, error) {
	pods, err := c.Core.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return false, err
	}
	left := 0
	for i := range pods.Items {
		p := &pods.Items[i]
		if stays(p) {
			continue
		}
		left++
		if p.DeletionTimestamp != nil {
			continue
		}
		if refused := remove(ctx, c, p, force); refused != nil && !apierrors.IsNotFound(refused) {
			err = fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, refused)
		}
	}
	return left == 0, err
}

// remove evicts a pod, or deletes it.
func remove(ctx context.Context, c *apiclient.Client, p *corev1.Pod, force bool) error {
	same := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.UID))}
	if force {
		return c.Core.Pods(p.Namespace).Delete(ctx, p.Name, same)
	}
	return c.Core.Pods(p.Namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &same})
}

// stays tells the pods that a drain leaves: those of DaemonSets, which would come again at once, and those of the node itself.
func stays(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return p.Annotations[corev1.MirrorPodAnnotationKey] != "" || owner != nil && owner.Kind == "DaemonSet"
}

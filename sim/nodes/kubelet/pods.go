package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

const (
	// watchFor is the duration of a watch before a new one is started, as in client-go's reflectors.
	watchFor = 7 * time.Minute
	// maxGrace bounds a pod's grace period before it is sped up. Real ones rarely exceed an hour.
	maxGrace = time.Hour
	// retryPod is the wait after a pod could not be written.
	retryPod = 2 * time.Second
)

// pods runs the pods that are bound to the node: one at a time, each at the moment it is due.
type pods struct {
	*kubelet
	printed once
	due     map[types.UID]task
}

// task is the next action for a pod.
type task struct {
	pod *corev1.Pod
	do  action
	at  time.Time
}

type action int

const (
	nothing action = iota
	start
	remove
)

func (p *pods) run(ctx context.Context) {
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	for {
		err := p.session(ctx)
		if ctx.Err() != nil {
			return
		}
		p.print(err)
		if err == nil {
			b.Reset()
		}
		if !b.Wait(ctx) {
			return
		}
	}
}

// print prints that the pods cannot be watched, or can be again; nil means that they are.
func (p *pods) print(err error) {
	p.printed.print(p.kubelet, "Failed to watch pods, will retry: %v", err)
}

// session lists the node's pods and follows them until the watch ends.
func (p *pods) session(ctx context.Context) error {
	selector := metav1.ListOptions{FieldSelector: "spec.nodeName=" + p.Node.Name}
	listCall, cancel := call(ctx)
	defer cancel()
	list, err := p.api.Core.Pods(metav1.NamespaceAll).List(listCall, selector)
	if err != nil {
		return err
	}
	p.due = map[types.UID]task{}
	for i := range list.Items {
		p.see(&list.Items[i])
	}
	selector.ResourceVersion = list.ResourceVersion
	selector.TimeoutSeconds = ptr.To(int64((watchFor + apiclient.Spread(p.Node.Name, watchFor)) / time.Second))
	w, err := p.api.Core.Pods(metav1.NamespaceAll).Watch(ctx, selector)
	if err != nil {
		return err
	}
	defer w.Stop()
	p.print(nil) // The session lasts for minutes: its end is too late to print that the connection is back.
	return p.follow(ctx, w)
}

func (p *pods) follow(ctx context.Context, w watch.Interface) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(p.next())
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			p.work(ctx)
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil
			}
			pod, isPod := e.Object.(*corev1.Pod)
			switch {
			case e.Type == watch.Error:
				return apierrors.FromObject(e.Object)
			case isPod && e.Type == watch.Deleted:
				delete(p.due, pod.UID)
			case isPod:
				p.see(pod)
			}
		}
	}
}

// see decides what is next for a pod as it is now.
func (p *pods) see(pod *corev1.Pod) {
	do, at := plan(pod, time.Now(), p.Life)
	if do == nothing {
		delete(p.due, pod.UID)
		return
	}
	if had, ok := p.due[pod.UID]; ok && had.do == do && do == start {
		at = had.at // Changes while it starts do not delay it.
	}
	p.due[pod.UID] = task{pod: pod, do: do, at: at}
}

// plan returns the kubelet's next action for a pod, and its time.
func plan(pod *corev1.Pod, now time.Time, life func(time.Duration) time.Duration) (action, time.Time) {
	over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if pod.DeletionTimestamp != nil {
		if over {
			return remove, now
		}
		grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
		deleted := pod.DeletionTimestamp.Add(-grace)
		return remove, deleted.Add(life(min(grace, maxGrace)))
	}
	switch {
	case over:
		return nothing, now
	case pod.Status.Phase != corev1.PodRunning:
		return start, now.Add(life(startDelay))
	case !holds(pod, corev1.ContainersReady) || holds(pod, corev1.PodReady) != gatesOpen(pod):
		return start, now // The node was lost for a while and others called its pods not ready, or a gate has opened.
	}
	return nothing, now
}

// next returns the time until the next task is due.
func (p *pods) next() time.Duration {
	wait := watchFor
	for _, t := range p.due {
		wait = min(wait, time.Until(t.at))
	}
	return max(wait, 0)
}

// work does everything that is due.
func (p *pods) work(ctx context.Context) {
	for uid, t := range p.due {
		if time.Now().Before(t.at) {
			continue
		}
		err := p.do(ctx, t)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err):
			delete(p.due, uid) // A conflict means another pod of that name: this one is gone.
		default:
			p.Print("pod %s/%s: %v", t.pod.Namespace, t.pod.Name, err)
			t.at = time.Now().Add(retryPod)
			p.due[uid] = t
		}
	}
}

func (p *pods) do(ctx context.Context, t task) error {
	ctx, cancel := call(ctx)
	defer cancel()
	pods := p.api.Core.Pods(t.pod.Namespace)
	if t.do == remove {
		return pods.Delete(ctx, t.pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0)),
			Preconditions: metav1.NewUIDPreconditions(string(t.pod.UID))})
	}
	status := p.Node.running(t.pod, time.Now())
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": t.pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("status of pod %s/%s: %w", t.pod.Namespace, t.pod.Name, err)
	}
	_, err = pods.Patch(ctx, t.pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

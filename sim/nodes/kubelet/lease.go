package kubelet

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// lease is the heartbeat: one small object per node, renewed every ten seconds.
type lease struct {
	*kubelet
	held *coordinationv1.Lease
}

func (l *lease) run(ctx context.Context) {
	var printed once
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	for {
		err := l.renew(ctx)
		if ctx.Err() != nil {
			return
		}
		printed.print(l.kubelet, "Failed to update lease, will retry: %v", err)
		if err != nil {
			l.held = nil
			if !b.Wait(ctx) {
				return
			}
			continue
		}
		b.Reset()
		if !apiclient.Wait(ctx, renewInterval) {
			return
		}
	}
}

// renew writes the lease; where the copy at hand is not the newest, it is read again first.
func (l *lease) renew(ctx context.Context) error {
	ctx, cancel := call(ctx)
	defer cancel()
	leases := l.api.Coordination.Leases(corev1.NamespaceNodeLease)
	if l.held == nil {
		held, err := leases.Get(ctx, l.Node.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return l.create(ctx)
		}
		if err != nil {
			return err
		}
		l.held = held
	}
	renewed, err := leases.Update(ctx, l.fresh(l.held), metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("lease of node %s: %w", l.Node.Name, err)
	}
	l.held = renewed
	return nil
}

// create makes the lease, owned by the Node so that it goes with it. Without a Node there is none: it was deleted, and a
// lease would be collected as garbage over and over.
func (l *lease) create(ctx context.Context) error {
	node, err := l.api.Core.Nodes().Get(ctx, l.Node.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	next := l.fresh(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: l.Node.Name, Namespace: corev1.NamespaceNodeLease,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: l.Node.Name, UID: node.UID}},
	}})
	l.held, err = l.api.Coordination.Leases(corev1.NamespaceNodeLease).Create(ctx, next, metav1.CreateOptions{})
	return err
}

// fresh is a lease with the time of now.
func (l *lease) fresh(from *coordinationv1.Lease) *coordinationv1.Lease {
	next := from.DeepCopy()
	next.Spec.HolderIdentity = ptr.To(l.Node.Name)
	next.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration / time.Second))
	next.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	return next
}

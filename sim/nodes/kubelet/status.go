package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// reportStatus keeps the Node's status true until ctx ends: it looks every ten seconds and writes when something differs, or after
// five minutes, as a kubelet does.
func (k *kubelet) reportStatus(ctx context.Context) {
	var printed once
	wait := k.Life(readyDelay) - time.Since(k.booted)
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	announced := false
	for apiclient.Wait(ctx, wait) {
		err := k.syncStatus(ctx)
		if ctx.Err() != nil {
			return
		}
		printed.print(k, "Error updating node status, will retry: %v", err)
		k.tellReady(err)
		if err != nil {
			if !b.Wait(ctx) {
				return
			}
			wait = 0
			continue
		}
		if !announced {
			announced = true
			k.Print("node %s is Ready", k.Node.Name)
			// From here on the machines of a fleet look at different moments.
			wait = apiclient.Spread(k.Node.Name, renewInterval)
		} else {
			wait = renewInterval
		}
		b.Reset()
	}
}

// tellReady reports the readiness of the node: false if it was deleted, and unchanged if the API server could not be reached.
func (k *kubelet) tellReady(err error) {
	if k.Ready != nil && (err == nil || apierrors.IsNotFound(err)) {
		k.Ready(err == nil)
	}
}

// syncStatus reads the Node, from the API server's cache, and patches its status when it is not as it should be.
func (k *kubelet) syncStatus(ctx context.Context) error {
	ctx, cancel := call(ctx)
	defer cancel()
	node, err := k.api.Core.Nodes().Get(ctx, k.Node.Name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("error getting node %q: %w", k.Node.Name, err)
	}
	now := time.Now()
	if !k.stale(node, now) {
		return nil
	}
	status := k.Node.status(now, node.Status.Conditions, true)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": node.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = k.api.Core.Nodes().PatchStatus(ctx, k.Node.Name, patch)
	return err
}

// stale reports whether a Node's status differs from the machine's, or was written too long ago.
func (k *kubelet) stale(node *corev1.Node, now time.Time) bool {
	for _, want := range k.Node.conditions(now, nil, true) {
		found := false
		for _, have := range node.Status.Conditions {
			if have.Type != want.Type {
				continue
			}
			found = have.Status == want.Status && have.Reason == want.Reason
			if now.Sub(have.LastHeartbeatTime.Time) >= statusInterval {
				return true
			}
		}
		if !found {
			return true
		}
	}
	return node.Status.NodeInfo.KubeletVersion != k.Node.Version || len(node.Status.Addresses) == 0 ||
		node.Status.Capacity.Cpu().Value() != int64(k.Node.CPUs)
}

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

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// register creates the Node, or takes over its own from before, and goes on trying until that worked. existed is true if there was one
// before; ok is false if ctx ended first.
func (k *kubelet) register(ctx context.Context) (existed, ok bool) {
	b := apiclient.Backoff{Min: minRetry, Max: maxRetry}
	var printed once
	for {
		existed, err := k.tryRegister(ctx)
		if err == nil {
			printed.print(k, "", nil)
			k.Print("Successfully registered node %s", k.Node.Name)
			return existed, true
		}
		if ctx.Err() == nil {
			printed.print(k, "Unable to register node with API server: %v", err)
		}
		if !b.Wait(ctx) {
			return false, false
		}
	}
}

func (k *kubelet) tryRegister(ctx context.Context) (existed bool, err error) {
	ctx, cancel := call(ctx)
	defer cancel()
	_, err = k.api.Core.Nodes().Create(ctx, k.Node.node(time.Now()), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return false, err
	}
	existing, err := k.api.Core.Nodes().Get(ctx, k.Node.Name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	if id := existing.Spec.ProviderID; id != "" && id != k.Node.ProviderID {
		// A node of another machine that had this name: the API server refuses another provider ID, and to serve under the old one would be a
		// lie.
		return false, fmt.Errorf("node %s belongs to %s, this machine is %s: waiting until that node is deleted", k.Node.Name, id,
			k.Node.ProviderID)
	}
	return true, k.takeOver(ctx, existing)
}

// takeOver puts right what the kubelet owns of a Node that was there before: its default labels and the provider ID. Taints and the
// user's labels stay, for others may have changed them since.
func (k *kubelet) takeOver(ctx context.Context, existing *corev1.Node) error {
	defaults := k.Node
	defaults.Labels = nil
	missing := map[string]string{}
	for key, v := range defaults.labels() {
		if existing.Labels[key] != v {
			missing[key] = v
		}
	}
	if len(missing) == 0 && existing.Spec.ProviderID == k.Node.ProviderID {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": missing},
		"spec": map[string]any{"providerID": k.Node.ProviderID}})
	if err != nil {
		return err
	}
	_, err = k.api.Core.Nodes().Patch(ctx, k.Node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	return err
}

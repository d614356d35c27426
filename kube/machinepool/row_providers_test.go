package machinepool

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// says sets a condition in the status of a provider's object, of v1beta2 or v1beta1.
func says(o map[string]any, older bool, status, reason, message string) {
	condition := map[string]any{"type": "Ready", "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}
	if older && status == "False" {
		condition["severity"] = "Error"
	}
	if reason != "" {
		condition["reason"] = reason
	}
	if message != "" {
		condition["message"] = message
	}
	_ = unstructured.SetNestedSlice(o, []any{condition}, "status", "conditions")
}

// mirrored are conditions of providers, and the conditions of the pool for them.
var mirrored = map[string]struct {
	reason                  string
	older                   bool
	status, word, message   string
	state, olderState, want string
}{
	"true":        {"a healthy provider", false, "True", "Ready", "", "True Ready", "True", ""},
	"true, older": {"v1beta1 conditions are true without a reason", true, "True", "", "", "True Ready", "True", ""},
	"false": {"reason and message are shown unchanged", false, "False", "QuotaExceeded", "no room in zone-a", "False QuotaExceeded",
		"False", "no room in zone-a"},
	"false, older": {"the same for v1beta1", true, "False", "QuotaExceeded", "no room in zone-a", "False QuotaExceeded", "False",
		"no room in zone-a"},
	"unknown":          {"unknown is shown as unknown", false, "Unknown", "NotAsked", "", "Unknown NotAsked", "Unknown", ""},
	"false, no reason": {"a v1beta2 condition needs one", true, "False", "", "", "False NotReady", "False", ""},
}

// TestRow15_BootstrapConditionIsMirrored holds that the conditions of both versions mirror that of the bootstrap configuration.
func TestRow15_BootstrapConditionIsMirrored(t *testing.T) {
	t.Parallel()
	for name, tc := range mirrored {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := aConfig()
			says(config.Object, tc.older, tc.status, tc.word, tc.message)
			w := newWorld(t, []client.Object{aCluster(), aPool(0), config, anInfra()})
			w.settled()
			want(t, tc.reason, w.condition(clusterv1.BootstrapConfigReadyCondition), tc.state)
			want(t, tc.reason+": message", w.message(clusterv1.BootstrapConfigReadyCondition), tc.want)
			want(t, tc.reason+": v1beta1", w.older(clusterv1.BootstrapReadyV1Beta1Condition), tc.olderState)
		})
	}
}

// TestRow17_InfrastructureConditionIsMirrored holds the same for the infrastructure object.
func TestRow17_InfrastructureConditionIsMirrored(t *testing.T) {
	t.Parallel()
	for name, tc := range mirrored {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			infra := anInfra()
			says(infra.Object, tc.older, tc.status, tc.word, tc.message)
			w := newWorld(t, []client.Object{aCluster(), aPool(0), aConfig(), infra})
			w.settled()
			want(t, tc.reason, w.condition(clusterv1.InfrastructureReadyCondition), tc.state)
			want(t, tc.reason+": message", w.message(clusterv1.InfrastructureReadyCondition), tc.want)
			want(t, tc.reason+": v1beta1", w.older(clusterv1.InfrastructureReadyV1Beta1Condition), tc.olderState)
		})
	}
}

// failing sets a terminal failure of the v1beta1 contract in a provider's object, or removes it.
func (w *world) failing(gvk schema.GroupVersionKind, name, reason, message string) {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: name}, o, func(o *unstructured.Unstructured) {
		for field, value := range map[string]string{"failureReason": reason, "failureMessage": message} {
			unstructured.RemoveNestedField(o.Object, "status", field)
			if value != "" {
				_ = unstructured.SetNestedField(o.Object, value, "status", field)
			}
		}
	})
}

// failures are the forms in which providers report a terminal failure.
var failures = map[string]struct {
	reason, word, message string
	wantWord, wantMessage string
}{
	"both":         {"as the contract defines it", "CreateError", "no subnet", "CreateError", "no subnet"},
	"reason only":  {"both fields are optional", "CreateError", "", "CreateError", ""},
	"message only": {"both fields are optional", "", "no subnet", "", "no subnet"},
}

// TestRow19_ProviderFailuresAreReportedAndCleared holds that a terminal failure of the v1beta1 contract is reported for as long as the
// provider reports it.
func TestRow19_ProviderFailuresAreReportedAndCleared(t *testing.T) {
	t.Parallel()
	for name, tc := range failures {
		for gvk, object := range map[schema.GroupVersionKind]string{infraGVK: "infra", configGVK: "boot"} {
			t.Run(gvk.Kind+" "+name, func(t *testing.T) {
				t.Parallel()
				w := running(t)
				w.failing(gvk, object, tc.word, tc.message)
				w.settled()
				d := w.pool().Status.Deprecated.V1Beta1
				if d.FailureReason == nil || d.FailureMessage == nil {
					t.Fatalf("%s: want a failure, got %v %v", tc.reason, d.FailureReason, d.FailureMessage)
				}
				if tc.wantWord != "" {
					want(t, tc.reason, string(*d.FailureReason), tc.wantWord)
				}
				if !strings.Contains(*d.FailureMessage, tc.wantMessage) || !strings.Contains(*d.FailureMessage, gvk.Kind+" "+object) {
					t.Errorf("%s: want the object and the failure, got %q", tc.reason, *d.FailureMessage)
				}
				want(t, "phase: the machines keep running", w.pool().Status.Phase, "Running")
				w.failing(gvk, object, "", "")
				w.settled()
				d = w.pool().Status.Deprecated.V1Beta1
				want(t, "cleared", d.FailureReason == nil && d.FailureMessage == nil, true)
			})
		}
	}
}

// TestDefectG_FailureBeforeProvisioning holds that a provider that fails at once, with only a message or only a reason, does not crash the
// controller.
func TestDefectG_FailureBeforeProvisioning(t *testing.T) {
	t.Parallel()
	for name, tc := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			infra, config := object(infraGVK, "infra", nil, map[string]any{"ready": false}),
				object(configGVK, "boot", nil, map[string]any{"ready": false})
			w := newWorld(t, []client.Object{aCluster(), aPool(1), config, infra})
			w.failing(infraGVK, "infra", tc.word, tc.message)
			w.failing(configGVK, "boot", tc.word, tc.message)
			w.settled()
			want(t, "phase", w.pool().Status.Phase, "Pending")
			want(t, tc.reason, w.pool().Status.Deprecated.V1Beta1.FailureMessage != nil, true)
		})
	}
}

// TestRow21_UnlistedInstancesAreReported holds that a provider which counts machines and lists none is reported.
func TestRow21_UnlistedInstancesAreReported(t *testing.T) {
	t.Parallel()
	infra := anInfra()
	_ = unstructured.SetNestedField(infra.Object, int64(2), "status", "replicas")
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), infra})
	w.settled()
	want(t, "MachinesReady", w.condition(clusterv1.MachinesReadyCondition), "Unknown ReadyUnknown")
	want(t, "message", w.message(clusterv1.MachinesReadyCondition), "TestMachinePool infra reports 2 replicas, but no provider IDs")
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "False NotAvailable")
	want(t, "phase", w.pool().Status.Phase, "Provisioned")
}

// TestRow22_NewInstanceLowersNoCount holds that no write lowers a count while an instance is added.
func TestRow22_NewInstanceLowersNoCount(t *testing.T) {
	t.Parallel()
	w := running(t)
	var seen []string
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			if err := c.SubResource(sub).Patch(ctx, o, p, opts...); err != nil {
				return err
			}
			s := w.pool().Status
			seen = append(seen, fmt.Sprintf("%d %d %d %s", *s.ReadyReplicas, *s.AvailableReplicas, s.Deprecated.V1Beta1.ReadyReplicas, s.Phase))
			return nil
		}})
	three := int32(3)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Replicas = &three })
	w.settled()
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id3, id2, id1}, "spec", "providerIDList")
		_ = unstructured.SetNestedField(o, three64, "status", "replicas")
	})
	w.settled()
	w.node("n3", id3, true)
	w.settled()
	wantAll(t, "writes in order", seen, []string{"2 2 2 ScalingUp", "2 2 2 ScalingUp", "3 3 3 Running"})
}

const three64 = int64(3)

// TestRow23_InstanceListedTwiceIsOne holds that two Nodes are two machines if a list contains one of them twice.
func TestRow23_InstanceListedTwiceIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), anInfra(id1, id1, id2)})
	w.changeInfra(func(o map[string]any) { unstructured.RemoveNestedField(o, "status", "replicas") })
	w.node("n1", id1, true)
	w.settled()
	want(t, "ready, available, up to date with one node", w.counts(), [3]int32{1, 1, 3})
	want(t, "replicas", *w.pool().Status.Replicas, 2)
	wantAll(t, "references", w.refs(), []string{"n1"})
	want(t, "phase with one node", w.pool().Status.Phase, "ScalingUp")
	w.node("n2", id2, true)
	w.settled()
	wantAll(t, "references", w.refs(), []string{"n1", "n2"})
	want(t, "ready with both", w.counts()[0], 2)
}

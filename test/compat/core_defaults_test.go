package compat

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDryRunsFillInTheSame holds that a dry run returns what the write would store, however often it runs, and stores nothing: GitOps and
// the topology controller compare by it. A size that its manager no longer sets is the autoscaler's.
func TestDryRunsFillInTheSame(t *testing.T) {
	c := admin(t)
	for i, tc := range []struct {
		reason      string
		annotations string
		// before is the size of the pool when its manager removes the field. Empty means a new pool.
		before string
		want   int64
	}{
		{reason: "a new pool", want: 1},
		{reason: "a new pool of an autoscaler's", annotations: bounds + "min-size: '3', " + bounds + "max-size: '5'", want: 3},
		{reason: "one bound is none", annotations: bounds + "min-size: '3'", want: 1},
		{reason: "a pool within the bounds keeps its size", annotations: bounds + "min-size: '3', " + bounds + "max-size: '5'",
			before: "replicas: 4", want: 4},
		{reason: "one below is brought up", annotations: bounds + "min-size: '3', " + bounds + "max-size: '5'", before: "replicas: 1", want: 3},
		{reason: "one above is brought down", annotations: bounds + "min-size: '3', " + bounds + "max-size: '5'", before: "replicas: 9", want: 5},
		{reason: "without bounds the size that is named no more is the default", before: "replicas: 9", want: 1},
	} {
		ns := namespace(t, c)
		manifest := func(annotations, own string) *unstructured.Unstructured {
			if own == "" {
				own = "failureDomains: []"
			}
			if annotations != "" {
				annotations = ", annotations: {" + annotations + "}"
			}
			return object(t, ns, fmt.Sprintf("{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool, metadata: {name: p%s}, spec: %s}",
				annotations, poolSpec(own, "clusterName: capa, version: 1.36.0")))
		}
		apply := func(u *unstructured.Unstructured, options ...client.ApplyOption) *unstructured.Unstructured {
			t.Helper()
			if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), append(options, client.FieldOwner("me"))...); err != nil {
				t.Fatalf("%d, %s: %v", i, tc.reason, err)
			}
			return u
		}
		if tc.before != "" {
			apply(manifest("", tc.before))
		}
		answered := func(u *unstructured.Unstructured) string {
			replicas, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
			version, _, _ := unstructured.NestedString(u.Object, "spec", "template", "spec", "version")
			seconds, _, _ := unstructured.NestedInt64(u.Object, "spec", "template", "spec", "deletion", "nodeDeletionTimeoutSeconds")
			return fmt.Sprintf("%d %s %d %s", replicas, version, seconds, u.GetLabels()["cluster.x-k8s.io/cluster-name"])
		}
		want := fmt.Sprintf("%d v1.36.0 10 capa", tc.want)
		for range 2 {
			if got := answered(apply(manifest(tc.annotations, ""), client.DryRunAll)); got != want {
				t.Errorf("%s, dry: want %s, got %s", tc.reason, want, got)
			}
		}
		first := apply(manifest(tc.annotations, ""))
		second := apply(manifest(tc.annotations, ""))
		if got := answered(first); got != want || second.GetResourceVersion() != first.GetResourceVersion() {
			t.Errorf("%s: want %s and nothing changed by a second time, got %s, versions %s and %s", tc.reason, want, got,
				first.GetResourceVersion(), second.GetResourceVersion())
		}
	}
}

package compat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOlderVersionOfManifests holds that a client which knows AzureASOManagedMachinePool and its template in v1alpha1 alone works: it
// creates, lists and applies again, admission looks at what it sends, and controllers read the same in v1beta1.
func TestOlderVersionOfManifests(t *testing.T) {
	c := client.WithFieldValidation(admin(t), metav1.FieldValidationStrict)
	ns := namespace(t, c)
	const (
		group     = "infrastructure.cluster.x-k8s.io/"
		agentPool = "{resources: [{apiVersion: containerservice.azure.com/v1api20240901, kind: ManagedClustersAgentPool, " +
			"metadata: {name: p}, spec: {azureName: pool0, mode: System, owner: {name: c}}}]}"
	)
	for kind, k := range map[string]struct{ spec, refused, field string }{
		"AzureASOManagedMachinePool": {agentPool,
			strings.Replace(agentPool, "ManagedClustersAgentPool", "ManagedCluster", 1), "spec.resources[0]"},
		"AzureASOManagedMachinePoolTemplate": {"{template: {spec: " + agentPool + "}}",
			"{template: {spec: " + strings.Replace(agentPool, "pool0", "pool1", 1) + "}}", "spec.template.spec"},
	} {
		manifest := func(spec string) *unstructured.Unstructured {
			return object(t, ns, "{apiVersion: "+group+"v1alpha1, kind: "+kind+", metadata: {name: p}, spec: "+spec+"}")
		}
		apply := func(u *unstructured.Unstructured) error {
			return c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("older"), client.ForceOwnership)
		}
		for range 2 {
			if err := apply(manifest(k.spec)); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		is := named(t, c, ns, "p", group+"v1beta1", kind)
		if diff := cmp.Diff(manifest(k.spec).Object["spec"], is.Object["spec"]); diff != "" || is.GetGeneration() != 1 {
			t.Errorf("%s: want what was applied, once, got generation %d (-want +got):\n%s", kind, is.GetGeneration(), diff)
		}
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(group + version)
			list.SetKind(kind + "List")
			if err := c.List(t.Context(), list, client.InNamespace(ns)); err != nil || len(list.Items) != 1 {
				t.Errorf("%s: want one in %s, got %d, %v", kind, version, len(list.Items), err)
			}
		}
		if err := apply(manifest(k.refused)); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), k.field) {
			t.Errorf("%s: want a change refused that admission refuses in v1beta1, with %s, got %v", kind, k.field, err)
		}
	}
}

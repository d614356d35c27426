package compat

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// azureCluster returns the objects from which the secret of the pool capz-mp-0 is derived, except the pool and its MachinePool.
func azureCluster(t *testing.T, ns string) []*unstructured.Unstructured {
	t.Helper()
	const azure = "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: "
	return []*unstructured.Unstructured{
		object(t, ns, "{apiVersion: v1, kind: Secret, metadata: {name: principal}, stringData: {clientSecret: before}}"),
		object(t, ns, azure+"AzureClusterIdentity, metadata: {name: i}, spec: {type: ServicePrincipal, tenantID: t, clientID: c, "+
			"allowedNamespaces: {list: ["+ns+"]}, clientSecret: {name: principal, namespace: "+ns+"}}}"),
		object(t, ns, azure+"AzureCluster, metadata: {name: capz}, spec: {subscriptionID: s, location: westus2, identityRef: {apiVersion: "+
			"infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, name: i}}}"),
		object(t, ns, "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: capz}, spec: {infrastructureRef: {apiGroup: "+
			"infrastructure.cluster.x-k8s.io, kind: AzureCluster, name: capz}}}"),
	}
}

// TestConfigurationSecret holds on a real API server that the secret that manifests name exists as soon as all its inputs do, in whatever
// order these are created; that it follows the principal's password, wherever that is stored; and that it is restored after a user deletes
// or changes it.
func TestConfigurationSecret(t *testing.T) {
	admin(t) // which says whether there is a server
	c, err := client.New(server, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t, c)
	for _, o := range published(t, "seed-001.yaml", ns) {
		if err := c.Create(t.Context(), o.Unstructured); err != nil {
			t.Fatal(err)
		}
	}
	parts := azureCluster(t, ns)
	for i := range parts {
		if err := c.Create(t.Context(), parts[len(parts)-1-i]); err != nil {
			t.Fatal(err)
		}
	}
	key := client.ObjectKey{Namespace: ns, Name: "capz-mp-0-azure-json"}
	password := func(reason, want string) *corev1.Secret {
		t.Helper()
		s, got := &corev1.Secret{}, ""
		err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			if err := c.Get(ctx, key, s); err != nil {
				return false, client.IgnoreNotFound(err)
			}
			var is map[string]any
			if err := json.Unmarshal(s.Data["worker-node-azure.json"], &is); err != nil {
				return false, nil
			}
			got, _ = is["aadClientSecret"].(string)
			return got == want, nil
		})
		if err != nil {
			t.Fatalf("%s: want the password %q in the secret, got %q, %v", reason, want, got, err)
		}
		return s
	}
	s := password("everything is there", "before")
	if owner := metav1.GetControllerOf(s); owner == nil || owner.Kind != "AzureMachinePool" || owner.Name != "capz-mp-0" {
		t.Errorf("want the pool as the owner, got %v", s.OwnerReferences)
	}
	principal := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "principal"}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"stringData":{"clientSecret":"after"}}`))
	if err := c.Patch(t.Context(), principal, patch); err != nil {
		t.Fatal(err)
	}
	s = password("the password is rotated", "after")
	if err := c.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	s = password("the secret is deleted by hand", "after")
	if err := c.Patch(t.Context(), s, client.RawPatch("application/merge-patch+json",
		[]byte(`{"data":{"worker-node-azure.json":"e30="}}`))); err != nil {
		t.Fatal(err)
	}
	password("the secret is changed by hand", "after")
}

package machinepool

import (
	"context"
	"errors"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/reference"
)

func TestUnsupportedBootstrapVersionIsReported(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ version, state, message string }{
		"too old": {"v1.16.8", "False VersionNotSupported", "KubeadmConfig boot can't be rendered for spec.template.spec.version v1.16.8: " +
			"the bootstrap provider for kubeadm doesn't support Kubernetes version lower than v1.22.0"},
		"oldest that is served": {"v1.22.0", "False NotAvailable", "Waiting for the token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := aPool(1)
			pool.Spec.Template.Spec.Version = tc.version
			pool.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "KubeadmConfig"
			config := object(kubeadmGVK, "boot", nil, map[string]any{"conditions": []any{map[string]any{
				"type": "Ready", "status": "False", "reason": "NotAvailable", "message": "Waiting for the token",
				"lastTransitionTime": "2026-01-01T00:00:00Z"}}})
			w := newWorld(t, []client.Object{aCluster(), pool, config, anInfra()})
			w.settled()
			want(t, "state", w.condition(clusterv1.BootstrapConfigReadyCondition), tc.state)
			want(t, "message", w.message(clusterv1.BootstrapConfigReadyCondition), tc.message)
			want(t, "v1beta1", w.older("BootstrapReady"), "False")
			told := strings.Contains(strings.Join(w.events(), "\n"), "Warning BootstrapRefused KubeadmConfig boot")
			want(t, "recorded as an event", told, strings.HasSuffix(tc.state, "VersionNotSupported"))
		})
	}
}

func TestBootstrapDataNeedsASecretName(t *testing.T) {
	t.Parallel()
	config := object(configGVK, "boot", nil, map[string]any{"ready": true})
	w := newWorld(t, []client.Object{aCluster(), aPool(1), config, anInfra()})
	w.settled()
	want(t, "bootstrap", w.message(clusterv1.BootstrapConfigReadyCondition),
		"TestConfig boot reports its data secret as created, but status.dataSecretName is empty")
}

func TestReferencesThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	t.Run("a kind that is not installed is read again", func(t *testing.T) {
		t.Parallel()
		pool := aPool(1)
		pool.Spec.Template.Spec.InfrastructureRef.Kind = "NoSuchMachinePool"
		w := newWorld(t, []client.Object{aCluster(), pool, aConfig()})
		res := w.settled()
		want(t, "next pass", res.RequeueAfter, reference.AfterMissingKind)
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "False KindNotInstalled")
		want(t, "message", w.message(clusterv1.InfrastructureReadyCondition), "kind NoSuchMachinePool of group infrastructure.cluster.x-k8s.io: "+
			"no CustomResourceDefinition nosuchmachinepools.infrastructure.cluster.x-k8s.io")
	})
	t.Run("an object of another pool is not taken over", func(t *testing.T) {
		t.Parallel()
		infra, yes := anInfra(id1), true
		infra.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "other",
			UID: "other-uid", Controller: &yes}})
		w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), infra})
		w.settled()
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "False OwnedByAnother")
		want(t, "message", w.message(clusterv1.InfrastructureReadyCondition),
			"TestMachinePool infra is controlled by MachinePool other; refer to an object that belongs to this pool alone")
		wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, nil)
	})
	t.Run("deleted infrastructure is reported until it exists again", func(t *testing.T) {
		t.Parallel()
		w := running(t)
		if err := w.mgmt.Delete(t.Context(), w.get(infraGVK, "infra")); err != nil {
			t.Fatal(err)
		}
		w.settled()
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "False ObjectDeleted")
		want(t, "failure", string(*w.pool().Status.Deprecated.V1Beta1.FailureReason), "InvalidConfiguration")
		w.create(anInfra(id1, id2))
		w.settled()
		want(t, "infrastructure", w.condition(clusterv1.InfrastructureReadyCondition), "True Ready")
		want(t, "failure was taken back", w.pool().Status.Deprecated.V1Beta1.FailureReason == nil, true)
	})
}

// kindOf returns a CustomResourceDefinition with the contract label, and a schema in which spec has the given fields.
func kindOf(name string, gvk schema.GroupVersionKind, fields ...string) *apiextensionsv1.CustomResourceDefinition {
	spec := apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, f := range fields {
		spec.Properties[f] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name + "." + gvk.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": gvk.Version}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: gvk.Version,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}}}}},
	}
}

// TestReferencesOutsideTheContractsAreRejected holds that a pool takes over and deletes only objects of the two contracts, and releases
// what an earlier version of the controller took over.
func TestReferencesOutsideTheContractsAreRejected(t *testing.T) {
	t.Parallel()
	yes := true
	mine := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: poolKey.Name, UID: "pool-uid",
		Controller: &yes}
	clusterGVK := clusterv1.GroupVersion.WithKind("Cluster")
	hostGVK := infraGVK.GroupVersion().WithKind("TestHost")
	other := schema.GroupVersionKind{Group: "machines.example.com", Version: "v1", Kind: "ExampleNodes"}
	for name, tc := range map[string]struct {
		reason string
		// gvk and name of what the pool refers to, as its bootstrap configuration or as its infrastructure object.
		gvk       schema.GroupVersionKind
		name      string
		bootstrap bool
		change    func(c *clusterv1.Cluster)
		want      string
	}{
		"a Cluster": {reason: "the cluster would be deleted with the pool", gvk: clusterGVK, name: "capa",
			want: "False ReferenceRefused"},
		"the pool's own Cluster": {reason: "the same", gvk: clusterGVK, name: clusterKey.Name, want: "False ReferenceRefused"},
		"a Cluster as configuration": {reason: "bootstrap configurations are taken over and deleted as well", gvk: clusterGVK, name: "capa",
			bootstrap: true,
			want:      "False ReferenceRefused"},
		"a kind of another contract": {reason: "other kinds of its provider are not pools", gvk: hostGVK, name: "host",
			want: "False ReferenceRefused"},
		"infrastructure as configuration": {reason: "it follows the other contract", gvk: infraGVK, name: "spare", bootstrap: true,
			want: "False ReferenceRefused"},
		"the Cluster's infrastructure": {reason: "it belongs to the Cluster, whatever its kind is", gvk: infraGVK, name: "spare",
			want: "False ReferenceRefused",
			change: func(c *clusterv1.Cluster) {
				c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGVK.Group, Kind: infraGVK.Kind, Name: "spare"}
			}},
		"a provider's own group": {reason: "the contract allows any API group", gvk: other, name: "nodes", want: "True Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, pool, second := aCluster(), aPool(0), aCluster()
			second.Name, second.UID = "capa", "capa-uid"
			if tc.change != nil {
				tc.change(cluster)
			}
			ref := clusterv1.ContractVersionedObjectReference{APIGroup: tc.gvk.Group, Kind: tc.gvk.Kind, Name: tc.name}
			condition := clusterv1.InfrastructureReadyCondition
			if tc.bootstrap {
				pool.Spec.Template.Spec.Bootstrap.ConfigRef, condition = ref, clusterv1.BootstrapConfigReadyCondition
			} else {
				pool.Spec.Template.Spec.InfrastructureRef = ref
			}
			w := newWorld(t, []client.Object{cluster, second, pool, aConfig(), anInfra(),
				kindOf("clusters", clusterGVK), kindOf("testhosts", hostGVK, "providerID"), kindOf("examplenodes", other, "providerIDList"),
				object(hostGVK, "host", nil, map[string]any{"ready": true}), object(infraGVK, "spare", nil, map[string]any{"ready": true}),
				object(other, "nodes", nil, map[string]any{"ready": true})})
			w.settled()
			want(t, tc.reason, w.condition(condition), tc.want)
			if tc.want == "True Ready" {
				want(t, "taken over", metav1.GetControllerOf(w.get(tc.gvk, tc.name)) != nil, true)
				return
			}
			want(t, "owners", len(w.get(tc.gvk, tc.name).GetOwnerReferences()), 0)
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(tc.gvk)
			change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: tc.name}, o, func(o *unstructured.Unstructured) {
				o.SetOwnerReferences([]metav1.OwnerReference{mine})
			})
			w.settled()
			want(t, "owners after it had been taken over", len(w.get(tc.gvk, tc.name).GetOwnerReferences()), 0)
			change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: tc.name}, o, func(o *unstructured.Unstructured) {
				o.SetOwnerReferences([]metav1.OwnerReference{mine})
			})
			if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				w.pass()
			}
			want(t, "the pool is gone", w.pool() == nil, true)
			left := w.get(tc.gvk, tc.name)
			if left == nil || !left.GetDeletionTimestamp().IsZero() {
				t.Fatalf("%s %s: want it untouched, got it deleted", tc.gvk.Kind, tc.name)
			}
			want(t, "owners after the pool", len(left.GetOwnerReferences()), 0)
		})
	}
}

// TestClusterCredentialsAreNoBootstrapData holds that secrets with the credentials of a cluster are not used, whether the user or a
// provider names them.
func TestClusterCredentialsAreNoBootstrapData(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, user, provider, want, message string
	}{
		"by the user": {reason: "a pool that is older than the webhook", user: "c1-kubeconfig", want: "False DataSecretRefused",
			message: "spec.template.spec.bootstrap.dataSecretName: secret c1-kubeconfig holds an administrator's kubeconfig of Cluster c1, " +
				"which would become user data of the machines; name a secret with bootstrap data"},
		"of another Cluster": {reason: "it gives access to that one", user: "c2-ca", want: "False DataSecretRefused",
			message: "spec.template.spec.bootstrap.dataSecretName: secret c2-ca holds the certificate authority of Cluster c2, " +
				"which would become user data of the machines; name a secret with bootstrap data"},
		"by its provider": {reason: "a configuration of that name writes such a secret", provider: "c1-sa", want: "False DataSecretRefused",
			message: "TestConfig boot reports in status.dataSecretName: secret c1-sa holds the service account key of Cluster c1, " +
				"which would become user data of the machines; name a secret with bootstrap data"},
		"of no Cluster": {reason: "there is no such Cluster", user: "c3-ca", want: "True DataSecretProvided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, second, config := aPool(0), aCluster(), aConfig()
			second.Name, second.UID = "c2", "c2-uid"
			if tc.user != "" {
				pool.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: &tc.user}
			} else {
				_ = unstructured.SetNestedField(config.Object, tc.provider, "status", "dataSecretName")
			}
			w := newWorld(t, []client.Object{aCluster(), second, pool, config, anInfra()})
			w.settled()
			want(t, tc.reason, w.condition(clusterv1.BootstrapConfigReadyCondition), tc.want)
			if tc.message != "" {
				want(t, "message", w.message(clusterv1.BootstrapConfigReadyCondition), tc.message)
			}
			if name := w.pool().Spec.Template.Spec.Bootstrap.DataSecretName; tc.provider != "" && name != nil {
				t.Errorf("data secret: want none, got %s", *name)
			}
		})
	}
}

// TestFinalizerStaysUntilOwnerReferencesAreRemoved holds that the finalizer of a pool stays while the garbage collector would delete a
// Cluster after the pool.
func TestFinalizerStaysUntilOwnerReferencesAreRemoved(t *testing.T) {
	t.Parallel()
	yes := true
	cluster, pool := aCluster(), aPool(0)
	pool.Finalizers = []string{clusterv1.MachinePoolFinalizer}
	clusterGVK := clusterv1.GroupVersion.WithKind("Cluster")
	pool.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: clusterGVK.Group, Kind: clusterGVK.Kind,
		Name: cluster.Name}
	cluster.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: pool.Name,
		UID: pool.UID, Controller: &yes}}
	w := newWorld(t, []client.Object{cluster, pool, aConfig(), kindOf("clusters", clusterGVK)})
	if err := w.mgmt.Delete(t.Context(), w.pool()); err != nil {
		t.Fatal(err)
	}
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
			opts ...client.PatchOption) error {
			if o.GetObjectKind().GroupVersionKind().Kind == "Cluster" {
				return errors.New("try again later")
			}
			return c.Patch(ctx, o, p, opts...)
		}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); err == nil {
		t.Error("want the error returned")
	}
	want(t, "the pool is kept", w.pool() != nil, true)
	want(t, "and reports why", strings.HasSuffix(w.message(clusterv1.DeletingCondition),
		"remove the owner reference to MachinePool pool from Cluster c1: try again later"), true)
	w.r.Client = w.mgmt
	for range 3 {
		w.pass()
	}
	want(t, "the pool is gone", w.pool() == nil, true)
}

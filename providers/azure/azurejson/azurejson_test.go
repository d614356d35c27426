package azurejson

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/watch"
)

func untyped(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// capz is the AzureCluster of Cluster capz, in whose resource group everything is.
func capz(t *testing.T, more string) *unstructured.Unstructured {
	t.Helper()
	return untyped(t, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureCluster, metadata: {namespace: ns, name: capz}, "+
		"spec: {subscriptionID: sub, location: westus2"+more+"}}")
}

const identified = ", identityRef: {kind: AzureClusterIdentity, name: i}"

// principal is the identity i, with a password.
func principal(t *testing.T) []client.Object {
	t.Helper()
	return []client.Object{
		untyped(t, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, metadata: {namespace: ns, name: i}, "+
			"spec: {type: ServicePrincipal, tenantID: tenant, clientID: client, allowedNamespaces: {}, clientSecret: {name: keys}}}"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"}, Data: map[string][]byte{"clientSecret": []byte("s3cret")}},
	}
}

func pool(change ...func(*azurev1.AzureMachinePool)) *azurev1.AzureMachinePool {
	o := &azurev1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid"}}
	for _, f := range change {
		f(o)
	}
	return o
}

// world is a management cluster with a reconciler, and what was written to it.
type world struct {
	t          *testing.T
	client     client.Client
	reconciler *Reconciler
	events     *events.FakeRecorder
	writes     int
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t, events: events.NewFakeRecorder(100)}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme,
		azurev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, plural := range []string{"azureclusters", "azureclusteridentities"} {
		objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: plural + ".infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}}})
	}
	objects = append(objects,
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "capz"},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: azurev1.GroupVersion.Group,
				Kind: "AzureCluster", Name: "capz"}}},
		&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mp"}, Spec: clusterv1.MachinePoolSpec{ClusterName: "capz",
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{ClusterName: "capz",
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: azurev1.GroupVersion.Group, Kind: "AzureMachinePool",
					Name: "p"}}}}})
	b := fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			w.writes++
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			w.writes++
			return c.Patch(ctx, o, p, opts...)
		},
	})
	for _, i := range watch.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.client = b.Build()
	w.reconciler = &Reconciler{Client: w.client, Recorder: w.events}
	return w
}

func (w *world) pass() {
	w.t.Helper()
	if _, err := w.reconciler.Reconcile(w.t.Context(),
		ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "p"}}); err != nil {
		w.t.Fatal(err)
	}
}

// secret is p-azure-json; nil while there is none.
func (w *world) secret() *corev1.Secret {
	w.t.Helper()
	s := &corev1.Secret{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "ns", Name: "p-azure-json"}, s); err != nil {
		if client.IgnoreNotFound(err) != nil {
			w.t.Fatal(err)
		}
		return nil
	}
	return s
}

// config returns the content of one key of the secret.
func (w *world) config(key string) map[string]any {
	w.t.Helper()
	s := w.secret()
	if s == nil {
		w.t.Fatalf("want a secret, got none; events: %q", w.newEvents())
	}
	var got map[string]any
	if err := json.Unmarshal(s.Data[key], &got); err != nil {
		w.t.Fatalf("%s: %v in %s", key, err, s.Data[key])
	}
	return got
}

// newEvents returns the events since the last call.
func (w *world) newEvents() []string {
	var all []string
	for {
		select {
		case e := <-w.events.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// minimalConfig is the configuration of a pool without an identity of its own, in a cluster that says as little as it may.
func minimalConfig() map[string]any {
	return map[string]any{
		"cloud": "AzurePublicCloud", "tenantId": "tenant", "subscriptionId": "sub", "aadClientId": "client", "aadClientSecret": "s3cret",
		"resourceGroup": "capz", "securityGroupName": "capz-node-nsg", "securityGroupResourceGroup": "capz", "location": "westus2",
		"vmType":   "vmss",
		"vnetName": "capz-vnet", "vnetResourceGroup": "capz", "subnetName": "capz-node-subnet", "routeTableName": "capz-node-routetable",
		"loadBalancerSku": "Standard", "loadBalancerName": "", "maximumLoadBalancerRuleCount": 250.0,
		"useManagedIdentityExtension": false, "useInstanceMetadata": true, "enableVmssFlexNodes": true,
	}
}

// with is the plain configuration with other values; nil takes a field away.
func with(change map[string]any) map[string]any {
	all := minimalConfig()
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// TestConfig holds what machines are told, field by field.
func TestConfig(t *testing.T) {
	t.Parallel()
	other := func(spec string) []client.Object {
		return []client.Object{untyped(t, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, metadata: "+
			"{namespace: ns, name: i}, "+
			"spec: {tenantID: tenant, clientID: client, allowedNamespaces: {}, "+spec+"}}"),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"},
				Data: map[string][]byte{"clientSecret": []byte("certificate")}}}
	}
	for _, c := range []struct {
		reason, cluster string
		identity        []client.Object
		pool            func(*azurev1.AzureMachinePool)
		defaults        Defaults
		want            map[string]any
	}{
		{reason: "the names are those that the ecosystem gives; without an identity of their own machines have the cluster's password",
			cluster: identified, identity: principal(t), want: minimalConfig()},
		{reason: "an identity that Azure makes needs no password", cluster: identified, identity: principal(t),
			pool: func(o *azurev1.AzureMachinePool) { o.Spec.Identity = azurev1.VMIdentitySystemAssigned },
			want: with(map[string]any{"aadClientId": nil, "aadClientSecret": nil, "useManagedIdentityExtension": true})},
		{reason: "the first of several identities is the one, by its ID as Azure spells it", cluster: identified, identity: principal(t),
			pool: func(o *azurev1.AzureMachinePool) {
				o.Spec.Identity = azurev1.VMIdentityUserAssigned
				o.Spec.UserAssignedIdentities = []azurev1.UserAssignedIdentity{{ProviderID: "azure:///subscriptions/sub/a"},
					{ProviderID: "/subscriptions/sub/b"}}
			},
			want: with(map[string]any{"aadClientId": nil, "aadClientSecret": nil, "useManagedIdentityExtension": true,
				"userAssignedIdentityID": "/subscriptions/sub/a"})},
		{reason: "a certificate is no password, and is not spread over disks", cluster: identified,
			identity: other("type: ServicePrincipalCertificate, clientSecret: {name: keys}"),
			want:     with(map[string]any{"aadClientSecret": nil})},
		{reason: "tokens of the controller are of no use to machines", cluster: identified, identity: other("type: WorkloadIdentity"),
			want: with(map[string]any{"aadClientSecret": nil})},
		{reason: "the controller's own credentials are no substitute: its directory is no secret",
			defaults: Defaults{TenantID: "own", SubscriptionID: "not this"},
			want:     with(map[string]any{"tenantId": "own", "aadClientId": nil, "aadClientSecret": nil})},
		{reason: "a cluster may leave the subscription to the controller", cluster: identified + ", subscriptionID: ''", identity: principal(t),
			defaults: Defaults{SubscriptionID: "own"},
			want:     with(map[string]any{"subscriptionId": "own"})},
		{reason: "whatever the cluster names counts", identity: principal(t),
			cluster: identified + `, resourceGroup: rg, azureEnvironment: AzureUSGovernmentCloud,
			extendedLocation: {type: EdgeZone, name: edge},
			networkSpec: {vnet: {name: net, resourceGroup: shared}, nodeOutboundLB: {name: out}, subnets: [{name: cp, role: control-plane},
			{name: nodes, role: node, securityGroup: {name: sg}, routeTable: {name: rt}}, {name: more, role: node}]}`,
			want: with(map[string]any{"cloud": "AzureUSGovernmentCloud", "resourceGroup": "rg", "extendedLocationType": "EdgeZone",
				"extendedLocationName": "edge",
				"vnetName":             "net", "vnetResourceGroup": "shared", "securityGroupResourceGroup": "shared", "loadBalancerName": "out",
				"subnetName": "nodes", "securityGroupName": "sg", "routeTableName": "rt"})},
		{reason: "a subnet that everything is in has names of its own", identity: principal(t),
			cluster: identified + ", networkSpec: {subnets: [{role: cluster, name: all}]}",
			want:    with(map[string]any{"subnetName": "all", "securityGroupName": "capz-nsg", "routeTableName": "capz-routetable"})},
		{reason: "limits and back-off are the cluster's words: fractions are numbers on the machine", identity: principal(t),
			cluster: identified + `, cloudProviderConfigOverrides: {
			rateLimits: [{name: defaultRateLimit, config: {cloudProviderRateLimit: true, cloudProviderRateLimitQPS: "1.2",
				cloudProviderRateLimitBucket: 3, cloudProviderRateLimitQPSWrite: "500m", cloudProviderRateLimitBucketWrite: 4}},
			{name: loadBalancerRateLimit, config: {cloudProviderRateLimitBucket: 9}}],
			backOffs: {cloudProviderBackoff: true, cloudProviderBackoffRetries: 6, cloudProviderBackoffExponent: "1.5",
				cloudProviderBackoffDuration: 5, cloudProviderBackoffJitter: "1"}}`,
			want: with(map[string]any{"cloudProviderRateLimit": true, "cloudProviderRateLimitQPS": 1.2, "cloudProviderRateLimitBucket": 3.0,
				"cloudProviderRateLimitQPSWrite":    0.5,
				"cloudProviderRateLimitBucketWrite": 4.0, "loadBalancerRateLimit": map[string]any{"cloudProviderRateLimitBucket": 9.0},
				"cloudProviderBackoff": true, "cloudProviderBackoffRetries": 6.0, "cloudProviderBackoffExponent": 1.5,
				"cloudProviderBackoffDuration": 5.0, "cloudProviderBackoffJitter": 1.0})},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			change := c.pool
			if change == nil {
				change = func(*azurev1.AzureMachinePool) {}
			}
			place := capz(t, "")
			maps.Copy(place.Object["spec"].(map[string]any),
				untyped(t, "{spec: {"+strings.TrimPrefix(c.cluster, ", ")+"}}").Object["spec"].(map[string]any))
			w := newWorld(t, append(c.identity, place, pool(change))...)
			w.reconciler.Defaults = c.defaults
			w.pass()
			for _, key := range []string{"worker-node-azure.json", "control-plane-azure.json", "azure.json"} {
				if diff := cmp.Diff(c.want, w.config(key)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
			events := strings.Join(w.newEvents(), "\n")
			if strings.Contains(events, "s3cret") {
				t.Errorf("want no secret in an event, got %s", events)
			}
			if _, password := c.want["aadClientSecret"]; password != strings.Contains(events, "VMIdentityNone") {
				t.Errorf("want it told exactly if a password lies on disks (%v), got %s", password, events)
			}
		})
	}
}

// TestSecret holds whose the secret is, and that nothing is written that is there.
func TestSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, append(principal(t), capz(t, identified), pool())...)
	w.pass()
	s := w.secret()
	if s == nil || s.Labels["capz"] != "owned" || s.Labels[clusterv1.ClusterNameLabel] != "capz" {
		t.Fatalf("want a secret with the labels of the cluster, got %v", s)
	}
	owner := metav1.GetControllerOf(s)
	if owner == nil || owner.Kind != "AzureMachinePool" || owner.Name != "p" || owner.UID != "uid" ||
		owner.APIVersion != "infrastructure.cluster.x-k8s.io/v1beta1" {
		t.Errorf("want the pool as its owner, got %v", s.OwnerReferences)
	}
	if events := w.newEvents(); len(events) != 2 || !strings.Contains(events[1], "VMIdentityNone") {
		t.Errorf("want it told once what lies on the machines' disks, got %q", events)
	}
	w.pass()
	w.pass()
	if events := w.newEvents(); w.writes != 1 || len(events) > 0 {
		t.Errorf("want one write and nothing more to tell, got %d and %q", w.writes, events)
	}
	for reason, change := range map[string]func(*corev1.Secret){
		"content that another client changed is repaired": func(s *corev1.Secret) { s.Data["azure.json"] = []byte("{}") },
		"a key that is lost comes again":                  func(s *corev1.Secret) { delete(s.Data, "worker-node-azure.json") },
		"an owner that is lost comes again":               func(s *corev1.Secret) { s.OwnerReferences = nil },
		"the owner of before a restore is no owner":       func(s *corev1.Secret) { s.OwnerReferences[0].UID = "before" },
		"the label by which it is watched comes again":    func(s *corev1.Secret) { delete(s.Labels, clusterv1.ClusterNameLabel) },
	} {
		is := w.secret()
		change(is)
		if err := w.client.Update(t.Context(), is); err != nil {
			t.Fatal(err)
		}
		w.pass()
		after := w.secret()
		if diff := cmp.Diff([]any{s.Data, s.Labels, s.OwnerReferences}, []any{after.Data, after.Labels, after.OwnerReferences}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	is := w.secret()
	is.Labels["mine"], is.Annotations = "too", map[string]string{"mine": "too"}
	if err := w.client.Update(t.Context(), is); err != nil {
		t.Fatal(err)
	}
	w.writes = 0
	w.pass()
	if after := w.secret(); w.writes != 0 || after.Labels["mine"] != "too" {
		t.Errorf("want labels of others left alone, got %d writes and %v", w.writes, after.Labels)
	}
}

// TestSecretOfAnother holds that one without the owner label is configuration of another owner.
func TestSecretOfAnother(t *testing.T) {
	t.Parallel()
	for _, labels := range []map[string]string{nil, {"capz": "shared"}, {"other": "owned"}} {
		own := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p-azure-json", Labels: labels},
			Data: map[string][]byte{"azure.json": []byte("mine")}}
		w := newWorld(t, append(principal(t), capz(t, identified), pool(), own)...)
		w.pass()
		if s := w.secret(); w.writes != 0 || string(s.Data["azure.json"]) != "mine" || len(s.OwnerReferences) > 0 {
			t.Errorf("labels %v: want it untouched, got %d writes and %v", labels, w.writes, s)
		}
	}
}

// TestRotatedPassword holds that a new password reaches the secret, and wakes the pool.
func TestRotatedPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, append(principal(t), capz(t, identified), pool())...)
	w.pass()
	keys := &corev1.Secret{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "keys"}, keys); err != nil {
		t.Fatal(err)
	}
	keys.Data["clientSecret"] = []byte("rotated")
	if err := w.client.Update(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	if got := w.reconciler.secretRequests(t.Context(), keys); len(got) != 1 || got[0].Name != "p" {
		t.Errorf("want the pool woken, got %v", got)
	}
	w.pass()
	if got := w.config(KeyWorker)["aadClientSecret"]; got != "rotated" {
		t.Errorf("want the new password, got %v", got)
	}
	if got := w.reconciler.secretRequests(t.Context(), w.secret()); len(got) != 1 || got[0].Name != "p" {
		t.Errorf("want the pool woken by its own secret, got %v", got)
	}
}

// TestHeld holds when nothing is written, what is said then, and that it is said once.
func TestHeld(t *testing.T) {
	t.Parallel()
	paused := pool(func(o *azurev1.AzureMachinePool) { o.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
	going := pool(func(o *azurev1.AzureMachinePool) {
		o.Finalizers, o.DeletionTimestamp = []string{"x/y"}, new(metav1.Now())
	})
	for _, c := range []struct {
		reason  string
		objects []client.Object
		filter  string
		// message holds parts of the one event; empty means no event.
		message []string
	}{
		{reason: "a pool that is paused", objects: []client.Object{capz(t, identified), paused}},
		{reason: "a pool that goes takes its secret along", objects: []client.Object{capz(t, identified), going}},
		{reason: "a pool of another instance of the controller", objects: []client.Object{capz(t, identified), pool()}, filter: "mine"},
		{reason: "a cluster whose infrastructure is still to come", objects: []client.Object{pool()},
			message: []string{"IdentityMissing", "AzureCluster ns/capz does not exist"}},
		{reason: "an identity that is still to come",
			objects: []client.Object{capz(t, ", identityRef: {kind: AzureClusterIdentity, name: other}"), pool()},
			message: []string{"IdentityMissing", "AzureClusterIdentity ns/other does not exist"}},
		{reason: "no subscription", objects: []client.Object{capz(t, identified+", subscriptionID: ''"), pool()},
			message: []string{"AzureJSONHeld", "spec.subscriptionID"}},
		{reason: "a limit that the cloud provider does not know",
			objects: []client.Object{capz(t, identified+", cloudProviderConfigOverrides: {rateLimits: [{name: moonRateLimit}]}"), pool()},
			message: []string{"AzureJSONHeld", "moonRateLimit"}},
		{reason: "a field of another type", objects: []client.Object{capz(t, identified+", cloudProviderConfigOverrides: {rateLimits: 1}"),
			pool()}, message: []string{"AzureJSONHeld"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, slices.Concat(principal(t), c.objects)...)
			w.reconciler.WatchFilter = c.filter
			w.pass()
			w.pass()
			events := w.newEvents()
			if w.writes != 0 || w.secret() != nil {
				t.Errorf("want nothing written, got %d writes", w.writes)
			}
			if len(events) != min(1, len(c.message)) {
				t.Fatalf("want it said once, if at all, got %q", events)
			}
			for _, words := range c.message {
				if !strings.Contains(events[0], words) {
					t.Errorf("want %q said, got %q", words, events)
				}
			}
		})
	}
}

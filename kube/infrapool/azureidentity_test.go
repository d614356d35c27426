package infrapool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/azure/azureidentity"
)

func untyped(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// azureIdentityPlace is the AzureCluster ns/c with an identityRef; without one it references no identity.
func azureIdentityPlace(t *testing.T, ref string) *unstructured.Unstructured {
	t.Helper()
	spec := "{}"
	if ref != "" {
		spec = "{identityRef: " + ref + "}"
	}
	return untyped(t, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureCluster, metadata: {namespace: ns, name: c}, spec: "+
		spec+"}")
}

func azureIdentityIdentityObject(t *testing.T, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	return untyped(t, fmt.Sprintf("{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, metadata: {namespace: "+
		"%s, name: i}, spec: %s}", namespace, spec))
}

func azureIdentitySecret(namespace, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"}, Data: map[string][]byte{key: []byte(value)}}
}

// management is a management cluster with the kind's definition, as the ecosystem's provider labels it, and the object's namespace.
func management(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	all := append(objects,
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: "azureclusteridentities.infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"tenant": "a"}}})
	return fake.NewClientBuilder().WithScheme(s).WithObjects(all...).Build()
}

// asks returns the identity as text.
func asks(i *azurev1.IdentityView) string {
	if i == nil {
		return "controller"
	}
	words := []string{i.Name, string(i.Type), i.TenantID, i.ClientID, i.Secret.Expose(), i.CertPath, i.CredentialsPath, i.CredentialsCloud}
	return strings.Join(words, "|")
}

// azureIdentityIdentifyCases are the cases of TestAzureIdentityIdentify.
var azureIdentityIdentifyCases = []struct {
	reason, ref, spec, namespace string
	secret                       *corev1.Secret
	// asks is the identity that the driver gets, with all its fields, as text.
	asks string
	// held is the reason of the error, words are parts of its message.
	held  string
	words []string
}{
	{reason: "the controller's own credentials are for clusters without a reference", asks: "controller"},
	{reason: "a password, without the line's end that an editor adds", ref: ref,
		spec:   "type: ServicePrincipal, " + ids + ", " + everyone + ", " + secretKeys,
		secret: azureIdentitySecret("ns", "clientSecret", "s3cret\n"), asks: name + "|ServicePrincipal|t|c|s3cret|||"},
	{reason: "the older name of the same", ref: ref, spec: "type: ManualServicePrincipal, " + ids + ", " + everyone + ", " + secretKeys,
		secret: azureIdentitySecret("ns", "clientSecret", "s3cret"), asks: name + "|ManualServicePrincipal|t|c|s3cret|||"},
	{reason: "a secret without a namespace lies beside the identity", ref: ref,
		spec:   "type: ServicePrincipal, " + ids + ", " + everyone + ", clientSecret: {name: keys}",
		secret: azureIdentitySecret("ns", "clientSecret", "s3cret"), asks: name + "|ServicePrincipal|t|c|s3cret|||"},
	{reason: "an identity of another namespace keeps its secret there", ref: "{kind: AzureClusterIdentity, name: i, namespace: other}",
		namespace: "other",
		spec:      "type: ServicePrincipal, " + ids + ", allowedNamespaces: {list: [ns]}, clientSecret: {name: keys, namespace: other}",
		secret:    azureIdentitySecret("other", "clientSecret", "s3cret"), asks: "AzureClusterIdentity/other/i|ServicePrincipal|t|c|s3cret|||"},
	{reason: "a certificate is taken byte by byte: it may be binary", ref: ref,
		spec:   "type: ServicePrincipalCertificate, " + ids + ", " + everyone + ", " + secretKeys,
		secret: azureIdentitySecret("ns", "clientSecret", "pem\n"), asks: name + "|ServicePrincipalCertificate|t|c|pem\n|||"},
	{reason: "a certificate may lie in a file, which counts before the secret", ref: ref,
		spec: "type: ServicePrincipalCertificate, certPath: /certs/a.pem, " + ids + ", " + everyone + ", " + secretKeys,
		asks: name + "|ServicePrincipalCertificate|t|c||/certs/a.pem||"},
	{reason: "tokens of the service account need no secret", ref: ref, spec: "type: WorkloadIdentity, " + ids + ", " + everyone,
		asks: name + "|WorkloadIdentity|t|c||||"},
	{reason: "the machine's own identity needs no directory", ref: ref, spec: "type: UserAssignedMSI, clientID: c, " + everyone,
		asks: name + "|UserAssignedMSI||c||||"},
	{reason: "everything is in a file", ref: ref,
		spec: "type: UserAssignedIdentityCredential, userAssignedIdentityCredentialsPath: /certs/a.json, " +
			"userAssignedIdentityCredentialsCloudType: USGovernment, " + everyone,
		asks: name + "|UserAssignedIdentityCredential|||||/certs/a.json|usgovernment"},
	{reason: "the namespace's labels count", ref: ref,
		spec: "type: WorkloadIdentity, " + ids + ", allowedNamespaces: {selector: {matchLabels: {tenant: a}}}",
		asks: name + "|WorkloadIdentity|t|c||||"},

	{reason: "other labels don't", ref: ref,
		spec: "type: WorkloadIdentity, " + ids + ", allowedNamespaces: {selector: {matchLabels: {tenant: b}}}",
		held: "IdentityNotAllowed", words: []string{name + ": spec.allowedNamespaces", "namespace ns"}},
	{reason: "without the field no namespace may, not even that of the identity", ref: ref, spec: "type: WorkloadIdentity, " + ids,
		held: "IdentityNotAllowed", words: []string{"spec.allowedNamespaces"}},
	{reason: "a list of others", ref: ref, spec: "type: WorkloadIdentity, " + ids + ", allowedNamespaces: {list: [other]}",
		held: "IdentityNotAllowed"},
	{reason: "an empty selector selects no namespace", ref: ref,
		spec: "type: WorkloadIdentity, " + ids + ", allowedNamespaces: {selector: {}}", held: "IdentityNotAllowed"},
	{reason: "a selector that means nothing", ref: ref,
		spec: "type: WorkloadIdentity, " + ids + ", allowedNamespaces: {selector: {matchExpressions: [{key: a, operator: Maybe}]}}",
		held: "IdentityInvalid", words: []string{name + ": spec.allowedNamespaces.selector"}},
	{reason: "a reference to nothing is no reference to the controller", ref: ref, held: "IdentityMissing",
		words: []string{"AzureCluster ns/c: spec.identityRef", "AzureClusterIdentity ns/i does not exist"}},
	{reason: "an unknown kind", ref: "{kind: AzureIdentity, name: i}", held: "IdentityInvalid",
		words: []string{"spec.identityRef.kind", `"AzureIdentity"`}},
	{reason: "a name is needed", ref: "{kind: AzureClusterIdentity}", held: "IdentityInvalid", words: []string{"spec.identityRef.name"}},
	{reason: "a field of another type is no reference", ref: "admin", held: "IdentityInvalid", words: []string{"AzureCluster ns/c"}},
	{reason: "an unknown type", ref: ref, spec: "type: Magic, " + ids + ", " + everyone, held: "IdentityInvalid",
		words: []string{name + ": spec.type", `"Magic"`}},
	{reason: "an application is of a directory", ref: ref, spec: "type: WorkloadIdentity, clientID: c, " + everyone, held: "IdentityInvalid",
		words: []string{name + ": spec.tenantID"}},
	{reason: "an application has an ID", ref: ref, spec: "type: UserAssignedMSI, tenantID: t, " + everyone, held: "IdentityInvalid",
		words: []string{name + ": spec.clientID"}},
	{reason: "credentials in a file need a file", ref: ref, spec: "type: UserAssignedIdentityCredential, " + ids + ", " + everyone,
		held: "IdentityInvalid", words: []string{"spec.userAssignedIdentityCredentialsPath"}},
	{reason: "there are three clouds", ref: ref,
		spec: "type: UserAssignedIdentityCredential, userAssignedIdentityCredentialsPath: /a, userAssignedIdentityCredentialsCloudType: moon, " +
			everyone,
		held: "IdentityInvalid", words: []string{"spec.userAssignedIdentityCredentialsCloudType", `"moon"`}},
	{reason: "a password lies in a secret", ref: ref, spec: "type: ServicePrincipal, " + ids + ", " + everyone, held: "IdentityInvalid",
		words: []string{name + ": spec.clientSecret.name"}},
	{reason: "a secret that does not exist", ref: ref, spec: "type: ServicePrincipal, " + ids + ", " + everyone + ", " + secretKeys,
		held: "IdentityMissing", words: []string{name + ": spec.clientSecret", "secret ns/keys does not exist"}},
	{reason: "a secret without the key", ref: ref, spec: "type: ServicePrincipal, " + ids + ", " + everyone + ", " + secretKeys,
		secret: azureIdentitySecret("ns", "password", "s3cret"),
		held:   "IdentityInvalid", words: []string{"secret ns/keys", "clientSecret"}},
	{reason: "a password of nothing but a line's end", ref: ref, spec: "type: ServicePrincipal, " + ids + ", " + everyone + ", " + secretKeys,
		secret: azureIdentitySecret("ns", "clientSecret", "\n"),
		held:   "IdentityInvalid", words: []string{"secret ns/keys"}},
	{reason: "a field of the identity of another type", ref: ref, spec: "type: ServicePrincipal, clientSecret: keys, " + everyone,
		held: "IdentityInvalid", words: []string{"AzureClusterIdentity ns/i"}},
}

const (
	ref        = "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterIdentity, name: i}"
	ids        = "tenantID: t, clientID: c"
	everyone   = "allowedNamespaces: {}"
	secretKeys = "clientSecret: {name: keys, namespace: ns}"
)

const name = "AzureClusterIdentity/ns/i"

// TestAzureIdentityIdentify holds which identity is used, and that none is if the reference leads to no credentials.
func TestAzureIdentityIdentify(t *testing.T) {
	t.Parallel()
	for _, c := range azureIdentityIdentifyCases {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			var objects []client.Object
			if c.spec != "" {
				namespace := c.namespace
				if namespace == "" {
					namespace = "ns"
				}
				objects = append(objects, azureIdentityIdentityObject(t, namespace, "{"+c.spec+"}"))
			}
			if c.secret != nil {
				objects = append(objects, c.secret)
			}
			from := identity.NewSources(management(t, objects...), "").For("ns")
			var view azurev1.ClusterView
			_, err := azureidentity.Identify(t.Context(), identity.Referrer{InfraCluster: azureIdentityPlace(t, c.ref)}, from, &view)
			if c.held == "" {
				if got := asks(view.Identity); err != nil || got != c.asks {
					t.Errorf("want %q to ask, got %q, %v", c.asks, got, err)
				}
				return
			}
			var none *identity.Error
			if !errors.As(err, &none) || none.Cause.Reason != c.held || view.Identity != nil {
				t.Fatalf("want no identity, with reason %s, got %q, %v", c.held, asks(view.Identity), err)
			}
			for _, word := range c.words {
				if !strings.Contains(none.Cause.Message, word) {
					t.Errorf("want %q said, got %q", word, none.Cause.Message)
				}
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("want no secret in a message, got %v", err)
			}
		})
	}
}

// TestAzureIdentityIdentityIsRemembered holds that a pool that is deleted after its infrastructure cluster uses the identity that it used
// before, and no other.
func TestAzureIdentityIdentityIsRemembered(t *testing.T) {
	t.Parallel()
	const name = "AzureClusterIdentity/other/i"
	there := azureIdentityIdentityObject(t, "other", "{type: WorkloadIdentity, tenantID: t, clientID: c, allowedNamespaces: {}}")
	for _, c := range []struct {
		reason  string
		in      identity.Referrer
		objects []client.Object
		keep    map[string]string
		asks    string
		words   string
	}{
		{reason: "what the cluster names is written down",
			in: identity.Referrer{InfraCluster: azureIdentityPlace(t, "{name: i, namespace: other}")}, objects: []client.Object{there},
			keep: map[string]string{"identity": name}, asks: name},
		{reason: "nothing is written for clusters that never named any", in: identity.Referrer{InfraCluster: azureIdentityPlace(t, "")},
			asks: "controller"},
		{reason: "a cluster that names none any more says so", in: identity.Referrer{InfraCluster: azureIdentityPlace(t, ""),
			Stored: map[string]string{"identity": name}},
			keep: map[string]string{"identity": ""}, asks: "controller"},
		{reason: "what was written down counts when the cluster is gone", in: identity.Referrer{Stored: map[string]string{"identity": name}},
			objects: []client.Object{there},
			keep:    map[string]string{"identity": name}, asks: name},
		{reason: "a stored identity that is gone is no identity", in: identity.Referrer{Stored: map[string]string{"identity": name}},
			keep: map[string]string{"identity": name}, words: "muster.dev/resolved"},
		{reason: "a reference that cannot be parsed is no identity", in: identity.Referrer{Stored: map[string]string{"identity": "x"}},
			words: "KIND/NAMESPACE/NAME"},
		{reason: "nothing remembered is the controller", in: identity.Referrer{}, asks: "controller"},
	} {
		var view azurev1.ClusterView
		keep, err := azureidentity.Identify(t.Context(), c.in, identity.NewSources(management(t, c.objects...), "").For("ns"), &view)
		got, _, _ := strings.Cut(asks(view.Identity), "|")
		if (err != nil) != (c.words != "") || err == nil && got != c.asks || fmt.Sprint(keep) != fmt.Sprint(c.keep) {
			t.Errorf("%s: want %q to ask and %v kept, got %q, %v, %v", c.reason, c.asks, c.keep, got, keep, err)
		}
		if err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: want %q said, got %v", c.reason, c.words, err)
		}
	}
}

// TestRotation holds that the next look takes the secret as it is, and that a secret which changes wakes who rests on it.
func TestRotation(t *testing.T) {
	t.Parallel()
	at := client.ObjectKey{Namespace: "ns", Name: "keys"}
	c := management(t, azureIdentityIdentityObject(t, "ns",
		"{type: ServicePrincipal, tenantID: t, clientID: c, allowedNamespaces: {}, clientSecret: {name: keys}}"),
		azureIdentitySecret("ns", "clientSecret", "old"))
	sources := identity.NewSources(c, "")
	look := func() *azurev1.IdentityView {
		t.Helper()
		var view azurev1.ClusterView
		from := sources.For("ns")
		if _, err := azureidentity.Identify(t.Context(), identity.Referrer{InfraCluster: azureIdentityPlace(t, "{name: i}")}, from,
			&view); err != nil {
			t.Fatal(err)
		}
		sources.Use(types.NamespacedName{Namespace: "ns", Name: "p"}, from)
		return view.Identity
	}
	before := look()
	s := &corev1.Secret{}
	if err := c.Get(t.Context(), at, s); err != nil {
		t.Fatal(err)
	}
	s.Data["clientSecret"] = []byte("new")
	if err := c.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(sources.SecretRequests(s)); got != "[ns/p]" {
		t.Errorf("want the pool woken, got %s", got)
	}
	after := look()
	if after.Secret.Expose() != "new" || after.Fingerprint() == before.Fingerprint() {
		t.Errorf("want the secret as it is and clients made anew, got fingerprints %s and %s", before.Fingerprint(), after.Fingerprint())
	}
}

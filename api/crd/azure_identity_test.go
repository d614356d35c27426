package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
)

// TestFingerprintOfAzureIdentity holds that clients are recreated if a field that selects the identity changes, and for no other change.
func TestFingerprintOfAzureIdentity(t *testing.T) {
	t.Parallel()
	base := func() *azurev1.IdentityView {
		return &azurev1.IdentityView{Name: "AzureClusterIdentity/ns/a", Type: azurev1.IdentityServicePrincipal, TenantID: "t", ClientID: "c",
			Secret: common.NewSecret("s3cret")}
	}
	if (*azurev1.IdentityView)(nil).Fingerprint() != "" {
		t.Error("want no fingerprint for the controller's own credentials")
	}
	if one, other := base().Fingerprint(), base().DeepCopy().Fingerprint(); one != other {
		t.Errorf("want the same fingerprint for the same content, got %s and %s", one, other)
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", *base(), base(), base(), base()); strings.Contains(shown, "s3cret") {
		t.Errorf("want no secret shown, got %s", shown)
	}
	for reason, change := range map[string]func(*azurev1.IdentityView){
		"a rotated secret makes new clients":                func(i *azurev1.IdentityView) { i.Secret = common.NewSecret("other") },
		"another tenant is another directory":               func(i *azurev1.IdentityView) { i.TenantID = "u" },
		"another client is another principal":               func(i *azurev1.IdentityView) { i.ClientID = "d" },
		"another type reads other fields":                   func(i *azurev1.IdentityView) { i.Type = azurev1.IdentityWorkloadIdentity },
		"another object has budgets and metrics of its own": func(i *azurev1.IdentityView) { i.Name = "AzureClusterIdentity/ns/b" },
		"another file holds another certificate":            func(i *azurev1.IdentityView) { i.CertPath = "/certs/a.pem" },
	} {
		changed := base()
		change(changed)
		if changed.Fingerprint() == base().Fingerprint() {
			t.Errorf("%s: want another fingerprint", reason)
		}
	}
}

// TestReferenceToAzureIdentity holds how a reference is read, and that what can't be read is no reference to the controller.
func TestReferenceToAzureIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, spec, want string
		err                bool
	}{
		{reason: "the cluster's namespace is meant where none is said",
			spec: "{identityRef: {apiVersion: x/v1, kind: AzureClusterIdentity, name: a}}", want: "AzureClusterIdentity/ns/a"},
		{reason: "another may be said", spec: "{identityRef: {kind: AzureClusterIdentity, name: a, namespace: other}}",
			want: "AzureClusterIdentity/other/a"},
		{reason: "the kind is the only one there is", spec: "{identityRef: {name: a}}", want: "AzureClusterIdentity/ns/a"},
		{reason: "no reference is the controller's own", spec: "{}"},
		{reason: "null is no reference", spec: "{identityRef: null}"},
		{reason: "a field of another type names no identity", spec: "{identityRef: a}", err: true},
	} {
		got, err := azurev1.IdentityRefOf(untyped(t, "{kind: AzureCluster, metadata: {name: c, namespace: ns}, spec: "+c.spec+"}"))
		text := ""
		if got != nil {
			text = got.String()
		}
		if (err != nil) != c.err || text != c.want {
			t.Errorf("%s: want %q and an error: %v, got %q, %v", c.reason, c.want, c.err, text, err)
		}
		if text == "" {
			continue
		}
		if again, err := common.ParseIdentityReference(text); err != nil || again != *got {
			t.Errorf("%s: want what String wrote, got %v, %v", c.reason, again, err)
		}
	}
	for _, text := range []string{"", "a", "a/b", "a//c", "a/b/c/d"} {
		if got, err := common.ParseIdentityReference(text); err == nil {
			t.Errorf("want %q refused, got %v", text, got)
		}
	}
}

// TestSourceOfAzureIdentity holds that every field is read, and what the ecosystem means by allowed namespaces.
func TestSourceOfAzureIdentity(t *testing.T) {
	t.Parallel()
	got, err := azurev1.IdentitySourceOf(untyped(t, `
kind: AzureClusterIdentity
spec:
  type: ServicePrincipalCertificate
  allowedNamespaces: {list: [ns]}
  tenantID: t
  clientID: c
  resourceID: /subscriptions/s
  clientSecret: {name: secret, namespace: other}
  certPath: /certs/a.pem
  userAssignedIdentityCredentialsPath: /certs/a.json
  userAssignedIdentityCredentialsCloudType: china
`))
	want := azurev1.IdentitySource{
		Type: azurev1.IdentityServicePrincipalCertificate, Allowed: &common.AllowedNamespaces{List: []string{"ns"}}, TenantID: "t", ClientID: "c",
		ResourceID: "/subscriptions/s", CertPath: "/certs/a.pem", CredentialsPath: "/certs/a.json", CredentialsCloud: "china",
	}
	want.ClientSecret.Name, want.ClientSecret.Namespace = "secret", "other"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("want every field that is read (-want +got), %v:\n%s", err, diff)
	}
	if _, err := azurev1.IdentitySourceOf(untyped(t, `{kind: AzureClusterIdentity, spec: {clientSecret: a}}`)); err == nil {
		t.Error("want a field of another type refused")
	}
	for _, c := range []struct {
		reason, spec string
		byName       bool
		selector     string
	}{
		{reason: "without the field no namespace may", spec: `{}`},
		{reason: "null is absence", spec: `{allowedNamespaces: null}`},
		{reason: "empty is everybody", spec: `{allowedNamespaces: {}}`, byName: true},
		{reason: "as a typed client writes empty", spec: `{allowedNamespaces: {list: null, selector: null}}`, byName: true},
		{reason: "an empty list allows none", spec: `{allowedNamespaces: {list: []}}`},
		{reason: "an empty selector selects nothing", spec: `{allowedNamespaces: {selector: {}}}`},
		{reason: "a name is enough", spec: `{allowedNamespaces: {list: [ns], selector: {}}}`, byName: true},
		{reason: "labels are looked at where names don't decide", spec: `{allowedNamespaces: {list: [b], selector: {matchLabels: {a: b}}}}`,
			selector: "a=b"},
	} {
		source, err := azurev1.IdentitySourceOf(untyped(t, "{kind: AzureClusterIdentity, spec: "+c.spec+"}"))
		if err != nil {
			t.Fatal(err)
		}
		selector, err := source.Allowed.Labels()
		words := ""
		if selector != nil {
			words = selector.String()
		}
		if by := source.Allowed.ByName("ns"); err != nil || by != c.byName || words != c.selector {
			t.Errorf("%s: want by name %v and selector %q, got %v and %q, %v", c.reason, c.byName, c.selector, by, words, err)
		}
	}
}

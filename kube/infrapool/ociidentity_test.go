package infrapool_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/oci/ociidentity"
)

// The parts of objects that the tests share.
const (
	ociRef      = "{name: i}"
	ociUser     = "type: UserPrincipal, principalSecret: {name: keys, namespace: ns}, "
	ociTenantA  = "ocid1.tenancy.oc1..a"
	ociIdentity = "OCIClusterIdentity/ns/i"
	// ociPrivate is a server of the tenant's choice, ociPublic one of Oracle's.
	ociPrivate = "https://iaas.evil.example"
	ociPublic  = "https://iaas.us-phoenix-1.oraclecloud.com"
)

// ociKeys is the Secret of a user. more are further keys with their values, which replace those before.
func ociKeys(namespace string, more ...string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"}, Data: map[string][]byte{
		"tenancy": []byte(ociTenantA + "\n"), "user": []byte("ocid1.user.oc1..b"), "fingerprint": []byte("00:aa:ff"),
		"key": []byte("-----BEGIN RSA PRIVATE KEY-----\ns3cret\n-----END RSA PRIVATE KEY-----\n"), "passphrase": []byte(" s3cret \n"),
	}}
	for i := 0; i < len(more); i += 2 {
		s.Data[more[i]] = []byte(more[i+1])
	}
	return s
}

// ociLent has a Secret list the namespaces that may use it.
func ociLent(s *corev1.Secret, namespaces string) *corev1.Secret {
	s.Annotations = map[string]string{identity.NamespacesAnnotation: namespaces}
	return s
}

// ociCertificates is the Secret ca with a certificate authority, and its content.
func ociCertificates(t *testing.T, namespace string) *corev1.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ca"},
		Data: map[string][]byte{"cert": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}}
}

// ociPlace is an infrastructure cluster ns/c with further fields of its specification.
func ociPlace(t *testing.T, kind, fields string) *unstructured.Unstructured {
	t.Helper()
	return untyped(t, fmt.Sprintf("{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: %s, metadata: {namespace: ns, name: c}, spec: "+
		"{%s}}", kind, fields))
}

func ociIdentityObject(t *testing.T, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	return untyped(t, fmt.Sprintf("{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: OCIClusterIdentity, metadata: {namespace: %s, "+
		"name: i}, spec: {%s}}", namespace, spec))
}

// ociSources are those of a management cluster with the kind of identities.
func ociSources(t *testing.T, objects ...client.Object) *identity.Sources {
	t.Helper()
	return identity.NewSources(management(t, slices.Concat(objects, []client.Object{ociIdentityDefinition()})...), "")
}

// ociIdentityDefinition is the kind of identities, as the ecosystem's provider labels it.
func ociIdentityDefinition() client.Object {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "ociclusteridentities.infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2"}}}
}

// ociCase holds the identity that the objects of a cluster name, and the one that follows.
type ociCase struct {
	why string
	// kind of the infrastructure cluster; empty means OCICluster. spec holds its fields.
	kind, spec string
	objects    []client.Object
	// listed are the addresses that the operator lists.
	listed []string
	// uses is the identity, as text; certified is true if the certificate authorities of the Secret count.
	uses      string
	certified bool
	// held is the reason for which none is used, and words are parts of the message.
	held  string
	words []string
}

// ociAsks returns the identity as text.
func ociAsks(i *ociv1.IdentityView) string {
	if i == nil {
		return "controller"
	}
	return strings.Join([]string{i.Name, string(i.Type), i.Tenancy, i.User, i.KeyFingerprint, i.Region, i.Passphrase.Expose()}, "|")
}

// ociUses is the identity of the Secret that ociKeys makes, as text.
const ociUses = ociIdentity + "|UserPrincipal|" + ociTenantA + "|ocid1.user.oc1..b|00:aa:ff|"

// TestOCIIdentify holds which identity is used with which services, and that none is if the objects lead to no credentials that may be used
// with them.
func TestOCIIdentify(t *testing.T) {
	t.Parallel()
	for _, c := range append(append(ociIdentityCases(t), ociAddressCases(t)...), ociCertificateCases(t)...) {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			kind := c.kind
			if kind == "" {
				kind = ociv1.ClusterKind
			}
			place := ociPlace(t, kind, c.spec)
			sources := ociSources(t, c.objects...)
			sources.Endpoints = c.listed
			view, err := ociv1.ClusterViewOf(place)
			if err != nil {
				t.Fatal(err)
			}
			keep, err := ociidentity.Identify(t.Context(), identity.Referrer{InfraCluster: place}, sources.For("ns"), &view)
			if c.held != "" {
				wantHeld(t, c.why, err, c.held, c.words)
				if view.Identity != nil || view.Certificates != "" {
					t.Errorf("want neither identity nor certificates, got %s, %q", ociAsks(view.Identity), view.Certificates)
				}
				return
			}
			if got := ociAsks(view.Identity); err != nil || got != c.uses || (view.Certificates != "") != c.certified {
				t.Errorf("want %q, certificates %t, got %q, %q, %v", c.uses, c.certified, got, view.Certificates, err)
			}
			if want := strings.Split(c.uses, "|")[0]; c.uses != "controller" && keep["identity"] != want {
				t.Errorf("want %s kept, got %v", want, keep)
			}
		})
	}
}

// ociIdentityCases are about references and identities.
func ociIdentityCases(t *testing.T) []ociCase {
	t.Helper()
	named := func(ref string) string { return "identityRef: " + ref }
	one := func(spec string) []client.Object { return []client.Object{ociIdentityObject(t, "ns", spec)} }
	user := func(s *corev1.Secret) []client.Object { return append(one(ociUser+everyone), s) }
	elsewhere := func(allowed string, s *corev1.Secret) []client.Object {
		return []client.Object{ociIdentityObject(t, "ns", "type: UserPrincipal, principalSecret: {name: keys, namespace: other}, "+allowed), s}
	}
	return []ociCase{
		{why: "the controller's own credentials are for clusters without a reference", uses: "controller"},
		{why: "the key of a user, whose passphrase is taken as it is but for the line's end", spec: named(ociRef), objects: user(ociKeys("ns")),
			uses: ociUses + "| s3cret "},
		{why: "OKE's cluster has the same field", kind: ociv1.ManagedClusterKind, spec: named(ociRef),
			objects: user(ociKeys("ns", "region", "us-phoenix-1", "passphrase", "")), uses: ociUses + "us-phoenix-1|"},
		{why: "the instance of the controller", spec: named(ociRef), objects: one("type: InstancePrincipal, " + everyone),
			uses: ociIdentity + "|InstancePrincipal|||||"},
		{why: "the service account of the controller", spec: named(ociRef), objects: one("type: Workload, " + everyone),
			uses: ociIdentity + "|Workload|||||"},
		{why: "a list and no selector, as the existing provider writes them", spec: named(ociRef),
			objects: one("type: Workload, allowedNamespaces: {list: [ns], selector: null}"), uses: ociIdentity + "|Workload|||||"},
		{why: "neither a list nor a selector allows all", spec: named(ociRef),
			objects: one("type: Workload, allowedNamespaces: {list: null, selector: null}"), uses: ociIdentity + "|Workload|||||"},
		{why: "labels of the namespace", spec: named(ociRef),
			objects: one("type: Workload, allowedNamespaces: {selector: {matchLabels: {tenant: a}}}"), uses: ociIdentity + "|Workload|||||"},
		{why: "an identity of another namespace that allows this one", spec: named("{name: i, namespace: other}"),
			objects: []client.Object{ociIdentityObject(t, "other", "type: Workload, allowedNamespaces: {list: [ns]}")},
			uses:    "OCIClusterIdentity/other/i|Workload|||||"},
		{why: "a Secret of another namespace that lists the identity's", spec: named(ociRef),
			objects: elsewhere(everyone, ociLent(ociKeys("other"), "x, ns")), uses: ociUses + "| s3cret "},

		{why: "no allowedNamespaces allow none", spec: named(ociRef), objects: one("type: Workload"), held: identity.ReasonNotAllowed,
			words: []string{ociIdentity + ": spec.allowedNamespaces", "namespace ns"}},
		{why: "an empty list allows none", spec: named(ociRef), objects: one("type: Workload, allowedNamespaces: {list: []}"),
			held: identity.ReasonNotAllowed},
		{why: "an empty selector selects none", spec: named(ociRef), objects: one("type: Workload, allowedNamespaces: {selector: {}}"),
			held: identity.ReasonNotAllowed},
		{why: "other labels", spec: named(ociRef),
			objects: one("type: Workload, allowedNamespaces: {selector: {matchLabels: {tenant: b}}}"), held: identity.ReasonNotAllowed},
		{why: "an identity of another namespace that allows others", spec: named("{name: i, namespace: other}"),
			objects: []client.Object{ociIdentityObject(t, "other", "type: Workload, allowedNamespaces: {list: [other]}")},
			held:    identity.ReasonNotAllowed},
		{why: "an identity that is missing is no reference to the controller", spec: named(ociRef), held: identity.ReasonMissing,
			words: []string{"OCICluster ns/c: spec.identityRef", "OCIClusterIdentity ns/i does not exist"}},
		{why: "another kind", spec: named("{kind: Secret, name: keys}"), held: identity.ReasonInvalid,
			words: []string{"spec.identityRef.kind", `"Secret"`, "want OCIClusterIdentity"}},
		{why: "no name", spec: named("{kind: OCIClusterIdentity}"), held: identity.ReasonInvalid, words: []string{"spec.identityRef.name"}},
		{why: "a field of another type", spec: named("admin"), held: identity.ReasonInvalid, words: []string{"OCICluster"}},
		{why: "no type", spec: named(ociRef), objects: one(everyone), held: identity.ReasonInvalid,
			words: []string{ociIdentity + `: spec.type is ""`, "UserPrincipal, InstancePrincipal or Workload"}},
		{why: "a user without a Secret", spec: named(ociRef), objects: one("type: UserPrincipal, " + everyone), held: identity.ReasonInvalid,
			words: []string{"spec.principalSecret.name is empty"}},
		{why: "a Secret that is missing", spec: named(ociRef), objects: one(ociUser + everyone), held: identity.ReasonMissing,
			words: []string{ociIdentity + ": spec.principalSecret: secret ns/keys does not exist"}},
		{why: "a Secret of another namespace: who writes identities does not own it", spec: named(ociRef),
			objects: elsewhere(everyone, ociKeys("other")), held: identity.ReasonNotAllowed,
			words: []string{"secret other/keys does not allow namespace ns", "muster.dev/allowed-namespaces"}},
		{why: "a missing one has the same text", spec: named(ociRef), objects: elsewhere(everyone, ociCertificates(t, "other")),
			held: identity.ReasonNotAllowed, words: []string{"secret other/keys does not allow namespace ns"}},
		{why: "no tenancy", spec: named(ociRef), objects: user(ociKeys("ns", "tenancy", " ")), held: identity.ReasonInvalid,
			words: []string{ociIdentity + ": spec.principalSecret: secret ns/keys has nothing under key tenancy"}},
		{why: "no user", spec: named(ociRef), objects: user(ociKeys("ns", "user", "")), held: identity.ReasonInvalid,
			words: []string{"key user"}},
		{why: "no fingerprint", spec: named(ociRef), objects: user(ociKeys("ns", "fingerprint", "")), held: identity.ReasonInvalid,
			words: []string{"key fingerprint"}},
		{why: "no key", spec: named(ociRef), objects: user(ociKeys("ns", "key", "\n")), held: identity.ReasonInvalid,
			words: []string{"has nothing under key key"}},
	}
}

// ociAddressCases are about the addresses that a tenant names.
func ociAddressCases(t *testing.T) []ociCase {
	t.Helper()
	own := func(address string) string { return "clientOverrides: {computeManagementClientUrl: '" + address + "'}" }
	named := func(address string) string { return "identityRef: {name: i}, " + own(address) }
	user := []client.Object{ociIdentityObject(t, "ns", ociUser+everyone), ociKeys("ns", "passphrase", "")}
	of := func(spec string, more ...client.Object) []client.Object {
		return append([]client.Object{ociIdentityObject(t, "ns", spec+", "+everyone)}, more...)
	}
	lent := append(of("type: UserPrincipal, principalSecret: {name: keys, namespace: other}"), ociLent(ociKeys("other"), "ns"))
	field := "OCICluster ns/c: spec.clientOverrides.computeManagementClientUrl"
	cases := []ociCase{
		{why: "own: one of Oracle's addresses", spec: own(ociPublic + "/"), uses: "controller"},
		{why: "own: of another service and realm", spec: own("https://containerengine.eu-frankfurt-2.oci.oraclecloud.eu"), uses: "controller"},
		{why: "own: one that the operator lists", spec: own(ociPrivate + "/"), listed: []string{ociPrivate}, uses: "controller"},
		{why: "key of the namespace: any address", spec: named(ociPrivate), objects: user, uses: ociUses + "|"},
		{why: "key of the namespace: any port", spec: named(ociPublic + ":8443"), objects: user, uses: ociUses + "|"},
		{why: "lent key: one of Oracle's addresses", spec: named(ociPublic), objects: lent, uses: ociUses + "| s3cret "},

		{why: "own: signatures would reach the tenant", spec: own(ociPrivate), held: identity.ReasonNotAllowed,
			words: []string{field, ociPrivate, "the cluster has no spec.identityRef", "in namespace ns", "--identity-endpoints"}},
		{why: "own: in OKE's cluster", kind: ociv1.ManagedClusterKind, spec: "hostUrl: {containerEngineClientUrl: '" + ociPrivate + "'}",
			held: identity.ReasonNotAllowed, words: []string{"OCIManagedCluster ns/c: spec.hostUrl.containerEngineClientUrl"}},
		{why: "own: the service of errors counts too", spec: "clientOverrides: {workrequestClientUrl: '" + ociPrivate + "'}",
			held: identity.ReasonNotAllowed, words: []string{"spec.clientOverrides.workrequestClientUrl"}},
		{why: "instance: signatures would reach the tenant", spec: named(ociPrivate), objects: of("type: InstancePrincipal"),
			held: identity.ReasonNotAllowed, words: []string{field, "the controller's instance or service account"}},
		{why: "workload: signatures would reach the tenant", spec: named(ociPrivate), objects: of("type: Workload"),
			held: identity.ReasonNotAllowed, words: []string{field}},
		{why: "lent key: signatures would reach the tenant", spec: named(ociPrivate), objects: lent, held: identity.ReasonNotAllowed,
			words: []string{field, "the credentials are of another namespace"}},
		{why: "lent identity: signatures would reach the tenant",
			spec: "identityRef: {name: i, namespace: other}, clientOverrides: {identityClientUrl: '" + ociPrivate + "'}",
			objects: []client.Object{ociKeys("other"), ociIdentityObject(t, "other",
				"type: UserPrincipal, principalSecret: {name: keys, namespace: other}, "+everyone)},
			held: identity.ReasonNotAllowed, words: []string{"spec.clientOverrides.identityClientUrl", "of another namespace"}},
	}
	for _, address := range []string{"https://evil.oraclecloud.com", "https://iaas.us-phoenix-1.oraclecloud.com.evil.example",
		"https://x.iaas.us-phoenix-1.oraclecloud.com", "https://iaas.us-phoenix-1.oraclecloud99.com", ociPublic + ":8443"} {
		cases = append(cases, ociCase{why: "own: no service of Oracle's: " + address, spec: own(address), held: identity.ReasonNotAllowed,
			words: []string{field}})
	}
	for _, address := range []string{"http://iaas.us-phoenix-1.oraclecloud.com", "https://", "https://u:p@h.example", ociPublic + "/path",
		ociPublic + "?a=b", "iaas.us-phoenix-1.oraclecloud.com", "ftp://h.example"} {
		cases = append(cases, ociCase{why: "no address that can be used: " + address, spec: named(address), objects: user,
			held: identity.ReasonInvalid, words: []string{field}})
	}
	for _, address := range []string{"https://127.0.0.1:6443", "https://localhost", "https://[::1]", "https://169.254.169.254"} {
		cases = append(cases, ociCase{why: "the controller's own machine: " + address, spec: named(address), objects: user,
			held: identity.ReasonNotAllowed, words: []string{field, "the controller's own machine"}})
	}
	return append(cases, ociCase{why: "the operator's own machine, where the cloud is simulated", spec: own("http://127.0.0.1:4570"),
		listed: []string{"http://127.0.0.1:4570"}, uses: "controller"})
}

// ociCertificateCases are about the certificate authorities that a tenant names.
func ociCertificateCases(t *testing.T) []ociCase {
	t.Helper()
	named := func(ref string) string { return "identityRef: {name: i}, clientOverrides: {certOverride: " + ref + "}" }
	user := func(more ...client.Object) []client.Object {
		return append(more, ociIdentityObject(t, "ns", ociUser+everyone), ociKeys("ns", "passphrase", ""))
	}
	broken := ociCertificates(t, "ns")
	broken.Data["cert"] = bytes.Replace(broken.Data["cert"], []byte("CERTIFICATE"), []byte("s3cret"), 1)
	const field = "OCICluster ns/c: spec.clientOverrides.certOverride"
	return []ociCase{
		{why: "certificates beside the cluster", spec: named("{name: ca}"), objects: user(ociCertificates(t, "ns")), certified: true,
			uses: ociUses + "|"},
		{why: "certificates of another namespace that lists this one", spec: named("{name: ca, namespace: other}"),
			objects: user(ociLent(ociCertificates(t, "other"), "*")), certified: true, uses: ociUses + "|"},

		{why: "certificates of another namespace", spec: named("{name: ca, namespace: other}"), objects: user(ociCertificates(t, "other")),
			held: identity.ReasonNotAllowed, words: []string{field, "secret other/ca does not allow namespace ns"}},
		{why: "missing ones of another namespace have the same text", spec: named("{name: ca, namespace: other}"), objects: user(),
			held: identity.ReasonNotAllowed, words: []string{"secret other/ca does not allow namespace ns"}},
		{why: "missing ones", spec: named("{name: ca}"), objects: user(), held: identity.ReasonMissing,
			words: []string{field, "secret ns/ca does not exist"}},
		{why: "no name of a Secret", spec: named("{}"), objects: user(), held: identity.ReasonInvalid, words: []string{field + ".name"}},
		{why: "no certificate in the Secret", spec: named("{name: ca}"), objects: user(broken), held: identity.ReasonInvalid,
			words: []string{"secret ns/ca has no certificate in PEM under key cert"}},
		{why: "the controller's own credentials", spec: "clientOverrides: {certOverride: {name: ca}}",
			objects: []client.Object{ociCertificates(t, "ns")}, held: identity.ReasonNotAllowed,
			words: []string{field, "the controller's own credentials"}},
	}
}

// TestOCIIdentityIsRemembered holds that a pool that is deleted after its infrastructure cluster uses the identity and the addresses that
// it used before, under the same rules: users can write what the object remembers.
func TestOCIIdentityIsRemembered(t *testing.T) {
	t.Parallel()
	there := []client.Object{ociIdentityObject(t, "ns", ociUser+everyone), ociKeys("ns", "passphrase", "")}
	for _, c := range []struct {
		why     string
		stored  map[string]string
		objects []client.Object
		uses    string
		words   string
	}{
		{why: "the stored identity with the stored address", stored: map[string]string{"identity": ociIdentity,
			"compute-management-endpoint": ociPrivate}, objects: there, uses: ociUses + "|"},
		{why: "nothing remembered is the controller", uses: "controller"},
		{why: "a stored identity that is gone is no identity", stored: map[string]string{"identity": ociIdentity},
			words: "metadata.annotations[muster.dev/resolved]: identity"},
		{why: "text that is no reference", stored: map[string]string{"identity": "x"}, words: "KIND/NAMESPACE/NAME"},
		{why: "an address beside the controller's own credentials", stored: map[string]string{"compute-endpoint": ociPrivate},
			words: "metadata.annotations[muster.dev/resolved]: clientOverrides.computeClientUrl"},
		{why: "certificates of another namespace", stored: map[string]string{"identity": ociIdentity, "certificates": "other/ca"},
			objects: append(there, ociCertificates(t, "other")), words: "secret other/ca does not allow namespace ns"},
	} {
		c.stored = mergeStored(c.stored, "compartment", "ocid1.compartment.oc1..a")
		view, err := ociv1.ClusterViewRemembered(c.stored, "muster.dev/resolved")
		if err != nil {
			t.Fatal(err)
		}
		_, err = ociidentity.Identify(t.Context(), identity.Referrer{Stored: c.stored}, ociSources(t, c.objects...).For("ns"), &view)
		switch {
		case c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words) || view.Identity != nil):
			t.Errorf("%s: want %q and no identity, got %s, %v", c.why, c.words, ociAsks(view.Identity), err)
		case c.words == "" && (err != nil || ociAsks(view.Identity) != c.uses):
			t.Errorf("%s: want %q, got %q, %v", c.why, c.uses, ociAsks(view.Identity), err)
		}
	}
}

func mergeStored(stored map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range stored {
		out[k] = v
	}
	return out
}

package infrapool_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/gcp/gcpidentity"
)

// gcpIdentityAccount is the key of a service account, which holds the word s3cret.
const gcpIdentityAccount = `{"type": "service_account", "client_email": "a@p.iam.gserviceaccount.com", "private_key": "s3cret", "token_uri": "http://127.0.0.1:1/token"}`

// infra is the GCPCluster ns/c with a credentialsRef; without one it references no Secret.
func infra(t *testing.T, ref string) *unstructured.Unstructured {
	t.Helper()
	spec := "{}"
	if ref != "" {
		spec = "{credentialsRef: " + ref + "}"
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("{kind: GCPCluster, metadata: {namespace: ns, name: c}, spec: "+spec+"}"), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func gcpIdentitySecret(namespace, allowed, text string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		Data: map[string][]byte{"credentials": []byte(text)}}
	if allowed != "" {
		s.Annotations = map[string]string{identity.NamespacesAnnotation: allowed}
	}
	return s
}

// sources are those of a management cluster that has a Secret, or none.
func sources(t *testing.T, s *corev1.Secret) *identity.Sources {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	if s != nil {
		objects = append(objects, s)
	}
	return identity.NewSources(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), "")
}

// TestGCPIdentityIdentify holds which identity is used, and that none is if the reference leads to no credentials that may be used.
func TestGCPIdentityIdentify(t *testing.T) {
	t.Parallel()
	for _, c := range gcpIdentityCases() {
		cluster := &gcpv1.ClusterView{}
		keep, err := gcpidentity.Identify(t.Context(), identity.Referrer{InfraCluster: infra(t, c.ref)}, sources(t, c.secret).For("ns"), cluster)
		var none *identity.Error
		if c.held != "" {
			if !errors.As(err, &none) || none.Cause.Reason != c.held || cluster.Identity != nil {
				t.Errorf("%s: want %s and no identity, got %v and %v", c.why, c.held, err, cluster.Identity)
				continue
			}
			for _, words := range c.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%s: want %q in %q", c.why, words, err)
				}
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: the message shows the credentials: %q", c.why, err)
			}
			continue
		}
		uses := ""
		if cluster.Identity != nil {
			uses = cluster.Identity.Name
			if text := cluster.Identity.Credentials.Expose(); text != strings.TrimSpace(string(c.secret.Data["credentials"])) {
				t.Errorf("%s: want the Secret's credentials, got %q", c.why, text)
			}
		}
		if err != nil || uses != c.uses || keep["identity"] != c.uses {
			t.Errorf("%s: want %q, got %q, kept %v, %v", c.why, c.uses, uses, keep, err)
		}
	}
}

// gcpIdentityCase is a GCPCluster's reference to a Secret, and which identity follows from it.
type gcpIdentityCase struct {
	why, ref string
	secret   *corev1.Secret
	// uses is the name of the identity; empty is the controller's own.
	uses string
	// held is the reason for which none is used, and words are parts of the message.
	held  string
	words []string
}

func gcpIdentityCases() []gcpIdentityCase {
	const (
		own   = "{name: keys, namespace: ns}"
		other = "{name: keys, namespace: other}"
	)
	external := func(fields string) *corev1.Secret {
		return gcpIdentitySecret("ns", "", `{"type": "external_account", "subject_token_type": "s3cret"`+fields+`}`)
	}
	const sts = `, "token_url": "https://sts.googleapis.com/v1/token"`
	return []gcpIdentityCase{
		{why: "the controller's own credentials are for clusters without a reference"},
		{why: "a Secret of the cluster's namespace", ref: own, secret: gcpIdentitySecret("ns", "", gcpIdentityAccount+"\n"),
			uses: "Secret/ns/keys"},
		{why: "without a namespace it is beside the cluster", ref: "{name: keys}", secret: gcpIdentitySecret("ns", "", gcpIdentityAccount),
			uses: "Secret/ns/keys"},
		{why: "another namespace that allows it", ref: other, secret: gcpIdentitySecret("other", "x, ns", gcpIdentityAccount),
			uses: "Secret/other/keys"},
		{why: "another namespace that allows all", ref: other, secret: gcpIdentitySecret("other", "*", gcpIdentityAccount),
			uses: "Secret/other/keys"},
		{why: "an external account", ref: own, secret: external(sts + `, "credential_source": {"file": "/var/run/token"}`),
			uses: "Secret/ns/keys"},
		{why: "a user's account", ref: own, secret: gcpIdentitySecret("ns", "", `{"type": "authorized_user"}`), uses: "Secret/ns/keys"},
		{why: "an impersonated account", ref: own, secret: gcpIdentitySecret("ns", "",
			`{"type": "impersonated_service_account", "service_account_impersonation_url":
			"https://iamcredentials.googleapis.com/v1/x:generateAccessToken", "source_credentials": {"type": "authorized_user"}}`),
			uses: "Secret/ns/keys"},

		{why: "no name", ref: "{namespace: ns}", held: identity.ReasonInvalid,
			words: []string{"GCPCluster ns/c: spec.credentialsRef.name is empty"}},
		{why: "a reference of another shape", ref: "keys", held: identity.ReasonInvalid, words: []string{"GCPCluster ns/c", "another type"}},
		{why: "no such Secret", ref: own, held: identity.ReasonMissing,
			words: []string{"GCPCluster ns/c: spec.credentialsRef", "secret ns/keys does not exist"}},
		{why: "another namespace that allows none", ref: other, secret: gcpIdentitySecret("other", "", gcpIdentityAccount),
			held:  identity.ReasonNotAllowed,
			words: []string{"secret other/keys does not allow namespace ns", "muster.dev/allowed-namespaces: ns"}},
		{why: "another namespace that allows others", ref: other, secret: gcpIdentitySecret("other", "ns2,nsx", gcpIdentityAccount),
			held: identity.ReasonNotAllowed, words: []string{"does not allow"}},
		{why: "whether another namespace has a Secret is not told", ref: other, held: identity.ReasonNotAllowed,
			words: []string{"secret other/keys does not allow namespace ns"}},
		{why: "nothing under the key", ref: own, secret: gcpIdentitySecret("ns", "", " \n"), held: identity.ReasonInvalid,
			words: []string{"secret ns/keys has nothing under key credentials"}},
		{why: "no JSON", ref: own, secret: gcpIdentitySecret("ns", "", "s3cret"), held: identity.ReasonInvalid,
			words: []string{"credentials: want the JSON that Google's tools write"}},
		{why: "another type", ref: own, secret: gcpIdentitySecret("ns", "", `{"type": "gdch_service_account", "private_key": "s3cret"}`),
			held:  identity.ReasonInvalid,
			words: []string{`type is "gdch_service_account": want service_account, external_account, impersonated_service_account or authorized_user`}},
		{why: "no key", ref: own, secret: gcpIdentitySecret("ns", "", `{"type": "service_account", "client_email": "s3cret"}`),
			held: identity.ReasonInvalid, words: []string{"private_key is empty"}},
		{why: "a program would run in the controller", ref: own,
			secret: external(sts + `, "credential_source": {"executable": {"command": "/bin/s3cret"}}`),
			held:   identity.ReasonInvalid, words: []string{"credential_source.executable", "runs no programs"}},
		{why: "a token of the controller's would be sent to others", ref: own, secret: external(`, "token_url": "https://s3cret.example.com"`),
			held:  identity.ReasonInvalid,
			words: []string{"token_url: want an https address of googleapis.com"}},
		{why: "a name that only ends alike", ref: own, secret: external(`, "token_url": "https://s3cretgoogleapis.com"`),
			held: identity.ReasonInvalid, words: []string{"token_url"}},
		{why: "no address for tokens", ref: own, secret: external(""), held: identity.ReasonInvalid, words: []string{"token_url"}},
		{why: "another address to impersonate at", ref: own,
			secret: external(sts + `, "service_account_impersonation_url": "http://iamcredentials.googleapis.com"`), held: identity.ReasonInvalid,
			words: []string{"service_account_impersonation_url"}},
		{why: "a source that runs a program", ref: own, secret: gcpIdentitySecret("ns", "",
			`{"type": "impersonated_service_account", "service_account_impersonation_url":
			"https://iamcredentials.googleapis.com/v1/x", "source_credentials": {"type": "external_account", "credential_source": {"executable": {"command": "s3cret"}}}}`),
			held: identity.ReasonInvalid, words: []string{"credential_source.executable"}},
	}
}

// TestIdentifyAfterTheCluster holds that the stored reference is used once the infrastructure cluster is gone.
func TestIdentifyAfterTheCluster(t *testing.T) {
	t.Parallel()
	cluster := &gcpv1.ClusterView{}
	by := identity.Referrer{Stored: map[string]string{"identity": "Secret/ns/keys"}}
	if _, err := gcpidentity.Identify(t.Context(), by, sources(t, gcpIdentitySecret("ns", "", gcpIdentityAccount)).For("ns"),
		cluster); err != nil || cluster.Identity == nil {
		t.Errorf("want the stored identity, got %v, %v", cluster.Identity, err)
	}
	by.Stored["identity"] = "keys"
	_, err := gcpidentity.Identify(t.Context(), by, sources(t, nil).For("ns"), &gcpv1.ClusterView{})
	if err == nil || !strings.Contains(err.Error(), "want the namespace and the name of a Secret as Secret/NAMESPACE/NAME") {
		t.Errorf("want what to write, got %v", err)
	}
	by.Stored["identity"] = "Secret/ns/gone"
	_, err = gcpidentity.Identify(t.Context(), by, sources(t, nil).For("ns"), &gcpv1.ClusterView{})
	if err == nil || !strings.Contains(err.Error(), "metadata.annotations[muster.dev/resolved]: identity") {
		t.Errorf("want the place of the reference, got %v", err)
	}
}

// TestAddresses holds that the controller's own credentials and those of other namespaces reach Google alone, whatever addresses a cluster
// names.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, allowed := range map[string]bool{
		"": true, "https://compute-psc.p.googleapis.com": true, "http://127.0.0.1:8080": true, "http://localhost:1": true, "http://[::1]:1": true,
		"https://compute.example.com": false, "http://compute.googleapis.com": false, "https://a@compute.googleapis.com": false, "%": false,
	} {
		for service, e := range map[string]gcpv1.Endpoints{"compute": {Compute: address}, "container": {Container: address},
			"iam": {IAM: address}} {
			_, err := gcpidentity.Identify(t.Context(), identity.Referrer{InfraCluster: infra(t, "")}, sources(t, nil).For("ns"),
				&gcpv1.ClusterView{Endpoints: e})
			want := fmt.Sprintf("GCPCluster ns/c: spec.serviceEndpoints.%s: want an https address of googleapis.com, because the cluster has no "+
				"spec.credentialsRef", service)
			if allowed != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s at %q: allowed %t, got %v", service, address, allowed, err)
			}
			if _, err := gcpidentity.Identify(t.Context(), identity.Referrer{InfraCluster: infra(t, "{name: keys}")},
				sources(t, gcpIdentitySecret("ns", "", gcpIdentityAccount)).For("ns"),
				&gcpv1.ClusterView{Endpoints: e}); err != nil {
				t.Errorf("%s at %q: want the cluster's own credentials sent there, got %v", service, address, err)
			}
			shared := &gcpv1.ClusterView{Endpoints: e}
			_, err = gcpidentity.Identify(t.Context(), identity.Referrer{InfraCluster: infra(t, "{name: keys, namespace: other}")},
				sources(t, gcpIdentitySecret("other", "ns", gcpIdentityAccount)).For("ns"), shared)
			if allowed != (err == nil) || allowed != (shared.Identity != nil) || err != nil &&
				!strings.Contains(err.Error(), "because the credentials are of another namespace") {
				t.Errorf("%s at %q: credentials of another namespace: allowed %t, got %v", service, address, allowed, err)
			}
		}
	}
}

// TestBorrowedCredentials holds that credentials of the cluster's own namespace reach Google alone where they prove what the controller's
// files and addresses hold: the user who writes the Secret and the cluster would get a token of the controller's account otherwise.
func TestBorrowedCredentials(t *testing.T) {
	t.Parallel()
	const (
		external = `{"type": "external_account", "token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"file": "/var/run/token"}}`
		through  = `{"type": "impersonated_service_account", "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/x", "source_credentials": `
	)
	for _, c := range []struct {
		why, text string
		free      bool
	}{
		{"an external account", external, false},
		{"an account that an external one impersonates", through + external + "}", false},
		{"an account that a key impersonates", through + gcpIdentityAccount + "}", true},
		{"a key", gcpIdentityAccount, true},
		{"a user's account", `{"type": "authorized_user"}`, true},
	} {
		for address, googles := range map[string]bool{"https://compute-psc.p.googleapis.com": true, "https://compute.example.com": false} {
			cluster := &gcpv1.ClusterView{Endpoints: gcpv1.Endpoints{Compute: address}}
			_, err := gcpidentity.Identify(t.Context(), identity.Referrer{InfraCluster: infra(t, "{name: keys}")},
				sources(t, gcpIdentitySecret("ns", "", c.text)).For("ns"), cluster)
			allowed := googles || c.free
			if allowed != (err == nil) || allowed != (cluster.Identity != nil) || err != nil &&
				!strings.Contains(err.Error(), "because the credentials are an external account") {
				t.Errorf("%s at %s: allowed %t, got %v, %v", c.why, address, allowed, cluster.Identity, err)
			}
		}
	}
}

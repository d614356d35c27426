package infrapool_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
)

// The key of the Secrets of these tests: the access key names it, the secret key proves it.
const scalewayAccess, scalewaySecret = "SCWAAAAAAAAAAAAAAAAA", "s3cret00-0000-0000-0000-000000000000"

func scalewayKeys(namespace string, more ...string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"}, Data: map[string][]byte{
		scalewaymanaged.KeyAccessKey: []byte(scalewayAccess + "\n"), scalewaymanaged.KeySecretKey: []byte(scalewaySecret)}}
	for i := 0; i < len(more); i += 2 {
		s.Data[more[i]] = []byte(more[i+1])
	}
	return s
}

// TestScalewayIdentify holds which identity is used and to which address its key is sent, and that none is if the Secret leads to no key
// that may be used. The manager has no key of its own that could be.
func TestScalewayIdentify(t *testing.T) {
	t.Parallel()
	const url = scalewaymanaged.KeyAPIURL
	for _, c := range []struct {
		why    string
		name   string
		secret *corev1.Secret
		listed []string
		// stored is the identity that the object keeps, for a cluster that is gone.
		stored string
		// url is the address to which the key is sent; held the reason if it is not used, and words are parts of the message.
		url, held string
		words     []string
	}{
		{why: "a Secret beside the cluster", name: "keys", secret: scalewayKeys("ns")},
		{why: "the public address", name: "keys", secret: scalewayKeys("ns", url, "https://api.scaleway.com/")},
		{why: "an address that the operator lists", name: "keys", secret: scalewayKeys("ns", url, "https://proxy.example/scw/"),
			listed: []string{"https://proxy.example/scw"}, url: "https://proxy.example/scw"},
		{why: "the cluster is gone", stored: "keys", secret: scalewayKeys("ns")},

		{why: "no name", held: identity.ReasonInvalid, words: []string{"ScalewayManagedCluster ns/c: spec.scalewaySecretName is empty"}},
		{why: "no such Secret", name: "keys", held: identity.ReasonMissing,
			words: []string{"ScalewayManagedCluster ns/c: spec.scalewaySecretName", "secret ns/keys does not exist"}},
		{why: "a Secret of another namespace is not reached by its name", name: "keys", secret: scalewayKeys("other"),
			held: identity.ReasonMissing, words: []string{"secret ns/keys does not exist"}},
		{why: "nor by what a user writes to the object", stored: "other/keys", secret: scalewayKeys("other"), held: identity.ReasonMissing,
			words: []string{"metadata.annotations[muster.dev/resolved]: identity", "does not exist"}},
		{why: "no access key", name: "keys", secret: scalewayKeys("ns", scalewaymanaged.KeyAccessKey, " "), held: identity.ReasonInvalid,
			words: []string{"secret ns/keys has nothing under key SCW_ACCESS_KEY"}},
		{why: "no secret key", name: "keys", secret: scalewayKeys("ns", scalewaymanaged.KeySecretKey, ""), held: identity.ReasonInvalid,
			words: []string{"secret ns/keys has nothing under key SCW_SECRET_KEY"}},
		{why: "an address of the tenant's choice would have the manager call it", name: "keys",
			secret: scalewayKeys("ns", url, "http://169.254.169.254/s3cret"), held: identity.ReasonNotAllowed,
			words: []string{"secret ns/keys: SCW_API_URL", "https://api.scaleway.com", "--identity-endpoints"}},
		{why: "a longer address than the listed one is another", name: "keys", listed: []string{"https://proxy.example"},
			secret: scalewayKeys("ns", url, "https://proxy.example.evil"), held: identity.ReasonNotAllowed, words: []string{"SCW_API_URL"}},
	} {
		by := identity.Referrer{InfraCluster: scalewayInfra(c.name)}
		if c.stored != "" {
			by = identity.Referrer{Stored: map[string]string{"identity": c.stored}}
		}
		from := sources(t, c.secret)
		from.Endpoints = c.listed
		view := &scalewayv1.ClusterView{SecretName: c.name}
		keep, err := scalewaymanaged.Identify(t.Context(), by, from.For("ns"), view)
		if c.held != "" {
			wantHeld(t, c.why, err, c.held, c.words)
			if view.Identity != nil {
				t.Errorf("%s: want no identity, got %v", c.why, view.Identity)
			}
			continue
		}
		if err != nil || view.Identity == nil || keep["identity"] != "keys" {
			t.Errorf("%s: want the Secret's identity, kept by its name, got %+v, %v, %v", c.why, view.Identity, keep, err)
			continue
		}
		if i := view.Identity; i.Name != "Secret/ns/keys" || i.AccessKey != scalewayAccess || i.SecretKey.Expose() != scalewaySecret ||
			i.APIURL != c.url {
			t.Errorf("%s: want the Secret's key for %q, got %s of %s for %q", c.why, c.url, i.AccessKey, i.Name, i.APIURL)
		}
	}
}

// wantHeld wants an identity error with a reason and parts of a message, which shows nothing of a secret.
func wantHeld(t *testing.T, why string, err error, reason string, words []string) {
	t.Helper()
	var none *identity.Error
	if !errors.As(err, &none) || none.Cause.Reason != reason {
		t.Errorf("%s: want %s, got %v", why, reason, err)
		return
	}
	for _, part := range words {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: want %q in %q", why, part, err)
		}
	}
	if strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%s: the message shows the Secret: %q", why, err)
	}
}

func scalewayInfra(secret string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"kind": "ScalewayManagedCluster",
		"metadata": map[string]any{"namespace": "ns", "name": "c"}, "spec": map[string]any{"scalewaySecretName": secret}}}
}

// TestParseEndpoints holds which addresses an operator can list.
func TestParseEndpoints(t *testing.T) {
	t.Parallel()
	got, err := identity.ParseEndpoints([]string{"https://a.example/", "http://127.0.0.1:1", "http://localhost:2/x/"})
	if err != nil || strings.Join(got, " ") != "https://a.example http://127.0.0.1:1 http://localhost:2/x" {
		t.Errorf("want the addresses without slashes at their ends, got %q, %v", got, err)
	}
	for _, text := range []string{"", "a.example", "http://a.example", "https://u:p@a.example", "https://a.example?x", "ftp://a", "*"} {
		if _, err := identity.ParseEndpoints([]string{text}); err == nil || !strings.Contains(err.Error(), "--identity-endpoints") {
			t.Errorf("%q: want an error that names the flag, got %v", text, err)
		}
	}
}

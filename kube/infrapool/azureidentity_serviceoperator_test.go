package infrapool_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/azure/azureidentity"
)

// credentials is a Secret as Azure Service Operator reads it; the texts are keys and values in turn.
func credentials(name string, more ...string) *corev1.Secret {
	data := map[string][]byte{"AZURE_SUBSCRIPTION_ID": []byte("s"), "AZURE_TENANT_ID": []byte("t"), "AZURE_CLIENT_ID": []byte("c\n")}
	for i := 0; i < len(more); i += 2 {
		data[more[i]] = []byte(more[i+1])
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Data: data}
}

// TestServiceOperator holds which credentials are used for a manifest, most specific first, and that a Secret that is named and unusable is
// not passed over.
func TestServiceOperator(t *testing.T) {
	t.Parallel()
	plane := &unstructured.Unstructured{}
	for _, c := range []struct {
		reason, named string
		secret        *corev1.Secret
		// gone is true if the control plane is gone, and stored what the object remembers.
		gone   bool
		stored string
		// asks, keeps and subscription are expected if an identity is found; held and words if none is.
		asks, keeps, subscription, held, words string
	}{
		{reason: "nothing is named: the controller's own", asks: "controller"},
		{reason: "the namespace's", secret: credentials("aso-credential", "AZURE_CLIENT_SECRET", "p"),
			asks: "Secret/ns/aso-credential|ServicePrincipal|t|c|p|||", keeps: "Secret/ns/aso-credential", subscription: "s"},
		{reason: "the manifest's", named: "mine", secret: credentials("mine", "AUTH_MODE", "workloadidentity"),
			asks: "Secret/ns/mine|WorkloadIdentity|t|c||||", keeps: "Secret/ns/mine", subscription: "s"},
		{reason: "a certificate, as it is", named: "mine", secret: credentials("mine", "AZURE_CLIENT_CERTIFICATE", "pem\n"),
			asks: "Secret/ns/mine|ServicePrincipalCertificate|t|c|pem\n|||", keeps: "Secret/ns/mine", subscription: "s"},
		{reason: "the machine's own identity", named: "mine", secret: credentials("mine", "AUTH_MODE", "podidentity"),
			asks: "Secret/ns/mine|UserAssignedMSI|t|c||||", keeps: "Secret/ns/mine", subscription: "s"},
		{reason: "as it is remembered once the control plane is gone", gone: true, stored: "Secret/ns/mine", secret: credentials("mine"),
			asks: "Secret/ns/mine|WorkloadIdentity|t|c||||", keeps: "Secret/ns/mine", subscription: "s"},
		{reason: "a Secret that is named and missing", named: "mine", held: "IdentityMissing", words: "FIELD: secret ns/mine does not exist"},
		{reason: "one without a directory", named: "mine", secret: credentials("mine", "AZURE_TENANT_ID", ""), keeps: "Secret/ns/mine",
			held: "IdentityInvalid", words: "nothing under key AZURE_TENANT_ID"},
		{reason: "a certificate that needs a password", named: "mine",
			secret: credentials("mine", "AZURE_CLIENT_CERTIFICATE", "pem", "AZURE_CLIENT_CERTIFICATE_PASSWORD", "hidden"), keeps: "Secret/ns/mine",
			held: "IdentityInvalid", words: "a certificate without a password"},
	} {
		objects := management(t)
		if c.secret != nil {
			objects = management(t, c.secret)
		}
		by := identity.Referrer{InfraCluster: plane, Stored: map[string]string{}}
		if c.gone {
			by.InfraCluster = nil
		}
		if c.stored != "" {
			by.Stored["identity"] = c.stored
		}
		view := &azurev1.ClusterView{}
		kept, err := azureidentity.ServiceOperator(t.Context(), by, identity.NewSources(objects, "").For("ns"), c.named, "FIELD", view)
		var none *identity.Error
		switch {
		case c.held != "" && (!errors.As(err, &none) || none.Cause.Reason != c.held || !strings.Contains(none.Cause.Message, c.words) ||
			strings.Contains(none.Cause.Message, "hidden")):
			t.Errorf("%s: want it refused as %s with %q, got %v", c.reason, c.held, c.words, err)
		case c.held == "" && (err != nil || asks(view.Identity) != c.asks || view.SubscriptionID != c.subscription):
			t.Errorf("%s: want %s in subscription %q, got %s in %q, %v", c.reason, c.asks, c.subscription, asks(view.Identity),
				view.SubscriptionID, err)
		}
		if kept["identity"] != c.keeps {
			t.Errorf("%s: want %q remembered, got %v", c.reason, c.keeps, kept)
		}
	}
}

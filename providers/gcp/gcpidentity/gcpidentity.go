// Package gcpidentity resolves the identity with which Google Cloud is called for a cluster: its credentialsRef names a Secret with the
// credentials of a service account or of an external account. If the Secret has none that may be used, Google Cloud is not called: the
// controller's own are never a substitute.
package gcpidentity

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// keyCredentials is the key of a Secret under which the ecosystem has credentials.
const keyCredentials = "credentials"

// Identify is Identify of infrapool.Kind for all kinds of Google Cloud: it sets the identity in the view of the cluster.
func Identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	cluster *gcpv1.ClusterView) (map[string]string, error) {
	ref, err := reference(by)
	if err != nil {
		return nil, identity.Errorf(identity.ReasonInvalid, "%v", err)
	}
	if ref == nil {
		if err = from.Own(ctx, from.Namespace, field(by)); err == nil {
			err = ownAddresses(by, cluster.Endpoints)
		}
		return by.Keep(""), err
	}
	if ref.Namespace != from.Namespace {
		err = addresses(by, cluster.Endpoints,
			"because the credentials are of another namespace, whose users do not name the addresses that they are sent to")
	}
	if err == nil {
		cluster.Identity, err = read(ctx, from, *ref, field(by))
	}
	if err == nil && borrows(cluster.Identity.Credentials.Expose()) {
		if err = from.Own(ctx, ref.Namespace, field(by)); err == nil {
			err = addresses(by, cluster.Endpoints,
				"because the credentials are an external account, whose tokens come from files and addresses of the controller's own")
		}
	}
	if err != nil {
		cluster.Identity = nil
	}
	return by.Keep(ref.String()), err
}

// ownAddresses returns an error if the controller's own credentials would be sent to others than Google.
func ownAddresses(by identity.Referrer, e gcpv1.Endpoints) error {
	return addresses(by, e, "because the cluster has no spec.credentialsRef, and the controller's own credentials are sent to Google alone")
}

// addresses returns an error if credentials would be sent to others than Google, with the reason why they must not: a user who writes a
// cluster names its addresses.
func addresses(by identity.Referrer, e gcpv1.Endpoints, why string) error {
	for _, service := range []struct{ name, address string }{{"compute", e.Compute}, {"container", e.Container}, {"iam", e.IAM}} {
		if service.address == "" || local(service.address) {
			continue
		}
		if problem := google(service.name, service.address); problem != "" {
			return identity.Errorf(identity.ReasonNotAllowed, "%s: spec.serviceEndpoints.%s, %s", object(by), problem, why)
		}
	}
	return nil
}

// field returns the field that references the Secret, for messages.
func field(by identity.Referrer) string {
	if by.InfraCluster == nil {
		return object(by) + ": " + stored.Identity
	}
	return object(by) + ": spec.credentialsRef"
}

// object names what references the Secret, for messages.
func object(by identity.Referrer) string {
	if by.InfraCluster == nil {
		return "metadata.annotations[" + stored.Annotation + "]"
	}
	return by.InfraCluster.GetKind() + " " + by.InfraCluster.GetNamespace() + "/" + by.InfraCluster.GetName()
}

// reference returns the Secret that the cluster references, or the stored one if the infrastructure cluster is gone.
func reference(by identity.Referrer) (*gcpv1.CredentialsReference, error) {
	if by.InfraCluster != nil {
		return gcpv1.CredentialsRefOf(by.InfraCluster)
	}
	if by.StoredIdentity() == "" {
		return nil, nil
	}
	ref, err := gcpv1.ParseCredentialsReference(by.StoredIdentity())
	return &ref, err
}

// read reads the credentials of a Secret. No error contains them.
func read(ctx context.Context, from *identity.Credentials, ref gcpv1.CredentialsReference, field string) (*gcpv1.IdentityView, error) {
	if ref.Name == "" {
		return nil, invalid("%s.name is empty: want the name of a secret in namespace %s", field, ref.Namespace)
	}
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	secret, err := from.SecretFor(ctx, from.Namespace, field, key)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(secret.Data[keyCredentials]))
	if text == "" {
		return nil, invalid("%s: secret %s has nothing under key %s", field, key, keyCredentials)
	}
	if problem := check(text); problem != "" {
		return nil, invalid("%s: secret %s: %s: %s", field, key, keyCredentials, problem)
	}
	return &gcpv1.IdentityView{Name: ref.String(), Credentials: common.NewSecret(text)}, nil
}

func invalid(format string, args ...any) error {
	return identity.Errorf(identity.ReasonInvalid, format, args...)
}

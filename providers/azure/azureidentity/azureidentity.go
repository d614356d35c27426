// Package azureidentity resolves the identity with which Azure is called for a cluster: its identityRef leads to an AzureClusterIdentity of
// the ecosystem's Azure provider, which names an application with a password or a certificate, or a managed identity, and lists the
// namespaces that may use it. If it has no credentials, Azure is not called: the controller's own are never a substitute.
package azureidentity

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/identity"
)

// keySecret is the key of a secret under which the ecosystem has passwords and certificates.
const keySecret = "clientSecret"

// clouds are the names of the cloud of a UserAssignedIdentityCredential; an empty one is public.
var clouds = []string{"", "public", "china", "usgovernment"}

// Identify is Identify of infrapool.Kind for all Azure kinds: it sets the identity in the view of the cluster.
func Identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	cluster *azurev1.ClusterView) (map[string]string, error) {
	ref, err := reference(by)
	if err != nil {
		return nil, identity.Errorf(identity.ReasonInvalid, "%v", err)
	}
	if ref == nil {
		return by.Keep(""), from.Own(ctx, from.Namespace, by.Field())
	}
	cluster.Identity, err = read(ctx, from, *ref, by.Field())
	return by.Keep(ref.String()), err
}

// reference returns the identity that the cluster references, or the stored one if the infrastructure cluster is gone.
func reference(by identity.Referrer) (*common.IdentityReference, error) {
	if by.InfraCluster != nil {
		return azurev1.IdentityRefOf(by.InfraCluster)
	}
	if by.StoredIdentity() == "" {
		return nil, nil
	}
	ref, err := common.ParseIdentityReference(by.StoredIdentity())
	return &ref, err
}

// read reads the identity that a reference leads to.
func read(ctx context.Context, from *identity.Credentials, ref common.IdentityReference, field string) (*azurev1.IdentityView, error) {
	if ref.Kind != azurev1.ClusterIdentityKind {
		return nil, invalid("%s.kind is %q: want %s", field, ref.Kind, azurev1.ClusterIdentityKind)
	}
	if ref.Name == "" {
		return nil, invalid("%s.name is empty: want the name of an %s in namespace %s", field, ref.Kind, ref.Namespace)
	}
	u, err := from.Object(ctx, schema.GroupKind{Group: azurev1.GroupVersion.Group, Kind: ref.Kind},
		client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return nil, identity.ReferencedBy(field, err)
	}
	source, err := azurev1.IdentitySourceOf(u)
	if err != nil {
		return nil, invalid("%v", err)
	}
	if err := from.Allow(ctx, ref.String(), source.Allowed); err != nil {
		return nil, err
	}
	view := &azurev1.IdentityView{
		Name: ref.String(), Type: source.Type, TenantID: source.TenantID, ClientID: source.ClientID, ResourceID: source.ResourceID,
		CertPath: source.CertPath, CredentialsPath: source.CredentialsPath, CredentialsCloud: strings.ToLower(source.CredentialsCloud),
	}
	if err := complete(view); err != nil {
		return nil, err
	}
	if borrows(view) {
		if err := from.Own(ctx, ref.Namespace, ref.String()); err != nil {
			return nil, err
		}
	}
	if needsSecret(view) {
		if view.Secret, err = secret(ctx, from, ref, source); err != nil {
			return nil, err
		}
	}
	return view, nil
}

// complete returns an error that names what the identity lacks for its type.
func complete(i *azurev1.IdentityView) error {
	tenant, app := true, true
	switch i.Type {
	case azurev1.IdentityServicePrincipal, azurev1.IdentityManualServicePrincipal, azurev1.IdentityServicePrincipalCertificate,
		azurev1.IdentityWorkloadIdentity:
	case azurev1.IdentityUserAssignedMSI:
		tenant = false
	case azurev1.IdentityUserAssignedIdentityCredential:
		tenant, app = false, false
		if i.CredentialsPath == "" {
			return invalid("%s: spec.userAssignedIdentityCredentialsPath is empty: want a file of the controller with the credentials", i.Name)
		}
		if !slices.Contains(clouds, i.CredentialsCloud) {
			return invalid("%s: spec.userAssignedIdentityCredentialsCloudType is %q: want public, china or usgovernment", i.Name, i.CredentialsCloud)
		}
	default:
		return invalid("%s: spec.type is %q: want ServicePrincipal, ServicePrincipalCertificate, WorkloadIdentity, UserAssignedMSI or "+
			"UserAssignedIdentityCredential",
			i.Name, i.Type)
	}
	if tenant && i.TenantID == "" {
		return invalid("%s: spec.tenantID is empty: want the directory of the identity", i.Name)
	}
	if app && i.ClientID == "" {
		return invalid("%s: spec.clientID is empty: want that of the application or managed identity", i.Name)
	}
	return nil
}

// needsSecret reports whether the identity has a secret. A certificate may be in a file.
func needsSecret(i *azurev1.IdentityView) bool {
	return i.HasPassword() || i.Type == azurev1.IdentityServicePrincipalCertificate && i.CertPath == ""
}

// borrows reports whether the identity proves itself by what the manager has: its token, its machine or one of its files.
func borrows(i *azurev1.IdentityView) bool {
	switch i.Type {
	case azurev1.IdentityWorkloadIdentity, azurev1.IdentityUserAssignedMSI, azurev1.IdentityUserAssignedIdentityCredential:
		return true
	case azurev1.IdentityServicePrincipalCertificate:
		return i.CertPath != ""
	}
	return false
}

// secret reads the password or the certificate. No error contains it.
func secret(ctx context.Context, from *identity.Credentials, ref common.IdentityReference,
	source azurev1.IdentitySource) (common.Secret, error) {
	field := ref.String() + ": spec.clientSecret"
	key := client.ObjectKey{Namespace: source.ClientSecret.Namespace, Name: source.ClientSecret.Name}
	if key.Namespace == "" {
		key.Namespace = ref.Namespace
	}
	if key.Name == "" {
		return common.Secret{}, invalid("%s.name is empty: want the name of a secret in namespace %s", field, key.Namespace)
	}
	s, err := from.Secret(ctx, key)
	if err != nil {
		return common.Secret{}, identity.ReferencedBy(field, err)
	}
	text := string(s.Data[keySecret])
	if source.Type != azurev1.IdentityServicePrincipalCertificate {
		// Editors add a line break after a password.
		text = strings.TrimRight(text, "\r\n")
	}
	if text == "" {
		return common.Secret{}, invalid("%s: secret %s has nothing under key %s", field, key, keySecret)
	}
	return common.NewSecret(text), nil
}

func invalid(format string, args ...any) error {
	return identity.Errorf(identity.ReasonInvalid, format, args...)
}

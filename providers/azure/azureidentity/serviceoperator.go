package azureidentity

import (
	"context"
	"errors"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/identity"
)

// namespaceSecret is the Secret with the credentials of all manifests of a namespace that name no other.
const namespaceSecret = "aso-credential"

// The keys of Secrets with Azure Service Operator's credentials (Azure Service Operator, "Credential format").
const (
	keySubscription = "AZURE_SUBSCRIPTION_ID"
	keyTenant       = "AZURE_TENANT_ID"
	keyClient       = "AZURE_CLIENT_ID"
	keyPassword     = "AZURE_CLIENT_SECRET"
	keyCertificate  = "AZURE_CLIENT_CERTIFICATE"
	keyUnlock       = "AZURE_CLIENT_CERTIFICATE_PASSWORD"
	keyMode         = "AUTH_MODE"
)

// modePod is the mode of a managed identity of the machines that the controller runs on.
const modePod = "podidentity"

// secretKind is the kind of identities that are Secrets, in references.
const secretKind = "Secret"

// ServiceOperator is Identify of infrapool.Kind for kinds whose manifests name their credentials as Azure Service Operator reads them:
// named is the Secret that a manifest names, in the object's namespace, and field where it names it. Without a name it is the Secret
// aso-credential of the namespace, and without that the controller's own credentials. The subscription of the Secret is that of a cluster
// whose manifest names none.
func ServiceOperator(ctx context.Context, by identity.Referrer, from *identity.Credentials, named, field string,
	cluster *azurev1.ClusterView) (map[string]string, error) {
	name, required := named, named != ""
	if stored, ok := strings.CutPrefix(by.StoredIdentity(), secretKind+"/"+from.Namespace+"/"); ok && !required && by.InfraCluster == nil {
		name, field, required = stored, by.Field(), true
	}
	if name == "" {
		name = namespaceSecret
	}
	key := client.ObjectKey{Namespace: from.Namespace, Name: name}
	read, err := from.Secret(ctx, key)
	var none *identity.Error
	if errors.As(err, &none) && !required {
		return by.Keep(""), from.Own(ctx, from.Namespace, field)
	}
	if err != nil {
		return nil, identity.ReferencedBy(field, err)
	}
	ref := secretKind + "/" + key.String()
	view, err := ofSecret(ref, read.Data)
	if err == nil && borrows(view) {
		err = from.Own(ctx, key.Namespace, ref)
	}
	if err != nil {
		return by.Keep(ref), err
	}
	if cluster.Identity = view; cluster.SubscriptionID == "" {
		cluster.SubscriptionID = string(read.Data[keySubscription])
	}
	return by.Keep(ref), nil
}

// ofSecret returns the identity that a Secret describes.
func ofSecret(ref string, data map[string][]byte) (*azurev1.IdentityView, error) {
	text := func(key string) string { return strings.TrimSpace(string(data[key])) }
	for _, key := range []string{keySubscription, keyTenant, keyClient} {
		if text(key) == "" {
			return nil, invalid("%s has nothing under key %s: want the credentials of Azure Service Operator", ref, key)
		}
	}
	view := &azurev1.IdentityView{Name: ref, TenantID: text(keyTenant), ClientID: text(keyClient)}
	switch {
	case text(keyPassword) != "":
		view.Type, view.Secret = azurev1.IdentityServicePrincipal, common.NewSecret(text(keyPassword))
	case text(keyUnlock) != "":
		return nil, invalid("%s has a value under key %s: want a certificate without a password", ref, keyUnlock)
	case text(keyCertificate) != "":
		view.Type, view.Secret = azurev1.IdentityServicePrincipalCertificate, common.NewSecret(string(data[keyCertificate]))
	case text(keyMode) == modePod:
		view.Type = azurev1.IdentityUserAssignedMSI
	default:
		view.Type = azurev1.IdentityWorkloadIdentity
	}
	return view, nil
}

// Package ociidentity resolves the identity with which Oracle Cloud is called for a cluster: its identityRef leads to an
// OCIClusterIdentity of the ecosystem's OCI provider, which names the API key of a user, the instance that the controller runs on or the
// service account of the controller, and lists the namespaces that may use it. If it has no credentials, Oracle Cloud is not called: the
// controller's own are never a substitute. It also decides where the signatures of an identity may be sent, because tenants name addresses
// and certificates of the services.
package ociidentity

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
)

// The keys of the Secret of a user, by the ecosystem's names.
const (
	KeyTenancy     = "tenancy"
	KeyUser        = "user"
	KeyFingerprint = "fingerprint"
	KeyPrivateKey  = "key"
	KeyPassphrase  = "passphrase"
	KeyRegion      = "region"
)

// The reasons why signatures of credentials are sent to Oracle alone, which end a message.
const (
	ownCredentials  = "the cluster has no spec.identityRef, and the controller's own credentials are used with Oracle's services alone"
	borrowed        = "the identity is proven by the controller's instance or service account, which is used with Oracle's services alone"
	lentCredentials = "the credentials are of another namespace, whose users do not name the services that they are used with"
)

// Identify is Identify of infrapool.Kind for all kinds of Oracle Cloud: it sets the identity and the certificates in the view of the
// cluster. They stay empty if the identity can't be used with the services of the cluster.
func Identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	cluster *ociv1.ClusterView) (map[string]string, error) {
	ref, err := reference(by)
	if err != nil {
		return nil, invalid("%v", err)
	}
	keep, restriction := by.Keep(""), ownCredentials
	var view *ociv1.IdentityView
	if ref == nil {
		err = from.Own(ctx, from.Namespace, by.Field())
	} else {
		keep = by.Keep(ref.String())
		view, restriction, err = read(ctx, from, *ref, by.Field())
	}
	if err != nil {
		return keep, err
	}
	at := destination{by: by, from: from, cluster: cluster, restriction: restriction}
	certificates, err := at.check(ctx)
	if err != nil {
		return keep, err
	}
	cluster.Identity, cluster.Certificates = view, certificates
	return keep, nil
}

// reference returns the identity that the cluster references, or the stored one if the infrastructure cluster is gone.
func reference(by identity.Referrer) (*common.IdentityReference, error) {
	if by.InfraCluster != nil {
		return ociv1.IdentityRefOf(by.InfraCluster)
	}
	if by.StoredIdentity() == "" {
		return nil, nil
	}
	ref, err := common.ParseIdentityReference(by.StoredIdentity())
	return &ref, err
}

// read reads the identity that a reference leads to. restriction is why its signatures are sent to Oracle alone; empty if they may be sent
// elsewhere.
func read(ctx context.Context, from *identity.Credentials, ref common.IdentityReference, field string) (view *ociv1.IdentityView,
	restriction string, err error) {
	if ref.Kind != ociv1.ClusterIdentityKind {
		return nil, "", invalid("%s.kind is %q: want %s", field, ref.Kind, ociv1.ClusterIdentityKind)
	}
	if ref.Name == "" {
		return nil, "", invalid("%s.name is empty: want the name of an %s in namespace %s", field, ref.Kind, ref.Namespace)
	}
	u, err := from.Object(ctx, schema.GroupKind{Group: ociv1.GroupVersion.Group, Kind: ref.Kind},
		client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return nil, "", identity.ReferencedBy(field, err)
	}
	source, err := ociv1.IdentitySourceOf(u)
	if err != nil {
		return nil, "", invalid("%v", err)
	}
	if err := from.Allow(ctx, ref.String(), source.Allowed); err != nil {
		return nil, "", err
	}
	switch source.Type {
	case ociv1.PrincipalUser:
		return user(ctx, from, ref, source)
	case ociv1.PrincipalInstance, ociv1.PrincipalWorkload:
		return &ociv1.IdentityView{Name: ref.String(), Type: source.Type}, borrowed, from.Own(ctx, ref.Namespace, ref.String())
	}
	return nil, "", invalid("%s: spec.type is %q: want %s, %s or %s", ref, source.Type, ociv1.PrincipalUser, ociv1.PrincipalInstance,
		ociv1.PrincipalWorkload)
}

// user reads the API key of a user from the Secret of an identity. No error contains its values.
func user(ctx context.Context, from *identity.Credentials, ref common.IdentityReference, source ociv1.IdentitySource) (*ociv1.IdentityView,
	string, error) {
	field := ref.String() + ": spec.principalSecret"
	key := client.ObjectKey{Namespace: source.PrincipalSecret.Namespace, Name: source.PrincipalSecret.Name}
	if key.Namespace == "" {
		key.Namespace = ref.Namespace
	}
	if key.Name == "" {
		return nil, "", invalid("%s.name is empty: want the name of a secret in namespace %s", field, key.Namespace)
	}
	secret, err := from.SecretFor(ctx, ref.Namespace, field, key)
	if err != nil {
		return nil, "", err
	}
	value := func(key string) string { return strings.TrimSpace(string(secret.Data[key])) }
	for _, required := range []string{KeyTenancy, KeyUser, KeyFingerprint, KeyPrivateKey} {
		if value(required) == "" {
			return nil, "", invalid("%s: secret %s has nothing under key %s", field, key, required)
		}
	}
	restriction := ""
	if ref.Namespace != from.Namespace || key.Namespace != from.Namespace {
		restriction = lentCredentials
	}
	return &ociv1.IdentityView{
		Name: ref.String(), Type: source.Type, Tenancy: value(KeyTenancy), User: value(KeyUser), KeyFingerprint: value(KeyFingerprint),
		Region: value(KeyRegion), PrivateKey: common.NewSecret(value(KeyPrivateKey)),
		// A passphrase may begin or end with a space. Editors add a line break.
		Passphrase: common.NewSecret(strings.TrimRight(string(secret.Data[KeyPassphrase]), "\r\n")),
	}, restriction, nil
}

func invalid(format string, args ...any) error {
	return identity.Errorf(identity.ReasonInvalid, format, args...)
}

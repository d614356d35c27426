package scalewaymanaged

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// The keys of a Secret, by the ecosystem's names.
const (
	KeyAccessKey = "SCW_ACCESS_KEY"
	KeySecretKey = "SCW_SECRET_KEY"
	KeyAPIURL    = "SCW_API_URL"
)

// PublicEndpoint is the public address of Scaleway's API.
const PublicEndpoint = "https://api.scaleway.com"

// Identify is Identify of infrapool.Kind: it sets the identity in the view of the cluster.
func Identify(ctx context.Context, by identity.Referrer, from *identity.Credentials, cluster *scalewayv1.ClusterView) (map[string]string,
	error) {
	name := cluster.SecretName
	if by.InfraCluster == nil {
		name = by.StoredIdentity()
	}
	read, err := read(ctx, from, name, field(by))
	if err != nil {
		return by.Keep(name), err
	}
	cluster.SecretName, cluster.Identity = name, read
	return by.Keep(name), nil
}

// field returns the field that names the Secret, for messages.
func field(by identity.Referrer) string {
	if by.InfraCluster == nil {
		return "metadata.annotations[" + stored.Annotation + "]: " + stored.Identity
	}
	return by.InfraCluster.GetKind() + " " + by.InfraCluster.GetNamespace() + "/" + by.InfraCluster.GetName() + ": spec.scalewaySecretName"
}

// read reads the credentials of a Secret in the namespace of the object. No error contains them.
func read(ctx context.Context, from *identity.Credentials, name, field string) (*scalewayv1.IdentityView, error) {
	if name == "" {
		return nil, identity.Errorf(identity.ReasonInvalid, "%s is empty: want the name of a secret in namespace %s", field, from.Namespace)
	}
	key := client.ObjectKey{Namespace: from.Namespace, Name: name}
	secret, err := from.Secret(ctx, key)
	if err != nil {
		return nil, identity.ReferencedBy(field, err)
	}
	value := func(key string) string { return strings.TrimSpace(string(secret.Data[key])) }
	for _, required := range []string{KeyAccessKey, KeySecretKey} {
		if value(required) == "" {
			return nil, identity.Errorf(identity.ReasonInvalid, "%s: secret %s has nothing under key %s", field, key, required)
		}
	}
	view := &scalewayv1.IdentityView{Name: "Secret/" + key.String(), AccessKey: value(KeyAccessKey),
		SecretKey: common.NewSecret(value(KeySecretKey)), APIURL: strings.TrimRight(value(KeyAPIURL), "/")}
	if view.APIURL == PublicEndpoint {
		view.APIURL = ""
	}
	if view.APIURL == "" {
		return view, nil
	}
	if err := from.Endpoint(field+": secret "+key.String()+": "+KeyAPIURL, view.APIURL, PublicEndpoint); err != nil {
		return nil, err
	}
	return view, nil
}

// Package awsidentity resolves the identity with which AWS is called for a cluster: its identityRef leads to the objects of the ecosystem's
// AWS provider that allow the controller's own credentials, name a secret with access keys, or name a role that is assumed with another
// identity. Each identity lists the namespaces that may use it. If the chain ends without credentials, AWS is not called: the controller's
// own credentials are never a substitute. They are for the namespaces that the operator lists, also if the identity allows others.
package awsidentity

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
)

// chainLimit bounds how many identities a chain has. STS allows chained roles, each for an hour at most; chains in use are shorter.
const chainLimit = 8

// The keys of a static identity's secret, as the ecosystem has them.
const (
	keyID, keySecret, keyToken = "AccessKeyID", "SecretAccessKey", "SessionToken"
)

// Identify is Identify of infrapool.Kind for all AWS kinds: it sets the identity in the view of the cluster.
func Identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	cluster *awsv1.ClusterView) (map[string]string, error) {
	ref, err := reference(by)
	if err != nil {
		return nil, identity.Errorf(identity.ReasonInvalid, "%v", err)
	}
	if ref == nil {
		return by.Keep(""), from.Own(ctx, from.Namespace, by.Field())
	}
	keep := by.Keep(ref.String())
	c := &chain{from: from}
	if err := c.follow(ctx, *ref, by.Field()); err != nil {
		return keep, err
	}
	if cluster.Identity = c.identity(ref.String()); cluster.Identity == nil {
		return keep, from.Own(ctx, from.Namespace, by.Field())
	}
	return keep, nil
}

// reference returns the identity that the cluster references, or the stored one if the infrastructure cluster is gone.
func reference(by identity.Referrer) (*awsv1.IdentityReference, error) {
	if by.InfraCluster != nil {
		return awsv1.IdentityRefOf(by.InfraCluster)
	}
	if by.StoredIdentity() == "" {
		return nil, nil
	}
	ref, err := awsv1.ParseIdentityReference(by.StoredIdentity())
	return &ref, err
}

// chain is the chain of identities from a cluster's reference to credentials.
type chain struct {
	from *identity.Credentials
	seen []awsv1.IdentityReference
	keys awsv1.AccessKeys
	// roles are in the order of the chain, which is the reverse of the order in which they are assumed.
	roles []awsv1.RoleView
}

// follow reads the identity that a field references, and those that it depends on.
func (c *chain) follow(ctx context.Context, ref awsv1.IdentityReference, field string) error {
	if slices.Contains(c.seen, ref) {
		return invalid("%s is %s, which leads back to itself (%s): name another there", field, ref, c.way(ref))
	}
	if len(c.seen) == chainLimit {
		return invalid("%s is %s: more than %d identities rest on one another (%s)", field, ref, chainLimit, c.way(ref))
	}
	c.seen = append(c.seen, ref)
	if !slices.Contains([]string{awsv1.ControllerIdentityKind, awsv1.StaticIdentityKind, awsv1.RoleIdentityKind}, ref.Kind) {
		return invalid("%s.kind is %q: want %s, %s or %s", field, ref.Kind, awsv1.ControllerIdentityKind, awsv1.StaticIdentityKind,
			awsv1.RoleIdentityKind)
	}
	if ref.Kind == awsv1.ControllerIdentityKind && ref.Name != awsv1.ControllerIdentityName {
		return invalid("%s.name is %q: the one %s is named %s", field, ref.Name, ref.Kind, awsv1.ControllerIdentityName)
	}
	u, err := c.from.Object(ctx, schema.GroupKind{Group: awsv1.GroupVersion.Group, Kind: ref.Kind}, client.ObjectKey{Name: ref.Name})
	if err != nil {
		return identity.ReferencedBy(field, err)
	}
	source, err := awsv1.IdentitySourceOf(u)
	if err != nil {
		return invalid("%v", err)
	}
	if err := c.from.Allow(ctx, ref.String(), source.Allowed); err != nil {
		return err
	}
	switch ref.Kind {
	case awsv1.StaticIdentityKind:
		return c.static(ctx, ref, source)
	case awsv1.RoleIdentityKind:
		return c.role(ctx, ref, source)
	}
	return nil
}

// static reads the keys from the secret. No error contains them.
func (c *chain) static(ctx context.Context, ref awsv1.IdentityReference, source awsv1.IdentitySource) error {
	field := ref.String() + ": spec.secretRef"
	if source.SecretRef == "" {
		return invalid("%s is empty: want the name of a secret in namespace %s", field, c.from.SecretNamespace)
	}
	secret, err := c.from.Secret(ctx, client.ObjectKey{Namespace: c.from.SecretNamespace, Name: source.SecretRef})
	if err != nil {
		return identity.ReferencedBy(field, err)
	}
	for _, key := range []string{keyID, keySecret} {
		if len(secret.Data[key]) == 0 {
			return invalid("%s: secret %s/%s has nothing under key %s", field, secret.Namespace, secret.Name, key)
		}
	}
	// Editors add a newline at the end of a key, which would break the signature.
	text := func(key string) string { return strings.TrimSpace(string(secret.Data[key])) }
	c.keys = awsv1.NewAccessKeys(text(keyID), text(keySecret), text(keyToken))
	return nil
}

// role adds the role, and follows the identity that it is assumed with.
func (c *chain) role(ctx context.Context, ref awsv1.IdentityReference, source awsv1.IdentitySource) error {
	if !strings.HasPrefix(source.RoleARN, "arn:") {
		return invalid("%s: spec.roleARN is %q: want the ARN of a role", ref, source.RoleARN)
	}
	c.roles = append(c.roles, awsv1.RoleView{
		Name: ref.String(), ARN: source.RoleARN, SessionName: source.SessionName, Duration: time.Duration(source.DurationSeconds) * time.Second,
		InlinePolicy: source.InlinePolicy, PolicyARNs: source.PolicyARNs, ExternalID: source.ExternalID,
	})
	if source.SourceIdentityRef == nil {
		return nil
	}
	return c.follow(ctx, *source.SourceIdentityRef, ref.String()+": spec.sourceIdentityRef")
}

// identity returns the result; nil for the controller's own credentials.
func (c *chain) identity(name string) *awsv1.IdentityView {
	if c.keys.Empty() && len(c.roles) == 0 {
		return nil
	}
	slices.Reverse(c.roles)
	return &awsv1.IdentityView{Name: name, Keys: c.keys, Roles: c.roles}
}

// way returns the chain with its last reference, for messages.
func (c *chain) way(last awsv1.IdentityReference) string {
	var names []string
	for _, ref := range append(slices.Clone(c.seen), last) {
		names = append(names, ref.String())
	}
	return strings.Join(names, " -> ")
}

func invalid(format string, args ...any) error {
	return identity.Errorf(identity.ReasonInvalid, format, args...)
}

package infrapool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/aws/awsidentity"
	"github.com/muster-project/muster/providers/azure/azureidentity"
	"github.com/muster-project/muster/providers/gcp/gcpidentity"
	"github.com/muster-project/muster/providers/oci/ociidentity"
)

// follow follows the identity of a cluster of namespace ns.
type follow func(context.Context, *identity.Credentials) error

func followAWS(t *testing.T, kind, name string) follow {
	at := place()
	if kind != "" {
		at = named(kind, name)
	}
	return func(ctx context.Context, from *identity.Credentials) error {
		_, err := awsidentity.Identify(ctx, identity.Referrer{InfraCluster: at}, from, &awsv1.ClusterView{})
		return err
	}
}

func followAzure(t *testing.T, ref string) follow {
	at := azureIdentityPlace(t, ref)
	return func(ctx context.Context, from *identity.Credentials) error {
		_, err := azureidentity.Identify(ctx, identity.Referrer{InfraCluster: at}, from, &azurev1.ClusterView{})
		return err
	}
}

func followGCP(t *testing.T, ref string) follow {
	at := infra(t, ref)
	return func(ctx context.Context, from *identity.Credentials) error {
		_, err := gcpidentity.Identify(ctx, identity.Referrer{InfraCluster: at}, from, &gcpv1.ClusterView{})
		return err
	}
}

func followOCI(t *testing.T, fields string) follow {
	at := ociPlace(t, ociv1.ClusterKind, fields)
	return func(ctx context.Context, from *identity.Credentials) error {
		_, err := ociidentity.Identify(ctx, identity.Referrer{InfraCluster: at}, from, &ociv1.ClusterView{})
		return err
	}
}

func followOperator(ctx context.Context, from *identity.Credentials) error {
	_, err := azureidentity.ServiceOperator(ctx, identity.Referrer{}, from, "", "FIELD", &azurev1.ClusterView{})
	return err
}

// TestOwnCredentials holds on every cloud who may use the manager's own credentials: the namespaces that the operator lists, under whatever
// name a cluster asks for them. What an identity has of its own is not restricted.
func TestOwnCredentials(t *testing.T) {
	t.Parallel()
	const all, azure = "allowedNamespaces: {}", "tenantID: t, clientID: c, allowedNamespaces: {}"
	external := `{"type": "external_account", "token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"file": "/token"}}`
	for _, c := range []struct {
		name, why string
		follow    follow
		objects   []client.Object
		// by is the namespace that decides; empty if the identity has credentials of its own.
		by string
	}{
		{"AWS, none named", "the manager's own", followAWS(t, "", ""), nil, "ns"},
		{"AWS, the manager's by name", "the existing provider makes the object by itself, and it allows every namespace",
			followAWS(t, "AWSClusterControllerIdentity", "default"),
			[]client.Object{identityObject(t, "AWSClusterControllerIdentity", "default", "{"+all+"}")}, "ns"},
		{"AWS, a role", "the operator made it for the namespace, and its rights are the role's", followAWS(t, "AWSClusterRoleIdentity", "r"),
			[]client.Object{identityObject(t, "AWSClusterRoleIdentity", "r", "{roleARN: 'arn:aws:iam::1:role/r', "+all+"}")}, ""},
		{"Azure, none named", "the manager's own", followAzure(t, ""), nil, "ns"},
		{"Azure, a workload identity of the namespace", "the manager's token proves it, and its client ID may be the manager's",
			followAzure(t, "{name: i}"), []client.Object{azureIdentityIdentityObject(t, "ns", "{type: WorkloadIdentity, "+azure+"}")}, "ns"},
		{"Azure, one of another namespace", "its author is there", followAzure(t, "{name: i, namespace: platform}"),
			[]client.Object{azureIdentityIdentityObject(t, "platform", "{type: UserAssignedMSI, "+azure+"}")}, "platform"},
		{"Azure, a certificate of the manager's files", "the namespace has not got it", followAzure(t, "{name: i}"),
			[]client.Object{azureIdentityIdentityObject(t, "ns", "{type: ServicePrincipalCertificate, certPath: /c, "+azure+"}")}, "ns"},
		{"Azure, a password", "its own", followAzure(t, "{name: i}"), []client.Object{azureIdentityIdentityObject(t, "ns",
			"{type: ServicePrincipal, clientSecret: {name: keys}, "+azure+"}"), azureIdentitySecret("ns", "clientSecret", "s")}, ""},
		{"the operator's manifests, no Secret", "the manager's own", followOperator, nil, "ns"},
		{"the operator's manifests, the manager's token", "as with identities", followOperator,
			[]client.Object{credentials("aso-credential", "AUTH_MODE", "workloadidentity")}, "ns"},
		{"the operator's manifests, a password", "its own", followOperator,
			[]client.Object{credentials("aso-credential", "AZURE_CLIENT_SECRET", "p")}, ""},
		{"Google Cloud, none named", "the manager's own", followGCP(t, ""), nil, "ns"},
		{"Google Cloud, an external account", "its tokens come from the manager's files", followGCP(t, "{name: keys}"),
			[]client.Object{gcpIdentitySecret("ns", "", external)}, "ns"},
		{"Google Cloud, one of another namespace", "its author is there", followGCP(t, "{name: keys, namespace: platform}"),
			[]client.Object{gcpIdentitySecret("platform", "*", external)}, "platform"},
		{"Oracle Cloud, none named", "the manager's own", followOCI(t, ""), nil, "ns"},
		{"Oracle Cloud, the manager's instance", "any namespace can make the object", followOCI(t, "identityRef: {name: i}"),
			[]client.Object{ociIdentityObject(t, "ns", "type: InstancePrincipal, "+all)}, "ns"},
		{"Oracle Cloud, the manager's service account by an identity of another namespace", "its author is there",
			followOCI(t, "identityRef: {name: i, namespace: platform}"),
			[]client.Object{ociIdentityObject(t, "platform", "type: Workload, "+all)}, "platform"},
		{"Oracle Cloud, a key", "its own", followOCI(t, "identityRef: {name: i}"),
			[]client.Object{ociIdentityObject(t, "ns", ociUser+all), ociKeys("ns")}, ""},
		{"Google Cloud, a key", "its own", followGCP(t, "{name: keys}"), []client.Object{gcpIdentitySecret("ns", "", gcpIdentityAccount)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			platform := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "platform"}}
			objects := append(identityDefinitions(), platform, ociIdentityDefinition())
			sources := identity.NewSources(management(t, append(objects, c.objects...)...), "")
			for about, allowed := range map[string]*common.AllowedNamespaces{
				"every namespace": nil, "none": {List: []string{}}, "ns": {List: []string{"ns"}}, "platform": {List: []string{"platform"}},
				"ns by its labels": {List: []string{}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tenant": "a"}}},
			} {
				sources.OwnCredentials = allowed
				err := c.follow(t.Context(), sources.For("ns"))
				var none *identity.Error
				switch {
				case c.by == "" || allowed == nil || strings.HasPrefix(about, c.by):
					if err != nil {
						t.Errorf("%s, allowed for %s: want it used, got %v", c.why, about, err)
					}
				case !errors.As(err, &none) || none.Cause.Reason != identity.ReasonNotAllowed || !strings.Contains(err.Error(), c.by) ||
					!strings.Contains(err.Error(), "--credentials-namespaces"):
					t.Errorf("%s, allowed for %s: want %s, got %v", c.why, about, identity.ReasonNotAllowed, err)
				}
			}
		})
	}
}

package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// certificateAuthority is the name of the authority that signs generated certificates.
	certificateAuthority = "muster-ca"
	// authorityKey is the file that a certificate directory contains only if the certificates were generated. Users who bring their own
	// certificates keep the authority's key to themselves.
	authorityKey = "ca.key"
)

// Certificates configures the generation of the webhook server's certificates. A secret is filled with an authority and a certificate
// signed by it, both are renewed in time, and the authority is written into the configurations of the webhooks.
type Certificates struct {
	// Secret that holds them. It is created if it does not exist, and shared by all replicas.
	Secret types.NamespacedName
	// Dir is the writable folder that the certificate and key are copied to, instead of Options.Webhook.CertDir. If empty, a folder
	// is created in the temporary folder.
	Dir string
	// DNSName is the name that the API server calls the webhooks by: SERVICE.NAMESPACE.svc, or the host of a URL.
	DNSName string
	// Validating, Mutating and Conversion are the names of the objects that carry the authority: webhook configurations
	// and CustomResourceDefinitions.
	Validating, Mutating, Conversion []string
}

func (c *Certificates) check() error {
	if c.Secret.Name == "" || c.Secret.Namespace == "" || c.DNSName == "" {
		return errors.New("certificates of webhooks can't be made: want the namespace and name of a secret, and the DNS name of the " +
			"webhook service")
	}
	return nil
}

// Mounted reports whether a directory holds certificates of another issuer.
func Mounted(dir, certName string) bool {
	_, noCertificate := os.Stat(filepath.Join(dir, certName))
	_, noKey := os.Stat(filepath.Join(dir, authorityKey))
	return noCertificate == nil && noKey != nil
}

// +kubebuilder:rbac:groups="",namespace=muster-system,resources=secrets,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations;validatingwebhookconfigurations,verbs=get;list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,verbs=update;patch,resourceNames=muster-mutating-webhook-configuration;muster-infrastructure-mutating-webhook-configuration
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=update;patch,resourceNames=muster-validating-webhook-configuration;muster-infrastructure-validating-webhook-configuration;muster-warnings-webhook-configuration
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch

// rotate has the certificates made and renewed. The channel is closed when they are in place.
func (m *Manager) rotate(ctx context.Context, o Options) (<-chan struct{}, error) {
	c := o.Certificates
	if err := m.makeSecret(ctx, c.Secret); err != nil {
		return nil, err
	}
	var targets []rotator.WebhookInfo
	for kind, names := range map[rotator.WebhookType][]string{
		rotator.Validating: c.Validating, rotator.Mutating: c.Mutating, rotator.CRDConversion: c.Conversion,
	} {
		for _, name := range names {
			if kind == rotator.CRDConversion && slices.Contains(m.kinds.elsewhere, name) {
				continue
			}
			targets = append(targets, rotator.WebhookInfo{Name: name, Type: kind})
		}
	}
	ready := make(chan struct{})
	err := rotator.AddRotator(m, &rotator.CertRotator{
		SecretKey: c.Secret, CertDir: o.Webhook.CertDir, CertName: o.Webhook.CertName, KeyName: o.Webhook.KeyName,
		CAName: certificateAuthority, CAOrganization: "muster", DNSName: c.DNSName,
		IsReady: ready, Webhooks: targets, FieldOwner: name,
	})
	if err != nil {
		return nil, fmt.Errorf("have the certificates of the webhooks made: %w", err)
	}
	return ready, m.copySecret(o)
}

// makeSecret makes the secret, empty, if it is not there: the rotation fills it and does not make it.
func (m *Manager) makeSecret(ctx context.Context, key types.NamespacedName) error {
	live, err := client.New(m.GetConfig(), client.Options{Scheme: m.GetScheme(), HTTPClient: m.GetHTTPClient()})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := live.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the secret %s for the certificates of the webhooks: %w", key, err)
	}
	return nil
}

// everywhere is a runnable that is no leader's privilege: every replica serves webhooks.
type everywhere struct{ ctrlmanager.RunnableFunc }

// NeedLeaderElection is false.
func (everywhere) NeedLeaderElection() bool { return false }

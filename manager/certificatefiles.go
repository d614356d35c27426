package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// certificateFiles copies the webhooks' certificate and key from their secret into the folder that the webhook server reads, each time
// the secret changes. A mounted secret has the same content, but the kubelet takes up to a minute to update it.
type certificateFiles struct {
	secret types.NamespacedName
	// dir, certName and keyName are the folder and the files in it. The secret's keys have the names of the files.
	dir, certName, keyName string
	// secrets reads the secret and no other.
	secrets cache.Cache
}

// copySecret adds the runnable that copies the secret of the certificates. Every replica runs it.
func (m *Manager) copySecret(o Options) error {
	key := o.Certificates.Secret
	secrets, err := cache.New(m.GetConfig(), cache.Options{
		HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{key.Namespace: {}}, Field: fields.OneTermEqualSelector("metadata.name", key.Name),
		}},
	})
	if err != nil {
		return fmt.Errorf("make the cache of the secret %s: %w", key, err)
	}
	f := &certificateFiles{secret: key, dir: o.Webhook.CertDir, certName: o.Webhook.CertName, keyName: o.Webhook.KeyName, secrets: secrets}
	if err := m.Add(everywhere{f.run}); err != nil {
		return fmt.Errorf("copy the secret %s: %w", key, err)
	}
	return nil
}

// run copies the secret whenever it changes, until the context ends.
func (f *certificateFiles) run(ctx context.Context) error {
	informer, err := f.secrets.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch the secret %s: %w", f.secret, err)
	}
	changed := make(chan struct{}, 1)
	signal := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { signal() },
		UpdateFunc: func(any, any) { signal() }})
	if err != nil {
		return fmt.Errorf("watch the secret %s: %w", f.secret, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.secrets.Start(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-changed:
			if err := f.copy(ctx); err != nil {
				return err
			}
		}
	}
}

// copy writes the files from the secret as the cache has it. A secret without a matching pair is left to the rotation, which fills it.
func (f *certificateFiles) copy(ctx context.Context) error {
	var secret corev1.Secret
	if err := f.secrets.Get(ctx, f.secret, &secret); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return client.IgnoreNotFound(err)
	}
	return f.write(secret.Data)
}

// write replaces the files if the data has a certificate and its key. The certificate comes last: the webhook server reads both when
// either changes, and keeps what it has while they do not match.
func (f *certificateFiles) write(data map[string][]byte) error {
	if !matches(data[f.certName], data[f.keyName]) {
		return nil
	}
	for _, name := range []string{f.keyName, f.certName} {
		path := filepath.Join(f.dir, name)
		if err := errors.Join(os.WriteFile(path+".new", data[name], 0o600), os.Rename(path+".new", path)); err != nil {
			return fmt.Errorf("write the webhooks' certificate: %w", err)
		}
	}
	return nil
}

// matches reports whether the certificate is one for the key.
func matches(certificate, key []byte) bool {
	_, err := tls.X509KeyPair(certificate, key)
	return err == nil
}

// withCertificateDir returns the options with the folder that certificates of Muster's own are written to. The folder of mounted
// certificates can't be it: it is read-only.
func (o Options) withCertificateDir() (Options, error) {
	if o.Certificates == nil || !o.runs(Webhook) {
		return o, nil
	}
	setDefault(&o.Webhook.CertName, "tls.crt")
	setDefault(&o.Webhook.KeyName, "tls.key")
	o.Webhook.CertDir = o.Certificates.Dir
	if o.Webhook.CertDir != "" {
		return o, nil
	}
	dir, err := os.MkdirTemp("", "muster-webhook-")
	if err != nil {
		return o, fmt.Errorf("make a folder for the webhooks' certificate: mount an emptyDir and set TMPDIR to it: %w", err)
	}
	o.Webhook.CertDir = dir
	return o, nil
}

package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/pki"
	"github.com/muster-project/muster/local/upstream"
	"github.com/muster-project/muster/manager"
)

// openWebhook loads or creates the certificates of the webhooks, and returns their address.
func (w *World) openWebhook() (*install.Webhook, error) {
	ca, err := pki.OpenAuthority(w.dir.Webhook(), "webhook-ca", "webhooks")
	if err != nil {
		return nil, err
	}
	if _, _, err := ca.IssueFiles("tls", pki.Subject{CommonName: "webhooks", Server: true}); err != nil {
		return nil, err
	}
	return &install.Webhook{URL: "https://" + Loopback(w.places[webhookPlace]), CA: ca.CertPEM}, nil
}

// installPause before the installation is begun again.
const installPause = time.Second

// install runs installOnce on the management cluster. It retries from the beginning while the API server is unreachable or restarting:
// objects that exist already cost little.
func (w *World) install(ctx context.Context, served *install.Webhook) error {
	for {
		err := w.installOnce(ctx, served)
		if err == nil || !passing(err) {
			return err
		}
		if err := w.dying(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last seen: %w", context.Cause(ctx), err)
		case <-w.done:
			return w.err
		case <-time.After(installPause):
		}
	}
}

// passing recognizes an error of an API server that is overloaded or unreachable, as opposed to a response to the request.
func passing(err error) bool {
	var network net.Error
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) ||
		errors.As(err, &network) && network.Timeout() || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}

// installOnce puts the definitions of Muster's kinds, of those of the simulated clouds' providers, and the webhooks' configurations into
// the management cluster.
func (w *World) installOnce(ctx context.Context, served *install.Webhook) error {
	if err := install.Definitions(ctx, w.config, served, all.Kinds(w.clouds...)...); err != nil {
		return err
	}
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(served.URL + path), CABundle: served.CA}
	}
	return install.Objects(ctx, w.config, clientgoscheme.Scheme, append(manager.WebhookConfigurations(at), upstream.Configurations(at)...))
}

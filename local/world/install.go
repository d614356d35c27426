package world

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/pki"
	"github.com/muster-project/muster/local/upstream"
	"github.com/muster-project/muster/manager"
)

// openWebhook finds the certificates of the webhooks, or makes them, and says where they are served.
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

// install puts the definitions of all kinds and the webhooks' configurations into the management cluster.
func (w *World) install(ctx context.Context, served *install.Webhook) error {
	if err := install.Definitions(ctx, w.config, served, all.Kinds()...); err != nil {
		return err
	}
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(served.URL + path), CABundle: served.CA}
	}
	return install.Objects(ctx, w.config, clientgoscheme.Scheme, append(manager.WebhookConfigurations(at), upstream.Configurations(at)...))
}

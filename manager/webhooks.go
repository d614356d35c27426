package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/muster-project/muster/kube/webhook"
)

// addWebhooks serves admission and conversion, if they are switched on: at once where the certificates are in place, and
// otherwise as soon as they have been made.
func (m *Manager) addWebhooks(ctx context.Context, o Options) error {
	if !o.runs(Webhook) {
		return nil
	}
	if o.Certificates == nil {
		return m.serveWebhooks(o)
	}
	ready, err := m.rotate(ctx, o)
	if err != nil {
		return err
	}
	err = m.Add(everywhere{func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-ready:
			return m.serveWebhooks(o)
		}
	}})
	if err != nil {
		return fmt.Errorf("serve webhooks once their certificates are made: %w", err)
	}
	return nil
}

func (m *Manager) serveWebhooks(o Options) error {
	if err := webhook.Register(m, webhook.Options{Hooks: hooks(o.PolicyGates)}); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	m.served.Store(true)
	return nil
}

// webhooksServed is the readiness check of the webhooks.
func (m *Manager) webhooksServed(r *http.Request) error {
	if !m.served.Load() {
		return errors.New("the certificates of the webhooks are not in place yet")
	}
	return m.GetWebhookServer().StartedChecker()(r)
}

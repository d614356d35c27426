// Package compat holds that what is published for Cluster API works as it stands: manifests apply unchanged, columns are
// what people know, and what is wrong is refused with the name of the field.
package compat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/apiserver/alone"
	awskinds "github.com/muster-project/muster/local/clouds/aws/kinds"
	azurekinds "github.com/muster-project/muster/local/clouds/azure/kinds"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/ports"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/providers/azure/azurejson"
)

// server is the one API server of all tests; each test works in a namespace of its own.
var server *rest.Config

// kubeconfig makes its bearer the server's administrator.
var kubeconfig []byte

func TestMain(m *testing.M) {
	os.Exit(alone.Run(m, "compat", func(ctx context.Context, s *apiserver.Server, dir string) (func() error, error) {
		server, kubeconfig = s.Config, s.Kubeconfig
		return serveWebhooks(ctx, s.Config, filepath.Join(dir, "webhook"))
	}))
}

// serveWebhooks runs the manager with its webhooks and the one controller that asks no cloud, and tells the API server about the
// webhooks. It returns when they answer.
func serveWebhooks(ctx context.Context, config *rest.Config, dir string) (stop func() error, err error) {
	ca, err := apiserver.OpenAuthority(dir, "ca", "webhooks")
	if err != nil {
		return nil, err
	}
	if _, _, err := ca.IssueFiles("tls", apiserver.Subject{CommonName: "webhooks", Server: true}); err != nil {
		return nil, err
	}
	port, err := ports.Pick(dir, nil)
	if err != nil {
		return nil, err
	}
	at := &install.Webhook{URL: fmt.Sprintf("https://127.0.0.1:%d", port), CA: ca.CertPEM}
	if err := install.Definitions(ctx, config, at, slices.Concat(awskinds.All(), azurekinds.All())...); err != nil {
		return nil, err
	}
	mgr, err := manager.New(ctx, config, manager.Options{Controllers: []string{azurejson.Name, manager.Webhook},
		Webhook: webhook.Options{Host: "127.0.0.1", Port: port, CertDir: dir, CertName: "tls.crt", KeyName: "tls.key"}})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = func() error {
		cancel()
		return <-ended
	}
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return mgr.GetWebhookServer().StartedChecker()(nil) == nil, nil
	})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, install.Objects(ctx, config, clientgoscheme.Scheme, manager.WebhookConfigurations(func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(at.URL + path), CABundle: at.CA}
	}))
}

// admin is a client of the server that knows no type.
func admin(t *testing.T) client.Client {
	t.Helper()
	if testing.Short() {
		t.Skip("an API server: left out with -short")
	}
	c, err := client.New(server, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

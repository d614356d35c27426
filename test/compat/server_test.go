// Package compat holds that the published artifacts of Cluster API work unchanged: manifests apply, columns keep their meaning, and invalid
// objects are rejected with the name of the field.
package compat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	gcpstandin "github.com/muster-project/muster/local/clouds/gcp/standin"
	ocistandin "github.com/muster-project/muster/local/clouds/oci/standin"
	scalewaystandin "github.com/muster-project/muster/local/clouds/scaleway/standin"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/ports"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/providers/azure/azurejson"
	"github.com/muster-project/muster/test/alone"
	"github.com/muster-project/muster/test/binary"
)

// readyTimeout is shorter than a kubelet may take to mount a secret that the manager creates.
const readyTimeout = 30 * time.Second

// server is the API server of all tests; each test has its own namespace.
var server *rest.Config

// kubeconfig makes its bearer the server's administrator.
var kubeconfig []byte

// held are the ports of the webhooks' manager, until the process ends.
var held ports.Set

// muster is the path of the built binary, scratch a folder for what outlives one test.
var muster, scratch string

func TestMain(m *testing.M) {
	os.Exit(alone.Run(m, "compat", func(ctx context.Context, s *alone.Server, dir string) (func() error, error) {
		path, remove, err := binary.Build("cmd/muster")
		if err != nil {
			return nil, err
		}
		server, kubeconfig, muster, scratch = s.Config, s.Kubeconfig, path, dir
		stop, err := serveWebhooks(ctx, s.Config, filepath.Join(dir, "webhook"))
		if err != nil {
			remove()
			return nil, err
		}
		return func() error {
			remove()
			return stop()
		}, nil
	}))
}

// serveWebhooks runs the manager with its webhooks and the one controller that asks no cloud. As in a pod that mounts no certificate, the
// manager creates the certificates and writes their authority into the objects by which the API server calls the webhooks. It returns
// when /readyz answers 200.
func serveWebhooks(ctx context.Context, config *rest.Config, dir string) (stop func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	port, err := held.Pick(dir)
	if err != nil {
		return nil, err
	}
	health, err := held.Pick(dir)
	if err != nil {
		return nil, err
	}
	made, err := installWebhooks(ctx, config, fmt.Sprintf("https://localhost:%d", port))
	if err != nil {
		return nil, err
	}
	made.Dir = dir
	mgr, err := manager.New(ctx, config, manager.Options{Controllers: []string{azurejson.Name, manager.Webhook}, Certificates: made,
		HealthAddress: fmt.Sprintf("127.0.0.1:%d", health), Webhook: webhook.Options{Host: "127.0.0.1", Port: port}})
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
	if err := waitReady(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", health)); err != nil {
		return nil, errors.Join(fmt.Errorf("the manager is not ready: %w", err), stop())
	}
	return stop, nil
}

// installWebhooks installs the definitions and the configurations of the webhooks, without an authority. It returns where the manager is
// to write one.
func installWebhooks(ctx context.Context, config *rest.Config, url string) (*manager.Certificates, error) {
	if err := install.Definitions(ctx, config, &install.Webhook{URL: url},
		slices.Concat(awsstandin.Kinds(), azurestandin.Kinds(), gcpstandin.Kinds(), ocistandin.Kinds(), scalewaystandin.Kinds())...); err != nil {
		return nil, err
	}
	hooks := manager.WebhookConfigurations(func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(url + path)}
	})
	made := &manager.Certificates{Secret: types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "webhooks"}, DNSName: "localhost"}
	for _, o := range hooks {
		switch o.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			made.Mutating = append(made.Mutating, o.GetName())
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			made.Validating = append(made.Validating, o.GetName())
		}
	}
	if err := install.Objects(ctx, config, clientgoscheme.Scheme, hooks); err != nil {
		return nil, err
	}
	scheme, err := manager.NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	var definitions apiextensionsv1.CustomResourceDefinitionList
	if err := c.List(ctx, &definitions); err != nil {
		return nil, err
	}
	for _, d := range definitions.Items {
		if d.Spec.Conversion != nil && d.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter {
			made.Conversion = append(made.Conversion, d.Name)
		}
	}
	return made, nil
}

// waitReady returns when the URL answers 200, and an error after readyTimeout.
func waitReady(ctx context.Context, url string) error {
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return false, nil
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
}

// admin returns a client of the server that knows no type.
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

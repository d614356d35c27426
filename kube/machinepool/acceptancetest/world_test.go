package acceptancetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/pki"
	"github.com/muster-project/muster/local/ports"
	"github.com/muster-project/muster/local/upstream"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/test/alone"
)

const (
	infrastructure = "infrastructure.cluster.x-k8s.io"
	bootstrap      = "bootstrap.cluster.x-k8s.io"
	controlPlane   = "controlplane.cluster.x-k8s.io"
)

// The kinds of providers in the tests. OldConfig and OldMachinePool belong to providers that support only the v1beta1 contract.
var (
	poolGVK       = schema.GroupVersionKind{Group: infrastructure, Version: "v1beta2", Kind: "TestMachinePool"}
	oldPoolGVK    = schema.GroupVersionKind{Group: infrastructure, Version: "v1alpha9", Kind: "OldMachinePool"}
	machineGVK    = schema.GroupVersionKind{Group: infrastructure, Version: "v1beta2", Kind: "TestMachine"}
	clusterGVK    = schema.GroupVersionKind{Group: infrastructure, Version: "v1beta2", Kind: "TestCluster"}
	configGVK     = schema.GroupVersionKind{Group: bootstrap, Version: "v1beta2", Kind: "TestConfig"}
	oldConfigGVK  = schema.GroupVersionKind{Group: bootstrap, Version: "v1alpha9", Kind: "OldConfig"}
	planeGVK      = schema.GroupVersionKind{Group: controlPlane, Version: "v1beta2", Kind: "TestControlPlane"}
	providerKinds = []schema.GroupVersionKind{poolGVK, oldPoolGVK, machineGVK, clusterGVK, configGVK, oldConfigGVK, planeGVK,
		templateOf(poolGVK), templateOf(clusterGVK), templateOf(configGVK), templateOf(planeGVK)}
)

// templateOf returns the kind of templates from which ClusterClasses create objects of a kind.
func templateOf(gvk schema.GroupVersionKind) schema.GroupVersionKind {
	gvk.Kind += "Template"
	return gvk
}

// plural returns the plural of a kind, as the contract defines it.
func plural(kind string) string { return strings.ToLower(kind) + "s" }

// server is the API server of all tests, which is the workload cluster of every Cluster too; each test has a namespace of its own.
var server *alone.Server

// admin writes as users and providers do; scheme is its scheme.
var (
	admin  client.Client
	scheme *runtime.Scheme
)

// atOnce is the number of tests that run in parallel: they mostly wait for controllers.
const atOnce = "12"

func TestMain(m *testing.M) {
	os.Exit(alone.Run(m, "rows", func(ctx context.Context, s *alone.Server, dir string) (func() error, error) {
		server = s
		if err := flag.Set("test.parallel", atOnce); err != nil {
			return nil, err
		}
		return control(ctx, filepath.Join(dir, "webhook"))
	}))
}

// control runs the controller and the webhooks of MachinePools with Cluster API's own controllers and webhooks, as in an installation with
// both.
func control(ctx context.Context, dir string) (stop func() error, err error) {
	at, options, err := webhooks(dir)
	if err != nil {
		return nil, err
	}
	if err := install.Definitions(ctx, server.Config, at); err != nil {
		return nil, err
	}
	if err := errors.Join(upstream.Hurry(), feature.MutableGates.Set(string(feature.ClusterTopology)+"=true")); err != nil {
		return nil, err
	}
	mgr, err := manager.New(ctx, server.Config, manager.Options{Controllers: []string{manager.MachinePool, manager.Webhook}, Webhook: options,
		Schemes: []func(*runtime.Scheme) error{upstream.AddToScheme}, ManagedFields: true})
	if err != nil {
		return nil, err
	}
	scheme = mgr.GetScheme()
	if admin, err = client.New(server.Config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	for _, gvk := range providerKinds {
		if err := define(ctx, gvk); err != nil {
			return nil, err
		}
	}
	if err := addProvider(mgr); err != nil {
		return nil, err
	}
	if err := upstream.Setup(ctx, mgr, mgr.ClusterCache, mgr.SecretClient, upstream.Options{}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = func() error {
		cancel()
		// A controller of Cluster API may wait for a response longer than a manager waits for its controllers, and no test is about the
		// shutdown.
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "failed waiting for all runnables to end within grace period") {
			return err
		}
		return nil
	}
	err = wait.PollUntilContextTimeout(ctx, pause, limit, true, func(context.Context) (bool, error) {
		return mgr.GetWebhookServer().StartedChecker()(nil) == nil, nil
	})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, install.Objects(ctx, server.Config, scheme, configurations(at))
}

// held is the port of the webhooks, until the process ends.
var held ports.Set

// webhooks creates a certificate for the webhooks and picks a port for them.
func webhooks(dir string) (*install.Webhook, webhook.Options, error) {
	ca, err := pki.OpenAuthority(dir, "ca", "webhooks")
	if err != nil {
		return nil, webhook.Options{}, err
	}
	if _, _, err := ca.IssueFiles("tls", pki.Subject{CommonName: "webhooks", Server: true}); err != nil {
		return nil, webhook.Options{}, err
	}
	port, err := held.Pick(dir)
	if err != nil {
		return nil, webhook.Options{}, err
	}
	return &install.Webhook{URL: fmt.Sprintf("https://127.0.0.1:%d", port), CA: ca.CertPEM},
		webhook.Options{Host: "127.0.0.1", Port: port, CertDir: dir, CertName: "tls.crt", KeyName: "tls.key"}, nil
}

// configurations are the webhook configurations of Muster and of Cluster API.
func configurations(at *install.Webhook) []client.Object {
	served := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new(at.URL + path), CABundle: at.CA}
	}
	return append(manager.WebhookConfigurations(served), upstream.Configurations(served)...)
}

// define installs a kind of a provider, with the label of the contract that its provider supports.
func define(ctx context.Context, gvk schema.GroupVersionKind) error {
	contract := "v1beta2"
	if gvk == oldPoolGVK || gvk == oldConfigGVK {
		contract = "v1beta1"
	}
	yes := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural(gvk.Kind) + "." + gvk.Group, Labels: map[string]string{
			"cluster.x-k8s.io/" + contract: gvk.Version, "cluster.x-k8s.io/provider": "test", "clusterctl.cluster.x-k8s.io": ""}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: gvk.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, ListKind: gvk.Kind + "List", Plural: plural(gvk.Kind)},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: gvk.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
					XPreserveUnknownFields: &yes}}}}},
	}
	if err := admin.Create(ctx, crd); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, pause, limit, true, func(ctx context.Context) (bool, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		return admin.List(ctx, list) == nil, nil
	})
}

// pause is the interval and limit the time limit of reads until controllers have acted.
const pause, limit = 30 * time.Millisecond, 2 * time.Minute

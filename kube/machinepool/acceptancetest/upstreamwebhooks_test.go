package acceptancetest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/client-go/rest"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/feature"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/muster-project/muster/local/upstream"
	"github.com/muster-project/muster/manager"
)

// servedPaths is a webhook server that keeps the paths that are registered, except the one of conversion, which definitions name.
type servedPaths struct {
	webhook.Server
	paths []string
}

// Register keeps the path, and registers it.
func (s *servedPaths) Register(path string, handler http.Handler) {
	if path != "/convert" {
		s.paths = append(s.paths, path)
	}
	s.Server.Register(path, handler)
}

// TestUpstreamWebhooksAreServedWhereTheyAreAsked: an API server that sends a request to a path that is not served refuses every object. It
// changes a gate of the process, so that it does not run in parallel.
func TestUpstreamWebhooksAreServedWhereTheyAreAsked(t *testing.T) {
	asked := askedPaths(t)
	for reason, topology := range map[string]bool{"Clusters of ClusterClasses": true, "without ClusterClasses": false} {
		t.Run(reason, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, feature.Gates, feature.ClusterTopology, topology)
			served := registeredPaths(t)
			if diff := cmp.Diff(served, slices.Sorted(maps.Keys(asked))); diff != "" {
				t.Errorf("paths (-served +asked):\n%s", diff)
			}
		})
	}
	for path, want := range asked {
		if path != want {
			t.Errorf("path: want %s, got %s", want, path)
		}
	}
}

// registeredPaths returns the paths, sorted, that upstream.Setup registers with a manager that is never started.
func registeredPaths(t *testing.T) []string {
	t.Helper()
	scheme, err := manager.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := upstream.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	served := &servedPaths{Server: webhook.NewServer(webhook.Options{})}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://127.0.0.1:1"}, ctrl.Options{Scheme: scheme, WebhookServer: served,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return testrestmapper.TestOnlyStaticRESTMapper(scheme), nil
		},
		Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)}})
	if err != nil {
		t.Fatal(err)
	}
	cache := clustercache.NewFakeEmptyClusterCache()
	if err := upstream.Setup(t.Context(), mgr, cache, mgr.GetClient(), upstream.Options{}); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(served.paths))
}

// askedPaths returns the paths to which the configurations send requests, each with the one that upstream names after their resource.
func askedPaths(t *testing.T) map[string]string {
	t.Helper()
	asked := map[string]string{}
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1" + path)}
	}
	add := func(kind string, c admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
		path := strings.TrimPrefix(*c.URL, "https://127.0.0.1")
		singular := strings.TrimSuffix(rules[0].Resources[0], "s")
		if class, ok := strings.CutSuffix(rules[0].Resources[0], "classes"); ok {
			singular = class + "class"
		}
		want := "/" + kind + "-" + strings.ReplaceAll(rules[0].APIGroups[0], ".", "-") + "-" + rules[0].APIVersions[0] + "-" + singular
		asked[path] = want
	}
	for _, o := range upstream.Configurations(at) {
		switch c := o.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			for _, w := range c.Webhooks {
				add("mutate", w.ClientConfig, w.Rules)
			}
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			for _, w := range c.Webhooks {
				add("validate", w.ClientConfig, w.Rules)
			}
		default:
			t.Fatalf("want webhook configurations, got %T", o)
		}
	}
	return asked
}

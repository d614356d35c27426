package upstream

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
)

type served map[string]http.Handler

func (s served) Register(path string, handler http.Handler) { s[path] = handler }

// TestWebhooksAreServedWhereTheyAreAsked: an API server that is sent to a path that is not served refuses every object.
func TestWebhooksAreServedWhereTheyAreAsked(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	handlers := served{}
	registerWebhooks(handlers, scheme, nil)
	registerClusters(handlers, scheme, &coreadmission.Cluster{})
	asked := map[string]string{}
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1" + path)}
	}
	add := func(kind string, c admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
		path := strings.TrimPrefix(*c.URL, "https://127.0.0.1")
		// Upstream names a path after what it is asked about.
		singular := strings.TrimSuffix(rules[0].Resources[0], "s")
		if class, ok := strings.CutSuffix(rules[0].Resources[0], "classes"); ok {
			singular = class + "class"
		}
		want := "/" + kind + "-" + strings.ReplaceAll(rules[0].APIGroups[0], ".", "-") + "-" + rules[0].APIVersions[0] + "-" + singular
		asked[path] = want
	}
	for _, o := range Configurations(at) {
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
	if diff := cmp.Diff(slices.Sorted(maps.Keys(handlers)), slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Errorf("paths (-served +asked):\n%s", diff)
	}
	for path, want := range asked {
		if path != want {
			t.Errorf("path: want %s, got %s", want, path)
		}
	}
}

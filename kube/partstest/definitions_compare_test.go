package partstest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/definitions"
)

const (
	converted   = "awsmachinepools.infrastructure.cluster.x-k8s.io"
	unconverted = "azuremachinepools.infrastructure.cluster.x-k8s.io"
	service     = "muster-webhook-service.muster-system.svc"
)

var conversion = definitions.Conversion{Service: service, Converted: []string{converted}}

// installed is the definition as config/default installs it.
func installed(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	d, err := definitions.Expected(name)
	if err != nil {
		t.Fatal(err)
	}
	if name == converted {
		convertedBy("muster-webhook-service", "muster-system")(d)
	}
	return d
}

func convertedBy(name, namespace string) func(*apiextensionsv1.CustomResourceDefinition) {
	return func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Name: name, Namespace: namespace}},
			}}
	}
}

func convertedAt(url string) func(*apiextensionsv1.CustomResourceDefinition) {
	return func(d *apiextensionsv1.CustomResourceDefinition) {
		convertedBy("", "")(d)
		d.Spec.Conversion.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: &url}
	}
}

// inSpec changes the schema of the specification in a version.
func inSpec(version int, change func(*apiextensionsv1.JSONSchemaProps)) func(*apiextensionsv1.CustomResourceDefinition) {
	return func(d *apiextensionsv1.CustomResourceDefinition) {
		root := d.Spec.Versions[version].Schema.OpenAPIV3Schema
		spec := root.Properties["spec"]
		change(&spec)
		root.Properties["spec"] = spec
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	none := func(*apiextensionsv1.CustomResourceDefinition) {}
	for name, c := range map[string]struct {
		definition string
		change     func(*apiextensionsv1.CustomResourceDefinition)
		want       []string
	}{
		"as installed":                {converted, none, nil},
		"as installed, not converted": {unconverted, none, nil},
		"a version that is not served": {converted, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[1].Served = false },
			[]string{"v1beta2 is not served"}},
		"a version that is missing": {converted, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions = d.Spec.Versions[:1]
		}, []string{"v1beta2 is not served"}},
		"more versions": {unconverted, func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true})
		}, nil},
		"a field that is missing": {converted, inSpec(1, func(s *apiextensionsv1.JSONSchemaProps) { delete(s.Properties, "lifecycleHooks") }),
			[]string{"v1beta2 lacks spec.lifecycleHooks"}},
		"a field within a list": {converted, inSpec(1, func(s *apiextensionsv1.JSONSchemaProps) {
			delete(s.Properties["subnets"].Items.Schema.Properties, "id")
		}), []string{"v1beta2 lacks spec.subnets[].id"}},
		"fields that are kept although unknown": {converted, inSpec(1, func(s *apiextensionsv1.JSONSchemaProps) {
			delete(s.Properties, "lifecycleHooks")
			s.XPreserveUnknownFields = ptr.To(true)
		}), nil},
		"a field of another type": {converted, inSpec(1, func(s *apiextensionsv1.JSONSchemaProps) {
			s.Properties["maxSize"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}), []string{"v1beta2 has other types: spec.maxSize is string, want integer"}},
		"more fields": {converted, inSpec(1, func(s *apiextensionsv1.JSONSchemaProps) {
			s.Properties["more"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}), nil},
		"no status subresource": {unconverted, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Subresources = nil },
			[]string{"v1beta1 has no status subresource"}},
		"converted elsewhere": {converted, convertedBy("capa-webhook-service", "capa-system"),
			[]string{"conversion: want service muster-webhook-service.muster-system.svc, found capa-webhook-service.capa-system.svc"}},
		"converted without a need": {unconverted, convertedBy("capz-webhook-service", "capz-system"),
			[]string{"conversion: want none, found capz-webhook-service.capz-system.svc"}},
		"not converted": {converted, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Conversion = nil },
			[]string{"conversion: want service muster-webhook-service.muster-system.svc, found none"}},
		"converted at a URL": {converted, convertedAt("https://" + service + ":9443/convert"), nil},
		"converted at another URL": {converted, convertedAt("https://localhost:9443/convert"),
			[]string{"conversion: want service muster-webhook-service.muster-system.svc, found localhost"}},
		"another scope": {unconverted, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Scope = apiextensionsv1.ClusterScoped },
			[]string{"scope: want Namespaced, found Cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := installed(t, c.definition)
			c.change(found)
			if diff := cmp.Diff(c.want, definitions.Compare(installed(t, c.definition), found, conversion)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// Fields that are missing are counted where they are many, and conversions are not compared where the service is not known.
func TestCompareBounds(t *testing.T) {
	t.Parallel()
	found := installed(t, converted)
	inSpec(1, func(s *apiextensionsv1.JSONSchemaProps) { s.Properties = nil })(found)
	convertedBy("capa-webhook-service", "capa-system")(found)
	got := definitions.Compare(installed(t, converted), found, definitions.Conversion{})
	if len(got) != 1 || !strings.Contains(got[0], " more") || strings.Count(got[0], "spec.") != 5 {
		t.Errorf("want five fields named and the others counted, and no word on the conversion; got %q", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names, err := definitions.Names()
	if err != nil || !slices.Contains(names, converted) || !slices.Contains(names, unconverted) {
		t.Fatalf("want all infrastructure kinds, got %q, %v", names, err)
	}
	for _, name := range names {
		if d, err := definitions.Expected(name); err != nil || d.Name != name {
			t.Errorf("want definition %s, got %v", name, err)
		}
	}
	if _, err := definitions.Expected("pods.core"); err == nil {
		t.Error("want an error for a definition that is not part of this build")
	}
}

// A definition is compared again when it changes, and only then.
func TestChecker(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachinePool"}
	registry := prometheus.NewRegistry()
	metric, err := definitions.NewMetric(registry)
	if err != nil {
		t.Fatal(err)
	}
	server := fake.NewClientBuilder().WithScheme(scheme).Build()
	checker := &definitions.Checker{Cached: server, Live: server, Conversion: conversion, Metric: metric}
	check := func(want string, compatible float64) {
		t.Helper()
		got, err := checker.Check(t.Context(), kind)
		if err != nil || !strings.Contains(got.Message(), want) || want == "" && got.Message() != "" {
			t.Errorf("want %q, got %q, %v", want, got.Message(), err)
		}
		if is := gauge(t, registry); is != compatible {
			t.Errorf("want muster_definition_compatible %v, got %v", compatible, is)
		}
	}
	check("does not exist", 0)
	d := installed(t, converted)
	d.Generation = 1
	must(t, server.Create(context.Background(), d))
	check("", 1)
	convertedBy("capa-webhook-service", "capa-system")(d)
	d.Generation++
	must(t, server.Update(context.Background(), d))
	check("found capa-webhook-service.capa-system.svc", 0)
	if got, _ := checker.Check(t.Context(), kind); !got.ConvertedElsewhere || !got.Serves("v1beta2") || got.Serves("v1") {
		t.Errorf("want it converted elsewhere and served in v1beta2, got %+v", got)
	}
	checker = nil
	if got, err := checker.Check(t.Context(), kind); err != nil || got.Message() != "" {
		t.Errorf("want nothing checked, got %+v, %v", got, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gauge is the only value that is gathered.
func gauge(t *testing.T, g prometheus.Gatherer) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil || len(families) != 1 || len(families[0].GetMetric()) != 1 {
		t.Fatalf("want one metric, got %v, %v", families, err)
	}
	return families[0].GetMetric()[0].GetGauge().GetValue()
}

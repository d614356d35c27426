package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// stateMetrics is the form of kube-state-metrics' configuration for custom resources, as far as ours uses it.
type stateMetrics struct {
	Kind string `json:"kind"`
	Spec struct {
		Resources []told `json:"resources"`
	} `json:"spec"`
}

// told is what is reported of one kind.
type told struct {
	GroupVersionKind struct{ Group, Version, Kind string } `json:"groupVersionKind"`
	MetricNamePrefix string                                `json:"metricNamePrefix"`
	LabelsFromPath   map[string][]string                   `json:"labelsFromPath"`
	Metrics          []struct {
		Name string `json:"name"`
		Help string `json:"help"`
		Each struct {
			Type     string  `json:"type"`
			Gauge    *values `json:"gauge"`
			StateSet *values `json:"stateSet"`
			Info     *values `json:"info"`
		} `json:"each"`
	} `json:"metrics"`
}

// values are where a metric's value and labels come from.
type values struct {
	Path           []string            `json:"path"`
	LabelsFromPath map[string][]string `json:"labelsFromPath"`
	ValueFrom      []string            `json:"valueFrom"`
	LabelName      string              `json:"labelName"`
	List           []string            `json:"list"`
}

func toldOf(t *testing.T) []told {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("metrics", "state", "crd-metrics-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c stateMetrics
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		t.Fatal(err)
	}
	if c.Kind != "CustomResourceStateMetrics" || len(c.Spec.Resources) == 0 {
		t.Fatalf("want a configuration of kube-state-metrics, got %q with %d kinds", c.Kind, len(c.Spec.Resources))
	}
	return c.Spec.Resources
}

// schemas are those of the kinds in one version, by kind; of metadata it has what is read.
func schemas(t *testing.T, version func(kind string) string) map[string]apiextensionsv1.JSONSchemaProps {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "api", "crd", "*.cluster.x-k8s.io_*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	core, err := filepath.Glob(filepath.Join("..", "api", "crd", "cluster.x-k8s.io_*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]apiextensionsv1.JSONSchemaProps{}
	for _, file := range slices.Concat(files, core) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			if v.Name == version(crd.Spec.Names.Kind) {
				all[crd.Spec.Names.Kind] = withMetadata(*v.Schema.OpenAPIV3Schema)
			}
		}
	}
	return all
}

func withMetadata(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	free := apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}}
	owner := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"controller": {Type: "boolean"}, "kind": text, "name": text, "uid": text}}
	s.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": text, "namespace": text, "uid": text, "creationTimestamp": text, "labels": free, "annotations": free,
		"ownerReferences": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &owner}}}}
	return s
}

// at is the schema at the end of a path.
func at(s apiextensionsv1.JSONSchemaProps, path []string) (apiextensionsv1.JSONSchemaProps, bool) {
	for _, name := range path {
		next, ok := s.Properties[name]
		switch {
		case ok:
			s = next
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s = *s.AdditionalProperties.Schema
		default:
			return s, false
		}
	}
	return s, true
}

// element is the schema of a list's elements, or the schema itself.
func element(s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	if s.Items != nil && s.Items.Schema != nil {
		return *s.Items.Schema
	}
	return s
}

// Everything that kube-state-metrics is told to read is in the kinds' schemas, in the version that it is read in.
func TestStateMetricsReadWhatThereIs(t *testing.T) {
	t.Parallel()
	all := toldOf(t)
	kinds := schemas(t, func(kind string) string {
		for _, r := range all {
			if r.GroupVersionKind.Kind == kind {
				return r.GroupVersionKind.Version
			}
		}
		return ""
	})
	named := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, r := range all {
		kind := r.GroupVersionKind.Kind
		schema, ok := kinds[kind]
		if !ok {
			t.Errorf("want a kind of Muster's in a version that it has, got %v", r.GroupVersionKind)
			continue
		}
		if want := "capi_" + strings.ToLower(kind); r.MetricNamePrefix != want {
			t.Errorf("%s: want the prefix %s, got %s", kind, want, r.MetricNamePrefix)
		}
		exist(t, kind, schema, r.LabelsFromPath)
		seen := map[string]bool{}
		for _, m := range r.Metrics {
			if seen[m.Name] || !named.MatchString(m.Name) || !strings.HasSuffix(m.Help, ".") {
				t.Errorf("%s: want a name of its own and a sentence, got %q: %q", kind, m.Name, m.Help)
			}
			seen[m.Name] = true
			v := map[string]*values{"Gauge": m.Each.Gauge, "StateSet": m.Each.StateSet, "Info": m.Each.Info}[m.Each.Type]
			if v == nil {
				t.Errorf("%s %s: want what its type %q says", kind, m.Name, m.Each.Type)
				continue
			}
			here, ok := at(schema, v.Path)
			if !ok {
				t.Errorf("%s %s: there is no %v", kind, m.Name, v.Path)
				continue
			}
			exist(t, kind+" "+m.Name, element(here), v.LabelsFromPath)
			if value, ok := at(element(here), v.ValueFrom); !ok || !fits(m.Each.Type, value) {
				t.Errorf("%s %s: want a value for a %s at %v %v, got %q", kind, m.Name, m.Each.Type, v.Path, v.ValueFrom, value.Type)
			}
		}
	}
}

// fits reports whether a value can be what a metric tells.
func fits(kind string, value apiextensionsv1.JSONSchemaProps) bool {
	switch kind {
	case "Gauge":
		return value.Type == "integer" || value.Type == "boolean" || value.Type == "string" && (value.Format == "date-time" || value.Format == "")
	case "StateSet":
		return value.Type == "string"
	default:
		return true
	}
}

func exist(t *testing.T, what string, schema apiextensionsv1.JSONSchemaProps, labels map[string][]string) {
	t.Helper()
	for label, path := range labels {
		if _, ok := at(schema, path); !ok {
			t.Errorf("%s: label %s: there is no %v", what, label, path)
		}
	}
}

// Lists of states are complete: a state that is left out would be told as none.
func TestStateMetricsKnowEveryState(t *testing.T) {
	t.Parallel()
	var phases []string
	for _, e := range schemas(t, func(string) string { return "v1beta2" })["MachinePool"].Properties["status"].Properties["phase"].Enum {
		phases = append(phases, strings.Trim(string(e.Raw), `"`))
	}
	want := map[string][]string{
		"status_phase": phases, "status_condition": {"True", "False", "Unknown"},
		"status_state": constants(t, filepath.Join("..", "engine", "report", "report.go"), "State"),
	}
	for _, r := range toldOf(t) {
		for _, m := range r.Metrics {
			if m.Each.StateSet == nil {
				continue
			}
			got := slices.Sorted(slices.Values(m.Each.StateSet.List))
			if len(want[m.Name]) == 0 || !slices.Equal(got, slices.Sorted(slices.Values(want[m.Name]))) {
				t.Errorf("%s %s: want the states %v, got %v", r.GroupVersionKind.Kind, m.Name, want[m.Name], got)
			}
		}
	}
}

// constants are the values of a file's string constants of a type.
func constants(t *testing.T, file, kind string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`\b`+kind+`\w*\s+`+kind+` = "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// kube-state-metrics may read what it is told to read, and finds its configuration where its ConfigMap says.
func TestStateMetricsManifests(t *testing.T) {
	t.Parallel()
	m := build(t, "metrics/state")
	role := text(t, m, "ClusterRole", "kube-state-metrics-muster-metrics-role")
	for _, r := range toldOf(t) {
		if resource := "- " + strings.ToLower(r.GroupVersionKind.Kind) + "s\n"; !strings.Contains(role, resource) {
			t.Errorf("want %q in\n%s", resource, role)
		}
	}
	if got := text(t, m, "ConfigMap", "kube-state-metrics-crd-config-muster"); !strings.Contains(got, "muster.yaml: ") ||
		!strings.Contains(got, "kind: CustomResourceStateMetrics") {
		t.Errorf("want the configuration in the ConfigMap, got\n%s", got)
	}
}

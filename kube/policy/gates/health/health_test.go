package health

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/kube/policy/gates"
)

const (
	app  = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop, generation: 3}\n"
	flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, generation: 3}\n"
)

func TestOf(t *testing.T) {
	t.Parallel()
	const p, n, u = gates.Positive, gates.Negative, gates.Undecided
	healthy := gates.Condition{Kind: "X", Name: "shop", Healthy: true}
	stalled := gates.Condition{Kind: "X", Name: "shop", Type: "Stalled", Status: "False"}
	for _, c := range []struct {
		why, object string
		ask         gates.Condition
		want        gates.Verdict
		message     string
	}{
		{"Argo CD's word", app + "status: {health: {status: Healthy, message: secret}}", healthy, p, "its health is Healthy"},
		{"a failure", app + "status: {health: {status: Degraded}}", healthy, n, "Degraded"},
		{"objects that are gone", app + "status: {health: {status: Missing}}", healthy, n, "Missing"},
		{"pods that a drain moved are no failure", app + "status: {health: {status: Progressing}}", healthy, u, "Progressing"},
		{"an object that was suspended", app + "status: {health: {status: Suspended}}", healthy, u, "Suspended"},
		{"another word is not repeated", app + "status: {health: {status: secret}}", healthy, u, "not known"},
		{"no status yet", app, healthy, u, "not known"},
		{"a status of another form", app + "status: {health: [1]}", healthy, u, "not known"},
		{"a condition of an Application does not count", app + "status: {conditions: [{type: Ready, status: 'True'}]}", healthy, u, "not known"},
		{"Flux's Ready", flux + "status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True'}]}", healthy, p, "Ready is True"},
		{"Flux's failure", flux + "status: {observedGeneration: 3, conditions: [{type: Ready, status: 'False', message: secret}]}", healthy, n,
			"Ready is False"},
		{"Flux at work", flux + "status: {observedGeneration: 3, conditions: [{type: Ready, status: Unknown}]}", healthy, u, "Ready is Unknown"},
		{"a change that Flux has not seen", flux + "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}", healthy, u,
			"not observed its current generation"},
		{"a condition of an older generation", flux + "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", healthy, u,
			"older generation"},
		{"Ready counts before Available",
			flux + "status: {conditions: [{type: Available, status: 'True'}, {type: Ready, status: 'False'}]}", healthy, n, "Ready is False"},
		{"a Deployment's Available", flux + "status: {conditions: [{type: Available, status: 'True'}]}", healthy, p, "Available is True"},
		{"no condition of health", flux + "status: {conditions: [{type: Synced, status: 'True'}]}", healthy, u, "none of the conditions"},
		{"no conditions", flux, healthy, u, "none of the conditions"},
		{"conditions of another form", flux + "status: {conditions: {type: Ready}}", healthy, u, "none of the conditions"},
		{"the status that is wanted", flux + "status: {conditions: [{type: Stalled, status: 'False'}]}", stalled, p, "Stalled is False"},
		{"another status", flux + "status: {conditions: [{type: Stalled, status: 'True'}]}", stalled, n, "Stalled is True"},
		{"a condition that is not there decides nothing", flux, stalled, u, "has no condition Stalled"},
		{"a status that is none is not repeated", flux + "status: {conditions: [{type: Stalled, status: secret}]}", stalled, u, "has no status"},
		{"a status that is no text", flux + "status: {conditions: [{type: Stalled, status: true}]}", stalled, u, "has no status"},
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(c.object), &o.Object); err != nil {
			t.Fatal(err)
		}
		numbers(o.Object)
		got := Of(o, c.ask)
		if got.Verdict != c.want || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: want %s with %q, got %+v", c.why, c.want, c.message, got)
		}
		if strings.Contains(got.Message+got.Value, "secret") {
			t.Errorf("%s: want no text of the object told, got %+v", c.why, got)
		}
	}
}

// numbers makes whole numbers of a document what a client decodes them to.
func numbers(in map[string]any) {
	for key, value := range in {
		switch v := value.(type) {
		case float64:
			in[key] = int64(v)
		case map[string]any:
			numbers(v)
		case []any:
			for _, one := range v {
				if m, ok := one.(map[string]any); ok {
					numbers(m)
				}
			}
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		ok    bool
		why   string
	}{
		{"Application.argoproj.io", true, "a kind with its group"},
		{"Node", true, "a kind of the core group"},
		{"Secret", false, "a gate would tell of Secrets"},
		{"Secret.example.com", true, "which is another kind"},
		{"applications.argoproj.io", false, "a resource"},
		{"argoproj.io/Application", false, "another order"},
		{"*.argoproj.io", false, "every kind of a group"},
		{"", false, "nothing"},
	} {
		if _, err := Parse([]string{c.value}); (err == nil) != c.ok {
			t.Errorf("%q (%s): want ok %t, got %v", c.value, c.why, c.ok, err)
		}
	}
}

func TestAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, apiVersion, kind, want string
		list                        []string
	}{
		{"a listed kind in any version", "argoproj.io/v1alpha1", "Application", "", []string{"Application.argoproj.io"}},
		{"the operator lists none", "argoproj.io/v1alpha1", "Application", "have the operator set --gate-kinds", nil},
		{"Secrets", "v1", "Secret", "not allowed", []string{"Application.argoproj.io"}},
		{"a kind of that name in another group", "example.com/v1", "Application", "not allowed", []string{"Application.argoproj.io"}},
		{"a kind in another spelling", "argoproj.io/v1alpha1", "application", "not allowed", []string{"Application.argoproj.io"}},
		{"an API version that is none", "a/b/c", "Application", ErrForm.Error(), []string{"Application.argoproj.io"}},
		{"no API version", "", "Application", ErrForm.Error(), []string{"Application.argoproj.io"}},
	} {
		kinds, err := Parse(c.list)
		if err != nil {
			t.Fatal(err)
		}
		_, err = kinds.Allows(c.apiVersion, c.kind)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.why, c.want, err)
		}
	}
}

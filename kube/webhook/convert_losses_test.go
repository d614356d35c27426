package webhook

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// loss is a field that does not come back from the other version as it went.
type loss struct {
	kind, from string
	// field is the path as docs/api-versions.md has it, with its value before the round trip, as JSON, and comes the value after it.
	field, with string
	comes       any
}

// losses are all that is known to be lost: fields that one of the two versions does not have, by cluster-api's own decision.
var losses = []loss{
	{"Machine", "v1beta1", "spec.infrastructureRef.apiVersion", `"infrastructure.cluster.x-k8s.io/v1beta1"`,
		"infrastructure.cluster.x-k8s.io/v1beta2"},
	{"Machine", "v1beta1", "spec.infrastructureRef.namespace", `"elsewhere"`, "ns"},
	{"MachinePool", "v1beta1", "spec.template.spec.infrastructureRef.uid", `"u"`, nil},
	{"MachinePool", "v1beta1", "spec.template.spec.nodeDrainTimeout", `"1500ms"`, "1s"},
	{"Machine", "v1beta1", "status.nodeRef.uid", `"u"`, nil},
	{"Cluster", "v1beta1", "spec.topology.rolloutAfter", `"2030-01-01T00:00:00Z"`, nil},
	{"KubeadmConfig", "v1beta1", "spec.useExperimentalRetryJoin", "true", nil},
	{"KubeadmConfig", "v1beta1", "spec.clusterConfiguration.kubernetesVersion", `"v1.30.0"`, nil},
	{"KubeadmConfig", "v1beta1", "spec.clusterConfiguration.clusterName", `"c"`, nil},
	{"KubeadmConfig", "v1beta1", "spec.clusterConfiguration.networking.dnsDomain", `"d"`, nil},
	{"MachineDeployment", "v1beta1", "spec.progressDeadlineSeconds", "5", nil},
	{"MachineDeployment", "v1beta1", "spec.revisionHistoryLimit", "5", nil},
	{"MachineSet", "v1beta2", "spec.template.spec.minReadySeconds", "0", nil},
}

// base holds the other fields of the objects.
const base = `{"metadata":{"name":"x","namespace":"ns"},"spec":{"infrastructureRef":{"kind":"AWSMachinePool","name":"p","apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2"},"template":{"spec":{"infrastructureRef":{"kind":"AWSMachinePool","name":"p","apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2"}}},"topology":{"class":"c"}},
"status":{"nodeRef":{"apiVersion":"v1","kind":"Node","name":"n"}}}`

// TestKnownLosses holds that each known loss is one, exactly, and that the page lists it: a list of losses that are none
// any more would hide new ones.
func TestKnownLosses(t *testing.T) {
	t.Parallel()
	h := converting(t)
	page, err := os.ReadFile("../../docs/api-versions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range losses {
		t.Run(l.kind+" "+l.field, func(t *testing.T) {
			t.Parallel()
			if row := fmt.Sprintf("| %s | %s | `%s` |", l.kind, l.from, l.field); !strings.Contains(string(page), row) {
				t.Errorf("want a row of docs/api-versions.md that begins with %q", row)
			}
			group, to := "cluster.x-k8s.io", "v1beta1"
			if l.kind == "KubeadmConfig" {
				group = "bootstrap.cluster.x-k8s.io"
			}
			if l.from == to {
				to = "v1beta2"
			}
			u := &unstructured.Unstructured{Object: map[string]any{}}
			var value any
			for text, into := range map[string]any{base: &u.Object, l.with: &value} {
				if err := json.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			path := strings.Split(l.field, ".")
			if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
				t.Fatal(err)
			}
			u.SetAPIVersion(group + "/" + l.from)
			u.SetKind(l.kind)
			came := u.Object
			for _, version := range []string{to, l.from} {
				raw, err := json.Marshal(came)
				if err != nil {
					t.Fatal(err)
				}
				var refused string
				if came, refused = convert(t, h, group+"/"+version, string(raw)); refused != "" {
					t.Fatal(refused)
				}
			}
			got, _, err := unstructured.NestedFieldNoCopy(came, path...)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(l.comes) {
				t.Errorf("want %v to come back as %v, got %v, %v", value, l.comes, got, err)
			}
		})
	}
}

// TestKept holds what cluster-api's converters lose and ours keep, in words; TestRoundTrips holds it of any object.
func TestKept(t *testing.T) {
	t.Parallel()
	h := converting(t)
	for _, c := range []struct{ reason, object, path, want string }{
		{"the machines of a pool are not counted yet: unknown is not 0",
			`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachinePool","metadata":{"name":"x"},"spec":{},"status":{"phase":"Pending"}}`,
			"status.replicas", "<nil>"},
		{"a count of 0 is one",
			`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachinePool","metadata":{"name":"x"},"spec":{},"status":{"replicas":0}}`,
			"status.replicas", "0"},
		{"a block of the older version that no client has written",
			`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachinePool","metadata":{"name":"x"},"spec":{},"status":{"replicas":0}}`,
			"status.deprecated", "<nil>"},
		{"ready machines that are unknown, since the workload cluster is out of reach",
			`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachinePool","metadata":{"name":"x"},"spec":{},"status":{"replicas":3,"availableReplicas":0}}`, "status.readyReplicas", "<nil>"},
		{"available ones of which it is known that there are none",
			`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachinePool","metadata":{"name":"x"},"spec":{},"status":{"replicas":3,"availableReplicas":0}}`, "status.availableReplicas", "0"},
		{"a configuration that joins alone, as every pool's: the older version has the field for the init",
			`{"apiVersion":"bootstrap.cluster.x-k8s.io/v1beta2","kind":"KubeadmConfig","metadata":{"name":"x"},"spec":{"joinConfiguration":{"timeouts":{"controlPlaneComponentHealthCheckSeconds":7,"tlsBootstrapSeconds":9}}}}`,
			"spec.joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds", "7"},
	} {
		there, refused := converted(t, h, strings.Replace(between(c.object, `"apiVersion":"`, `"`), "v1beta2", "v1beta1", 1), []byte(c.object))
		if refused != "" {
			t.Fatal(refused)
		}
		back, refused := convert(t, h, between(c.object, `"apiVersion":"`, `"`), string(there))
		if refused != "" {
			t.Fatal(refused)
		}
		got, _, err := unstructured.NestedFieldNoCopy(back, strings.Split(c.path, ".")...)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: want %s %s, got %v, %v", c.reason, c.path, c.want, got, err)
		}
	}
}

func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}

// TestOlderEdits holds that who changes something through the older version changes that, and nothing that it can't say.
func TestOlderEdits(t *testing.T) {
	t.Parallel()
	h := converting(t)
	stored := `{"apiVersion":"bootstrap.cluster.x-k8s.io/v1beta2","kind":"KubeadmConfig","metadata":{"name":"x"},"spec":{
"initConfiguration":{"timeouts":{"controlPlaneComponentHealthCheckSeconds":5}},"joinConfiguration":{"timeouts":{"controlPlaneComponentHealthCheckSeconds":5}}}}`
	older, refused := convert(t, h, "bootstrap.cluster.x-k8s.io/v1beta1", stored)
	if refused != "" {
		t.Fatal(refused)
	}
	if err := unstructured.SetNestedField(older, "11s", "spec", "clusterConfiguration", "apiServer", "timeoutForControlPlane"); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(older)
	if err != nil {
		t.Fatal(err)
	}
	got, refused := convert(t, h, "bootstrap.cluster.x-k8s.io/v1beta2", string(raw))
	if refused != "" {
		t.Fatal(refused)
	}
	for _, part := range []string{"initConfiguration", "joinConfiguration"} {
		if seconds := at(t, got, "spec", part, "timeouts", "controlPlaneComponentHealthCheckSeconds"); fmt.Sprint(seconds) != "11" {
			t.Errorf("%s: want the time that was set in the older version, got %v", part, seconds)
		}
	}
}

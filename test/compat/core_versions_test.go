package compat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	olderCore = "cluster.x-k8s.io/v1beta1"
	newerCore = "cluster.x-k8s.io/v1beta2"
)

// olderPool is a MachinePool as people wrote it before there was v1beta2, with everything that is elsewhere there.
const olderPool = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata: {name: capa-mp-0}
spec:
  clusterName: capa
  replicas: 2
  minReadySeconds: 30
  failureDomains: [a]
  template:
    metadata: {labels: {node.cluster.x-k8s.io/pool: a}}
    spec:
      clusterName: capa
      version: v1.36.0
      nodeDrainTimeout: 5m
      nodeDeletionTimeout: 0s
      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfig, name: capa-mp-0}}
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AWSMachinePool, name: capa-mp-0}
`

// newerPool is the same in v1beta2.
const newerPool = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: capa-mp-0}
spec:
  clusterName: capa
  replicas: 2
  failureDomains: [a]
  template:
    metadata: {labels: {node.cluster.x-k8s.io/pool: a}}
    spec:
      clusterName: capa
      version: v1.36.0
      minReadySeconds: 30
      deletion: {nodeDrainTimeoutSeconds: 300, nodeDeletionTimeoutSeconds: 0}
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: capa-mp-0}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachinePool, name: capa-mp-0}
`

// wholeStatus is a status as the controller writes it: with every condition, with counts that are unknown, and with the block
// for older clients.
const wholeStatus = `
conditions:
- {type: Available, status: "False", reason: NotAvailable, message: 1 of 2 replicas are available,
    lastTransitionTime: "2026-01-01T00:00:00Z", observedGeneration: 1}
- {type: BootstrapConfigReady, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: InfrastructureReady, status: "True", reason: Ready, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: MachinesReady, status: Unknown, reason: ReadyUnknown, message: no connection, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: MachinesUpToDate, status: "True", reason: UpToDate, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: ScalingUp, status: "True", reason: ScalingUp, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: ScalingDown, status: "False", reason: NotScalingDown, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Remediating, status: "False", reason: NotRemediating, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Deleting, status: "False", reason: NotDeleting, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Paused, status: "False", reason: NotPaused, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
- {type: Ready, status: Unknown, reason: ReadyUnknown, message: no connection, lastTransitionTime: "2026-01-01T00:00:00Z"}
initialization: {bootstrapDataSecretCreated: true, infrastructureProvisioned: true}
nodeRefs: [{apiVersion: v1, kind: Node, name: n1, uid: u1}]
upToDateReplicas: 0
versions: [{version: v1.36.0, replicas: 1}]
phase: ScalingUp
observedGeneration: 1
`

func applied(t *testing.T, c client.Client, ns, manifest, manager string) *unstructured.Unstructured {
	t.Helper()
	u := object(t, ns, manifest)
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager)); err != nil {
		t.Fatal(err)
	}
	return get(t, c, ns, newerCore, "MachinePool")
}

// TestBothVersionsMeanTheSame holds that a pool which was written in either version is stored as the same object.
func TestBothVersionsMeanTheSame(t *testing.T) {
	c := admin(t)
	var specs []map[string]any
	for _, manifest := range []string{olderPool, newerPool} {
		ns := namespace(t, c)
		// References come back with the version that was written; one that was written without a version has the newest.
		shown := "infrastructure.cluster.x-k8s.io/v1beta2"
		if manifest == olderPool {
			shown = "infrastructure.cluster.x-k8s.io/v1beta1"
		}
		if err := c.Create(t.Context(), object(t, ns, manifest)); err != nil {
			t.Fatal(err)
		}
		stored := get(t, c, ns, newerCore, "MachinePool")
		specs = append(specs, stored.Object["spec"].(map[string]any))
		if got := stored.GetLabels()["cluster.x-k8s.io/cluster-name"]; got != "capa" {
			t.Errorf("want the cluster's label filled in, got %q", got)
		}
		older := get(t, c, ns, olderCore, "MachinePool")
		for path, want := range map[string]any{"minReadySeconds": int64(30), "template.spec.nodeDrainTimeout": "5m0s",
			"template.spec.nodeDeletionTimeout":          "0s",
			"template.spec.infrastructureRef.apiVersion": shown, "template.spec.infrastructureRef.namespace": ns} {
			if got, _, _ := unstructured.NestedFieldNoCopy(older.Object, append([]string{"spec"}, strings.Split(path, ".")...)...); got != want {
				t.Errorf("read in v1beta1: want spec.%s %v, got %v", path, want, got)
			}
		}
	}
	if diff := cmp.Diff(specs[0], specs[1]); diff != "" {
		t.Errorf("written in v1beta1 and in v1beta2 (-older +newer):\n%s", diff)
	}
}

// TestStatusSurvivesOlderWrites holds that a status keeps the values of the controller, including unknown fields, when a user changes other
// fields through the older version; and that the older version shows it to its clients.
func TestStatusSurvivesOlderWrites(t *testing.T) {
	c := admin(t)
	for name, status := range map[string]string{
		"everything": wholeStatus + "replicas: 2\nreadyReplicas: 1\navailableReplicas: 0\ndeprecated: {v1beta1: {readyReplicas: 1, " +
			"availableReplicas: 1, unavailableReplicas: 1, " +
			"conditions: [{type: Ready, status: \"True\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}]}}\n",
		"counts unknown": wholeStatus + "deprecated: {v1beta1: {readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1}}\nreplicas: 2\n",
		"uncounted":      "{phase: Pending, initialization: {infrastructureProvisioned: false}}",
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t, c)
			if err := c.Create(t.Context(), object(t, ns, newerPool)); err != nil {
				t.Fatal(err)
			}
			u := get(t, c, ns, newerCore, "MachinePool")
			var written map[string]any
			if err := yaml.Unmarshal([]byte(status), &written); err != nil {
				t.Fatal(err)
			}
			u.Object["status"] = written
			if err := c.Status().Update(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			before := get(t, c, ns, newerCore, "MachinePool")
			older := get(t, c, ns, olderCore, "MachinePool")
			older.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "capa", "a": "b"})
			if err := unstructured.SetNestedField(older.Object, int64(7), "spec", "replicas"); err != nil {
				t.Fatal(err)
			}
			if err := c.Update(t.Context(), older); err != nil {
				t.Fatal(err)
			}
			after := get(t, c, ns, newerCore, "MachinePool")
			if diff := cmp.Diff(before.Object["status"], after.Object["status"]); diff != "" {
				t.Errorf("status (-before +after):\n%s", diff)
			}
			if n, _, _ := unstructured.NestedInt64(after.Object, "spec", "replicas"); n != 7 || after.GetLabels()["a"] != "b" {
				t.Errorf("want what was written, got %d, %v", n, after.GetLabels())
			}
			if data, there := after.GetAnnotations()["cluster.x-k8s.io/conversion-data"]; there {
				t.Errorf("want nothing of the conversion stored, got %s", data)
			}
			if name == "everything" {
				want := map[string]any{"readyReplicas": int64(1), "bootstrapReady": true, "infrastructureReady": true, "phase": "ScalingUp",
					"unavailableReplicas": int64(1)}
				for field, value := range want {
					if got, _, _ := unstructured.NestedFieldNoCopy(older.Object, "status", field); got != value {
						t.Errorf("the older version: want status.%s %v, got %v", field, value, got)
					}
				}
			}
		})
	}
}

// TestApplyInEitherVersion holds that kubectl apply, client-side and server-side, accepts either version, and that a second apply changes
// nothing.
func TestApplyInEitherVersion(t *testing.T) {
	c := admin(t)
	for _, flags := range [][]string{{"apply"}, {"apply", "--server-side", "--field-manager=me"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			ns := namespace(t, c)
			apply := func(manifest string, more ...string) string {
				t.Helper()
				out, stderr := kubectl(t, manifest, append(append([]string{"-n", ns}, flags...), more...)...)
				if stderr != "" && !strings.Contains(stderr, "is deprecated") {
					t.Fatalf("want it applied, got %s", stderr)
				}
				return out
			}
			before := ""
			for i, manifest := range []string{olderPool, olderPool, newerPool, newerPool, olderPool} {
				if i == 0 {
					apply(manifest, "--dry-run=server")
				}
				apply(manifest)
				stored := get(t, c, ns, newerCore, "MachinePool")
				spec, err := yaml.Marshal(stored.Object["spec"])
				if err != nil {
					t.Fatal(err)
				}
				if i > 0 && string(spec) != before {
					t.Errorf("apply %d: want the same specification, got %s", i, cmp.Diff(before, string(spec)))
				}
				before = string(spec)
			}
			apply(strings.Replace(newerPool, "replicas: 2", "replicas: 4", 1))
			apply(strings.Replace(olderPool, "minReadySeconds: 30", "minReadySeconds: 31", 1))
			stored := get(t, c, ns, newerCore, "MachinePool")
			ready, _, _ := unstructured.NestedInt64(stored.Object, "spec", "template", "spec", "minReadySeconds")
			replicas, _, _ := unstructured.NestedInt64(stored.Object, "spec", "replicas")
			if got := fmt.Sprint(replicas, ready); got != "2 31" {
				t.Errorf("want what was applied last, 2 31, got %s", got)
			}
		})
	}
}

// TestApplyTwice holds that the second kubectl apply of a manifest in the older version changes nothing, and reports so. A duration is
// written in the form in which it is read.
func TestApplyTwice(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	manifest := strings.Replace(olderPool, "nodeDrainTimeout: 5m", "nodeDrainTimeout: 5m0s", 1)
	var seen []map[string]any
	for _, says := range []string{" created", " unchanged"} {
		out, stderr := kubectl(t, manifest, "-n", ns, "apply")
		if stderr != "" && !strings.Contains(stderr, "is deprecated") {
			t.Fatalf("want it applied, got %s", stderr)
		}
		if !strings.HasSuffix(strings.TrimSpace(out), says) {
			t.Errorf("want kubectl to print%s, got %s", says, out)
		}
		seen = append(seen, get(t, c, ns, olderCore, "MachinePool").Object)
	}
	if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
		t.Errorf("want the same object and resource version after the second apply (-first +second):\n%s", diff)
	}
}

// TestServerSideApplyTwice holds that the same manifest changes nothing when it is applied to the server a second time, in either version.
func TestServerSideApplyTwice(t *testing.T) {
	c := admin(t)
	for name, manifest := range map[string]string{
		"older": olderPool, "normalized": strings.Replace(olderPool, "nodeDrainTimeout: 5m", "nodeDrainTimeout: 5m0s", 1), "newer": newerPool,
	} {
		ns := namespace(t, c)
		first := applied(t, c, ns, manifest, name)
		second := applied(t, c, ns, manifest, name)
		if diff := cmp.Diff(first.Object, second.Object); diff != "" {
			t.Errorf("%s: want the same object and resource version after the second apply (-first +second):\n%s", name, diff)
		}
	}
}

// TestManagersOfEitherVersion holds that managers that apply in different versions share an object, each with its own fields: a field with
// another name in the other version keeps its owner.
func TestManagersOfEitherVersion(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	applied(t, c, ns, newerPool, "newer")
	label := "{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachinePool, metadata: {name: capa-mp-0, labels: {a: b}}, spec: {clusterName: " +
		"capa, template: {spec: {clusterName: capa, " +
		"bootstrap: {configRef: {kind: KubeadmConfig, name: capa-mp-0, apiVersion: bootstrap.cluster.x-k8s.io/v1beta2}}, infrastructureRef: " +
		"{kind: AWSMachinePool, name: capa-mp-0, apiVersion: infrastructure.cluster.x-k8s.io/v1beta2}}}}}"
	u := applied(t, c, ns, label, "older")
	if u.GetLabels()["a"] != "b" {
		t.Errorf("want the label of the older manager, got %v", u.GetLabels())
	}
	u = applied(t, c, ns, strings.Replace(newerPool, "minReadySeconds: 30", "minReadySeconds: 60", 1), "newer")
	ready, _, _ := unstructured.NestedInt64(u.Object, "spec", "template", "spec", "minReadySeconds")
	if ready != 60 || u.GetLabels()["a"] != "b" {
		t.Errorf("want both managers' fields, got %d, %v", ready, u.GetLabels())
	}
	seen := map[string]string{}
	for _, f := range u.GetManagedFields() {
		seen[f.Manager] = f.APIVersion
	}
	if seen["newer"] != newerCore || seen["older"] != olderCore {
		t.Errorf("want each manager with the version that it applies in, got %v", seen)
	}
	conflict := object(t, ns, strings.Replace(olderPool, "minReadySeconds: 30", "minReadySeconds: 5", 1))
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(conflict), client.FieldOwner("third")); err == nil ||
		!strings.Contains(err.Error(), "conflicts with \"newer\":\n- .spec.template.spec.minReadySeconds") {
		t.Errorf("want a third to be told whose field it is, got %v", err)
	}
	u = applied(t, c, ns, strings.Replace(newerPool, "minReadySeconds: 30", "", 1), "newer")
	if _, there, _ := unstructured.NestedInt64(u.Object, "spec", "template", "spec", "minReadySeconds"); there || u.GetLabels()["a"] != "b" {
		t.Errorf("want the field gone with its only manager, got %v", u.Object["spec"])
	}
}

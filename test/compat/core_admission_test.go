package compat

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// admissionPage documents rejections and warnings for users.
const admissionPage = "../../docs/admission.md"

// coreCluster makes a Cluster capa whose control plane asks for v1.36.3, with failure domains a and b, and a pool other that
// lists an instance.
func coreCluster(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	for _, manifest := range []string{
		"{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: LocalControlPlane, metadata: {name: capa}, spec: {version: v1.36.3}}",
		"{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: capa}, spec: {controlPlaneRef: {apiGroup: " +
			"controlplane.cluster.x-k8s.io, kind: LocalControlPlane, name: capa}, " +
			"infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSCluster, name: capa}}}",
		"{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool, metadata: {name: other}, spec: " +
			poolSpec("providerIDList: ['aws:///eu-west-1a/i-1']", "clusterName: capa") + "}",
	} {
		if err := c.Create(t.Context(), object(t, namespace, manifest)); err != nil {
			t.Fatal(err)
		}
	}
	cluster := named(t, c, namespace, "capa", "cluster.x-k8s.io/v1beta2", "Cluster")
	cluster.Object["status"] = map[string]any{"failureDomains": []any{map[string]any{"name": "a", "controlPlane": true},
		map[string]any{"name": "b", "controlPlane": false}}}
	if err := c.Status().Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
}

// corePool returns a MachinePool that admission accepts without warnings, changed by a merge patch.
func corePool(t *testing.T, namespace, name, patch string) *unstructured.Unstructured {
	t.Helper()
	u := object(t, namespace, "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool, metadata: {name: "+name+"}, spec: "+
		poolSpec("replicas: 1", "clusterName: capa, version: v1.36.0")+"}")
	var over map[string]any
	if err := yaml.Unmarshal([]byte(patch), &over); err != nil {
		t.Fatal(err)
	}
	merge(u.Object, over)
	return u
}

const bounds = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"

// coreRefusals lists all rejections of MachinePools by reason: the previous pool if that matters, the path as the page has it, and words of
// the message. An empty index in the path matches any.
var coreRefusals = map[string]struct{ was, is, path, words string }{
	"fewer than none": {is: "{spec: {replicas: -1}}", path: "spec.replicas", words: "Invalid value: -1"},
	"another cluster": {was: "{}", is: "{spec: {clusterName: b, template: {spec: {clusterName: b}}}}", path: "spec.clusterName",
		words: `is immutable: it is "capa"`},
	"two clusters": {is: "{spec: {template: {spec: {clusterName: b}}}}", path: "spec.template.spec.clusterName",
		words: `must be that of spec.clusterName, "capa"`},
	"no bootstrap data": {is: "{spec: {template: {spec: {bootstrap: {dataSecretName: '-'}}}}}",
		path: "spec.template.spec.bootstrap", words: "set configRef, or dataSecretName"},
	"a bootstrap template": {is: "{spec: {template: {spec: {bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: " +
		"KubeadmConfigTemplate, name: a}}}}}}", path: "spec.template.spec.bootstrap.configRef", words: "outside the contract BootstrapConfig"},
	"a cluster's credentials": {is: "{spec: {template: {spec: {bootstrap: {dataSecretName: capa-kubeconfig}}}}}",
		path: "spec.template.spec.bootstrap.dataSecretName", words: "capa"},
	"a Cluster": {is: "{spec: {template: {spec: {infrastructureRef: {apiGroup: cluster.x-k8s.io, kind: Cluster, name: " +
		"capa}}}}}", path: "spec.template.spec.infrastructureRef", words: "outside the contract InfraMachinePool"},
	"an infrastructure template": {is: "{spec: {template: {spec: {infrastructureRef: {kind: AWSMachinePoolTemplate}}}}}",
		path: "spec.template.spec.infrastructureRef", words: "outside the contract InfraMachinePool"},
	"another infrastructure kind": {was: "{}", is: "{spec: {template: {spec: {infrastructureRef: {kind: AWSManagedMachinePool}}}}}",
		path: "spec.template.spec.infrastructureRef", words: "is immutable: it is AWSMachinePool p"},
	"another infrastructure group": {was: "{}", is: "{spec: {template: {spec: {infrastructureRef: {apiGroup: x.cluster.x-k8s.io}}}}}",
		path: "spec.template.spec.infrastructureRef", words: "is immutable"},
	"another infrastructure name": {was: "{}", is: "{spec: {template: {spec: {infrastructureRef: {name: q}}}}}",
		path: "spec.template.spec.infrastructureRef", words: "is immutable"},
	"a word for a version": {is: "{spec: {template: {spec: {version: latest}}}}", path: "spec.template.spec.version",
		words: "must be a semantic version"},
	"newer than the control plane": {is: "{spec: {template: {spec: {version: v1.37.0}}}}", path: "spec.template.spec.version",
		words: "v1.37.0 is newer than v1.36.3, which LocalControlPlane capa asks for"},
	"raised past it": {was: "{}", is: "{spec: {template: {spec: {version: v1.37.0}}}}", path: "spec.template.spec.version",
		words: "set the annotation muster.dev/skip-version-skew: true"},
	"too old for it": {is: "{spec: {template: {spec: {version: v1.32.9}}}}", path: "spec.template.spec.version",
		words: "is more than 3 minor versions older"},
	"a taint of Cluster API's": {is: taints("node.cluster.x-k8s.io/uninitialized"), path: "spec.template.spec.taints[].key",
		words: "Cluster API's own"},
	"a taint of a rollout's": {is: taints("node.cluster.x-k8s.io/outdated-revision"), path: "spec.template.spec.taints[].key",
		words: "Cluster API's own"},
	"a taint of the kubelet's": {is: taints("node.kubernetes.io/not-ready"), path: "spec.template.spec.taints[].key",
		words: "the kubelet and the node controller"},
	"a taint of the cloud's": {is: taints("node.cloudprovider.kubernetes.io/uninitialized"), path: "spec.template.spec.taints[].key",
		words: "the cloud's node controller"},
	"a control plane's taint": {is: taints("node-role.kubernetes.io/control-plane"), path: "spec.template.spec.taints[].key",
		words: "no machine pools"},
	"no taint's key":         {is: taints("a b"), path: "spec.template.spec.taints[].key", words: "should match"},
	"a key that is too long": {is: taints(strings.Repeat("a", 64)), path: "spec.template.spec.taints[].key", words: "63"},
	"no label": {is: "{spec: {template: {metadata: {labels: {a b: c}}}}}", path: "spec.template.metadata.labels",
		words: "name part must consist of"},
	"no annotation": {is: "{spec: {template: {metadata: {annotations: {a b: c}}}}}", path: "spec.template.metadata.annotations",
		words: "name part must consist of"},
	"an instance twice": {is: "{spec: {providerIDList: ['aws:///a/i-7', 'aws:////i-7']}}", path: "spec.providerIDList[]",
		words: "names the same instance as spec.providerIDList[0]"},
	"another pool's instance": {is: "{spec: {providerIDList: ['aws:////i-1']}}", path: "spec.providerIDList[]",
		words: "is an instance of MachinePool other"},
	"taken from another pool": {was: "{}", is: "{spec: {providerIDList: ['aws:///eu-west-1b/i-1']}}", path: "spec.providerIDList[]",
		words: "belongs to one pool of its cluster"},
	"a bound that is no number": {is: bounded("two", "5"), path: "metadata.annotations[" + bounds + "min-size]",
		words: "must be a whole number from 0 up"},
	"a bound below zero": {is: bounded("-1", "5"), path: "metadata.annotations[" + bounds + "min-size]",
		words: "must be a whole number from 0 up"},
	"bounds the wrong way": {is: bounded("5", "2"), path: "metadata.annotations[" + bounds + "min-size]",
		words: "must not be above that of"},
	"the same, to be filled in": {is: strings.Replace(bounded("two", "5"), "spec: {}", "spec: {replicas: '-'}", 1),
		path: "metadata.annotations[" + bounds + "min-size]", words: "must be a whole number from 0 up"},
	"a word for the annotation": {is: "{metadata: {annotations: {muster.dev/skip-version-skew: 'yes'}}}",
		path: "metadata.annotations[muster.dev/skip-version-skew]", words: `supported values: "true"`},
}

func taints(key string) string {
	return "{spec: {template: {spec: {taints: [{key: " + key + ", effect: NoSchedule, propagation: Always}]}}}}"
}

func bounded(least, most string) string {
	return fmt.Sprintf("{metadata: {annotations: {%[1]smin-size: %[2]q, %[1]smax-size: %[3]q}}, spec: {}}", bounds, least, most)
}

// rowsOf returns the fields in the first column of the table below a heading of the page.
func rowsOf(t *testing.T, heading string) []string {
	t.Helper()
	page, err := os.ReadFile(admissionPage)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "## "+heading+"\n")
	if !ok {
		t.Fatalf("want a section %q in %s", heading, admissionPage)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var fields []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(section, -1) {
		fields = append(fields, row[1])
	}
	return fields
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// put creates a pool, or changes it from was, and returns the error of the API server.
func put(t *testing.T, c client.Client, u *unstructured.Unstructured, was string) error {
	t.Helper()
	if was == "" {
		return c.Create(t.Context(), u, client.DryRunAll)
	}
	before := corePool(t, u.GetNamespace(), u.GetName(), was)
	if err := c.Create(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	u.SetResourceVersion(before.GetResourceVersion())
	return c.Update(t.Context(), u)
}

// TestEveryRefusalOfMachinePools holds that a real API server rejects what the page documents as rejected, with the path of the field and a
// reason; and that the page is complete.
func TestEveryRefusalOfMachinePools(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	coreCluster(t, c, ns)
	documented := rowsOf(t, "What is refused")
	met := map[string]bool{}
	for i, reason := range slices.Sorted(maps.Keys(coreRefusals)) {
		r := coreRefusals[reason]
		met[r.path] = true
		if !slices.Contains(documented, r.path) {
			t.Errorf("%s: want %s among the refusals of %s", reason, r.path, admissionPage)
		}
		u := corePool(t, ns, fmt.Sprintf("p-%d", i), r.is)
		err := put(t, c, u, r.was)
		if err == nil || !strings.Contains(index.ReplaceAllString(err.Error(), "[]"), r.path) || !strings.Contains(err.Error(), r.words) {
			t.Errorf("%s: want it refused at %s with %q, got %v", reason, r.path, r.words, err)
		}
	}
	for _, path := range documented {
		if !met[path] {
			t.Errorf("%s: no case is refused there", path)
		}
	}
}

// TestEveryWarningOfMachinePools holds the lines that kubectl prints, of either API version, and that the page has each of their
// fields.
func TestEveryWarningOfMachinePools(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	coreCluster(t, c, ns)
	documented := rowsOf(t, "What is warned of")
	met := map[string]bool{"spec.providerIDList": true} // needs an API server that does not answer
	for i, tc := range []struct{ reason, was, is, want string }{
		{reason: "nothing to say", is: "{}"},
		{reason: "a size that no autoscaler touches", is: bounded("3", "5"), want: "spec.replicas: 1 is outside of the autoscaler's 3 to 5"},
		{reason: "half a pair", is: "{metadata: {annotations: {" + bounds + "max-size: '5'}}}",
			want: "metadata.annotations: " + bounds + "min-size and "},
		{reason: "another bootstrap provider",
			was:  "{spec: {template: {spec: {bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: EKSConfig, name: a}}}}}}",
			is:   "{spec: {template: {spec: {bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: NodeadmConfig, name: a}}}}}}",
			want: "spec.template.spec.bootstrap.configRef: was a EKSConfig."},
		{reason: "an older version", was: "{}", is: "{spec: {template: {spec: {version: v1.35.0}}}}",
			want: "spec.template.spec.version: v1.35.0 is older than v1.36.0, which it was"},
		{reason: "a version that is insisted on",
			is: "{metadata: {annotations: {muster.dev/skip-version-skew: 'true'}}, spec: {template: {spec: {version: v1.40.0}}}}",
			want: "spec.template.spec.version: v1.40.0 is newer than v1.36.3, which LocalControlPlane capa asks for: nodes must not be newer than " +
				"their API server; taken for the annotation muster.dev/skip-version-skew: true"},
		{reason: "a machine's own ID", is: "{spec: {template: {spec: {providerID: 'aws:///a/i-9'}}}}",
			want: "spec.template.spec.providerID: has no effect"},
		{reason: "a zone that the cluster is not in", is: "{spec: {failureDomains: [a, c]}}",
			want: "spec.failureDomains[1]: c is none of the failure domains of Cluster capa: a, b"},
	} {
		u := corePool(t, ns, fmt.Sprintf("p-%d", i), tc.is)
		if tc.was != "" {
			if err := c.Create(t.Context(), corePool(t, ns, u.GetName(), tc.was)); err != nil {
				t.Fatal(err)
			}
		}
		manifest, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		_, stderr := kubectl(t, string(manifest), "replace")
		if tc.was == "" {
			_, stderr = kubectl(t, string(manifest), "create")
		}
		if want := "Warning: " + tc.want; tc.want == "" && stderr != "" || tc.want != "" && !strings.HasPrefix(stderr, want) ||
			strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: want one line that begins with %q, got %q", tc.reason, tc.want, stderr)
		}
		field, _, _ := strings.Cut(tc.want, ":")
		met[index.ReplaceAllString(field, "[]")] = true
	}
	for _, path := range documented {
		if !met[path] {
			t.Errorf("%s: no case is warned of there", path)
		}
	}
}

// TestOneFaultIsNoBar holds that a pool that is not as it should be can still be scaled and deleted, and that scaling by way of
// the subresource takes no negative size.
func TestOneFaultIsNoBar(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	coreCluster(t, c, ns)
	u := corePool(t, ns, "ahead", "{metadata: {annotations: {muster.dev/skip-version-skew: 'true'}}, spec: {template: {spec: {version: "+
		"v1.40.0}}}}")
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	u.SetAnnotations(nil)
	if err := c.Update(t.Context(), u); err != nil {
		t.Errorf("the annotation is taken away: want no further warning, got %v", err)
	}
	out, stderr := kubectl(t, "", "-n", ns, "scale", "machinepool", "ahead", "--replicas=5")
	if !strings.Contains(out, "scaled") || stderr != "" {
		t.Errorf("kubectl scale: want it taken in silence, got %q, %q", out, stderr)
	}
	if _, stderr := kubectl(t, "", "-n", ns, "patch", "machinepool", "ahead", "--subresource=scale", "--type=merge", "-p",
		`{"spec": {"replicas": -1}}`); !strings.Contains(stderr, "spec.replicas") || !strings.Contains(stderr, "-1") {
		t.Errorf("a negative scale: want it refused with the field, got %q", stderr)
	}
	if out, stderr := kubectl(t, "", "-n", ns, "delete", "machinepool", "ahead"); !strings.Contains(out, "deleted") || stderr != "" {
		t.Errorf("kubectl delete: want it gone, got %q, %q", out, stderr)
	}
}

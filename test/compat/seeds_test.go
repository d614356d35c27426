package compat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsstandin "github.com/muster-project/muster/local/clouds/aws/standin"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/seed"
)

// account holds the values for the variables of the published manifests.
var account = seed.Accounts{Known: []seed.Cloud{awsstandin.Seed(), azurestandin.Seed()}, Simulated: []string{"aws", "azure"}}.Variables()

// published returns the manifests in their published form, with variables substituted.
func published(t *testing.T, file, namespace string) []seed.Object {
	t.Helper()
	sources, err := seed.Read([]string{"testdata/" + file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := seed.Parse(sources, seed.FromMap(account))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		o.SetNamespace(namespace) // the only change: each test has a namespace of its own
	}
	return objects
}

// TestPublishedManifestsApply holds that the published manifests are taken as they are, in the versions that they name,
// and mean the same in the versions that are stored.
func TestPublishedManifestsApply(t *testing.T) {
	for _, tc := range []struct {
		file, reason, version string
	}{
		{file: "seed-000.yaml", reason: "subnets are objects, and one object names its namespace", version: "v1.25.0"},
		{file: "seed-003.yaml", reason: "subnets are plain strings, and no image of this version exists any more", version: "v1.16.8"},
	} {
		t.Run(tc.file, func(t *testing.T) {
			c := admin(t)
			ns := namespace(t, c)
			record, err := seed.OpenRecord(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			objects := published(t, tc.file, ns)
			if err := (&seed.Applier{Client: c, Record: record}).Apply(t.Context(), objects); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			pool := get(t, c, ns, "cluster.x-k8s.io/v1beta2", "MachinePool")
			ref, _, _ := unstructured.NestedMap(pool.Object, "spec", "template", "spec", "infrastructureRef")
			if diff := cmp.Diff(map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachinePool", "name": "capa-mp-0"},
				ref); diff != "" {
				t.Errorf("infrastructureRef (-want +got):\n%s", diff)
			}
			if got, _, _ := unstructured.NestedString(pool.Object, "spec", "template", "spec", "version"); got != tc.version {
				t.Errorf("version: want %s, got %s", tc.version, got)
			}
			if got := pool.GetLabels()["cluster.x-k8s.io/cluster-name"]; got != "capa" {
				t.Errorf("label of the cluster: want capa, got %q", got)
			}
			for _, version := range []string{"v1beta1", "v1beta2"} {
				infra := get(t, c, ns, "infrastructure.cluster.x-k8s.io/"+version, "AWSMachinePool")
				subnets, _, _ := unstructured.NestedSlice(infra.Object, "spec", "subnets")
				if diff := cmp.Diff([]any{map[string]any{"id": account["AWS_SUBNET_ID"]}}, subnets); diff != "" {
					t.Errorf("%s: subnets (-want +got):\n%s", version, diff)
				}
			}
			config := get(t, c, ns, "bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig")
			args, _, _ := unstructured.NestedSlice(config.Object, "spec", "joinConfiguration", "nodeRegistration", "kubeletExtraArgs")
			if diff := cmp.Diff([]any{map[string]any{"name": "cloud-provider", "value": "aws"}}, args); diff != "" {
				t.Errorf("kubelet arguments (-want +got):\n%s", diff)
			}
			applyAgain(t, c, objects)
		})
	}
}

// applyAgain holds that a second apply of the same manifests changes no stored object, as GitOps does all day. (The generation changes for
// references and subnets in the form of v1beta1: the API server compares before it converts to the stored version.)
func applyAgain(t *testing.T, c client.Client, objects []seed.Object) {
	t.Helper()
	for _, o := range objects {
		version := strings.Replace(o.GetAPIVersion(), "v1beta1", "v1beta2", 1)
		if strings.HasPrefix(o.GetKind(), "Azure") {
			version = o.GetAPIVersion() // there is no other
		}
		before := named(t, c, o.GetNamespace(), o.GetName(), version, o.GetKind())
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()),
			client.FieldOwner(seed.FieldManager)); err != nil {
			t.Fatal(err)
		}
		after := named(t, c, o.GetNamespace(), o.GetName(), version, o.GetKind())
		for _, u := range []*unstructured.Unstructured{before, after} {
			u.SetManagedFields(nil)
			u.SetResourceVersion("")
			u.SetGeneration(0)
		}
		if diff := cmp.Diff(before.Object, after.Object); diff != "" {
			t.Errorf("%s: applied again unchanged (-before +after):\n%s", o.Where(), diff)
		}
	}
}

// get reads the object capa-mp-0 of a kind in a version.
func get(t *testing.T, c client.Client, namespace, apiVersion, kind string) *unstructured.Unstructured {
	t.Helper()
	return named(t, c, namespace, "capa-mp-0", apiVersion, kind)
}

// named reads an object of a kind in a version.
func named(t *testing.T, c client.Client, namespace, name, apiVersion, kind string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, u); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestBadInputIsRefused holds that what can be known to be wrong without asking the cloud is refused when it is applied,
// with the path of the field.
func TestBadInputIsRefused(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	for _, tc := range []struct {
		reason, kind, apiVersion, spec string
		want                           []string
	}{
		{reason: "a negative size", spec: "{minSize: -1, awsLaunchTemplate: {instanceType: t3.large}}", want: []string{"spec.minSize", "-1"}},
		{reason: "min above max", spec: "{minSize: 5, maxSize: 3, awsLaunchTemplate: {instanceType: t3.large}}",
			want: []string{"spec.minSize", "5", "3"}},
		{reason: "spot together with a mixed-instances policy",
			spec: "{awsLaunchTemplate: {instanceType: t3.large, spotMarketOptions: {}}, mixedInstancesPolicy: {overrides: [{instanceType: " +
				"t3.large}]}}",
			want: []string{"spotMarketOptions", "mixedInstancesPolicy"}},
		{reason: "a subnet that is neither an object nor a string, in the version that takes both",
			apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
			spec:       "{subnets: [5], awsLaunchTemplate: {instanceType: t3.large}}", want: []string{"spec.subnets[0]"}},
		{reason: "a strategy that could never replace a machine, by what is left to the defaults",
			spec: "{strategy: {rollingUpdate: {maxSurge: 0}}, awsLaunchTemplate: {instanceType: t3.large}}",
			want: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
		{reason: "the same in percent, in the older version", apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
			spec: "{strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0%}}, awsLaunchTemplate: {instanceType: t3.large}}",
			want: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
		{reason: "a number as text", spec: `{strategy: {rollingUpdate: {maxSurge: "2"}}, awsLaunchTemplate: {instanceType: t3.large}}`,
			want: []string{"spec.strategy.rollingUpdate.maxSurge", "without quotes"}},
		{reason: "a refresh strategy that drains no machine",
			spec: "{refreshPreferences: {strategy: ReplaceRootVolume}, awsLaunchTemplate: {instanceType: t3.large}}",
			want: []string{"spec.refreshPreferences.strategy", "found ReplaceRootVolume, want Rolling"}},
		{reason: "checkpoints that leave machines out",
			spec: "{refreshPreferences: {checkpointPercentages: [10, 50]}, awsLaunchTemplate: {instanceType: t3.large}}",
			want: []string{"spec.refreshPreferences.checkpointPercentages", "must end with 100"}},
		{reason: "a field that does not exist", spec: "{minsize: 1, awsLaunchTemplate: {instanceType: t3.large}}", want: []string{"minsize"}},
		{reason: "negative replicas", apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachinePool",
			spec: poolSpec("replicas: -1", "clusterName: capa"), want: []string{"spec.replicas"}},
		{reason: "a version that is none", apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachinePool",
			spec: poolSpec("replicas: 1", "version: latest, clusterName: capa"),
			want: []string{"spec.template.spec.version", "latest"}},
		{reason: "two cluster names", apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachinePool",
			spec: poolSpec("replicas: 1", "clusterName: other"),
			want: []string{"spec.template.spec.clusterName"}},
		{reason: "neither bootstrap data nor a reference", apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachinePool",
			spec: strings.Replace(poolSpec("replicas: 1", "clusterName: capa"), "{dataSecretName: data}", "{}", 1),
			want: []string{"spec.template.spec.bootstrap"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if tc.kind == "" {
				tc.kind = "AWSMachinePool"
			}
			if tc.apiVersion == "" {
				tc.apiVersion = "infrastructure.cluster.x-k8s.io/v1beta2"
			}
			u := object(t, ns, "{apiVersion: "+tc.apiVersion+", kind: "+tc.kind+", metadata: {name: bad}, spec: "+tc.spec+"}")
			record, err := seed.OpenRecord(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			err = (&seed.Applier{Client: c, Record: record}).Apply(t.Context(), []seed.Object{{Unstructured: u, File: "bad.yaml", Document: 1}})
			if err == nil {
				t.Fatal("want a refusal, got none")
			}
			for _, want := range append(tc.want, "bad.yaml: document 1 ("+tc.kind+" bad)") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in %q", want, err)
				}
			}
		})
	}
}

// poolSpec returns the specification of a MachinePool with additional lines in it and in its template's specification.
func poolSpec(own, template string) string {
	return "{clusterName: capa, " + own + ", template: {spec: {" + template + ", bootstrap: {dataSecretName: data}, " +
		"infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachinePool, name: p}}}}"
}

// TestStrategyIsFilledIn holds that an incomplete strategy is stored with the defaults of AzureMachinePool, in whatever version it was
// written, and reads the same in the other.
func TestStrategyIsFilledIn(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	for _, tc := range []struct{ name, reason, version, strategy, want string }{
		{"empty", "everything has a default", "v1beta2", "{}", "RollingUpdate 1 0 Oldest"},
		{"surge", "what is said stays", "v1beta1", "{rollingUpdate: {maxSurge: 25%, deletePolicy: Newest}}", "RollingUpdate 25% 0 Newest"},
		{"unavailable", "one of the two is enough", "v1beta2", "{type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 2}}",
			"RollingUpdate 0 2 Oldest"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			group := "infrastructure.cluster.x-k8s.io/"
			u := object(t, ns, "{apiVersion: "+group+tc.version+", kind: AWSMachinePool, metadata: {name: "+tc.name+"}, spec: {strategy: "+
				tc.strategy+", awsLaunchTemplate: {instanceType: t3.large}}}")
			if err := c.Create(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			for _, version := range []string{"v1beta1", "v1beta2"} {
				is := object(t, ns, "{apiVersion: "+group+version+", kind: AWSMachinePool, metadata: {name: "+tc.name+"}}")
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(is), is); err != nil {
					t.Fatal(err)
				}
				kind, _, _ := unstructured.NestedString(is.Object, "spec", "strategy", "type")
				rolling, _, _ := unstructured.NestedMap(is.Object, "spec", "strategy", "rollingUpdate")
				if got := fmt.Sprint(kind, " ", rolling["maxSurge"], " ", rolling["maxUnavailable"], " ", rolling["deletePolicy"]); got != tc.want {
					t.Errorf("%s: in %s want %s, got %s", tc.reason, version, tc.want, got)
				}
			}
		})
	}
}

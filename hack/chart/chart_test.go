package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

const (
	root   = "../.."
	folder = root + "/charts/muster"
)

// values are the values of a chart, as a file of values has them.
type values = map[string]any

// object is one object as YAML decodes it.
type object = map[string]any

// render returns the objects that `helm template` prints for a namespace and values, by kind, namespace and name.
func render(t *testing.T, namespace string, v values) map[string]object {
	t.Helper()
	objects, err := tryRender(namespace, v)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func tryRender(namespace string, v values) (map[string]object, error) {
	rendered, err := texts(namespace, v)
	if err != nil {
		return nil, err
	}
	objects := map[string]object{}
	for _, content := range rendered {
		for _, document := range releaseutil.SplitManifests(content) {
			var o object
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				return nil, err
			}
			if len(o) == 0 {
				continue
			}
			if _, ok := objects[identity(o)]; ok {
				return nil, fmt.Errorf("%s is rendered twice", identity(o))
			}
			objects[identity(o)] = o
		}
	}
	return objects, nil
}

// texts returns the rendered templates by name.
func texts(namespace string, v values) (map[string]string, error) {
	c, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "muster", Namespace: namespace, Revision: 1,
		IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

func identity(o object) string {
	metadata := o["metadata"].(object)
	namespace, _ := metadata["namespace"].(string)
	return o["kind"].(string) + "/" + namespace + "/" + metadata["name"].(string)
}

// expected returns the objects that kubectl applies from a folder below config/, without the differences that the chart declares: helm
// creates the namespace, and keeps definitions when the chart is uninstalled.
func expected(t *testing.T, variant string) map[string]object {
	t.Helper()
	built, err := build(root, variant)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]object{}
	for _, r := range built {
		content, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var o object
		if err := yaml.Unmarshal(content, &o); err != nil {
			t.Fatal(err)
		}
		switch o["kind"] {
		case "Namespace":
			continue
		case "CustomResourceDefinition":
			o["metadata"].(object)["annotations"].(object)["helm.sh/resource-policy"] = "keep"
		}
		objects[identity(o)] = o
	}
	return objects
}

// TestSameAsKustomize: helm installs what kubectl does, object by object.
func TestSameAsKustomize(t *testing.T) {
	t.Parallel()
	for variant, v := range map[string]values{
		"default":    {},
		"full":       {"core": values{"enabled": true}},
		"namespaced": {"watchNamespace": "default"},
	} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			want, got := expected(t, variant), render(t, managerNamespace, v)
			wantNames, gotNames := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))
			if diff := cmp.Diff(wantNames, gotNames); diff != "" {
				t.Fatalf("objects of config/%s (-) and of the chart (+):\n%s", variant, diff)
			}
			if len(wantNames) < 20 {
				t.Errorf("the test reads too little: %v", wantNames)
			}
			for name, o := range want {
				if diff := cmp.Diff(o, got[name]); diff != "" {
					t.Errorf("%s of config/%s (-) and of the chart (+):\n%s", name, variant, diff)
				}
			}
		})
	}
}

// TestMonitoring holds that the switch adds the objects of config/metrics/operator and no other, with the labels of the values.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	without, with := render(t, managerNamespace, nil), render(t, managerNamespace, values{"monitoring": values{"enabled": true}})
	want := expected(t, "metrics/operator")
	for name, o := range want {
		if diff := cmp.Diff(o, with[name]); diff != "" {
			t.Errorf("%s of config/metrics/operator (-) and of the chart (+):\n%s", name, diff)
		}
	}
	if len(with) != len(without)+len(want) || len(want) != 4 {
		t.Errorf("want %d objects more, got %d beside %d", len(want), len(with), len(without))
	}
	labelled := render(t, "infra", values{"monitoring": values{"enabled": true, "labels": values{"release": "prometheus"}}})
	for name := range want {
		o, is := labelled[strings.Replace(name, managerNamespace, "infra", 1)]
		if !is || o["metadata"].(object)["labels"].(object)["release"] != "prometheus" {
			t.Errorf("%s: want the label of the values, got %v", name, o)
		}
	}
}

// TestPage holds that the switch adds the objects of config/page and no other, and what the manager needs to serve the page.
func TestPage(t *testing.T) {
	t.Parallel()
	on := values{"page": values{"enabled": true, "title": "west: 1", "certificateSecret": "page-tls"}}
	without, with := render(t, managerNamespace, nil), render(t, managerNamespace, on)
	want := expected(t, "page")
	for name, o := range want {
		if diff := cmp.Diff(o, with[name]); diff != "" {
			t.Errorf("%s of config/page (-) and of the chart (+):\n%s", name, diff)
		}
	}
	if len(with) != len(without)+len(want) || len(want) != 5 {
		t.Errorf("want %d objects more, got %d beside %d", len(want), len(with), len(without))
	}
	for name := range without {
		if name != "Deployment/muster-system/muster-controller-manager" && !cmp.Equal(without[name], with[name]) {
			t.Errorf("want %s the same with the page: %s", name, cmp.Diff(without[name], with[name]))
		}
	}
	got := deployment(t, on)
	for _, text := range []string{"- --page-bind-address=:8444\n", "- '--page-title=west: 1'\n", "- --page-cert-dir=/run/page-cert\n",
		"mountPath: /run/page-cert\n", "secretName: page-tls\n", "containerPort: 8444\n"} {
		if !strings.Contains(got, text) {
			t.Errorf("want %q in\n%s", text, got)
		}
	}
	for why, v := range map[string]values{"it is off by default": nil, "a secret alone": {"page": values{"certificateSecret": "page-tls"}}} {
		if strings.Contains(deployment(t, v), "page") {
			t.Errorf("%s: want no page in\n%s", why, deployment(t, v))
		}
	}
	if strings.Contains(deployment(t, values{"page": values{"enabled": true}}), "cert-dir") {
		t.Error("want a self-signed certificate without a secret")
	}
	operators := []any{values{"podSelector": values{}}}
	objects := render(t, managerNamespace, values{"page": values{"enabled": true}, "networkPolicy": values{"pageFrom": operators}})
	ingress := objects["NetworkPolicy/muster-system/muster-page"]["spec"].(object)["ingress"].([]any)
	if len(ingress) != 1 || !cmp.Equal(ingress[0].(object)["from"], any(operators)) {
		t.Errorf("want the page for %v alone, got %v", operators, ingress)
	}
}

// TestGenerated: the generated templates are what config/ makes of them.
func TestGenerated(t *testing.T) {
	t.Parallel()
	files, err := templates(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 5 {
		t.Errorf("want definitions, monitoring, the page, RBAC and webhooks, got %v", slices.Sorted(maps.Keys(files)))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(folder, "templates", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what config/ makes: run make generate", name)
		}
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]values{"default": {}, "full": {"core": values{"enabled": true}},
		"namespaced": {"watchNamespace": "pools"}, "page": {"page": values{"enabled": true, "certificateSecret": "page-tls"}}} {
		for _, m := range lint.All(folder, v, managerNamespace, true).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %s", name, m)
			}
		}
	}
}

// TestOtherNamespace: nothing names the namespace of config/, so that the chart can be installed in any.
func TestOtherNamespace(t *testing.T) {
	t.Parallel()
	for _, v := range []values{{}, {"core": values{"enabled": true}}, {"watchNamespace": "pools"}, {"page": values{"enabled": true}},
		{"policyGates": values{"kinds": gateKinds}}} {
		rendered, err := texts("elsewhere", v)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range rendered {
			if strings.Contains(content, managerNamespace) {
				t.Errorf("%s names %s in another namespace", name, managerNamespace)
			}
		}
	}
	for name := range render(t, "elsewhere", values{"watchNamespace": "pools"}) {
		if strings.Contains(name, "RoleBinding/default/") {
			t.Errorf("%s: want the binding in the namespace that is watched", name)
		}
	}
	if _, ok := render(t, "elsewhere", values{"watchNamespace": "pools"})["RoleBinding/pools/muster-manager-pools"]; !ok {
		t.Error("want a RoleBinding in the namespace that is watched")
	}
}

// deployment returns the Deployment as YAML.
func deployment(t *testing.T, v values) string {
	t.Helper()
	content, err := yaml.Marshal(render(t, managerNamespace, v)["Deployment/"+managerNamespace+"/muster-controller-manager"])
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestValues: each value reaches the object that it is for.
func TestValues(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values values
		want   []string
	}{
		"replicas":     {values{"replicas": 3}, []string{"replicas: 3\n"}},
		"tag":          {values{"image": values{"tag": "v9"}}, []string{"image: ghcr.io/muster-project/muster:v9\n"}},
		"digest":       {values{"image": values{"digest": "sha256:" + strings.Repeat("a", 64)}}, []string{"muster@sha256:aaaa"}},
		"repository":   {values{"image": values{"repository": "registry.local/m"}}, []string{"image: registry.local/m:latest\n"}},
		"pull policy":  {values{"image": values{"pullPolicy": "Always"}}, []string{"imagePullPolicy: Always\n"}},
		"pull secrets": {values{"imagePullSecrets": []any{values{"name": "pull"}}}, []string{"imagePullSecrets:\n      - name: pull\n"}},
		"gates": {values{"featureGates": values{"MachinePoolMachines": true, "EKS": false}},
			[]string{"MusterMachinePools=true,MachinePoolMachines=true,", ",EKS=false,"}},
		"diagnostics": {values{"diagnostics": values{"address": "127.0.0.1:9000", "insecure": true}},
			[]string{"--diagnostics-address=127.0.0.1:9000\n", "--insecure-diagnostics=true\n", "containerPort: 9000\n"}},
		"log level":         {values{"logLevel": 5}, []string{"--v=5\n"}},
		"extra arguments":   {values{"extraArgs": []any{"--sync-period=5m"}}, []string{"- --sync-period=5m\n"}},
		"extra environment": {values{"extraEnv": []any{values{"name": "HTTPS_PROXY", "value": "http://proxy"}}}, []string{"name: HTTPS_PROXY\n"}},
		"resources":         {values{"resources": values{"limits": values{"memory": "4Gi"}}}, []string{"memory: 4Gi\n", "cpu: 100m\n"}},
		"tolerations":       {values{"tolerations": []any{values{"key": "mine", "operator": "Exists"}}}, []string{"key: mine\n"}},
		"node selector":     {values{"nodeSelector": values{"role": "system"}}, []string{"nodeSelector:\n        role: system\n"}},
		"affinity":          {values{"affinity": values{"nodeAffinity": values{}}}, []string{"affinity:\n        nodeAffinity: {}\n"}},
		"priority class":    {values{"priorityClassName": "system-cluster-critical"}, []string{"priorityClassName: system-cluster-critical\n"}},
		"pod annotations":   {values{"podAnnotations": values{"a": "b"}}, []string{"annotations:\n        a: b\n"}},
		"pod labels": {values{"podLabels": values{"azure.workload.identity/use": "true"}},
			[]string{`azure.workload.identity/use: "true"`, "control-plane: muster-controller-manager"}},
		"namespace": {values{"watchNamespace": "pools"}, []string{"- --namespace=pools\n"}},
		"credentials": {values{"credentials": values{"namespaces": []any{"team-a", "team-b"}, "namespaceSelector": "tenant=c"}},
			[]string{"- --credentials-namespaces=team-a,team-b\n", "- --credentials-namespace-selector=tenant=c\n"}},
		"endpoints": {values{"credentials": values{"endpoints": []any{"https://a.example", "https://b.example"}}},
			[]string{"- --identity-endpoints=https://a.example,https://b.example\n"}},
		"addresses of gates": {values{"policyGates": values{"addresses": []any{"prometheus.monitoring:9090", "*.example.com", "10.0.0.0/24:*",
			"127.0.0.1:9090", "[fd00::/64]:9090", "fd00::1"}}},
			[]string{"- --gate-addresses=prometheus.monitoring:9090,*.example.com,10.0.0.0/24:*,127.0.0.1:9090,[fd00::/64]:9090,fd00::1\n"}},
		"kinds of gates": {values{"policyGates": values{"kinds": gateKinds}},
			[]string{"- --gate-kinds=Application.argoproj.io,HelmRelease.helm.toolkit.fluxcd.io,Node\n"}},
		"no credentials": {values{"credentials": values{"namespaces": []any{}}}, []string{"- --credentials-namespaces=\n"}},
		"core":           {values{"core": values{"enabled": true}}, []string{"--controllers=machinepool,awsmachinepool,"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := deployment(t, tc.values)
			for _, want := range tc.want {
				if !strings.Contains(got, want) {
					t.Errorf("want %q in\n%s", want, got)
				}
			}
		})
	}
	accounts := render(t, managerNamespace, values{"serviceAccount": values{"annotations": values{"eks.amazonaws.com/role-arn": "arn"}}})
	if got := accounts["ServiceAccount/muster-system/muster-manager"]["metadata"].(object)["annotations"]; !cmp.Equal(got,
		object{"eks.amazonaws.com/role-arn": "arn"}) {
		t.Errorf("annotations of the service account: got %v", got)
	}
}

// gateKinds are kinds that gates may ask for, with their resources.
var gateKinds = values{"HelmRelease.helm.toolkit.fluxcd.io": "helmreleases", "Application.argoproj.io": "applications", "Node": "nodes"}

// TestRightsOfGates holds that the kinds of gates are granted to the manager's account, to get and nothing else, in the namespace that it
// watches if it watches one, and that no role is there without kinds.
func TestRightsOfGates(t *testing.T) {
	t.Parallel()
	for id := range render(t, managerNamespace, values{"policyGates": values{"addresses": []any{"prometheus:9090"}}}) {
		if strings.HasSuffix(id, "/muster-gates") {
			t.Errorf("want no right without kinds, got %s", id)
		}
	}
	rule := func(group, resource string) any {
		return object{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": []any{"get"}}
	}
	want := []any{rule("argoproj.io", "applications"), rule("helm.toolkit.fluxcd.io", "helmreleases"), rule("", "nodes")}
	for watched, binding := range map[string]string{"": "ClusterRoleBinding//muster-gates", "pools": "RoleBinding/pools/muster-gates"} {
		objects := render(t, "elsewhere", values{"watchNamespace": watched, "policyGates": values{"kinds": gateKinds}})
		if diff := cmp.Diff(any(want), objects["ClusterRole//muster-gates"]["rules"]); diff != "" {
			t.Errorf("rules wanted (-) and found (+):\n%s", diff)
		}
		bound := objects[binding]
		if !cmp.Equal(bound["subjects"], any([]any{object{"kind": "ServiceAccount", "name": "muster-manager", "namespace": "elsewhere"}})) ||
			!cmp.Equal(bound["roleRef"], any(object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "muster-gates"})) {
			t.Errorf("%s: want it for the account of the manager, got %v", binding, bound)
		}
		for id := range objects {
			if strings.HasSuffix(id, "/muster-gates") && id != binding && id != "ClusterRole//muster-gates" {
				t.Errorf("want no %s", id)
			}
		}
	}
}

// TestNetworkPolicyValues: who may read metrics, and what the manager may reach.
func TestNetworkPolicyValues(t *testing.T) {
	t.Parallel()
	monitoring := []any{values{"namespaceSelector": values{"matchLabels": values{"kubernetes.io/metadata.name": "monitoring"}}}}
	cloud := []any{values{"to": []any{values{"ipBlock": values{"cidr": "10.0.0.0/8"}}}}}
	objects := render(t, managerNamespace, values{"networkPolicy": values{"metricsFrom": monitoring, "egress": cloud}})
	spec, _ := objects["NetworkPolicy/muster-system/muster-controller-manager"]["spec"].(object)
	ingress, _ := spec["ingress"].([]any)
	if len(ingress) != 2 || !cmp.Equal(ingress[1].(object)["from"], any(monitoring)) {
		t.Errorf("want metrics for %v alone, got %v", monitoring, ingress)
	}
	if !cmp.Equal(spec["egress"], any(cloud)) || !cmp.Equal(spec["policyTypes"], any([]any{"Ingress", "Egress"})) {
		t.Errorf("want egress %v, got %v", cloud, spec)
	}
}

// TestSwitches: what is switched off is left out.
func TestSwitches(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values values
		absent string
	}{
		"network policy":            {values{"networkPolicy": values{"enabled": false}}, "NetworkPolicy/"},
		"network policy and a page": {values{"networkPolicy": values{"enabled": false}, "page": values{"enabled": true}}, "NetworkPolicy/"},
		"disruption budget":         {values{"podDisruptionBudget": values{"enabled": false}}, "PodDisruptionBudget/"},
		"no budget for one replica": {values{"replicas": 1}, "PodDisruptionBudget/"},
	} {
		for id := range render(t, managerNamespace, tc.values) {
			if strings.HasPrefix(id, tc.absent) {
				t.Errorf("%s: want no %s", name, id)
			}
		}
	}
}

// TestRefused: values that cannot work are refused before anything is installed.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values values
		want   string
	}{
		"both variants":   {values{"core": values{"enabled": true}, "watchNamespace": "pools"}, "exclude each other"},
		"unknown value":   {values{"replica": 3}, "replica"},
		"unknown gate":    {values{"featureGates": values{"MachinePool": true}}, "MachinePool"},
		"gate as a text":  {values{"featureGates": values{"EKS": "true"}}, "EKS"},
		"digest of a tag": {values{"image": values{"digest": "v1"}}, "digest"},
		"all addresses":   {values{"policyGates": values{"addresses": []any{"*"}}}, "policyGates/addresses/0"},
		"a URL":           {values{"policyGates": values{"addresses": []any{"https://prometheus:9090"}}}, "policyGates/addresses/0"},
		"two addresses":   {values{"policyGates": values{"addresses": []any{"a:1,b:2"}}}, "policyGates/addresses/0"},
		"a list of kinds": {values{"policyGates": values{"kinds": []any{"Application.argoproj.io"}}}, "policyGates/kinds"},
		"a resource":      {values{"policyGates": values{"kinds": values{"applications.argoproj.io": "applications"}}}, "policyGates/kinds"},
		"no resource":     {values{"policyGates": values{"kinds": values{"Application.argoproj.io": ""}}}, "policyGates/kinds"},
		"all resources":   {values{"policyGates": values{"kinds": values{"Application.argoproj.io": "*"}}}, "policyGates/kinds"},
		"a subresource":   {values{"policyGates": values{"kinds": values{"Node": "nodes/proxy"}}}, "policyGates/kinds"},
		"Secrets":         {values{"policyGates": values{"kinds": values{"Secret": "items"}}}, "policyGates.kinds: Secrets"},
		"hidden Secrets":  {values{"policyGates": values{"kinds": values{"Pod": "secrets"}}}, "policyGates.kinds: Secrets"},
	} {
		if _, err := tryRender(managerNamespace, tc.values); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: want an error with %q, got %v", name, tc.want, err)
		}
	}
}

// TestFitsIntoSecret: helm stores a release, with chart and manifest, in one secret, which the API server limits to 1 MiB.
func TestFitsIntoSecret(t *testing.T) {
	t.Parallel()
	c, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := texts(managerNamespace, values{"core": values{"enabled": true}})
	if err != nil {
		t.Fatal(err)
	}
	size := stored(t, c, strings.Join(slices.Collect(maps.Values(rendered)), "\n---\n"))
	t.Logf("a release is stored in %d bytes", size)
	if size > 1_000_000 {
		t.Errorf("want a release to be stored in 1000000 bytes at most, got %d", size)
	}
}

// stored returns the size of a release as helm stores it: JSON, compressed, in base64.
func stored(t *testing.T, c *helmchart.Chart, manifest string) int {
	t.Helper()
	content, err := json.Marshal(&release.Release{Name: "muster", Chart: c, Manifest: manifest})
	if err != nil {
		t.Fatal(err)
	}
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodedLen(compressed.Len())
}

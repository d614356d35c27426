// Package config_test builds the manifests of an installation and holds them to what the manager expects.
package config_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// built is one object of a build.
type built struct {
	kind, name string
	labels     map[string]string
	yaml       string
}

// build returns the objects of a build, which tests share.
func build(t *testing.T, dir string) []built {
	t.Helper()
	made, _ := builds.LoadOrStore(dir, sync.OnceValues(func() ([]built, error) {
		m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
		if err != nil {
			return nil, err
		}
		var all []built
		for _, r := range m.Resources() {
			text, err := r.AsYAML()
			if err != nil {
				return nil, err
			}
			all = append(all, built{r.GetKind(), r.GetName(), r.GetLabels(), string(text)})
		}
		return all, nil
	}))
	all, err := made.(func() ([]built, error))()
	if err != nil {
		t.Fatalf("build %s: %v", dir, err)
	}
	return all
}

// builds are those that were made, by folder: each takes half a second.
var builds sync.Map

// shortBuilds are the folders that -short builds: what the install page begins with.
var shortBuilds = []string{"default", "clusterctl"}

// leftOut reports whether -short leaves out a folder.
func leftOut(dir string) bool { return testing.Short() && !slices.Contains(shortBuilds, dir) }

// text is one object of a build, as YAML.
func text(t *testing.T, all []built, kind, name string) string {
	t.Helper()
	for _, o := range all {
		if o.kind == kind && o.name == name {
			return o.yaml
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return ""
}

func TestBuilds(t *testing.T) {
	t.Parallel()
	for dir, tc := range map[string]struct {
		reason      string
		controllers string
		hooks       int
	}{
		"default": {"the infrastructure kinds work beside Cluster API's own MachinePool controller, whose webhooks stay alone",
			"awsmachinepool,awsmanagedmachinepool,azuremachinepool,azuremanagedmachinepool,azureasomanagedmachinepool,azurejson,gcpmachinepool," +
				"gcpmanagedmachinepool,gkeconfig,ocimachinepool,ocimanagedmachinepool,ocivirtualmachinepool,scalewaymanagedmachinepool," +
				"rolloutpolicy,webhook", 3},
		"namespaced": {"one namespace takes the same controllers",
			"awsmachinepool,awsmanagedmachinepool,azuremachinepool,azuremanagedmachinepool,azureasomanagedmachinepool,azurejson,gcpmachinepool," +
				"gcpmanagedmachinepool,gkeconfig,ocimachinepool,ocimanagedmachinepool,ocivirtualmachinepool,scalewaymanagedmachinepool," +
				"rolloutpolicy,webhook", 3},
		"full": {"with the core controller come its webhooks",
			"machinepool,awsmachinepool,awsmanagedmachinepool,azuremachinepool,azuremanagedmachinepool,azureasomanagedmachinepool,azurejson," +
				"gcpmachinepool,gcpmanagedmachinepool,gkeconfig,ocimachinepool,ocimanagedmachinepool,ocivirtualmachinepool," +
				"scalewaymanagedmachinepool,rolloutpolicy,webhook", 5},
	} {
		if leftOut(dir) {
			continue
		}
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			m := build(t, dir)
			hooks := 0
			for _, o := range m {
				if got := o.labels["cluster.x-k8s.io/provider"]; got != "infrastructure-muster" {
					t.Errorf("%s %s: clusterctl finds what it installed by its label, got %q", o.kind, o.name, got)
				}
				if _, ok := o.labels["clusterctl.cluster.x-k8s.io"]; ok != (o.kind == "CustomResourceDefinition") {
					t.Errorf("%s %s: clusterctl move looks at the kinds whose definitions have its label, got %v", o.kind, o.name, o.labels)
				}
				if strings.HasSuffix(o.kind, "WebhookConfiguration") {
					hooks++
				}
			}
			if hooks != tc.hooks {
				t.Errorf("%s: want %d webhook configurations, got %d", tc.reason, tc.hooks, hooks)
			}
			deployment := text(t, m, "Deployment", "muster-controller-manager")
			for _, want := range []string{"--controllers=" + tc.controllers + "\n", "--leader-elect\n", "MusterMachinePools=true,", "replicas: 2\n",
				"node-role.kubernetes.io/control-plane",
				"readOnlyRootFilesystem: true", "allowPrivilegeEscalation: false", "runAsNonRoot: true", "memory: 1Gi", "type: RuntimeDefault",
				"secretName: muster-webhook-service-cert", "mountPath: /tmp/k8s-webhook-server/serving-certs", "serviceAccountName: muster-manager",
				"name: POD_NAMESPACE",
				"value: /run/muster\n", "mountPath: /run/muster\n", "medium: Memory"} {
				if !strings.Contains(deployment, want) {
					t.Errorf("%s: want %q in\n%s", tc.reason, want, deployment)
				}
			}
			text(t, m, "PodDisruptionBudget", "muster-controller-manager")
			text(t, m, "NetworkPolicy", "muster-controller-manager")
			for _, kind := range []string{"awsmachinepools", "awsmanagedmachinepools", "ocimachinepools", "ocimanagedmachinepools",
				"ocimanagedmachinepooltemplates", "scalewaymanagedmachinepools"} {
				crd := text(t, m, "CustomResourceDefinition", kind+".infrastructure.cluster.x-k8s.io")
				for _, want := range []string{"name: muster-webhook-service", "namespace: muster-system", "path: /convert",
					"cluster.x-k8s.io/v1beta2:"} {
					if !strings.Contains(crd, want) {
						t.Errorf("want %q in the definition of %s", want, kind)
					}
				}
			}
			called := map[string]string{
				"muster-warnings-webhook-configuration":                  "ValidatingWebhookConfiguration",
				"muster-infrastructure-validating-webhook-configuration": "ValidatingWebhookConfiguration",
				"muster-infrastructure-mutating-webhook-configuration":   "MutatingWebhookConfiguration",
			}
			if tc.hooks > len(called) {
				called["muster-mutating-webhook-configuration"] = "MutatingWebhookConfiguration"
				called["muster-validating-webhook-configuration"] = "ValidatingWebhookConfiguration"
			}
			for name, kind := range called {
				got := text(t, m, kind, name)
				if hooks := strings.Count(got, "clientConfig:"); strings.Count(got, "name: muster-webhook-service\n") != hooks ||
					strings.Count(got, "namespace: muster-system\n") != hooks {
					t.Errorf("%s does not call our service alone:\n%s", name, got)
				}
			}
		})
	}
}

// variable is a variable as clusterctl substitutes it, with its default.
var variable = regexp.MustCompile(`\$\{([A-Z_]+):=([^}]*)\}`)

// TestVariablesHaveTheDefaultsOfPlainManifests: kubectl applies the manifests as they stand, and clusterctl's variables change nothing
// where none is set.
func TestVariablesHaveTheDefaultsOfPlainManifests(t *testing.T) {
	t.Parallel()
	want := []string{
		"CAPA_EKS", "CAPA_EKS_ADD_ROLES", "CAPA_EKS_IAM", "EXP_BOOTSTRAP_FORMAT_IGNITION", "EXP_CAPG_GKE", "EXP_MACHINE_POOL_MACHINES",
		"EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION",
		"MUSTER_DIAGNOSTICS_ADDRESS", "MUSTER_INSECURE_DIAGNOSTICS", "MUSTER_LOGLEVEL", "MUSTER_MACHINE_POOLS",
	}
	for dir, plain := range map[string]string{"clusterctl": "default", "clusterctl/full": "full", "clusterctl/namespaced": "namespaced"} {
		if leftOut(dir) {
			continue
		}
		with, without := all(t, dir), all(t, plain)
		if strings.Contains(without, "${") {
			t.Errorf("%s: want no variables in what kubectl applies", plain)
		}
		if variable.ReplaceAllString(with, "$2") != without {
			t.Errorf("%s: want the manifests of %s once the defaults are in the place of the variables", dir, plain)
		}
		var names []string
		for _, found := range variable.FindAllStringSubmatch(with, -1) {
			names = append(names, found[1])
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%s: want the variables %v, got %v", dir, want, names)
		}
	}
}

// all is a whole build, as YAML.
func all(t *testing.T, dir string) string {
	t.Helper()
	var documents []string
	for _, o := range build(t, dir) {
		documents = append(documents, o.yaml)
	}
	return strings.Join(documents, "---\n")
}

// role is what RBAC has of a role.
type role struct {
	Rules []struct{ APIGroups, Resources, Verbs []string }
}

// allows reports whether a rule grants one of the verbs on a resource of a group.
func (r role) allows(group, resource string, verbs ...string) bool {
	return slices.ContainsFunc(r.Rules, func(rule struct{ APIGroups, Resources, Verbs []string }) bool {
		return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) &&
			slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(rule.Verbs, v) })
	})
}

// TestRulesGrantLittle: an installation names every resource that it may touch, and one without the core controller takes none of
// the core controller's rights.
func TestRulesGrantLittle(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"default", "full", "namespaced"} {
		if leftOut(dir) {
			continue
		}
		m := build(t, dir)
		for _, o := range m {
			if strings.HasSuffix(o.kind, "Role") && strings.Contains(o.yaml, "*") {
				t.Errorf("%s: want every resource, group and verb of %s %s named, found a wildcard", dir, o.kind, o.name)
			}
			if dir == "namespaced" && o.kind == "ClusterRoleBinding" && o.name == "muster-manager" {
				t.Error("namespaced: want no binding of muster-manager in all namespaces")
			}
		}
		if dir == "full" {
			continue
		}
		var manager role
		if err := yaml.Unmarshal([]byte(text(t, m, "ClusterRole", "muster-manager")), &manager); err != nil {
			t.Fatal(err)
		}
		for _, r := range []struct {
			group, resource string
			verbs           []string
		}{
			{"cluster.x-k8s.io", "machinepools", []string{"create", "delete", "update"}},
			{"cluster.x-k8s.io", "machinepools/status", []string{"patch", "update"}},
			{"cluster.x-k8s.io", "machinepools/finalizers", []string{"patch", "update"}},
			{"cluster.x-k8s.io", "machines", []string{"create"}},
			{"bootstrap.cluster.x-k8s.io", "kubeadmconfigs", []string{"get", "list", "create", "delete"}},
			{"controlplane.cluster.x-k8s.io", "kubeadmcontrolplanes", []string{"get", "list"}},
			{"infrastructure.cluster.x-k8s.io", "awsclusters", []string{"create", "delete", "patch", "update"}},
		} {
			if manager.allows(r.group, r.resource, r.verbs...) {
				t.Errorf("%s: want muster-manager without any of %v on %s", dir, r.verbs, r.resource)
			}
		}
		if !manager.allows("cluster.x-k8s.io", "machinepools", "list") {
			t.Errorf("%s: want muster-manager to list machinepools: the test reads the wrong rules", dir)
		}
	}
}

// TestRules holds that every binding refers to roles that exist, and that the roles allow what a pass does.
func TestRules(t *testing.T) {
	t.Parallel()
	m := build(t, "default")
	for _, o := range m {
		if !strings.HasSuffix(o.kind, "RoleBinding") {
			continue
		}
		var binding struct {
			RoleRef  struct{ Kind, Name string }
			Subjects []struct{ Kind, Name string }
		}
		if err := yaml.Unmarshal([]byte(o.yaml), &binding); err != nil {
			t.Fatal(err)
		}
		text(t, m, binding.RoleRef.Kind, binding.RoleRef.Name)
		for _, s := range binding.Subjects {
			text(t, m, s.Kind, s.Name)
		}
	}
	role := text(t, m, "ClusterRole", "muster-manager")
	for _, want := range []string{"awsmachinepools/status", "awsmanagedmachinepools/status", "awsmanagedcontrolplanes", "awsclusters",
		"machinedrainrules", "events.k8s.io", "customresourcedefinitions", "tokenreviews"} {
		if !strings.Contains(role, want) {
			t.Errorf("want %q among the rules", want)
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var metadata struct {
		ReleaseSeries []struct {
			Major, Minor int
			Contract     string
		}
	}
	if err := yaml.UnmarshalStrict(b, &metadata); err != nil && !strings.Contains(err.Error(), "unknown field") {
		t.Fatal(err)
	}
	if len(metadata.ReleaseSeries) == 0 || metadata.ReleaseSeries[0].Contract != "v1beta2" {
		t.Errorf("want a series of releases that follows contract v1beta2, got %+v", metadata)
	}
}

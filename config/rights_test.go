package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestRightsOfTheManager holds what no role of an installation grants: each of these rights leads to all others.
func TestRightsOfTheManager(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"default", "full", "namespaced"} {
		if leftOut(dir) {
			continue
		}
		for _, o := range build(t, dir) {
			if !strings.HasSuffix(o.kind, "Role") {
				continue
			}
			var r role
			if err := yaml.Unmarshal([]byte(o.yaml), &r); err != nil {
				t.Fatal(err)
			}
			for _, resource := range []string{"adoptiongrants", "clusterrolloutpolicies"} {
				if r.allows("muster.dev", resource, "create", "patch", "update", "delete") ||
					!strings.HasPrefix(o.name, "muster-manager") && r.allows("muster.dev", resource, "get", "list", "watch") {
					t.Errorf("%s: %s %s reaches the operator's %s", dir, o.kind, o.name, resource)
				}
			}
			if o.name == "muster-capi-manager" {
				continue
			}
			for _, rule := range r.Rules {
				for _, verb := range []string{"bind", "escalate", "impersonate", "deletecollection"} {
					if slices.Contains(rule.Verbs, verb) {
						t.Errorf("%s: %s %s has the verb %s on %v", dir, o.kind, o.name, verb, rule.Resources)
					}
				}
			}
			for _, resource := range []string{"serviceaccounts", "serviceaccounts/token", "pods", "pods/exec", "nodes/proxy"} {
				if r.allows("", resource, "create", "get", "list", "patch", "update") {
					t.Errorf("%s: %s %s reaches %s", dir, o.kind, o.name, resource)
				}
			}
			for _, resource := range []string{"roles", "rolebindings", "clusterroles", "clusterrolebindings"} {
				if r.allows("rbac.authorization.k8s.io", resource, "create", "patch", "update", "delete") {
					t.Errorf("%s: %s %s writes %s", dir, o.kind, o.name, resource)
				}
			}
			if r.allows("", "secrets", "delete") || o.kind == "ClusterRole" && r.allows("", "secrets", "update") {
				t.Errorf("%s: %s %s deletes or replaces Secrets", dir, o.kind, o.name)
			}
		}
	}
}

// TestNamespaceIsRestricted holds that the manager's namespace takes no pod with more rights than the manager's.
func TestNamespaceIsRestricted(t *testing.T) {
	t.Parallel()
	m := build(t, "default")
	for _, mode := range []string{"enforce", "audit", "warn"} {
		if want := "pod-security.kubernetes.io/" + mode + ": restricted\n"; !strings.Contains(text(t, m, "Namespace", "muster-system"), want) {
			t.Errorf("want %q on the namespace", want)
		}
	}
	policy := text(t, m, "NetworkPolicy", "muster-controller-manager")
	if from := strings.Index(policy, "  - from:\n    - namespaceSelector: {}\n"); from < 0 || strings.Index(policy, "port: metrics") < from {
		t.Errorf("want the metrics for pods of the cluster alone, got\n%s", policy)
	}
}

// used is an action in a workflow: its name, its commit and the version for people.
var used = regexp.MustCompile(`uses: ([^@\s]+)@(\S+)(.*)`)

// TestWorkflowsArePinned holds that a moved tag changes nothing that runs with the project's rights, and that releases are attested.
func TestWorkflowsArePinned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("want workflows, got %v, %v", files, err)
	}
	commit, version := regexp.MustCompile(`^[0-9a-f]{40}$`), regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	versions := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range used.FindAllStringSubmatch(string(content), -1) {
			if !commit.MatchString(m[2]) || !version.MatchString(m[3]) {
				t.Errorf("%s: want %s by its commit with the version beside it, got %s%s", file, m[1], m[2], m[3])
			}
			if before, ok := versions[m[1]]; ok && before != m[2]+m[3] {
				t.Errorf("%s: want one version of %s, got %s and %s", file, m[1], before, m[2]+m[3])
			}
			versions[m[1]] = m[2] + m[3]
		}
	}
	content, err := os.ReadFile("../.github/workflows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Permissions map[string]string
		Jobs        map[string]struct{ Permissions map[string]string }
	}
	if err := yaml.Unmarshal(content, &release); err != nil {
		t.Fatal(err)
	}
	if got := release.Permissions; len(got) != 1 || got["contents"] != "read" {
		t.Errorf("want workflows to read alone unless a job says more, got %v", got)
	}
	for _, right := range []string{"id-token", "attestations"} {
		if release.Jobs["release"].Permissions[right] != "write" {
			t.Errorf("want %s: write for signatures without a key", right)
		}
	}
	if n := strings.Count(string(content), "uses: actions/attest-build-provenance@"); n != 2 {
		t.Errorf("want the files and the image attested, got %d attestations", n)
	}
}

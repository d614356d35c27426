// Package imports holds the rules on who may import whom.
package imports

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/muster-project/muster"

// rule says what the packages below a path may depend on, directly or not. Paths are prefixes of whole path elements;
// those of the module are written without it.
type rule struct {
	path string
	// only lists what may be depended on beside the standard library; never lists what may not, whatever only says.
	only, never []string
	why         string
}

var rules = []rule{
	{path: "pool", only: []string{"pool"}, why: "every rule of the domain is a row in a table"},
	{path: "cloud", only: []string{"pool", "cloud"}, why: "the contract knows no cloud and no Kubernetes"},
	{path: "cloud/aws", never: []string{"kube", "sim", "engine", "local", "manager", "cloud/azure", "cloud/gcp", "cloud/oci", "cloud/scaleway", "github.com/Azure"},
		why: "each cloud can be written and read alone"},
	{path: "cloud/azure", never: []string{"kube", "sim", "engine", "local", "manager", "cloud/aws", "cloud/gcp", "cloud/oci", "cloud/scaleway", "github.com/aws"},
		why: "each cloud can be written and read alone"},
	{path: "cloud/wire", never: []string{"kube", "sim", "engine", "api", "k8s.io", "sigs.k8s.io"}, why: "one transport for every cloud"},
	{path: "engine", only: []string{"pool", "cloud", "engine", "go.opentelemetry.io"}, why: "whole scenarios run without an API server"},
	{path: "api", never: []string{"kube", "engine", "cloud", "sim", "local", "manager", "github.com/aws", "github.com/Azure"}, why: "types are for everybody"},
	{path: "kube", never: []string{"sim", "local", "manager", "cloud/aws", "cloud/azure", "github.com/aws", "github.com/Azure", "k8s.io/kubernetes"}, why: "drivers are handed in"},
	{path: "manager", never: []string{"sim", "local", "k8s.io/kubernetes", "go.etcd.io/etcd/server"}, why: "the production manager holds no API server and no simulator"},
	{path: "cmd/manager", never: []string{"sim", "local", "k8s.io/kubernetes", "go.etcd.io/etcd/server"}, why: "the production manager holds no API server and no simulator"},
	{path: "sim", never: []string{"cloud", "kube", "engine", "pool", "api", "local", "manager", "github.com/aws"},
		why: "a simulator that can't see the driver can't agree with it by accident"},
	{path: "view", never: []string{"sim", "local", "manager", "cloud/aws", "cloud/azure", "github.com/aws", "github.com/Azure"}, why: "drivers are handed in"},
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Deps       []string
}

func TestImports(t *testing.T) {
	t.Parallel()
	ours, standard := list(t)
	for _, p := range ours {
		r := ruleOf(p.ImportPath)
		if r == nil {
			continue
		}
		for _, dep := range p.Deps {
			if standard[dep] {
				continue
			}
			if why := breaks(*r, dep); why != "" {
				t.Errorf("%s depends on %s, which is %s: %s", short(p.ImportPath), short(dep), why, r.why)
			}
		}
	}
}

// TestRulesCanFail shows that each kind of rule refuses something.
func TestRulesCanFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		broken   bool
	}{
		{"pool", "cloud", true},
		{"pool/x", "k8s.io/api/core/v1", true},
		{"engine", "k8s.io/api/core/v1", true},
		{"engine/report", "pool", false},
		{"kube/infrapool", "cloud/aws", true},
		{"kube/infrapool", "cloud", false},
		{"kube/infrapool/azure", "cloud/azure/session", true},
		{"cloud/azure", "cloud/aws/session", true},
		{"cloud/azure", "cloud/recall", false},
		{"cloud/recall", "cloud/wire", false},
		{"cloud/recall", "github.com/Azure/azure-sdk-for-go/sdk/azcore", true},
		{"sim/aws", "cloud/aws", true},
		{"cmd/manager", "sim/aws", true},
		{"cloud/aws", "cloud/wire", false},
	} {
		r := ruleOf(module + "/" + c.from)
		if r == nil {
			t.Errorf("no rule holds %s", c.from)
			continue
		}
		to := c.to
		if !strings.Contains(strings.Split(to, "/")[0], ".") {
			to = module + "/" + to
		}
		if got := breaks(*r, to) != ""; got != c.broken {
			t.Errorf("%s -> %s: broken = %v, want %v", c.from, c.to, got, c.broken)
		}
	}
}

// ruleOf is the rule with the longest path that holds a package; cloud's decorators and suites have none of their own.
func ruleOf(path string) *rule {
	path = short(path)
	if path == "cloud/cloudtest" || path == "cloud/metrics" || path == "cloud/trace" {
		return nil
	}
	var best *rule
	for i, r := range rules {
		if below(path, r.path) && (best == nil || len(r.path) > len(best.path)) {
			best = &rules[i]
		}
	}
	return best
}

// breaks says in which way a dependency breaks a rule, or nothing.
func breaks(r rule, dep string) string {
	dep = short(dep)
	if slices.ContainsFunc(r.never, func(p string) bool { return below(dep, p) }) {
		return "forbidden"
	}
	if r.only != nil && !slices.ContainsFunc(r.only, func(p string) bool { return below(dep, p) }) {
		return "not among what it may import"
	}
	return ""
}

func below(path, prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }

func short(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

// list gives the module's packages with their dependencies, and the set of the standard library's packages.
func list(t *testing.T) (ours []pkg, standard map[string]bool) {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Deps", module+"/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	standard = map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		if p.Standard {
			standard[p.ImportPath] = true
		}
		if below(p.ImportPath, module) {
			ours = append(ours, p)
		}
	}
	if len(ours) == 0 {
		t.Fatal("go list found no package of the module")
	}
	return ours, standard
}

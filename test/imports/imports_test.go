// Package imports holds the rules on who may import whom.
package imports

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/muster-project/muster"

// pkg holds a package as reported by go list.
type pkg struct {
	importPath string
	imports    []string
	// test is true for packages that are built for tests alone.
	test bool
	// linked lists all packages that a binary, possibly of tests, depends on. It is empty for a package that is no binary.
	linked []string
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, p := range listed(t) {
		if p.test {
			continue
		}
		r, name, ok := ruleOf(short(p.importPath))
		if !ok {
			t.Errorf("%s has no rule: write one into rules_test.go", short(p.importPath))
			continue
		}
		for _, dep := range p.imports {
			if !standard(dep) && !r.allows(name, short(dep)) {
				t.Errorf("%s imports %s, which the rule of %s does not allow: %s", short(p.importPath), short(dep), r.path, r.why)
			}
		}
	}
}

// TestRulesCanFail shows that each kind of rule refuses something, for clouds to come too.
func TestRulesCanFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"pool", "cloud", false},
		{"test/explore/world", "api/aws/v1beta2", false},
		{"test/explore/world", "providers/azure/azuremachinepool", false},
		{"test/explore/world", "test/explore/kinds/asg", false},
		{"pool/x", "k8s.io/api/core/v1", false},
		{"engine", "k8s.io/api/core/v1", false},
		{"engine/report", "pool", true},
		{"kube/infrapool", "cloud/aws", false},
		{"kube/infrapool", "cloud", true},
		{"kube/infrapool", "api/aws/v1beta2", false},
		{"kube/infrapool", "kube/machinepool", false},
		{"providers/azure/azuremachinepool", "cloud/azure/session", false},
		{"providers/azure/azuremachinepool", "api/aws/v1beta2", false},
		{"providers/gcp/gcpmachinepool", "api/gcp/v1beta1", true},
		{"providers/gcp/gcpmachinepool", "api/azure/v1beta1", false},
		{"kube/machinepool", "kube/infrapool", false},
		{"kube/drain", "kube/machinepool", false},
		{"kube/machines", "k8s.io/kubernetes/pkg/apis/core", false},
		{"cloud/azure", "cloud/aws/session", false},
		{"cloud/azure", "cloud/cache", true},
		{"cloud/azure", "k8s.io/utils/ptr", true},
		{"cloud/azure", "k8s.io/utils/clock", false},
		{"cloud/azure", "k8s.io/api/core/v1", false},
		{"cloud/azure/model", "github.com/Azure/azure-sdk-for-go/sdk/azcore", true},
		{"cloud/aws", "github.com/Azure/azure-sdk-for-go/sdk/azcore", false},
		{"cloud/gcp/session", "cloud/wire", true},
		{"cloud/gcp/session", "google.golang.org/api/compute/v1", true},
		{"cloud/gcp", "cloud/azure", false},
		{"cloud/oci", "github.com/scaleway/scaleway-sdk-go/scw", false},
		{"cloud/cache", "cloud/wire", false},
		{"cloud/cache", "github.com/Azure/azure-sdk-for-go/sdk/azcore", false},
		{"cloud/cloudtest", "sim/aws", false},
		{"sim/aws", "cloud/aws", false},
		{"sim/gcp", "google.golang.org/api/compute/v1", false},
		{"sim/gcp", "sim/aws", false},
		{"api/gcp/v1beta1", "api/azure/v1beta1", false},
		{"cmd/manager", "sim/aws", false},
		{"cmd/manager", "local/world", false},
		{"local/clouds/aws/eks", "manager", false},
		{"local/clouds/gcp", "sim/gcp", true},
		{"local/clouds/gcp", "sim/aws", false},
		{"local/clouds/gcp", "local/clouds/aws/eks", false},
		{"local/seed", "local/clouds/aws/standin", false},
		{"local/world", "local/clouds/aws", false},
		{"local/world", "local/clouds/all", true},
		{"local/world", "local/servers", false},
		{"local/clouds/gcp/gke", "local/apiserver", false},
		{"cmd/muster/commands", "local/children", false},
		{"cmd/muster/commands", "sim/aws", false},
		{"cmd/muster", "local/world", false},
		{"view", "cloud/aws", false},
	} {
		r, name, ok := ruleOf(c.from)
		if !ok {
			t.Errorf("no rule holds %s", c.from)
			continue
		}
		if got := r.allows(name, c.to); got != c.allowed {
			t.Errorf("%s -> %s: allowed = %v, want %v", c.from, c.to, got, c.allowed)
		}
	}
}

// ruleOf returns the first rule that matches a package, with the text that the first * of its path matched.
func ruleOf(path string) (r rule, name string, ok bool) {
	for _, r := range rules {
		if name, ok := match(r.path, path); ok {
			return r, name, true
		}
	}
	return rule{}, "", false
}

// allows reports whether a package may import another one. name is the text that the first * of the rule's path matched.
func (r rule) allows(name, dep string) bool {
	matches := func(pattern string) bool {
		if pattern == "sdk($1)" {
			return slices.ContainsFunc(sdks[name], func(module string) bool { return matchAny(module, dep) })
		}
		return matchAny(strings.ReplaceAll(pattern, "$1", name), dep)
	}
	return slices.ContainsFunc(r.only, matches) && !slices.ContainsFunc(r.never, matches)
}

func matchAny(pattern, path string) bool {
	_, ok := match(pattern, path)
	return ok
}

// match reports whether a path matches a pattern, and returns the text that its first * matched, which is the value of $1.
func match(pattern, path string) (name string, ok bool) {
	if pattern == "..." {
		return "", true
	}
	pattern, deep := strings.CutSuffix(pattern, "/...")
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(have) < len(want) || len(have) > len(want) && !deep {
		return "", false
	}
	for k, element := range want {
		begin, end, star := strings.Cut(strings.ReplaceAll(element, "$1", name), "*")
		switch {
		case !star && begin != have[k], len(have[k]) < len(begin)+len(end), !strings.HasPrefix(have[k], begin),
			!strings.HasSuffix(have[k], end):
			return "", false
		case star && name == "":
			name = have[k][len(begin) : len(have[k])-len(end)]
		}
	}
	return name, true
}

func short(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// list returns the module's packages, with their tests: one look-up for all tests that ask.
var list = sync.OnceValues(func() ([]pkg, error) {
	const columns = `{{.ImportPath}}|{{.ForTest}}|{{join .Imports " "}}|{{if eq .Name "main"}}{{join .Deps " "}}{{end}}`
	cmd := exec.Command("go", "list", "-test", "-f", columns, module+"/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var found []pkg
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 {
			return nil, fmt.Errorf("go list: want four columns, got %q", line)
		}
		p := pkg{importPath: cells[0], imports: strings.Fields(cells[2]), linked: strings.Fields(cells[3])}
		p.test = cells[1] != "" || strings.HasSuffix(p.importPath, ".test")
		found = append(found, p)
	}
	if len(found) == 0 {
		return nil, errors.New("go list found no package of the module")
	}
	return found, nil
})

// listed returns what list found.
func listed(t *testing.T) []pkg {
	t.Helper()
	if testing.Short() {
		t.Skip("go list loads all packages: left out with -short")
	}
	found, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// standard reports whether a package belongs to the standard library: the first element of all others' paths is the name of a host.
func standard(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return !strings.Contains(host, ".")
}

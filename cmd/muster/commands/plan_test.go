package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanRequests holds that invalid requests are rejected before any call.
func TestPlanRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why  string
		args []string
		want string
	}{
		{"something has to be named", nil, "found neither"},
		{"a field belongs to an object", []string{"-f", "x.yaml", "--set", "spec.replicas=1"}, "found none"},
		{"a name alone does not say what it is", []string{"workers"}, "want KIND/NAME"},
		{"two kinds are one too many", []string{"machinepool/a", "machinepool/b"}, "want KIND/NAME"},
		{"there are two forms", []string{"machinepool/a", "-o", "yaml"}, "want text or json"},
		{"nothing is planned for a cluster that is not there", []string{"machinepool/a", "--kubeconfig", "no-such-file"},
			"--kubeconfig: no-such-file does not exist"},
	} {
		cmd := root()
		cmd.SetArgs(append([]string{"plan"}, c.args...))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.want, err)
		}
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"machinepool/workers"}, {"machinepool", "workers"}} {
		if kind, name, err := named(args); kind != "machinepool" || name != "workers" || err != nil {
			t.Errorf("%q: want machinepool and workers, got %q, %q, %v", args, kind, name, err)
		}
	}
}

// Variables in manifests are replaced as by "muster up" if the plan is for a world; otherwise they stay, as with kubectl.
func TestPlanManifests(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '${AWS_SUBNET_ID}'}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for simulated, want := range map[bool]string{true: "subnet-", false: "${AWS_SUBNET_ID}"} {
		p := &planner{files: []string{file}, simulated: simulated}
		list, err := p.manifests()
		if err != nil || len(list) != 1 {
			t.Fatalf("want one object, got %v, %v", list, err)
		}
		data, ok := list[0].Object["data"].(map[string]any)
		if got, _ := data["a"].(string); !ok || !strings.HasPrefix(got, want) {
			t.Errorf("beside a world %v: want %s, got %v", simulated, want, data)
		}
	}
}

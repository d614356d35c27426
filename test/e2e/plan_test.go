package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/muster-project/muster/test/e2e/world"
)

// planOutput is the part of a plan's JSON that these tests read.
type planOutput struct {
	Plans []struct {
		Headline     string
		Replaced     int
		LowestReady  int `json:"lowestReady"`
		MostMachines int `json:"mostMachines"`
		Changes      []struct{ Kind, Path, Effect string }
		Waves        []struct{ Machines []struct{ ID, Node string } }
		Blocked      []struct{ Reason string }
	}
}

// runPlan runs "muster plan" with nothing but the kubeconfig of the world, and gives its output and exit code.
func runPlan(w *world.World, stdin string, args ...string) (stdout, stderr string, code int) {
	w.T.Helper()
	cmd := exec.CommandContext(w.T.Context(), world.Binary, append([]string{"plan"}, args...)...)
	// Whatever account the environment names is not the one that a world's pools are in.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig, "AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_ACCESS_KEY_ID=other",
		"AWS_SECRET_ACCESS_KEY=else")
	var out, output bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &output
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		w.T.Fatalf("muster plan %v: %v", args, err)
	}
	return out.String(), output.String(), code
}

const planFile = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AWSMachinePool
metadata: {name: capa-mp-0}
spec:
  minSize: 1
  maxSize: 12
  availabilityZones: [eu-west-1a]
  awsLaunchTemplate: {instanceType: m5.xlarge, sshKeyName: default}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}
`

// planThenApply plans a file against a running world, checks that the world is unchanged, applies the file, and checks that exactly the
// planned machines are removed.
func planThenApply(w *world.World) {
	t := w.T
	before := w.Read("{.items[*].metadata.generation} {.items[*].spec}", "machinepool,awsmachinepool")

	if out, output, code := runPlan(w, "", "machinepool/capa-mp-0", "--exit-code"); code != 0 ||
		!strings.Contains(out, "Nothing changes. 2 of 2 are Ready.") {
		t.Errorf("want nothing to do, got %d\n%s%s", code, out, output)
	}
	if _, output, code := runPlan(w, "", "machinepool/capa-mp-0", "--set", "spec.awsLaunchTemplate.instanceTyp=x"); code != 1 ||
		!strings.Contains(output, `unknown field "spec.awsLaunchTemplate.instanceTyp"`) {
		t.Errorf("want an unknown field refused, got %d\n%s", code, output)
	}
	if _, output, code := runPlan(w, "", "awsmachinepool/capa-mp-0", "--set", "spec.minSize=11"); code != 1 ||
		!strings.Contains(output, "minSize must not be above maxSize") {
		t.Errorf("want the API server's own words, got %d\n%s", code, output)
	}
	out, output, code := runPlan(w, planFile, "-f", "-", "-o", "json", "--exit-code")
	if code != 2 {
		t.Fatalf("want exit code 2, got %d\n%s%s", code, out, output)
	}
	var p planOutput
	if err := json.Unmarshal([]byte(out), &p); err != nil || len(p.Plans) != 1 {
		t.Fatalf("want one plan, got %v\n%s", err, out)
	}
	one := p.Plans[0]
	if one.Replaced != 2 || one.LowestReady != 1 || one.MostMachines > 3 || len(one.Waves) != 1 || len(one.Blocked) > 0 {
		t.Errorf("want both machines replaced in one wave, got %+v", one)
	}
	for path, effect := range map[string]string{"spec.awsLaunchTemplate.instanceType": "ReplacesMachines", "spec.maxSize": "InPlace"} {
		if !slices.ContainsFunc(one.Changes, func(c struct{ Kind, Path, Effect string }) bool { return c.Path == path && c.Effect == effect }) {
			t.Errorf("want %s said to be %s, got %+v", path, effect, one.Changes)
		}
	}
	if after := w.Read("{.items[*].metadata.generation} {.items[*].spec}", "machinepool,awsmachinepool"); after != before {
		t.Errorf("want every object as it was, got %s before and %s after", before, after)
	}

	var gone []string
	for _, wave := range one.Waves {
		for _, m := range wave.Machines {
			gone = append(gone, m.ID)
		}
	}
	file := filepath.Join(t.TempDir(), "pool.yaml")
	if err := os.WriteFile(file, []byte(planFile), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Kubectl("apply", "-f", file)
	w.Eventually("the planned machines to be replaced", func() error {
		list := w.Read("{.spec.providerIDList}", "awsmachinepool/capa-mp-0")
		for _, id := range gone {
			if strings.Contains(list, id) {
				return errors.New(id + " is still there: " + list)
			}
		}
		return nil
	})
	w.Ready("capa-mp-0", 2)
	if out, _, _ := runPlan(w, "", "machinepool/capa-mp-0"); !strings.Contains(out, "2 of 2 are Ready.") ||
		strings.Contains(out, "replaced in") {
		t.Errorf("want nothing left to replace, got\n%s", out)
	}
}

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
)

// The calls to the cloud that one pool of two may cost, including those before it, those that follow its progress, and the writes. While a
// group is changing it is read every 0.8 s, in a call that the pools of an account share; a single pool has it for itself.
const (
	mostCallsToCreate = 24
	mostCallsToScale  = 14
	mostCallsToDelete = 16
)

// TestLifeOfAPool goes through the life of the built-in pool with kubectl: it is there, is looked at, rests, is changed as planned,
// scaled up and down, and deleted.
func TestLifeOfAPool(t *testing.T) {
	t.Parallel()
	w := world.Start(t, t.TempDir())
	w.Ready("capa-mp-0", 2)
	cloud := account.Of(w)
	w.Costs("create", mostCallsToCreate)

	t.Run("KubectlGet", func(t *testing.T) {
		w := w.In(t)
		got := w.Kubectl("get", "machinepool,awsmachinepool", "-A")
		for _, want := range []string{
			`default +machinepool\.cluster\.x-k8s\.io/capa-mp-0 +capa `,
			`NAME +CLUSTER +DESIRED +CURRENT +READY +UP-TO-DATE +STATE +AGE`,
			`default +awsmachinepool\.infrastructure\.cluster\.x-k8s\.io/capa-mp-0 +capa +2 +2 +2 +2 +Running `,
		} {
			if !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("want a match of %s in\n%s", want, got)
			}
		}
	})
	t.Run("KubectlDescribeShowsConditionsAndEvents", func(t *testing.T) {
		w := w.In(t)
		got := w.Kubectl("describe", "machinepool/capa-mp-0") + w.Kubectl("describe", "awsmachinepool/capa-mp-0")
		for _, want := range []string{"Conditions:", "BootstrapConfigReady", "InfrastructureReady", "Events:", "GroupCreated",
			"aws:///eu-west-1a/i-"} {
			if !strings.Contains(got, want) {
				t.Errorf("want %s in\n%s", want, got)
			}
		}
	})
	t.Run("ConditionsAtRestMatchGolden", func(t *testing.T) { conditionsAtRest(w.In(t)) })
	t.Run("NoWritesAtRest", func(t *testing.T) { restsAfterRestart(w.In(t)) })
	t.Run("PlannedMachinesReplaced", func(t *testing.T) { planThenApply(w.In(t)) })
	t.Run("KubectlScaleOut", func(t *testing.T) {
		w := w.In(t)
		w.ForgetCalls()
		watchTree(w, " 5/5", func() {
			w.Kubectl("scale", "machinepool/capa-mp-0", "--replicas=5")
			w.Ready("capa-mp-0", 5)
		})
		w.Costs("scale up by three", mostCallsToScale)
		account.Nodes(w, 5)
	})
	t.Run("KubectlScaleInKeepsBudget", func(t *testing.T) { scalesPoolDown(w.In(t)) })
	t.Run("KubectlDeleteLeavesNothing", func(t *testing.T) {
		w := w.In(t)
		w.ForgetCalls()
		w.Kubectl("delete", "machinepool/capa-mp-0", "--timeout", world.WaitLimit.String())
		w.Costs("delete", mostCallsToDelete)
		w.Eventually("nothing to be left in the account", func() error { return cloud.Holds().Empty() })
		if got := w.Workload("capa", "get", "nodes", "-o", "name"); got != "" {
			t.Errorf("want no node, got\n%s", got)
		}
		if got := w.Kubectl("get", "awsmachinepool,kubeadmconfig,machine", "-A", "-o", "name"); strings.Contains(got, "capa-mp-0") {
			t.Errorf("want nothing of the pool, got\n%s", got)
		}
	})
}

// updateGolden rewrites golden files.
var updateGolden = flag.Bool("update", false, "write the golden files")

// conditionsAtRest holds every condition of a pool at rest, with its reason and message: people and tools read them.
func conditionsAtRest(w *world.World) {
	w.T.Helper()
	const path = "testdata/conditions.txt"
	if *updateGolden {
		if err := os.WriteFile(path, []byte(sortedConditions(w, "capa-mp-0")), 0o600); err != nil {
			w.T.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.T.Fatal(err)
	}
	// The core object's conditions follow those of the infrastructure's.
	w.Eventually("the conditions of "+path, func() error {
		if diff := cmp.Diff(string(want), sortedConditions(w, "capa-mp-0")); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// sortedConditions returns a pool's conditions, each object's in order, without IDs.
func sortedConditions(w *world.World, pool string) string {
	w.T.Helper()
	lines := strings.Split(strings.TrimSpace(w.Conditions(pool)), "\n")
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && strings.HasPrefix(lines[to], " ") {
			to++
		}
		slices.Sort(lines[from+1 : to])
		from = to
	}
	return regexp.MustCompile(`\blt-[0-9a-f]{17}\b`).ReplaceAllString(strings.Join(lines, "\n"), "lt-ID") + "\n"
}

// budgetManifest is one pod on each node, none of which may go.
const budgetManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: web, image: web}]
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname,
        labelSelector: {matchLabels: {app: web}}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 5, selector: {matchLabels: {app: web}}}
`

// scalesPoolDown holds that machines go drained: a budget that allows nothing keeps them, is named by the pool, and lets them
// go once it is away.
func scalesPoolDown(w *world.World) {
	w.T.Helper()
	before := account.Nodes(w, 5)
	w.ApplyTo("capa", budgetManifest)
	w.Workload("capa", "wait", "deployment/web", "--for=condition=Available", "--timeout", world.WaitLimit.String())
	w.Kubectl("scale", "machinepool/capa-mp-0", "--replicas=2")
	w.Eventually("the pool to name the budget that keeps its nodes", func() error {
		if got := w.Conditions("capa-mp-0"); !regexp.MustCompile(`web-.*default/web|default/web.*web-`).MatchString(got) {
			return fmt.Errorf("the conditions are\n%s", got)
		}
		return nil
	})
	if got := strings.Fields(w.Workload("capa", "get", "pods", "--field-selector=status.phase=Running", "-o", "name")); len(got) != 5 {
		w.T.Errorf("want all five pods running while the budget holds, got %v", got)
	}
	if got := len(account.Of(w).Holds().Instances); got != 5 {
		w.T.Errorf("want five instances while the budget holds, got %d", got)
	}
	w.Workload("capa", "delete", "poddisruptionbudget/web")
	w.Ready("capa-mp-0", 2)
	w.Eventually("the nodes that went to be gone, and the others to be ones that stayed", func() error {
		now := strings.Fields(w.Workload("capa", "get", "nodes", "-o", "name"))
		if len(now) != 2 || !slices.Contains(before, now[0]) || !slices.Contains(before, now[1]) {
			return fmt.Errorf("nodes are %v, were %v", now, before)
		}
		return nil
	})
	if got := w.ReadFrom("capa", "{.items[*].spec.unschedulable}", "nodes"); got != "" {
		w.T.Errorf("want the nodes that stayed to be schedulable, got %q", got)
	}
}

// restsAfterRestart holds that restarted controllers with empty caches find a pool at rest and leave it alone: one read of each kind (the
// group, its hooks, its last refresh, its instances, the launch template, the template's versions), and no write.
func restsAfterRestart(w *world.World) {
	w.T.Helper()
	const mostReads = 6
	w.ForgetCalls()
	w.KillChild("controllers")
	w.Eventually("the controllers to look at the pool", func() error {
		if w.Calls().Total == 0 {
			return errors.New("nothing was asked")
		}
		return nil
	})
	w.Kubectl("annotate", "awsmachinepool/capa-mp-0", "machinepool/capa-mp-0", "example.com/touched=yes")
	w.Ready("capa-mp-0", 2)
	if c := w.Calls(); c.Mutating > 0 || c.Total > mostReads {
		w.T.Errorf("want no write and at most %d reads, got %s", mostReads, c)
	}
}

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
)

// The calls to the cloud that one pool of two may cost, everything included: what is asked before, what is asked to see it
// through, and what is written.
const (
	mostCallsToCreate = 10
	mostCallsToScale  = 5
	mostCallsToDelete = 6
)

// TestLifeOfAPool goes through the life of the built-in pool with kubectl: it is there, is scaled up and down, is looked
// at, rests, and is deleted.
func TestLifeOfAPool(t *testing.T) {
	w := start(t, t.TempDir())
	w.ready("capa-mp-0", 2)
	cloud := w.account()
	w.costs("create", mostCallsToCreate)

	t.Run("kubectl get shows it", func(t *testing.T) {
		w := w.in(t)
		got := w.kubectl("get", "machinepool,awsmachinepool", "-A")
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
	t.Run("kubectl describe tells its conditions and events", func(t *testing.T) {
		w := w.in(t)
		got := w.kubectl("describe", "machinepool/capa-mp-0") + w.kubectl("describe", "awsmachinepool/capa-mp-0")
		for _, want := range []string{"Conditions:", "BootstrapConfigReady", "InfrastructureReady", "Events:", "GroupCreated", "aws:///eu-west-1a/i-"} {
			if !strings.Contains(got, want) {
				t.Errorf("want %s in\n%s", want, got)
			}
		}
	})
	t.Run("its conditions at rest are those that are written down", func(t *testing.T) { conditionsAtRest(w.in(t)) })
	t.Run("at rest nothing is written", func(t *testing.T) { rests(w.in(t)) })
	t.Run("kubectl scale brings five nodes", func(t *testing.T) {
		w := w.in(t)
		w.forgetCalls()
		w.kubectl("scale", "machinepool/capa-mp-0", "--replicas=5")
		w.ready("capa-mp-0", 5)
		w.costs("scale up by three", mostCallsToScale)
		nodes(w, 5)
	})
	t.Run("and takes away as many, as their budget allows", func(t *testing.T) { scalesDown(w.in(t)) })
	t.Run("kubectl delete leaves nothing", func(t *testing.T) {
		w := w.in(t)
		w.forgetCalls()
		w.kubectl("delete", "machinepool/capa-mp-0", "--timeout", waitLimit.String())
		w.costs("delete", mostCallsToDelete)
		w.eventually("nothing to be left in the account", func() error { return cloud.holds().empty() })
		if got := w.workload("capa", "get", "nodes", "-o", "name"); got != "" {
			t.Errorf("want no node, got\n%s", got)
		}
		if got := w.kubectl("get", "awsmachinepool,kubeadmconfig,machine", "-A", "-o", "name"); strings.Contains(got, "capa-mp-0") {
			t.Errorf("want nothing of the pool, got\n%s", got)
		}
	})
}

// update writes golden files anew.
var update = flag.Bool("update", false, "write the golden files")

// conditionsAtRest holds every condition of a pool at rest, with its reason and message: people and tools read them.
func conditionsAtRest(w *world) {
	w.t.Helper()
	const path = "testdata/conditions.txt"
	if *update {
		if err := os.WriteFile(path, []byte(w.sortedConditions("capa-mp-0")), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	// The core object's conditions follow those of the infrastructure's.
	w.eventually("the conditions of "+path, func() error {
		if diff := cmp.Diff(string(want), w.sortedConditions("capa-mp-0")); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// sortedConditions are a pool's conditions, each object's in order, without IDs.
func (w *world) sortedConditions(pool string) string {
	w.t.Helper()
	lines := strings.Split(strings.TrimSpace(w.conditions(pool)), "\n")
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

// webManifest is one pod on each node, none of which may go.
const webManifest = `apiVersion: apps/v1
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
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 5, selector: {matchLabels: {app: web}}}
`

// scalesDown holds that machines go drained: a budget that allows nothing keeps them, is named by the pool, and lets them
// go once it is away.
func scalesDown(w *world) {
	w.t.Helper()
	before := nodes(w, 5)
	w.applyTo("capa", webManifest)
	w.workload("capa", "wait", "deployment/web", "--for=condition=Available", "--timeout", waitLimit.String())
	w.kubectl("scale", "machinepool/capa-mp-0", "--replicas=2")
	w.eventually("the pool to name the budget that keeps its nodes", func() error {
		if got := w.conditions("capa-mp-0"); !regexp.MustCompile(`web-.*default/web|default/web.*web-`).MatchString(got) {
			return fmt.Errorf("the conditions are\n%s", got)
		}
		return nil
	})
	if got := strings.Fields(w.workload("capa", "get", "pods", "--field-selector=status.phase=Running", "-o", "name")); len(got) != 5 {
		w.t.Errorf("want all five pods running while the budget holds, got %v", got)
	}
	if got := len(w.account().holds().instances); got != 5 {
		w.t.Errorf("want five instances while the budget holds, got %d", got)
	}
	w.workload("capa", "delete", "poddisruptionbudget/web")
	w.ready("capa-mp-0", 2)
	w.eventually("the nodes that went to be gone, and the others to be ones that stayed", func() error {
		now := strings.Fields(w.workload("capa", "get", "nodes", "-o", "name"))
		if len(now) != 2 || !slices.Contains(before, now[0]) || !slices.Contains(before, now[1]) {
			return fmt.Errorf("nodes are %v, were %v", now, before)
		}
		return nil
	})
	if got := w.workload("capa", "get", "nodes", "-o", "jsonpath={.items[*].spec.unschedulable}"); got != "" {
		w.t.Errorf("want the nodes that stayed to be schedulable, got %q", got)
	}
}

// in gives the world to a subtest.
func (w *world) in(t *testing.T) *world {
	sub := *w
	sub.t = t
	return &sub
}

// costs holds a bound on the calls since they were last forgotten.
func (w *world) costs(what string, most int) {
	w.t.Helper()
	if c := w.calls(); c.Total > most {
		w.t.Errorf("%s: want at most %d calls to the cloud, got %s", what, most, c)
	} else {
		w.t.Logf("%s: %s", what, c)
	}
}

// nodes checks that a cluster has that many nodes, all Ready, with the provider IDs that their cloud gave them.
func nodes(w *world, count int) []string {
	w.t.Helper()
	// A world that was just found again serves its workload clusters a moment after the management cluster.
	w.eventually("the workload cluster to answer", func() error {
		_, err := w.try("", "--kubeconfig", w.clusterKubeconfig("capa"), "get", "--raw", "/readyz")
		return err
	})
	w.workload("capa", "wait", "node", "--all", "--for=condition=Ready", "--timeout", waitLimit.String())
	names := strings.Fields(w.workload("capa", "get", "nodes", "-o", "name"))
	ids := strings.Fields(w.workload("capa", "get", "nodes", "-o", "jsonpath={.items[*].spec.providerID}"))
	if len(names) != count || len(ids) != count {
		w.t.Fatalf("want %d nodes with provider IDs, got %v with %v", count, names, ids)
	}
	for _, id := range ids {
		if !regexp.MustCompile(`^aws:///eu-west-1a/i-[0-9a-f]{17}$`).MatchString(id) {
			w.t.Errorf("want a provider ID of the form aws:///ZONE/i-..., got %s", id)
		}
	}
	return names
}

// rests holds that controllers which start anew, and remember nothing, find a pool at rest and leave it alone: one read of
// each kind (the group, its hooks, its last refresh, its instances, the launch template, the template's versions), and no write.
func rests(w *world) {
	w.t.Helper()
	const mostReads = 6
	w.forgetCalls()
	w.killChild("controllers")
	w.eventually("the controllers to look at the pool", func() error {
		if w.calls().Total == 0 {
			return errors.New("nothing was asked")
		}
		return nil
	})
	w.kubectl("annotate", "awsmachinepool/capa-mp-0", "machinepool/capa-mp-0", "example.com/touched=yes")
	w.ready("capa-mp-0", 2)
	if c := w.calls(); c.Mutating > 0 || c.Total > mostReads {
		w.t.Errorf("want no write and at most %d reads, got %s", mostReads, c)
	}
}

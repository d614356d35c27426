package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	simgcp "github.com/muster-project/muster/sim/gcp"

	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// gceCluster has the built-in pool of a regional group, and gkeCluster that of a node pool.
	gceCluster, gcePool = "capg", "capg-mp-1"
	gkeCluster, gkePool = "capg-gke", "capg-gke-mp-0"
	// gcpReplicas is the number of machines of each pool.
	gcpReplicas = 2
)

// gcpKinds maps the pools to their kind.
var gcpKinds = map[string]string{gcePool: "gcpmachinepool", theirGCPPool: "gcpmachinepool", gkePool: "gcpmanagedmachinepool"}

// gcpLife is a world with pools on Google Cloud, with a pool and a witness of the machines of its cluster.
type gcpLife struct {
	*world.World
	*world.Witness
	pool string
}

// TestLongLifeOnGoogleCloud goes through the life of a managed instance group and of a node pool, each beneath a Deployment with a budget.
func TestLongLifeOnGoogleCloud(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "--clouds", "gcp", "--pools", gcePool+","+gkePool, "--speed", "20")
	for _, part := range []struct {
		name, cluster, pool string
		run                 func(l *gcpLife)
	}{
		{"MachineTypeReplacesEveryMachine", gceCluster, gcePool, anotherMachineType},
		{"KubectlScaleInOfGroupDrains", gceCluster, gcePool, scalesGCPIn},
		{"GroupAdoptedWithMachines", gceCluster, gcePool, adoptsGCPGroup},
		{"NodePoolUpgradedAfterControlPlane", gkeCluster, gkePool, upgradesNodePool},
		{"KubectlScaleInOfNodePoolDrains", gkeCluster, gkePool, scalesGCPIn},
		{"KubectlDeleteLeavesNothing", gkeCluster, gkePool, deletesGCP},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(beginOnGCP(w.In(t), part.cluster, part.pool)) }) {
			return
		}
	}
}

// beginOnGCP watches the machines of a cluster, beneath a Deployment, once its pool is at rest.
func beginOnGCP(w *world.World, cluster, pool string) *gcpLife {
	w.T.Helper()
	w.Eventually(pool+" to be at rest", func() error { return restingOnGCP(w, pool, w.Read("{.spec.replicas}", "machinepool/"+pool)) })
	w.Web(cluster, 2*gcpReplicas)
	l := &gcpLife{World: w, Witness: w.Watch(cluster), pool: pool}
	l.Begin()
	return l
}

// atRest waits until a pool has as many machines as it wants, all Ready and as specified, and nothing else to do.
func (l *gcpLife) atRest(pool string, want int) {
	l.T.Helper()
	l.Eventually(pool+" to be at rest", func() error { return restingOnGCP(l.World, pool, fmt.Sprint(want)) })
}

// restingOnGCP returns what a pool lacks to be at rest with so many machines.
func restingOnGCP(w *world.World, pool, machines string) error {
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="UpToDate")].status}`
	want := strings.ReplaceAll("N N N Running True", "N", machines)
	if got := w.Read(path, gcpKinds[pool]+"/"+pool); got != want {
		return fmt.Errorf("want %s, got %s; the conditions are\n%s", want, got,
			w.Read(`{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}`, gcpKinds[pool]+"/"+pool))
	}
	return nil
}

// went holds that so many nodes went, within the budget, each drained, and that never fewer served.
func (l *gcpLife) went(want, lowest int) {
	l.T.Helper()
	l.Eventually(fmt.Sprintf("%d nodes to be gone", want), func() error {
		if _, gone, _, _ := l.Saw(); len(gone) != want {
			return fmt.Errorf("gone are %v", gone)
		}
		return nil
	})
	least, gone, _, err := l.Saw()
	if err != nil || least < lowest {
		l.T.Errorf("want %v gone, and at least %d nodes that serve, got %d (%s), %v", gone, lowest, least, l.At(), err)
	}
}

func anotherMachineType(l *gcpLife) {
	l.Kubectl("patch", "gcpmachinepool/"+gcePool, "--type=merge", "-p", `{"spec":{"instanceType":"n2-standard-4"}}`)
	l.went(gcpReplicas, gcpReplicas)
	l.atRest(gcePool, gcpReplicas)
	if got := l.ReadFrom(gceCluster, `{.items[*].metadata.labels.node\.kubernetes\.io/instance-type}`,
		"nodes"); got != "n2-standard-4 n2-standard-4" {
		l.T.Errorf("want every node of the new type, got %s", got)
	}
}

func scalesGCPIn(l *gcpLife) {
	l.Kubectl("scale", "machinepool/"+l.pool, "--replicas", fmt.Sprint(gcpReplicas-1))
	l.went(1, gcpReplicas-1)
	l.atRest(l.pool, gcpReplicas-1)
}

func upgradesNodePool(l *gcpLife) {
	l.ByCloud()
	l.Kubectl("patch", "gcpmanagedcontrolplane/"+gkeCluster, "--type=merge", "-p", `{"spec":{"version":"v1.35.1"}}`)
	l.Kubectl("patch", "machinepool/"+gkePool, "--type=merge", "-p", `{"spec":{"template":{"spec":{"version":"v1.35.1"}}}}`)
	l.Wait("gcpmanagedmachinepool/"+gkePool, "{.status.version}", "v1.35.1")
	l.went(gcpReplicas, gcpReplicas)
	l.atRest(gkePool, gcpReplicas)
	if got := l.ReadFrom(gkeCluster, `{.items[*].status.nodeInfo.kubeletVersion}`, "nodes"); strings.Count(got, "v1.35.1-gke.") != gcpReplicas {
		l.T.Errorf("want every node upgraded, got %s", got)
	}
}

func deletesGCP(l *gcpLife) {
	l.Kubectl("delete", "cluster/"+gkeCluster, "cluster/"+gceCluster, "--timeout", world.WaitLimit.String())
	left := l.Kubectl("get", "machinepool,gcpmachinepool,gcpmanagedmachinepool,gcpcluster,gcpmanagedcluster,gcpmanagedcontrolplane",
		"-o", "name")
	if strings.TrimSpace(left) != "" {
		l.T.Errorf("want no object left, got %s", left)
	}
	var state simgcp.State
	l.Admin(http.MethodGet, "state", "", &state)
	for _, group := range state.Groups {
		l.T.Errorf("want no group left, got %s", group.Path)
	}
	for _, template := range state.Templates {
		if template.Name != theirGCPTemplate { // that of the existing provider is no pool's
			l.T.Errorf("want no template left but %s, got %s", theirGCPTemplate, template.Name)
		}
	}
	if len(state.Clusters) > 0 {
		l.T.Errorf("want no cluster left, got %+v", state.Clusters)
	}
}

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// kapsuleCluster has the built-in pool of Kapsule, which begins with as many nodes.
	kapsuleCluster, kapsulePool = "caps", "caps-mp-0"
	kapsuleReplicas             = 2
	kapsuleNewer                = "v1.35.3"
)

// kapsuleLife is a world with pools of Kapsule, with a witness of the nodes of their cluster.
type kapsuleLife struct {
	*world.World
	*world.Witness
}

// TestLongLifeOnScaleway goes through the life of a pool of Kapsule beneath a Deployment with a budget, and adopts one of the existing
// provider.
func TestLongLifeOnScaleway(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "--clouds", "scaleway", "--pools", kapsulePool, "--speed", "20")
	for _, part := range []struct {
		name string
		run  func(l *kapsuleLife)
	}{
		{"LabelsAndTaintsChangeInPlace", changesLabels},
		{"KubectlScaleRemovesMarkedNode", scalesKapsule},
		{"PoolAdoptedWithNodes", adoptsKapsulePool},
		{"PoolUpgradedAfterControlPlane", upgradesKapsulePool},
		{"KubectlDeleteLeavesNothing", deletesKapsule},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(beginOnScaleway(w.In(t))) }) {
			return
		}
	}
}

// beginOnScaleway watches the nodes of the cluster, beneath a Deployment, once its pool is at rest.
func beginOnScaleway(w *world.World) *kapsuleLife {
	w.T.Helper()
	l := &kapsuleLife{World: w}
	l.atRest(kapsulePool, kapsuleReplicas)
	w.Web(kapsuleCluster, 2*kapsuleReplicas)
	l.Witness = w.Watch(kapsuleCluster)
	l.Begin()
	return l
}

// atRest waits until a pool has as many nodes as it wants, all Ready and as specified, and nothing else to do.
func (l *kapsuleLife) atRest(pool string, nodes int) {
	l.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="UpToDate")].status}`
	want := fmt.Sprintf("%[1]d %[1]d %[1]d Running True", nodes)
	l.Eventually(pool+" to be at rest", func() error {
		if got := l.Read(path, "scalewaymanagedmachinepool/"+pool); got != want {
			return fmt.Errorf("want %s, got %s; the conditions are\n%s", want, got,
				l.Read(`{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}`, "scalewaymanagedmachinepool/"+pool))
		}
		return nil
	})
}

// went holds that so many nodes went, within the budget, each drained, and that never fewer served.
func (l *kapsuleLife) went(want, lowest int) []string {
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
	return gone
}

// nodesOf returns the names of the nodes with a label.
func (l *kapsuleLife) nodesOf(label string) []string {
	l.T.Helper()
	return strings.Fields(l.ReadFrom(kapsuleCluster, `{.items[*].metadata.name}`, "nodes", "-l", label))
}

func changesLabels(l *kapsuleLife) {
	l.Kubectl("patch", "scalewaymanagedmachinepool/"+kapsulePool, "--type=merge", "-p",
		`{"spec":{"labels":{"tier":"b"},"taints":[{"key":"dedicated","value":"x","effect":"PreferNoSchedule"}]}}`)
	l.Eventually("the nodes to have the label and the taint", func() error {
		taints := l.ReadFrom(kapsuleCluster, `{.items[*].spec.taints[?(@.key=="dedicated")].value}`, "nodes")
		if nodes := l.nodesOf("tier=b"); len(nodes) != kapsuleReplicas || taints != "x x" {
			return fmt.Errorf("labels have %v, taints are %q", nodes, taints)
		}
		return nil
	})
	l.atRest(kapsulePool, kapsuleReplicas)
	l.went(0, kapsuleReplicas)
}

func scalesKapsule(l *kapsuleLife) {
	l.Kubectl("scale", "machinepool/"+kapsulePool, "--replicas", fmt.Sprint(kapsuleReplicas+1))
	l.atRest(kapsulePool, kapsuleReplicas+1)
	all := l.nodesOf("tier=b")
	victim := all[len(all)-1]
	l.Workload(kapsuleCluster, "annotate", "node", victim, "cluster.x-k8s.io/delete-machine=yes")
	l.Kubectl("scale", "machinepool/"+kapsulePool, "--replicas", fmt.Sprint(kapsuleReplicas))
	if gone := l.went(1, kapsuleReplicas); !slices.Equal(gone, []string{victim}) {
		l.T.Errorf("want the marked node %s gone, got %v", victim, gone)
	}
	l.atRest(kapsulePool, kapsuleReplicas)
}

func upgradesKapsulePool(l *kapsuleLife) {
	l.ByCloud()
	l.Kubectl("patch", "scalewaymanagedcontrolplane/"+kapsuleCluster, "--type=merge", "-p", `{"spec":{"version":"`+kapsuleNewer+`"}}`)
	l.Kubectl("patch", "machinepool/"+kapsulePool, "--type=merge", "-p", `{"spec":{"template":{"spec":{"version":"`+kapsuleNewer+`"}}}}`)
	l.Wait("scalewaymanagedmachinepool/"+kapsulePool, "{.status.version}", kapsuleNewer)
	l.went(kapsuleReplicas, kapsuleReplicas)
	l.atRest(kapsulePool, kapsuleReplicas)
	if got := l.ReadFrom(kapsuleCluster, `{.items[*].status.nodeInfo.kubeletVersion}`, "nodes"); strings.Count(got, kapsuleNewer) < kapsuleReplicas {
		l.T.Errorf("want every node of the pool upgraded, got %s", got)
	}
}

func deletesKapsule(l *kapsuleLife) {
	l.Kubectl("delete", "cluster/"+kapsuleCluster, "--timeout", world.WaitLimit.String())
	left := l.Kubectl("get", "machinepool,scalewaymanagedmachinepool,scalewaymanagedcluster,scalewaymanagedcontrolplane", "-o", "name")
	if strings.TrimSpace(left) != "" {
		l.T.Errorf("want no object left, got %s", left)
	}
	if clusters := kapsuleOf(l).clusters(); len(clusters) > 0 {
		l.T.Errorf("want no cluster left, got %v", clusters)
	}
}

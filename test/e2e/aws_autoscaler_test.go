package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/test/e2e/world"
)

const autoscalerBounds = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"

// autoscaled does to the adopted pool what the cluster-autoscaler's provider for Cluster API is documented to do: it finds the pool by its
// bounds, reads its nodes in spec.providerIDList, sizes it by its scale subresource, marks the Machine of the node that it has chosen, and
// reads what a node offers while there is none.
func autoscaled(w *world.World) {
	object, pool := "awsmachinepool/"+theirAWSPool, "machinepool/"+theirAWSPool
	w.Kubectl("annotate", pool, autoscalerBounds+"min-size=0", autoscalerBounds+"max-size=3")
	w.Kubectl("annotate", object, "muster.dev/machines=true")
	w.Kubectl("scale", pool, "--replicas=3") // by the subresource
	listedProviderIDs(w, pool, 3)

	chosen := strings.Fields(w.Read("{.spec.providerIDList[*]}", pool))[1]
	machine := machineOfProviderID(w, chosen)
	w.Kubectl("annotate", "machine/"+machine, "cluster.x-k8s.io/delete-machine=now")
	w.Kubectl("scale", pool, "--replicas=2")
	if left := listedProviderIDs(w, pool, 2); slices.Contains(left, chosen) {
		w.T.Errorf("with Machines: want the chosen %s gone, %v are left", chosen, left)
	}
	w.Kubectl("annotate", object, "muster.dev/machines-")
	w.Eventually("the Machines to be taken away", func() error {
		if got := w.Read("{.items[*].metadata.name}", "machine", "-l", "cluster.x-k8s.io/pool-name="+theirAWSPool); got != "" {
			return errors.New("there are " + got)
		}
		return nil
	})
	chosen = listedProviderIDs(w, pool, 2)[0]
	node := w.ReadFrom(ec2Cluster, `{.items[?(@.spec.providerID=="`+chosen+`")].metadata.name}`, "nodes")
	w.Workload(ec2Cluster, "taint", "node", node, "ToBeDeletedByClusterAutoscaler=1:NoSchedule")
	w.Kubectl("scale", pool, "--replicas=1")
	if left := listedProviderIDs(w, pool, 1); slices.Contains(left, chosen) {
		w.T.Errorf("without Machines: want the tainted %s gone, %v are left", chosen, left)
	}
	autoscaledFromZero(w, object, pool)
	w.Kubectl("delete", pool, "--timeout", world.WaitLimit.String())
}

// autoscaledFromZero scales a pool to none, where what its machines will offer must still be there to read, and back to one.
func autoscaledFromZero(w *world.World, object, pool string) {
	w.T.Helper()
	w.Kubectl("patch", object, "--type=merge", "-p", `{"spec":{"minSize":0}}`)
	w.Kubectl("scale", pool, "--replicas=0")
	listedProviderIDs(w, pool, 0)
	const offered = `{.status.capacity.cpu} {.status.capacity.memory} {.status.capacity.pods} {.status.nodeInfo.architecture} {.status.nodeInfo.operatingSystem}`
	if got := w.Read(offered, object); got != "2 8Gi 110 amd64 linux" {
		w.T.Errorf("want what a t3.large offers while there is no machine, got %q", got)
	}
	w.Kubectl("scale", pool, "--replicas=1")
	listedProviderIDs(w, pool, 1)
}

// listedProviderIDs waits until a pool names that many provider IDs, each of a Ready node, and returns them.
func listedProviderIDs(w *world.World, pool string, count int) []string {
	w.T.Helper()
	var ids []string
	w.Eventually(fmt.Sprintf("%d provider IDs of %s, all of Ready machines", count, pool), func() error {
		ids = strings.Fields(w.Read("{.spec.providerIDList[*]}", pool))
		ready := w.Read("{.status.readyReplicas}", pool)
		if len(ids) != count || ready != fmt.Sprint(count) {
			return fmt.Errorf("they are %v, %s are Ready", ids, ready)
		}
		return nil
	})
	return ids
}

// machineOfProviderID waits for the Machine of an instance and returns its name.
func machineOfProviderID(w *world.World, providerID string) (name string) {
	w.T.Helper()
	w.Eventually("a Machine of "+providerID, func() error {
		if name = w.Read(`{.items[?(@.spec.providerID=="`+providerID+`")].metadata.name}`, "machine"); name == "" {
			return errors.New("there is none")
		}
		return nil
	})
	return name
}

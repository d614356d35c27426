package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/test/e2e/world"
)

// restored backs up a pool that has Machines, loses its objects, and restores them as backup tools do: without owner references, UIDs and
// status. The cluster is paused meanwhile, in the place of a manager that is stopped.
func restored(w *world.World) {
	object := "awsmachinepool/" + theirAWSPool
	w.Kubectl("annotate", object, "muster.dev/machines=true")
	const owned = `{range .items[*]}{.metadata.name} {.metadata.ownerReferences[?(@.kind=="AWSMachinePool")].uid}{"\n"}{end}`
	machines := func() error {
		uid := w.Read("{.metadata.uid}", object)
		list := w.Read(owned, "awsmachine", "-l", "cluster.x-k8s.io/pool-name="+theirAWSPool)
		if strings.Count(list, " "+uid+"\n") != 2 ||
			len(strings.Fields(w.Read("{.items[*].status.nodeRef.name}", "machine", "-l", "cluster.x-k8s.io/pool-name="+theirAWSPool))) != 2 {
			return errors.New("the infrastructure machines and their owners are\n" + list)
		}
		return nil
	}
	w.Eventually("two Machines, and infrastructure machines that the pool owns", machines)
	others := notIn(nodeUIDs(w, ec2Cluster), nodesOfRestoredPool(w))
	before, names := twoMoreNodes(w, ec2Cluster, others), w.Read("{.items[*].metadata.name}", "machine", "-l",
		"cluster.x-k8s.io/pool-name="+theirAWSPool)

	w.Kubectl("patch", "cluster/"+ec2Cluster, "--type=merge", "-p", `{"spec":{"paused":true}}`)
	w.Wait(object, `{.status.conditions[?(@.type=="Paused")].status}`, "True")
	objects := backUp(w)
	loseObjects(w, objects)
	w.Apply(strings.Join(objects, "\n---\n"))
	w.Kubectl("patch", "cluster/"+ec2Cluster, "--type=merge", "-p", `{"spec":{"paused":false}}`)

	adoptedOnAWS(w, object, ec2Cluster, before, others)
	w.Eventually("the restored Machines to be the pool's again", machines)
	if now := w.Read("{.items[*].metadata.name}", "machine", "-l", "cluster.x-k8s.io/pool-name="+theirAWSPool); now != names {
		w.T.Errorf("want the Machines %s, got %s", names, now)
	}
}

// nodesOfRestoredPool returns the UIDs of the Nodes that the pool's MachinePool lists.
func nodesOfRestoredPool(w *world.World) []string {
	w.T.Helper()
	return strings.Fields(w.Read("{.status.nodeRefs[*].uid}", "machinepool/"+theirAWSPool))
}

// notIn returns the items of the first list that the second one lacks.
func notIn(all, some []string) []string {
	return slices.DeleteFunc(all, func(one string) bool { return slices.Contains(some, one) })
}

// backUp returns the pool's objects as JSON, with what backup tools keep of them.
func backUp(w *world.World) []string {
	w.T.Helper()
	var list struct{ Items []map[string]any }
	for _, what := range [][]string{
		{"machinepool/" + theirAWSPool, "awsmachinepool/" + theirAWSPool, "kubeadmconfig/" + theirAWSPool, "secret/" + theirAWSPool},
		{"machine,awsmachine", "-l", "cluster.x-k8s.io/pool-name=" + theirAWSPool},
	} {
		var some struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(w.Kubectl(append([]string{"get", "-o", "json"}, what...)...)), &some); err != nil {
			w.T.Fatal(err)
		}
		list.Items = append(list.Items, some.Items...)
	}
	var objects []string
	for _, o := range list.Items {
		delete(o, "status")
		metadata := o["metadata"].(map[string]any)
		for _, field := range []string{"uid", "resourceVersion", "ownerReferences", "creationTimestamp", "managedFields", "generation"} {
			delete(metadata, field)
		}
		text, err := json.Marshal(o)
		if err != nil {
			w.T.Fatal(err)
		}
		objects = append(objects, string(text))
	}
	return objects
}

// loseObjects deletes objects without any controller's consent.
func loseObjects(w *world.World, objects []string) {
	w.T.Helper()
	for _, text := range objects {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			w.T.Fatal(err)
		}
		name := strings.ToLower(o.Kind) + "/" + o.Metadata.Name
		w.Kubectl("delete", name, "--wait=false", "--ignore-not-found")
		w.Eventually(name+" to be lost", func() error {
			if out, err := w.Try("", "--kubeconfig", w.Kubeconfig, "patch", name, "--type=merge", "-p",
				`{"metadata":{"finalizers":null}}`); err == nil {
				return fmt.Errorf("it is there: %s", out)
			} else if !strings.Contains(out, "NotFound") {
				return fmt.Errorf("patch: %s", out)
			}
			return nil
		})
	}
}

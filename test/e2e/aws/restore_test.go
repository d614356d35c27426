package aws

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
	object := "awsmachinepool/" + theirPool
	w.Kubectl("annotate", object, "muster.dev/machines=true")
	const owned = `{range .items[*]}{.metadata.name} {.metadata.ownerReferences[?(@.kind=="AWSMachinePool")].uid}{"\n"}{end}`
	machines := func() error {
		uid := w.Read("{.metadata.uid}", object)
		list := w.Read(owned, "awsmachine", "-l", "cluster.x-k8s.io/pool-name="+theirPool)
		if strings.Count(list, " "+uid+"\n") != 2 ||
			len(strings.Fields(w.Read("{.items[*].status.nodeRef.name}", "machine", "-l", "cluster.x-k8s.io/pool-name="+theirPool))) != 2 {
			return errors.New("the infrastructure machines and their owners are\n" + list)
		}
		return nil
	}
	w.Eventually("two Machines, and infrastructure machines that the pool owns", machines)
	others := without(uidsOf(w, plainCluster), nodesOfPool(w))
	before, names := members(w, plainCluster, others), w.Read("{.items[*].metadata.name}", "machine", "-l",
		"cluster.x-k8s.io/pool-name="+theirPool)

	w.Kubectl("patch", "cluster/"+plainCluster, "--type=merge", "-p", `{"spec":{"paused":true}}`)
	w.Wait(object, `{.status.conditions[?(@.type=="Paused")].status}`, "True")
	objects := backup(w)
	lose(w, objects)
	w.Apply(strings.Join(objects, "\n---\n"))
	w.Kubectl("patch", "cluster/"+plainCluster, "--type=merge", "-p", `{"spec":{"paused":false}}`)

	adopted(w, object, plainCluster, before, others)
	w.Eventually("the restored Machines to be the pool's again", machines)
	if now := w.Read("{.items[*].metadata.name}", "machine", "-l", "cluster.x-k8s.io/pool-name="+theirPool); now != names {
		w.T.Errorf("want the Machines %s, got %s", names, now)
	}
}

// nodesOfPool are the UIDs of the Nodes that the pool's MachinePool lists.
func nodesOfPool(w *world.World) []string {
	w.T.Helper()
	return strings.Fields(w.Read("{.status.nodeRefs[*].uid}", "machinepool/"+theirPool))
}

// without returns what is in the first list and not in the second.
func without(all, some []string) []string {
	return slices.DeleteFunc(all, func(one string) bool { return slices.Contains(some, one) })
}

// backup returns the pool's objects as JSON, with what backup tools keep of them.
func backup(w *world.World) []string {
	w.T.Helper()
	var list struct{ Items []map[string]any }
	for _, what := range [][]string{
		{"machinepool/" + theirPool, "awsmachinepool/" + theirPool, "kubeadmconfig/" + theirPool, "secret/" + theirPool},
		{"machine,awsmachine", "-l", "cluster.x-k8s.io/pool-name=" + theirPool},
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

// lose deletes objects without any controller's consent.
func lose(w *world.World, objects []string) {
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

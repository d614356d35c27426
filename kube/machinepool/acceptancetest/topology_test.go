package acceptancetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/test/testrun"
)

// class returns a ClusterClass with one class of pools, whose infrastructure gets properties of the pool by patches.
const class = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: class}
spec:
  infrastructure: {templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: TestClusterTemplate, name: cluster}}
  controlPlane: {templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: TestControlPlaneTemplate, name: plane}}
  workers:
    machinePools:
    - class: workers
      metadata: {labels: {from: class}}
      failureDomains: [zone-a]
      minReadySeconds: 1
      deletion: {nodeDrainTimeoutSeconds: 300}
      bootstrap: {templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: TestConfigTemplate, name: config}}
      infrastructure: {templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: TestMachinePoolTemplate, name: pool}}
  patches:
  - name: tell
    definitions:
    - selector: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: TestMachinePoolTemplate,
        matchResources: {machinePoolClass: {names: [workers]}}}
      jsonPatches:
      - {op: add, path: /spec/template/spec/version, valueFrom: {variable: builtin.machinePool.version}}
      - {op: add, path: /spec/template/spec/topologyName, valueFrom: {variable: builtin.machinePool.topologyName}}
      - {op: add, path: /spec/template/spec/class, valueFrom: {variable: builtin.machinePool.class}}
      - {op: add, path: /spec/template/spec/replicas, valueFrom: {variable: builtin.machinePool.replicas}}
      - {op: add, path: /spec/template/spec/config, valueFrom: {variable: builtin.machinePool.bootstrap.configRef.name}}
`

// topology creates a Cluster of the class with the named pools of one machine each, and acts as its providers until it is ready.
func topology(t *testing.T, pools ...string) *world {
	t.Helper()
	w := emptyWorld(t)
	for gvk, spec := range map[schema.GroupVersionKind]map[string]any{
		clusterGVK: {}, planeGVK: {}, configGVK: {"content": "one"}, poolGVK: {"size": "small"},
	} {
		name := map[string]string{"TestCluster": "cluster", "TestControlPlane": "plane", "TestConfig": "config",
			"TestMachinePool": "pool"}[gvk.Kind]
		w.create(w.object(templateOf(gvk), name, map[string]any{"template": map[string]any{"spec": spec}}, nil))
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(class), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetNamespace(w.ns)
	w.create(o)
	w.kubeconfig()
	c := &clusterv1.Cluster{}
	c.Namespace, c.Name = w.ns, "c1"
	c.Spec.Topology.ClassRef.Name, c.Spec.Topology.Version = "class", "v1.36.0"
	for _, name := range pools {
		c.Spec.Topology.Workers.MachinePools = append(c.Spec.Topology.Workers.MachinePools,
			clusterv1.MachinePoolTopology{Class: "workers", Name: name, Replicas: new(int32(1)),
				Metadata: clusterv1.ObjectMeta{Labels: map[string]string{"node.cluster.x-k8s.io/tier": name}}})
	}
	w.create(c)
	w.only(clusterGVK, func(o map[string]any) {
		_ = unstructured.SetNestedMap(o, map[string]any{"host": "127.0.0.1", "port": int64(server.Port)}, "spec", "controlPlaneEndpoint")
		o["status"] = map[string]any{"initialization": map[string]any{"provisioned": true}}
	})
	w.planeRuns("v1.36.0")
	return w
}

// only waits for the only object of a kind, and changes it.
func (w *world) only(gvk schema.GroupVersionKind, how func(o map[string]any)) {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	w.eventually("a "+gvk.Kind, func(ctx context.Context) error {
		if err := admin.List(ctx, list, client.InNamespace(w.ns)); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("want one, got %d; %s", len(list.Items), w.topologySays(ctx))
		}
		return nil
	})
	w.change(gvk, list.Items[0].GetName(), how)
}

// topologySays returns the condition of the topology controller on the Cluster.
func (w *world) topologySays(ctx context.Context) string {
	c := &clusterv1.Cluster{}
	if err := admin.Get(ctx, w.key("c1"), c); err != nil {
		return err.Error()
	}
	return conditions.GetMessage(c, clusterv1.ClusterTopologyReconciledCondition)
}

// planeRuns makes the control plane report a version.
func (w *world) planeRuns(version string) {
	w.t.Helper()
	w.only(planeGVK, func(o map[string]any) {
		o["status"] = map[string]any{"externalManagedControlPlane": true, "initialization": map[string]any{"controlPlaneInitialized": true},
			"version": version}
	})
}

// poolOf waits for the pool of a name in the topology.
func (w *world) poolOf(name string) *clusterv1.MachinePool {
	w.t.Helper()
	list := &clusterv1.MachinePoolList{}
	w.eventually("the pool "+name, func(ctx context.Context) error {
		if err := admin.List(ctx, list, client.InNamespace(w.ns),
			client.MatchingLabels{clusterv1.ClusterTopologyMachinePoolNameLabel: name}); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("want one, got %d; %s", len(list.Items), w.topologySays(ctx))
		}
		return nil
	})
	return &list.Items[0]
}

// serves acts as the providers of a topology's pool with one machine, of instance n, and waits until it is Running.
func (w *world) serves(name string, n int) {
	w.t.Helper()
	template := w.poolOf(name).Spec.Template.Spec
	w.change(configGVK, template.Bootstrap.ConfigRef.Name, func(o map[string]any) { o["status"] = w.aConfig("boot").Object["status"] })
	w.change(poolGVK, template.InfrastructureRef.Name, func(o map[string]any) {
		_ = unstructured.SetNestedSlice(o, []any{w.id(n)}, "spec", "providerIDList")
		o["status"] = w.anInfra(1).Object["status"]
	})
	w.node(n)
	w.eventually(name+" runs", func(context.Context) error {
		if p := w.poolOf(name); countsAndPhase(p) != "[1 1 1 1] Running" {
			return fmt.Errorf("got %s, %+v", countsAndPhase(p), p.Status.Conditions)
		}
		return nil
	})
}

// TestRow60_ClusterClassCreatesPools holds that what a class and its topology define is in the MachinePool that the topology controller
// creates, and that the pool becomes Running.
func TestRow60_ClusterClassCreatesPools(t *testing.T) {
	w := topology(t, "web")
	w.serves("web", 1)
	p := w.poolOf("web")
	s := p.Spec.Template.Spec
	want(t, "name", strings.HasPrefix(p.Name, "c1-web-"), true)
	want(t, "of the class", fmt.Sprint(p.Spec.FailureDomains, *s.MinReadySeconds, *s.Deletion.NodeDrainTimeoutSeconds, p.Labels["from"],
		p.Spec.Template.Labels["from"]),
		fmt.Sprint([]string{"zone-a"}, 1, 300, "class", "class"))
	want(t, "of the topology", fmt.Sprint(*p.Spec.Replicas, s.Version, p.Spec.Template.Labels["node.cluster.x-k8s.io/tier"]),
		fmt.Sprint(1, "v1.36.0", "web"))
	w.eventually("what the node has of it", func(context.Context) error {
		if got := w.getNode(1).Labels["node.cluster.x-k8s.io/tier"]; got != "web" {
			return fmt.Errorf("want web, got %s", got)
		}
		return nil
	})
}

// TestLongRow61_TopologyReconcilesWithoutConflicts holds that a pool of a topology keeps its labels and is not written repeatedly, and that
// another template changes the objects of the pool instead of replacing them.
func TestLongRow61_TopologyReconcilesWithoutConflicts(t *testing.T) {
	testrun.LongOnly(t)
	w := topology(t, "web")
	w.serves("web", 1)
	_, owned := w.poolOf("web").Labels[clusterv1.ClusterTopologyOwnedLabel]
	want(t, "label of what is a topology's", owned, true)
	rest, same := "", 0
	w.eventually("nothing is written any more", func(context.Context) error {
		p := w.poolOf("web")
		now := p.ResourceVersion + " " + w.get(poolGVK, p.Spec.Template.Spec.InfrastructureRef.Name).GetResourceVersion() + " " +
			w.get(configGVK, p.Spec.Template.Spec.Bootstrap.ConfigRef.Name).GetResourceVersion()
		if now != rest {
			rest, same = now, 0
		}
		if same++; same < 30 {
			return fmt.Errorf("unchanged for %d looks", same)
		}
		return nil
	})
	before := w.poolOf("web").Spec.Template.Spec
	w.create(w.object(templateOf(poolGVK), "large", map[string]any{"template": map[string]any{"spec": map[string]any{"size": "large"}}}, nil))
	w.change(clusterv1.GroupVersion.WithKind("ClusterClass"), "class", func(o map[string]any) {
		pools, _, _ := unstructured.NestedSlice(o, "spec", "workers", "machinePools")
		_ = unstructured.SetNestedField(pools[0].(map[string]any), "large", "infrastructure", "templateRef", "name")
		_ = unstructured.SetNestedSlice(o, pools, "spec", "workers", "machinePools")
	})
	w.eventually("the infrastructure is changed in its place", func(context.Context) error {
		o := w.get(poolGVK, before.InfrastructureRef.Name)
		size, _, _ := unstructured.NestedString(o.Object, "spec", "size")
		ids, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "providerIDList")
		if size != "large" || len(ids) != 1 {
			return fmt.Errorf("want it large and with its instance, got %s, %v", size, ids)
		}
		return nil
	})
	want(t, "what the pool refers to", w.poolOf("web").Spec.Template.Spec.InfrastructureRef, before.InfrastructureRef)
}

// upgrade sets the version of the topology.
func (w *world) upgrade(version string) {
	w.t.Helper()
	w.change(clusterv1.GroupVersion.WithKind("Cluster"), "c1", func(o map[string]any) {
		_ = unstructured.SetNestedField(o, version, "spec", "topology", "version")
	})
}

// TestLongRow62_UpgradeOrder holds the order of an upgrade, which the topology controller derives from the Node references of the
// controller: the second pool waits until the Nodes of the first run the version.
func TestLongRow62_UpgradeOrder(t *testing.T) {
	testrun.LongOnly(t)
	w := topology(t, "a", "b")
	w.serves("a", 1)
	w.serves("b", 2)
	w.upgrade("v1.37.0")
	version := func(name string) string { return w.poolOf(name).Spec.Template.Spec.Version }
	w.eventually("the control plane is upgraded first", func(context.Context) error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(planeGVK)
		if err := admin.List(t.Context(), list, client.InNamespace(w.ns)); err != nil {
			return err
		}
		if got, _, _ := unstructured.NestedString(list.Items[0].Object, "spec", "version"); got != "v1.37.0" {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
	want(t, "pools before the control plane is there", version("a")+" "+version("b"), "v1.36.0 v1.36.0")
	w.planeRuns("v1.37.0")
	upgraded := func(wanted string) {
		w.eventually("versions", func(context.Context) error {
			if got := version("a") + " " + version("b"); got != wanted {
				return fmt.Errorf("want %s, got %s", wanted, got)
			}
			return nil
		})
	}
	upgraded("v1.37.0 v1.36.0")
	w.eventually("the node of a runs the version", func(ctx context.Context) error {
		n := &corev1.Node{}
		if err := admin.Get(ctx, client.ObjectKey{Name: w.nodeName(1)}, n); err != nil {
			return err
		}
		n.Status.NodeInfo.KubeletVersion = "v1.37.0"
		return admin.Status().Update(ctx, n)
	})
	upgraded("v1.37.0 v1.37.0")
	w.eventually("versions of pool a", func(context.Context) error {
		if got := fmt.Sprint(w.poolOf("a").Status.Versions); got != fmt.Sprint([]clusterv1.StatusVersion{{Version: "v1.37.0", Replicas: 1}}) {
			return fmt.Errorf("got %s", got)
		}
		return nil
	})
}

// TestRow63_VariablesOfPatches holds that the variables about pools in patches of a class have the values of the pool.
func TestRow63_VariablesOfPatches(t *testing.T) {
	w := topology(t, "web")
	w.serves("web", 1)
	template := w.poolOf("web").Spec.Template.Spec
	w.eventually("patched fields of the infrastructure object", func(context.Context) error {
		spec, _, _ := unstructured.NestedMap(w.get(poolGVK, template.InfrastructureRef.Name).Object, "spec")
		got := fmt.Sprint(spec["version"], spec["topologyName"], spec["class"], spec["replicas"], spec["config"], spec["size"])
		if wanted := fmt.Sprint("v1.36.0", "web", "workers", int64(1), template.Bootstrap.ConfigRef.Name, "small"); got != wanted {
			return fmt.Errorf("want %s, got %s", wanted, got)
		}
		return nil
	})
}

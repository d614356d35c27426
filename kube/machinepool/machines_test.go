package machinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/machinesync"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/nodes"
)

func TestRow27_MachinesAreCreatedForInfrastructureMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), withMachines(id1, id2), anInfraMachine("m1", id1),
		anInfraMachine("m2", id2)})
	w.node("n1", id1, true)
	w.changeNode("n1", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.0-eks-1a2b3c" })
	w.settled()
	wantAll(t, "Machines", w.machineNames(), []string{"m1", "m2"})
	m := w.machine("m1")
	if !metav1.IsControlledBy(m, w.pool()) {
		t.Errorf("owners: want the pool as controller, got %v", m.OwnerReferences)
	}
	want(t, "cluster label", m.Labels[clusterv1.ClusterNameLabel], "c1")
	want(t, "pool label", m.Labels[clusterv1.MachinePoolNameLabel], "pool")
	want(t, "cluster", m.Spec.ClusterName, "c1")
	want(t, "infrastructure machine", m.Spec.InfrastructureRef,
		clusterv1.ContractVersionedObjectReference{APIGroup: machineGVK.Group, Kind: "TestMachine", Name: "m1"})
	want(t, "bootstrap data: none, because the pool has it", *m.Spec.Bootstrap.DataSecretName, "")
	want(t, "version: what its node runs", m.Spec.Version, "v1.36.0-eks-1a2b3c")
	want(t, "version without a node", w.machine("m2").Spec.Version, "")
	want(t, "zone", m.Spec.FailureDomain, "zone-a")
	want(t, "annotations of a template without any", len(m.Annotations), 0)
	if !slices.Contains(w.events(), "Normal SuccessfulCreateMachine Created Machines for instances: m1, m2") {
		t.Error("events: want the creation recorded")
	}
	want(t, "phase while the state of the Machines is unknown", w.pool().Status.Phase, "ScalingUp")
	w.upstream()
	w.node("n2", id2, true)
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	for range 3 {
		if res := w.pass(); res.RequeueAfter != 0 || len(w.writes) != 0 {
			t.Errorf("a pool without changes: want no write and no further pass, got %v, %v", w.writes, res.RequeueAfter)
		}
	}
}

func TestDefectD_MachinesFollowTheTemplate(t *testing.T) {
	t.Parallel()
	num := func(n int32) *int32 { return &n }
	w := populated(t)
	w.changeMachine("m1", func(m *clusterv1.Machine) {
		m.Labels["mine"], m.Annotations = "l", map[string]string{"mine": "a"}
		m.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Mine"}}
		m.Spec.Taints = []clusterv1.MachineTaint{{Key: "mine", Effect: corev1.TaintEffectNoSchedule}}
		m.Spec.Deletion.NodeDeletionTimeoutSeconds = num(10)
	})
	w.settled()
	want(t, "writes after changes by another client", len(w.writes), 0)

	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels, p.Spec.Template.Annotations = map[string]string{"pool": "l", "also": "l"}, map[string]string{"pool": "a"}
		s := &p.Spec.Template.Spec
		s.MinReadySeconds = num(60)
		s.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"},
			{ConditionType: "Second", Polarity: clusterv1.NegativePolarityCondition}}
		s.Taints = []clusterv1.MachineTaint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		s.Deletion = clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: num(300), NodeVolumeDetachTimeoutSeconds: num(200),
			NodeDeletionTimeoutSeconds: num(100)}
	})
	w.settled()
	check := func(what, got, wanted string) { t.Helper(); want(t, what, strings.TrimSpace(got), wanted) }
	spec := func(name string) string {
		s := w.machine(name).Spec
		return fmt.Sprintln(deref(s.MinReadySeconds), deref(s.Deletion.NodeDrainTimeoutSeconds), deref(s.Deletion.NodeVolumeDetachTimeoutSeconds),
			deref(s.Deletion.NodeDeletionTimeoutSeconds), s.FailureDomain, s.ReadinessGates, members.Keys(s.Taints, members.TaintKey))
	}
	check("of a Machine that only the pool writes", spec("m2"), "60 300 200 100 zone-a [{Gate } {Second Negative}] [gpu:NoSchedule]")
	check("of a Machine with additions by another client", spec("m1"),
		"60 300 200 100 zone-a [{Mine } {Gate } {Second Negative}] [gpu:NoSchedule mine:NoSchedule]")
	check("label", w.machine("m1").Labels["pool"]+w.machine("m1").Labels["mine"], "ll")
	check("annotation", w.machine("m1").Annotations["pool"]+w.machine("m1").Annotations["mine"], "aa")

	w.changeMachine("m2", func(m *clusterv1.Machine) { m.Labels["pool"], m.Spec.MinReadySeconds = "changed by hand", num(5) })
	w.settled()
	check("what the user changed", w.machine("m2").Labels["pool"]+" "+spec("m2"),
		"l 60 300 200 100 zone-a [{Gate } {Second Negative}] [gpu:NoSchedule]")

	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels, p.Spec.Template.Annotations = map[string]string{"also": "l"}, nil
		s := &p.Spec.Template.Spec
		s.MinReadySeconds, s.ReadinessGates, s.Taints = nil, s.ReadinessGates[:1], nil
		s.Deletion = clusterv1.MachineDeletionSpec{}
	})
	w.settled()
	check("what the template no longer has", spec("m2"), "- - - 100 zone-a [{Gate }] []")
	check("what the template no longer has, with additions by another client", spec("m1"),
		"- - - 100 zone-a [{Mine } {Gate }] [mine:NoSchedule]")
	m := w.machine("m1")
	check("labels", m.Labels["pool"]+m.Labels["also"]+m.Labels["mine"], "ll")
	check("annotations", m.Annotations["pool"]+m.Annotations["mine"], "a")
}

func deref(n *int32) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func TestDefectD_TimeoutsReachDeletingMachines(t *testing.T) {
	t.Parallel()
	w := populated(t)
	if err := w.mgmt.Delete(t.Context(), w.machine("m1")); err != nil {
		t.Fatal(err)
	}
	w.settled()
	limit := int32(60)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = &limit })
	w.settled()
	want(t, "time limit of a drain", deref(w.machine("m1").Spec.Deletion.NodeDrainTimeoutSeconds), "60")
	w.delete()
	w.settled()
	limit = 30
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = &limit })
	w.settled()
	want(t, "time limit of a drain during the deletion of the pool", deref(w.machine("m2").Spec.Deletion.NodeDrainTimeoutSeconds), "30")
}

func TestRow45_MachinesAreCountedByConditions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		counts [3]int32
		ready  string
	}{
		"ready": {"both are ready", func(*world) {}, [3]int32{2, 2, 2}, "True Ready: "},
		"not ready": {"the Machine has readiness gates of its own", func(w *world) {
			w.say("m1", clusterv1.MachineReadyCondition, metav1.ConditionFalse, "NotReady", "* Gate: no")
		}, [3]int32{1, 2, 2}, "False NotReady: not Ready: m1 (NotReady)"},
		"unhealthy": {"the most specific reason is shown", func(w *world) {
			w.say("m1", clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode", "x")
			w.say("m1", clusterv1.MachineReadyCondition, metav1.ConditionFalse, "NotReady", "")
		}, [3]int32{1, 2, 2}, "False NotReady: not Ready: m1 (UnhealthyNode)"},
		"not available yet": {"the Machine controller knows when", func(w *world) {
			w.say("m1", clusterv1.MachineAvailableCondition, metav1.ConditionFalse, clusterv1.MachineWaitingForMinReadySecondsReason, "")
		}, [3]int32{2, 1, 2}, "True Ready: "},
		"drained by the pool": {"a Machine does not report it", func(w *world) {
			w.changeNode("n1", func(n *corev1.Node) {
				n.Spec.Unschedulable = true
				n.Annotations = map[string]string{nodes.DrainStartedAnnotation: "2026-01-02T03:04:05Z"}
			})
		}, [3]int32{2, 1, 2}, "True Ready: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			tc.make(w)
			w.settled()
			got := w.counts()
			if strings.HasPrefix(name, "not ready") || name == "unhealthy" {
				// A Machine that is not ready is not counted as available, whatever its condition Available is.
				want(t, tc.reason+": available", got[1], 1)
				got[1] = 2
			}
			want(t, tc.reason+": ready, available, up to date", got, tc.counts)
			want(t, tc.reason, w.condition(clusterv1.MachinesReadyCondition)+": "+w.message(clusterv1.MachinesReadyCondition), tc.ready)
		})
	}
}

func TestDefectE_InstanceWithoutMachineIsNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1)})
	w.node("n1", id1, true)
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, -1})
	want(t, "MachinesReady", w.message(clusterv1.MachinesReadyCondition), "not Ready: n1 (no Machine yet)")
	want(t, "MachinesUpToDate", w.message(clusterv1.MachinesUpToDateCondition), "0 of 1 machines are up to date; unknown: "+id1)
}

// TestRow32_UpToDateConditionOfMachines holds what decides whether a Machine is up to date.
func TestRow32_UpToDateConditionOfMachines(t *testing.T) {
	t.Parallel()
	of := func(n int64) func(w *world) {
		return func(w *world) {
			w.changeInfra(func(o map[string]any) { _ = unstructured.SetNestedField(o, n, "status", "upToDateReplicas") })
		}
	}
	silence := func(w *world) {
		w.changeInfra(func(o map[string]any) { unstructured.RemoveNestedField(o, "status", "upToDateReplicas") })
	}
	behind := func(w *world) {
		w.changeNode("n1", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.35.1" })
	}
	says := func(status, message string) func(w *world) {
		return func(w *world) {
			w.changeInfraMachine("m1", func(o map[string]any) {
				_ = unstructured.SetNestedSlice(o, []any{map[string]any{"type": "UpToDate", "status": status, "reason": "X", "message": message,
					"lastTransitionTime": "2026-01-01T00:00:00Z"}}, "status", "conditions")
			})
		}
	}
	for name, tc := range map[string]struct {
		reason string
		make   []func(w *world)
		want   string
	}{
		"all": {"the count covers all", nil, "True UpToDate"},
		"none": {"the count covers none", []func(*world){of(0)},
			"False NotUpToDate: TestMachinePool infra reports no machine as up to date"},
		"some, and it says": {"the report of the machine takes precedence", []func(*world){of(1), says("False", "launched from version 1")},
			"False NotUpToDate: launched from version 1"},
		"going": {"a deletion does not change what a machine was created from", []func(*world){func(w *world) {
			_ = w.mgmt.Delete(w.t.Context(), w.machine("m1"))
		}}, "True UpToDate"},
		"out of reach": {"the last known condition stays", []func(*world){silence, behind, func(w *world) { w.settled(); disconnected(w) }},
			"False NotUpToDate: the node runs v1.35.1, the pool wants v1.36.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			for _, make := range tc.make {
				make(w)
			}
			w.settled()
			want(t, tc.reason, w.machineCondition("m1", clusterv1.MachineUpToDateCondition), tc.want)
		})
	}
}

func TestDefectsFAndR_DeletedNodesOfReadyMachinesAreNotCounted(t *testing.T) {
	t.Parallel()
	w := populated(t)
	if err := w.wl.DeleteAllOf(t.Context(), &corev1.Node{}); err != nil {
		t.Fatal(err)
	}
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 2})
	wantAll(t, "references", w.refs(), []string{})
	want(t, "MachinesReady", w.message(clusterv1.MachinesReadyCondition), "no node yet for "+id1+", "+id2)
}

func TestDefectJ_UnreadyNodesCountBeforeTheirMachines(t *testing.T) {
	t.Parallel()
	w := populated(t)
	for _, n := range []string{"n1", "n2"} {
		w.changeNode(n, func(n *corev1.Node) { silent(n, w.clock) })
	}
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 2})
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "False NotAvailable")
	wantAll(t, "Machines: none is deleted", w.machineNames(), []string{"m1", "m2"})
}

func TestDefectK_AvailabilityIsTheMachines(t *testing.T) {
	t.Parallel()
	w, minute := populated(t), int32(60)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.MinReadySeconds = &minute })
	w.say("m1", clusterv1.MachineAvailableCondition, metav1.ConditionFalse, clusterv1.MachineWaitingForMinReadySecondsReason, "")
	res := w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 1, 2})
	want(t, "next pass: the Machine wakes the pool", res.RequeueAfter, time.Duration(0))
	want(t, "Available", w.message(clusterv1.AvailableCondition), "1 of 2 replicas are available: Ready for less than minReadySeconds: n1")
	w.say("m1", clusterv1.MachineAvailableCondition, metav1.ConditionTrue, "Available", "")
	w.settled()
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "True Available")
}

func TestDefectQ_MachineListedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id1, "aws:////i-1", id2}, "spec", "providerIDList")
	})
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 2, 2})
}

func TestDefectI_MachinesOfExternallyManagedPoolsAreCounted(t *testing.T) {
	t.Parallel()
	w := populated(t)
	one := int32(1)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Annotations, p.Spec.Replicas = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}, &one
	})
	w.settled()
	want(t, "phase with two of one", w.pool().Status.Phase, "Scaling")
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 2, 2})
	wantAll(t, "Machines: the size is another's matter", w.machineNames(), []string{"m1", "m2"})
}

func TestUnreachableClusterLeavesMachinesUnchanged(t *testing.T) {
	t.Parallel()
	w := populated(t)
	disconnected(w)
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{-1, -1, 2})
	want(t, "version", w.machine("m1").Spec.Version, "v1.36.0")
	want(t, "phase", w.pool().Status.Phase, "Unknown")
}

func TestRow29_MachinesOfOtherOwnersAreUnchanged(t *testing.T) {
	t.Parallel()
	labelled := aMachine("stranger", controllerRef("MachineSet", "ms", "ms-uid"))
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"}
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), withMachines(id1, id2), anInfraMachine("m1", id1),
		anInfraMachine("m2", id2),
		aMachine("m1", controllerRef("MachineSet", "ms", "ms-uid")), labelled})
	w.node("n1", id1, true)
	w.settled()
	w.unhealthy("stranger")
	w.settled()
	want(t, "owner of the Machine whose name is taken", w.machine("m1").OwnerReferences[0].Kind, "MachineSet")
	want(t, "labels of it", len(w.machine("m1").Labels), 0)
	want(t, "MachinesReady", w.message(clusterv1.MachinesReadyCondition),
		"no node yet for "+id2+"; not Ready: n1 (no Machine yet); cannot create a Machine for m1 (another owner controls the Machine of "+
			"that name)")
	want(t, "UpToDate of a stranger", w.machineCondition("stranger", clusterv1.MachineUpToDateCondition), "missing")
	w.delete()
	w.settled()
	for _, name := range []string{"m1", "stranger"} {
		if !w.machine(name).DeletionTimestamp.IsZero() {
			t.Errorf("%s: want it left alone when the pool goes, got it being deleted", name)
		}
	}
}

func TestRow29_MachinesWithoutOwnerAreAdopted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		machine func() *clusterv1.Machine
	}{
		"restored": {"UIDs are others after a restore from a backup", func() *clusterv1.Machine {
			m := aMachine("m1", controllerRef("MachinePool", "pool", "an older uid"))
			m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"}
			return m
		}},
		"without owner": {"another client removed the owner", func() *clusterv1.Machine {
			m := aMachine("m1", nil)
			m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"}
			return m
		}},
		"without labels": {"another client removed the labels",
			func() *clusterv1.Machine { return aMachine("m1", controllerRef("MachinePool", "pool", "pool-uid")) }},
		"owner, but not as controller": {"a reference that the user has set", func() *clusterv1.Machine {
			ref := controllerRef("MachinePool", "pool", "pool-uid")
			ref.Controller = nil
			return aMachine("m1", ref)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1), anInfraMachine("m1", id1), tc.machine()})
			w.settled()
			m := w.machine("m1")
			if len(m.OwnerReferences) != 1 || !metav1.IsControlledBy(m, w.pool()) {
				t.Errorf("%s: want the pool as its one owner, got %v", tc.reason, m.OwnerReferences)
			}
			want(t, tc.reason, m.Labels[clusterv1.MachinePoolNameLabel], "pool")
		})
	}
}

func TestMachinesAreCreatedAfterALiveRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1), anInfraMachine("m1", id1)})
	w.r.Live = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			if _, ok := o.(*clusterv1.Machine); !ok {
				key.Name = "gone"
			}
			return c.Get(ctx, key, o, opts...)
		}})
	w.settled()
	wantAll(t, "Machines of infrastructure machines that only the cache contains", w.machineNames(), []string{})
	w.r.Live = w.mgmt
	o := w.get(machineGVK, "m1")
	o.SetFinalizers([]string{"test/provider"})
	if err := w.mgmt.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := w.mgmt.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.settled()
	wantAll(t, "Machines of infrastructure machines that are being deleted", w.machineNames(), []string{})
	o = w.get(machineGVK, "m1")
	o.SetFinalizers(nil)
	if err := w.mgmt.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.create(anInfraMachine("m1", id1))
	w.settled()
	wantAll(t, "Machines", w.machineNames(), []string{"m1"})
}

func TestMachineControllerManagesNodesOfMachines(t *testing.T) {
	t.Parallel()
	w := populated(t)
	for _, name := range w.nodeNames() {
		n := &corev1.Node{}
		if err := w.wl.Get(t.Context(), client.ObjectKey{Name: name}, n); err != nil {
			t.Fatal(err)
		}
		want(t, "the pool records that there are no taints", shown(n), "[] [taints-from-machine=] []")
		// What the Machine controller writes.
		w.changeNode(name, func(n *corev1.Node) {
			n.Annotations = map[string]string{clusterv1.OwnerKindAnnotation: "MachinePool", clusterv1.OwnerNameAnnotation: "pool",
				clusterv1.ClusterNameAnnotation:      "c1",
				clusterv1.ClusterNamespaceAnnotation: "default", clusterv1.MachineAnnotation: strings.Replace(name, "n", "m", 1)}
		})
	}
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
	})
	w.settled()
	want(t, "a node that left the pool and is Ready", strings.Contains(w.message(clusterv1.MachinesReadyCondition),
		"no longer in the pool, but still Ready: n1"), true)
	w.changeNode("n1", func(n *corev1.Node) { silent(n, w.clock) })
	w.settled()
	wantAll(t, "a node that left the pool: the Machine controller deletes it", w.nodeNames(), []string{"n1", "n2"})
	if err := w.mgmt.Delete(t.Context(), w.machine("m1")); err != nil {
		t.Fatal(err)
	}
	w.letGo("m1")
	w.settled()
	wantAll(t, "a node of a deleted Machine", w.nodeNames(), []string{"n2"})

	// The pool no longer has Machines.
	w.changeInfra(func(o map[string]any) { unstructured.RemoveNestedField(o, "status", "infrastructureMachineKind") })
	if err := w.mgmt.Delete(t.Context(), w.machine("m2")); err != nil {
		t.Fatal(err)
	}
	w.settled()
	n := &corev1.Node{}
	named := func() string {
		if err := w.wl.Get(t.Context(), client.ObjectKey{Name: "n2"}, n); err != nil {
			t.Fatal(err)
		}
		return n.Annotations[clusterv1.MachineAnnotation]
	}
	want(t, "annotation with an existing Machine", named(), "m2")
	w.letGo("m2")
	w.settled()
	want(t, "annotation with a deleted Machine", named(), "")
	want(t, "ready, available", w.counts()[0], 1)
}

func TestMissingKindOfMachinesIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1)})
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "NoSuchMachine", "status", "infrastructureMachineKind")
	})
	res := w.settled()
	want(t, "next pass", res.RequeueAfter, reference.AfterMissingKind)
	want(t, "MachinesReady", w.message(clusterv1.MachinesReadyCondition),
		"no node yet for "+id1+"; cannot create Machines: kind NoSuchMachine of group "+
			"infrastructure.cluster.x-k8s.io: no CustomResourceDefinition nosuchmachines.infrastructure.cluster.x-k8s.io")
}

func TestRow30_MachineWritesOfAPassAreLimited(t *testing.T) {
	t.Parallel()
	const count = machinesync.WriteLimit + 5
	objects := []client.Object{aCluster(), aPool(count), aConfig()}
	var ids []string
	for i := range count {
		ids = append(ids, fmt.Sprintf("aws:///zone-a/i-%03d", i))
		objects = append(objects, anInfraMachine(fmt.Sprintf("m%03d", i), ids[i]))
	}
	w := newWorld(t, append(objects, withMachines(ids...)))
	maximum := 0
	for range 10 {
		res := w.pass()
		written := 0
		for _, write := range w.writes {
			if strings.Contains(write, "v1beta2.Machine ") {
				written++
			}
		}
		maximum = max(maximum, written)
		if res.RequeueAfter == 0 {
			break
		}
		want(t, "next pass", res.RequeueAfter, machinesync.AfterLimit)
	}
	want(t, "Machines", len(w.machineNames()), count)
	if maximum > machinesync.WriteLimit+1 {
		t.Errorf("writes of one pass: want at most %d, got %d", machinesync.WriteLimit+1, maximum)
	}
	w.settled()
	for _, name := range w.machineNames() {
		if m := w.machine(name); !conditions.Has(m, clusterv1.MachineUpToDateCondition) {
			t.Errorf("%s: want the condition UpToDate, got none", name)
		}
	}
}

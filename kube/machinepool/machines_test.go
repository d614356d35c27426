package machinepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/kube/machines"
)

func TestRow27_MachinesAreMadeOfTheInfrastructuresMachines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), withMachines(id1, id2), anInfraMachine("m1", id1), anInfraMachine("m2", id2)})
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
	want(t, "what it stands for", m.Spec.InfrastructureRef, clusterv1.ContractVersionedObjectReference{APIGroup: machineGVK.Group, Kind: "TestMachine", Name: "m1"})
	want(t, "bootstrap data: none, for the pool has them", *m.Spec.Bootstrap.DataSecretName, "")
	want(t, "version: what its node runs", m.Spec.Version, "v1.36.0-eks-1a2b3c")
	want(t, "version without a node", w.machine("m2").Spec.Version, "")
	want(t, "zone", m.Spec.FailureDomain, "zone-a")
	want(t, "annotations of a template without any", len(m.Annotations), 0)
	if !slices.Contains(w.events(), "Normal SuccessfulCreateMachine Made Machines for instances: m1, m2") {
		t.Error("events: want what was made told")
	}
	want(t, "phase while nothing is known of the Machines", w.pool().Status.Phase, "ScalingUp")
	w.upstream()
	w.node("n2", id2, true)
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	for range 3 {
		if res := w.pass(); res.RequeueAfter != 0 || len(w.writes) != 0 {
			t.Errorf("a pool where nothing happens: want no write and no time to look again, got %v, %v", w.writes, res.RequeueAfter)
		}
	}
}

func TestDefectD_MachinesCarryWhatTheTemplateSays(t *testing.T) {
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
	want(t, "writes of what is not the pool's", len(w.writes), 0)

	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels, p.Spec.Template.Annotations = map[string]string{"pool": "l", "also": "l"}, map[string]string{"pool": "a"}
		s := &p.Spec.Template.Spec
		s.MinReadySeconds = num(60)
		s.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Gate"}, {ConditionType: "Second", Polarity: clusterv1.NegativePolarityCondition}}
		s.Taints = []clusterv1.MachineTaint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		s.Deletion = clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: num(300), NodeVolumeDetachTimeoutSeconds: num(200), NodeDeletionTimeoutSeconds: num(100)}
	})
	w.settled()
	check := func(what, got, wanted string) { t.Helper(); want(t, what, strings.TrimSpace(got), wanted) }
	spec := func(name string) string {
		s := w.machine(name).Spec
		return fmt.Sprintln(deref(s.MinReadySeconds), deref(s.Deletion.NodeDrainTimeoutSeconds), deref(s.Deletion.NodeVolumeDetachTimeoutSeconds),
			deref(s.Deletion.NodeDeletionTimeoutSeconds), s.FailureDomain, s.ReadinessGates, keysOf(s.Taints, taintKey))
	}
	check("of a Machine that nobody else writes", spec("m2"), "60 300 200 100 zone-a [{Gate } {Second Negative}] [gpu:NoSchedule]")
	check("of a Machine with additions of others", spec("m1"), "60 300 200 100 zone-a [{Mine } {Gate } {Second Negative}] [gpu:NoSchedule mine:NoSchedule]")
	check("label", w.machine("m1").Labels["pool"]+w.machine("m1").Labels["mine"], "ll")
	check("annotation", w.machine("m1").Annotations["pool"]+w.machine("m1").Annotations["mine"], "aa")

	w.changeMachine("m2", func(m *clusterv1.Machine) { m.Labels["pool"], m.Spec.MinReadySeconds = "changed by hand", num(5) })
	w.settled()
	check("what was changed by hand", w.machine("m2").Labels["pool"]+" "+spec("m2"), "l 60 300 200 100 zone-a [{Gate } {Second Negative}] [gpu:NoSchedule]")

	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels, p.Spec.Template.Annotations = map[string]string{"also": "l"}, nil
		s := &p.Spec.Template.Spec
		s.MinReadySeconds, s.ReadinessGates, s.Taints = nil, s.ReadinessGates[:1], nil
		s.Deletion = clusterv1.MachineDeletionSpec{}
	})
	w.settled()
	check("what the template has no more", spec("m2"), "- - - 100 zone-a [{Gate }] []")
	check("what the template has no more, beside additions of others", spec("m1"), "- - - 100 zone-a [{Mine } {Gate }] [mine:NoSchedule]")
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

func TestDefectD_TimeoutsReachMachinesThatAreBeingDeleted(t *testing.T) {
	t.Parallel()
	w := populated(t)
	if err := w.mgmt.Delete(t.Context(), w.machine("m1")); err != nil {
		t.Fatal(err)
	}
	w.settled()
	limit := int32(60)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = &limit })
	w.settled()
	want(t, "limit of a drain that hangs", deref(w.machine("m1").Spec.Deletion.NodeDrainTimeoutSeconds), "60")
	w.delete()
	w.settled()
	limit = 30
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = &limit })
	w.settled()
	want(t, "limit of a drain that hangs in the deletion of the pool", deref(w.machine("m2").Spec.Deletion.NodeDrainTimeoutSeconds), "30")
}

func TestRow45_MachinesAreCountedByTheirConditions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		counts [3]int32
		ready  string
	}{
		"well": {"both say so", func(*world) {}, [3]int32{2, 2, 2}, "True Ready: "},
		"not ready": {"the Machine has gates of its own", func(w *world) {
			w.say("m1", clusterv1.MachineReadyCondition, metav1.ConditionFalse, "NotReady", "* Gate: no")
		}, [3]int32{1, 2, 2}, "False NotReady: not Ready: m1 (NotReady)"},
		"unhealthy": {"the most telling reason is shown", func(w *world) {
			w.say("m1", clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode", "x")
			w.say("m1", clusterv1.MachineReadyCondition, metav1.ConditionFalse, "NotReady", "")
		}, [3]int32{1, 2, 2}, "False NotReady: not Ready: m1 (UnhealthyNode)"},
		"not available yet": {"the Machine's controller has the clock", func(w *world) {
			w.say("m1", clusterv1.MachineAvailableCondition, metav1.ConditionFalse, clusterv1.MachineWaitingForMinReadySecondsReason, "")
		}, [3]int32{2, 1, 2}, "True Ready: "},
		"drained by the pool": {"a Machine does not know of that", func(w *world) {
			w.changeNode("n1", func(n *corev1.Node) {
				n.Annotations = map[string]string{drain.StartedAnnotation: "2026-01-02T03:04:05Z"}
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
				// A Machine that is not ready is not counted as available, whatever its other condition still says.
				want(t, tc.reason+": available", got[1], 1)
				got[1] = 2
			}
			want(t, tc.reason+": ready, available, up to date", got, tc.counts)
			want(t, tc.reason, w.condition(clusterv1.MachinesReadyCondition)+": "+w.message(clusterv1.MachinesReadyCondition), tc.ready)
		})
	}
}

func TestDefectE_AnInstanceWithoutAMachineIsNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1)})
	w.node("n1", id1, true)
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, -1})
	want(t, "MachinesReady", w.message(clusterv1.MachinesReadyCondition), "not Ready: n1 (no Machine yet)")
	want(t, "MachinesUpToDate", w.message(clusterv1.MachinesUpToDateCondition), "0 of 1 machines are up to date, not known of "+id1)
}

// TestRow32_UpToDateIsTheTemplatesNotTheDeletions holds what says whether a Machine is up to date.
func TestRow32_UpToDateIsTheTemplatesNotTheDeletions(t *testing.T) {
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
		"all":                      {"the count says all", nil, "True UpToDate"},
		"all, but another version": {"who knows the template is asked before the version is compared", []func(*world){behind}, "True UpToDate"},
		"none":                     {"the count says none", []func(*world){of(0)}, "False NotUpToDate: TestMachinePool infra has no machine that is up to date"},
		"some": {"which ones nobody says", []func(*world){of(1)},
			"Unknown UpToDateUnknown: TestMachinePool infra says how many machines are up to date, but not which"},
		"some, and this one is behind": {"the version tells that much", []func(*world){of(1), behind}, "False NotUpToDate: the node runs v1.35.1, the pool wants v1.36.0"},
		"some, and it says":            {"the machine's own word counts first", []func(*world){of(1), says("False", "launched from version 1")}, "False NotUpToDate: launched from version 1"},
		"some, and it says yes":        {"the machine's own word counts first", []func(*world){of(1), says("True", "")}, "True UpToDate"},
		"some, and it does not know":   {"no word is none", []func(*world){of(0), says("Unknown", "")}, "False NotUpToDate: TestMachinePool infra has no machine that is up to date"},
		"silent":                       {"the version is all there is", []func(*world){silence}, "True UpToDate"},
		"silent and behind":            {"the version is all there is", []func(*world){silence, behind}, "False NotUpToDate: the node runs v1.35.1, the pool wants v1.36.0"},
		"silent and no node": {"nothing to compare", []func(*world){silence, func(w *world) {
			w.changeNode("n1", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "" })
		}}, "Unknown UpToDateUnknown: the machine has no node yet"},
		"silent and no version": {"nothing to compare with", []func(*world){silence, func(w *world) {
			w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "" })
		}}, "Unknown UpToDateUnknown: TestMachinePool infra does not say which of its machines are up to date"},
		"going": {"deletion does not change what a machine was made from", []func(*world){func(w *world) {
			_ = w.mgmt.Delete(w.t.Context(), w.machine("m1"))
		}}, "True UpToDate"},
		"out of reach": {"what was known last stands", []func(*world){silence, behind, func(w *world) { w.settled(); disconnected(w) }},
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

func TestDefectsFAndR_NodesThatAreGoneAreNotCountedWhateverMachinesSay(t *testing.T) {
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

func TestDefectJ_NodesThatFallSilentAreSeenBeforeTheirMachinesSay(t *testing.T) {
	t.Parallel()
	w := populated(t)
	for _, n := range []string{"n1", "n2"} {
		w.changeNode(n, func(n *corev1.Node) { silent(n, w.clock) })
	}
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 2})
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "False NotAvailable")
	wantAll(t, "Machines: nobody deletes them", w.machineNames(), []string{"m1", "m2"})
}

func TestDefectK_MachinesKeepTheTimeOfTheirNodes(t *testing.T) {
	t.Parallel()
	w, minute := populated(t), int32(60)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.MinReadySeconds = &minute })
	w.say("m1", clusterv1.MachineAvailableCondition, metav1.ConditionFalse, clusterv1.MachineWaitingForMinReadySecondsReason, "")
	res := w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 1, 2})
	want(t, "next look: the Machine wakes the pool", res.RequeueAfter, time.Duration(0))
	want(t, "Available", w.message(clusterv1.AvailableCondition), "1 of 2 replicas are available: Ready for less than minReadySeconds: n1")
	w.say("m1", clusterv1.MachineAvailableCondition, metav1.ConditionTrue, "Available", "")
	w.settled()
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "True Available")
}

func TestDefectQ_AMachineCountsOnce(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id1, "aws:////i-1", id2}, "spec", "providerIDList")
	})
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 2, 2})
}

func TestDefectI_MachinesOfAPoolThatAnotherSizesAreCounted(t *testing.T) {
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

func TestAnUnreachableClusterLeavesMachinesAsTheyAre(t *testing.T) {
	t.Parallel()
	w := populated(t)
	disconnected(w)
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{-1, -1, 2})
	want(t, "version", w.machine("m1").Spec.Version, "v1.36.0")
	want(t, "phase", w.pool().Status.Phase, "Unknown")
}

func TestRow29_MachinesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	labelled := aMachine("stranger", controllerRef("MachineSet", "ms", "ms-uid"))
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"}
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), withMachines(id1, id2), anInfraMachine("m1", id1), anInfraMachine("m2", id2),
		aMachine("m1", controllerRef("MachineSet", "ms", "ms-uid")), labelled})
	w.node("n1", id1, true)
	w.settled()
	w.unhealthy("stranger")
	w.settled()
	want(t, "owner of the Machine whose name is taken", w.machine("m1").OwnerReferences[0].Kind, "MachineSet")
	want(t, "labels of it", len(w.machine("m1").Labels), 0)
	want(t, "what is said about it", w.message(clusterv1.MachinesReadyCondition),
		"no node yet for "+id2+"; not Ready: n1 (no Machine yet); no Machine can be made for m1 (a Machine of that name belongs to another)")
	want(t, "UpToDate of a stranger", w.machineCondition("stranger", clusterv1.MachineUpToDateCondition), "missing")
	w.delete()
	w.settled()
	for _, name := range []string{"m1", "stranger"} {
		if !w.machine(name).DeletionTimestamp.IsZero() {
			t.Errorf("%s: want it left alone when the pool goes, got it being deleted", name)
		}
	}
}

func TestRow29_MachinesThatLostTheirOwnerAreAdopted(t *testing.T) {
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
		"without owner": {"somebody took the owner away", func() *clusterv1.Machine {
			m := aMachine("m1", nil)
			m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"}
			return m
		}},
		"without labels": {"somebody took the labels away", func() *clusterv1.Machine { return aMachine("m1", controllerRef("MachinePool", "pool", "pool-uid")) }},
		"owner, but not as controller": {"a reference that was made by hand", func() *clusterv1.Machine {
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

func TestMachinesAreMadeOnlyOfWhatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1), anInfraMachine("m1", id1)})
	w.r.Live = interceptor.NewClient(w.mgmt, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*clusterv1.Machine); !ok {
			key.Name = "gone"
		}
		return c.Get(ctx, key, o, opts...)
	}})
	w.settled()
	wantAll(t, "Machines of what only the cache still shows", w.machineNames(), []string{})
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
	wantAll(t, "Machines of what is going", w.machineNames(), []string{})
	o = w.get(machineGVK, "m1")
	o.SetFinalizers(nil)
	if err := w.mgmt.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.create(anInfraMachine("m1", id1))
	w.settled()
	wantAll(t, "Machines", w.machineNames(), []string{"m1"})
}

func TestMachinesOfNothingGo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		goes   bool
	}{
		"instance is gone": {"nothing is left that it could stand for", func(w *world) {
			w.changeInfra(func(o map[string]any) {
				_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
			})
		}, true},
		"instance is listed": {"its provider may make the infrastructure machine again, and the Machine would take the instance with it", func(*world) {}, false},
		"instance is unknown": {"it has never had one that could be gone", func(w *world) {
			w.changeMachine("m1", func(m *clusterv1.Machine) { m.Spec.ProviderID = "" })
		}, false},
		"the cache is behind": {"the infrastructure machine is there", func(w *world) {
			w.changeInfra(func(o map[string]any) {
				_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
			})
			w.r.Live = interceptor.NewClient(w.mgmt, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return nil
			}})
		}, false},
		"infrastructure is gone": {"nothing is known of its machines then", func(w *world) {
			_ = w.mgmt.Delete(w.t.Context(), w.get(infraGVK, "infra"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			if err := w.mgmt.Delete(t.Context(), w.get(machineGVK, "m1")); err != nil {
				t.Fatal(err)
			}
			tc.make(w)
			w.settled()
			want(t, tc.reason, !w.machine("m1").DeletionTimestamp.IsZero(), tc.goes)
			want(t, "m2 stays", w.machine("m2").DeletionTimestamp.IsZero(), true)
			told := slices.Contains(w.events(), "Normal SuccessfulDeleteMachine Deleted Machines of instances that are gone: m1")
			want(t, "told as an event", told, tc.goes)
		})
	}
}

func TestUnhealthyMachinesAreDeleted(t *testing.T) {
	t.Parallel()
	pause := func(w *world) {
		w.changeMachine("m1", func(m *clusterv1.Machine) { m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
	}
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		goes   bool
	}{
		"marked": {"the health check has asked the owner", func(w *world) { w.unhealthy("m1") }, true},
		"unhealthy only": {"the health check has not asked: its budget does not allow it", func(w *world) {
			w.say("m1", clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode", "")
		}, false},
		"paused Machine": {"who pauses a Machine wants to look at it", func(w *world) { w.unhealthy("m1"); pause(w) }, false},
		"skipped Machine": {"the annotation says so", func(w *world) {
			w.unhealthy("m1")
			w.changeMachine("m1", func(m *clusterv1.Machine) {
				m.Annotations = map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}
			})
		}, false},
		"paused pool": {"nothing is done for a paused pool", func(w *world) {
			w.changePool(func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
			w.unhealthy("m1")
		}, false},
		"paused cluster": {"nothing is done for a paused cluster", func(w *world) {
			yes := true
			change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) { c.Spec.Paused = &yes })
			w.unhealthy("m1")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			tc.make(w)
			w.settled()
			m := w.machine("m1")
			want(t, tc.reason, !m.DeletionTimestamp.IsZero(), tc.goes)
			want(t, "m2 stays", w.machine("m2").DeletionTimestamp.IsZero(), true)
			if !tc.goes {
				return
			}
			want(t, "OwnerRemediated", w.machineCondition("m1", clusterv1.MachineOwnerRemediatedCondition), "False MachineDeleting: Machine is deleting")
			want(t, "OwnerRemediated of the older kind", v1beta1conditions.IsTrue(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition), true)
			want(t, "cause on the Machine", m.Annotations[machines.CauseAnnotation],
				"UnhealthyMachine: Health check failed: Condition Ready on Node is reporting status False for more than 5m0s")
			want(t, "Remediating", w.condition(clusterv1.RemediatingCondition)+": "+w.message(clusterv1.RemediatingCondition), "True Remediating: Remediating m1 (UnhealthyNode)")
			wantAll(t, "events", w.events(), []string{"Normal UnhealthyMachine Deleted Machine m1: " +
				"Health check failed: Condition Ready on Node is reporting status False for more than 5m0s"})
			w.letGo("m1")
			w.settled()
			want(t, "Remediating", w.condition(clusterv1.RemediatingCondition), "False NotRemediating")
		})
	}
}

func TestAnInterruptedRemediationIsTakenUp(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.unhealthy("m1")
	down := errors.New("the API is down for the test")
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return down }})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); !errors.Is(err, down) {
		t.Fatalf("want the error to be returned, got %v", err)
	}
	w.r.Client = w.mgmt
	w.settled()
	want(t, "deleted", !w.machine("m1").DeletionTimestamp.IsZero(), true)
}

func TestWhatWasDoneIsToldThoughTheStatusCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.unhealthy("m1")
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
		if _, ok := o.(*clusterv1.MachinePool); ok {
			return apierrors.NewConflict(clusterv1.GroupVersion.WithResource("machinepools").GroupResource(), "pool", errors.New("changed"))
		}
		return c.SubResource(sub).Patch(ctx, o, p, opts...)
	}})
	w.pass()
	want(t, "deleted", !w.machine("m1").DeletionTimestamp.IsZero(), true)
	want(t, "events", len(w.events()), 1)
}

func TestAMachineThatRecoversIsNoLongerAskedFor(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.unhealthy("m1")
	w.say("m1", clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionTrue, "HealthCheckSucceeded", "")
	m := w.machine("m1")
	v1beta1conditions.MarkTrue(m, clusterv1.MachineHealthCheckSucceededV1Beta1Condition)
	v1beta1conditions.MarkFalse(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition, "WaitingForRemediation", clusterv1.ConditionSeverityWarning, "")
	if err := w.mgmt.Status().Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.settled()
	want(t, "OwnerRemediated", w.machineCondition("m1", clusterv1.MachineOwnerRemediatedCondition), "missing")
	want(t, "OwnerRemediated of the older kind", v1beta1conditions.Has(w.machine("m1"), clusterv1.MachineOwnerRemediatedV1Beta1Condition), false)
	want(t, "kept", w.machine("m1").DeletionTimestamp.IsZero(), true)
}

func TestRow52_MachinesGoBeforeTheirPool(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.delete()
	w.pass()
	for _, name := range []string{"m1", "m2"} {
		want(t, name+" is being deleted", !w.machine(name).DeletionTimestamp.IsZero(), true)
	}
	w.say("m1", clusterv1.MachineDeletingCondition, metav1.ConditionTrue, clusterv1.MachineDeletingDrainingNodeReason, "pods")
	res := w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True "+waitingForMachines)
	want(t, "message", w.message(clusterv1.DeletingCondition), "Machines are left to be deleted: 2, m1 (DrainingNode: pods), m2")
	want(t, "next look", res.RequeueAfter, afterMachines)
	if o := w.get(infraGVK, "infra"); o == nil || o.GetDeletionTimestamp().IsZero() {
		t.Error("infrastructure: want it asked to go, or it would replace the machines that do")
	}
	if o := w.get(configGVK, "boot"); !o.GetDeletionTimestamp().IsZero() {
		t.Error("bootstrap: want it there while machines are left")
	}
	wantAll(t, "nodes: their Machines remove them", w.nodeNames(), []string{"n1", "n2"})
	w.letGo("m1")
	w.settled()
	wantAll(t, "Machines: none is made again", w.machineNames(), []string{"m2"})
	want(t, "message", w.message(clusterv1.DeletingCondition), "Machines are left to be deleted: 1, m2")
	w.letGo("m2")
	w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	w.finish(infraGVK, "infra")
	w.settled()
	w.finish(configGVK, "boot")
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %s", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "nodes that Machines have left", w.nodeNames(), []string{})
}

func TestInfrastructureIsAskedToGoOnlyWhenAllMachinesAre(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.delete()
	down := errors.New("admission says no")
	w.r.Client = interceptor.NewClient(w.mgmt, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
		if o.GetName() == "m2" {
			return down
		}
		return c.Delete(ctx, o, opts...)
	}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); !errors.Is(err, down) {
		t.Fatalf("want the error to be returned, got %v", err)
	}
	want(t, "m1 is asked", !w.machine("m1").DeletionTimestamp.IsZero(), true)
	want(t, "infrastructure is not", w.get(infraGVK, "infra").GetDeletionTimestamp().IsZero(), true)
}

func TestNodesOfMachinesAreTheirs(t *testing.T) {
	t.Parallel()
	w := populated(t)
	for _, name := range w.nodeNames() {
		n := &corev1.Node{}
		if err := w.wl.Get(t.Context(), client.ObjectKey{Name: name}, n); err != nil {
			t.Fatal(err)
		}
		want(t, "what the pool wrote: that there are no taints", shown(n), "[] [taints-from-machine=] []")
		// What the controller of Machines writes.
		w.changeNode(name, func(n *corev1.Node) {
			n.Annotations = map[string]string{clusterv1.OwnerKindAnnotation: "MachinePool", clusterv1.OwnerNameAnnotation: "pool", clusterv1.ClusterNameAnnotation: "c1",
				clusterv1.ClusterNamespaceAnnotation: "default", clusterv1.MachineAnnotation: strings.Replace(name, "n", "m", 1)}
		})
	}
	w.changeNode("n1", func(n *corev1.Node) { silent(n, w.clock) })
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
	})
	w.settled()
	wantAll(t, "a node that left the pool: its Machine removes it", w.nodeNames(), []string{"n1", "n2"})
	if err := w.mgmt.Delete(t.Context(), w.machine("m1")); err != nil {
		t.Fatal(err)
	}
	w.letGo("m1")
	w.settled()
	wantAll(t, "a node that its Machine has left behind", w.nodeNames(), []string{"n2"})

	// The pool's machines are no objects any more.
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
	want(t, "name of a Machine that is still there, on its node", named(), "m2")
	w.letGo("m2")
	w.settled()
	want(t, "name of a Machine that is gone, on its node", named(), "")
	want(t, "ready, available", w.counts()[0], 1)
}

func TestAKindOfMachinesThatIsNotInstalledIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), withMachines(id1)})
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "NoSuchMachine", "status", "infrastructureMachineKind")
	})
	res := w.settled()
	want(t, "next look", res.RequeueAfter, afterNoKind)
	want(t, "MachinesReady", w.message(clusterv1.MachinesReadyCondition), "no node yet for "+id1+"; Machines can't be made: kind NoSuchMachine of group "+
		"infrastructure.cluster.x-k8s.io: no CustomResourceDefinition nosuchmachines.infrastructure.cluster.x-k8s.io")
}

func TestRow30_ManyMachinesAreMadeAFewAtATimeAndNoneIsWaitedFor(t *testing.T) {
	t.Parallel()
	const count = machineWrites + 5
	objects := []client.Object{aCluster(), aPool(count), aConfig()}
	var ids []string
	for i := range count {
		ids = append(ids, fmt.Sprintf("aws:///zone-a/i-%03d", i))
		objects = append(objects, anInfraMachine(fmt.Sprintf("m%03d", i), ids[i]))
	}
	w := newWorld(t, append(objects, withMachines(ids...)))
	most := 0
	for range 10 {
		res := w.pass()
		written := 0
		for _, write := range w.writes {
			if strings.Contains(write, "v1beta2.Machine ") {
				written++
			}
		}
		most = max(most, written)
		if res.RequeueAfter == 0 {
			break
		}
		want(t, "next look", res.RequeueAfter, soon)
	}
	want(t, "Machines", len(w.machineNames()), count)
	if most > machineWrites+1 {
		t.Errorf("writes of one pass: want at most %d, got %d", machineWrites+1, most)
	}
	w.settled()
	for _, name := range w.machineNames() {
		if m := w.machine(name); !conditions.Has(m, clusterv1.MachineUpToDateCondition) {
			t.Errorf("%s: want it judged, got no condition", name)
		}
	}
}

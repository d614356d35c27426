package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.remember = map[string]string{"image-1": "ami-1"}
	w.account.before = func(what string, got target) {
		o := w.get()
		if o.Annotations[ownership.Annotation] != uid || !slices.Contains(o.Finalizers, awsv1.MachinePoolFinalizer) {
			t.Errorf("%s before the owner ID and the finalizer were written: %v, %v", what, o.Annotations, o.Finalizers)
		}
		if what != "Observe" && !strings.Contains(o.Annotations[stored.Annotation], "ami-1") {
			t.Errorf("%s before the look-ups that it may rest on were written: %v", what, o.Annotations)
		}
		if got.Owner.ID != uid || got.Owner.Cluster != "c" || got.Owner.Name != "p" || got.KubernetesVersion != "v1.36.3" {
			t.Errorf("%s for %+v, version %s", what, got.Owner, got.KubernetesVersion)
		}
	}
	w.settled()
	w.wantCalls("a template first, then the group with all its machines", "PutTemplate", "CreateGroup")
	w.account.before = nil
	o := w.get()
	if !o.Status.Ready || o.Status.Initialization.Provisioned == nil || !*o.Status.Initialization.Provisioned {
		t.Errorf("the group exists: want it told in the words of both contracts, got %+v", o.Status.Status)
	}
	if got := w.condition(report.Ready); got.Status == metav1.ConditionTrue {
		t.Errorf("machines have not joined: want Ready not to be True, got %+v", got)
	}
	w.join()
	w.settle()
	o = w.get()
	if diff := cmp.Diff([]string{"aws:///zone-a/i-1", "aws:///zone-a/i-2"}, o.Spec.ProviderIDList); diff != "" {
		t.Errorf("provider IDs, want -, got +\n%s", diff)
	}
	if o.Spec.ProviderID == "" || o.Status.LaunchTemplateID != "lt-1" || o.Status.Version != "v1.36.3" ||
		o.Status.State != string(report.StateRunning) {
		t.Errorf("want the group's ID, the template, version and state, got %q, %+v", o.Spec.ProviderID, o.Status)
	}
	for name, got := range map[string]*int32{"desired": o.Status.DesiredReplicas, "ready": o.Status.ReadyReplicas,
		"up-to-date": o.Status.UpToDateReplicas, "current": o.Status.Replicas} {
		if got == nil || *got != 2 {
			t.Errorf("%s: want 2, got %v", name, got)
		}
	}
	capacity := map[corev1.ResourceName]string{}
	for name, n := range o.Status.Capacity {
		capacity[name] = n.String()
	}
	offers := map[corev1.ResourceName]string{"cpu": "2", "memory": "3Gi", "pods": "29", "nvidia.com/gpu": "1"}
	if diff := cmp.Diff(offers, capacity); diff != "" ||
		o.Status.NodeInfo != (common.NodeInfo{Architecture: "arm64", OperatingSystem: "linux"}) {
		t.Errorf("want what a machine offers, for an autoscaler, got %+v\n%s", o.Status.NodeInfo, diff)
	}
	if len(o.Status.Instances) != 2 || o.Status.Instances[0].Node != "node-i-1" || !o.Status.Instances[0].Ready ||
		*o.Status.Instances[0].Version != "v1.36.3" {
		t.Errorf("instances: got %+v", o.Status.Instances)
	}
	for _, name := range []string{"Ready", "TemplateReady", "LaunchTemplateReady", "GroupReady", "ASGReady", "InstancesReady", "UpToDate"} {
		if got := w.condition(name); got.Status != metav1.ConditionTrue || got.ObservedGeneration != o.Generation ||
			got.LastTransitionTime.IsZero() {
			t.Errorf("%s: want True, of generation %d, got %+v", name, o.Generation, got)
		}
	}
	if got := w.condition(clusterv1.PausedCondition); got.Status != metav1.ConditionFalse || got.Reason != clusterv1.NotPausedReason {
		t.Errorf("Paused: got %+v", got)
	}
	if strings.Contains(w.say(), "s3cret") {
		t.Error("the bootstrap data reached the status")
	}
}

func TestNothingIsWrittenInTheSteadyState(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.passes(20)
	if len(w.writes) != 0 {
		t.Errorf("want no writes, got %v", w.writes)
	}
	w.wantCalls("nothing is to be done")
	before := w.get()
	w.restart()
	w.passes(3)
	if len(w.writes) != 0 {
		t.Errorf("want no writes after a restart, got %v", w.writes)
	}
	if diff := cmp.Diff(before.Status, w.get().Status); diff != "" {
		t.Errorf("the status changed by itself:\n%s", diff)
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	for name, tc := range heldCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.objects...)
			w.passes(3)
			if w.account.looks != 0 || len(w.account.take()) != 0 {
				t.Errorf("%s: the cloud was asked although nothing could be made", tc.reason)
			}
			if o := w.get(); len(o.Finalizers) != 0 || o.Annotations[ownership.Annotation] != "" {
				t.Errorf("a pool that owns nothing must be free to go, got %v, %v", o.Finalizers, o.Annotations)
			}
			text := w.say()
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: want %q in\n%s", tc.reason, want, text)
				}
			}
			if strings.Contains(text, "s3cret") {
				t.Errorf("the bootstrap data reached the status:\n%s", text)
			}
			w.writes = nil
			w.passes(2)
			if len(w.writes) != 0 {
				t.Errorf("waiting wrote %v", w.writes)
			}
			tc.repair(w)
			w.settled()
			w.wantCalls("once put right it goes on by itself", "PutTemplate", "CreateGroup")
		})
	}
}

// heldCase is a pool that can't begin, what its conditions say, and what lets it begin.
type heldCase struct {
	reason  string
	objects []client.Object
	want    []string
	repair  func(w *world)
}

func heldCases(t *testing.T) map[string]heldCase {
	return map[string]heldCase{
		"no cluster": {
			reason:  "a cluster that does not exist is named",
			objects: []client.Object{machinePool(), awsMachinePool(), data(), definition(), place()},
			want:    []string{"ClusterDoesNotExist", "Cluster default/c does not exist"},
			repair:  func(w *world) { create(w, cluster()) },
		},
		"no infrastructure": {
			reason:  "what the cluster refers to is named",
			objects: []client.Object{machinePool(), awsMachinePool(), cluster(), data(), definition()},
			want:    []string{"ClusterInfrastructureMissing", "AWSCluster default/place, which Cluster c names, does not exist"},
			repair:  func(w *world) { create(w, place()) },
		},
		"no infrastructure kind": {
			reason:  "a kind that is not installed is named with what is missing",
			objects: []client.Object{machinePool(), awsMachinePool(), cluster(), data(), place()},
			want:    []string{"ClusterInfrastructureMissing", "AWSCluster", "CustomResourceDefinition"},
			repair:  func(w *world) { create(w, definition()) },
		},
		"no infrastructure reference": {
			reason: "a cluster without infrastructure has no place",
			objects: []client.Object{machinePool(), awsMachinePool(), cluster(func(c *clusterv1.Cluster) {
				c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{}
			}), data(), definition(), place()},
			want: []string{"ClusterInfrastructureMissing", "Cluster default/c names no infrastructure in spec.infrastructureRef"},
			repair: func(w *world) {
				change(w, cluster(), func(c *clusterv1.Cluster) { c.Spec.InfrastructureRef = cluster().Spec.InfrastructureRef })
			},
		},
		"not provisioned": {
			reason: "a network that is half made would give machines that are made wrong",
			objects: []client.Object{machinePool(), awsMachinePool(), cluster(func(c *clusterv1.Cluster) {
				c.Status.Initialization.InfrastructureProvisioned = nil
			}), data(), definition(), place()},
			want: []string{"WaitingForClusterInfrastructure", "the infrastructure of Cluster default/c is not provisioned yet"},
			repair: func(w *world) {
				c := cluster()
				if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
					t.Fatal(err)
				}
				c.Status.Initialization.InfrastructureProvisioned = new(true)
				if err := w.management.Status().Update(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			},
		},
		"no MachinePool": {
			reason:  "nothing says how many machines there should be",
			objects: []client.Object{awsMachinePool(), cluster(), data(), definition(), place()},
			want:    []string{"MachinePoolMissing", "MachinePool default/mp, which owns this AWSMachinePool, does not exist"},
			repair:  func(w *world) { create(w, machinePool()) },
		},
		"no reference": {
			reason: "without owner reference the pool is found by who refers to it",
			objects: []client.Object{awsMachinePool(func(o *awsv1.AWSMachinePool) {
				o.OwnerReferences = nil
			}), cluster(), data(), definition(), place()},
			want:   []string{"MachinePoolMissing", "no MachinePool in namespace default refers to this AWSMachinePool"},
			repair: func(w *world) { create(w, machinePool()) },
		},
		"two refer to it": {
			reason: "two masters would fight",
			objects: []client.Object{awsMachinePool(func(o *awsv1.AWSMachinePool) {
				o.OwnerReferences = nil
			}), machinePool(), machinePool(func(mp *clusterv1.MachinePool) { mp.Name, mp.UID = "other", "other" }), cluster(), data(), definition(),
				place()},
			want: []string{"MachinePoolMissing",
				"several MachinePools refer to this AWSMachinePool in spec.template.spec.infrastructureRef: mp, other"},
			repair: func(w *world) { w.remove(machinePool(func(mp *clusterv1.MachinePool) { mp.Name = "other" })) },
		},
		"no data secret name": {
			reason: "the bootstrap configuration that is waited for is named",
			objects: []client.Object{machinePool(func(mp *clusterv1.MachinePool) {
				mp.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{Kind: "KubeadmConfig",
					Name: "boot"}}
			}), awsMachinePool(), cluster(), data(), definition(), place()},
			want: []string{"WaitingForBootstrapData", "waiting for its bootstrap configuration boot"},
			repair: func(w *world) {
				change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Bootstrap.DataSecretName = new("data") })
			},
		},
		"no secret": {
			reason:  "a missing secret is named",
			objects: []client.Object{machinePool(), awsMachinePool(), cluster(), definition(), place()},
			want:    []string{"BootstrapDataMissing", "secret default/data", "does not exist"},
			repair:  func(w *world) { create(w, data()) },
		},
		"not cloud-init": {
			reason: "data that the machine would ignore is refused by its header",
			objects: []client.Object{machinePool(), awsMachinePool(), cluster(), definition(), place(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
				Data:       map[string][]byte{"value": []byte("s3cret"), "format": []byte("cloud-config")}}},
			want:   []string{"BootstrapDataInvalid", "holds no cloud-init data"},
			repair: func(w *world) { change(w, data(), func(s *corev1.Secret) { s.Data = data().Data }) },
		},
	}
}

func create(w *world, o client.Object) {
	w.t.Helper()
	if err := w.management.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func TestRunningPoolsGoOnWithoutBootstrapData(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.remove(data())
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	w.settle()
	w.wantCalls("a pool without bootstrap data is made smaller all the same", "Remove i-1")
}

func TestGrow(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(4)) })
	w.settled()
	w.wantCalls("the group gets its new size", "Resize")
	w.join()
	w.settle()
	if o := w.get(); len(o.Spec.ProviderIDList) != 4 || *o.Status.ReadyReplicas != 4 {
		t.Errorf("want 4 instances, got %v\n%s", o.Spec.ProviderIDList, w.say())
	}
}

func TestShrinkDrainsFirst(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.runs("web", "i-1")
	w.refuse["web"] = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	w.passes(5)
	w.wantCalls("nothing is removed while its pods can't go")
	node := w.node("node-i-1")
	if !node.Spec.Unschedulable || node.Annotations[nodes.DrainStartedAnnotation] == "" {
		t.Errorf("want the node cordoned by us, got %v, %v", node.Spec.Unschedulable, node.Annotations)
	}
	delete(w.refuse, "web")
	w.settle()
	w.wantCalls("drained, exactly the chosen one goes", "Remove i-1")
	if other := w.node("node-i-2"); other.Spec.Unschedulable {
		t.Error("the node that stays was cordoned")
	}
	if diff := cmp.Diff([]string{"aws:///zone-a/i-2"}, w.get().Spec.ProviderIDList); diff != "" {
		t.Errorf("provider IDs, want -, got +\n%s", diff)
	}
}

func readyPod(name string) *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
}

func (w *world) node(name string) *corev1.Node {
	w.t.Helper()
	n := &corev1.Node{}
	if err := w.workload.Get(w.t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func TestTheMarkedInstanceGoes(t *testing.T) {
	t.Parallel()
	taint := func(key string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Spec.Unschedulable = true
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: "1", Effect: corev1.TaintEffectNoSchedule})
		}
	}
	for _, c := range []struct {
		name, why string
		pods      []string
		mark      func(*corev1.Node)
		want      string
	}{
		{"annotation", "the one that a user marked goes, not the oldest", nil, func(n *corev1.Node) {
			n.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: "yes"}
		}, "Remove i-2"},
		{"taint", "so does the one that the autoscaler chose, though it is in use", []string{"i-2"}, taint("ToBeDeletedByClusterAutoscaler"),
			"Remove i-2"},
		{"cordoned and empty", "one that a user emptied is not missed", []string{"i-1"}, func(n *corev1.Node) { n.Spec.Unschedulable = true },
			"Remove i-2"},
		{"cordoned and in use", "its pods have to move as others would", []string{"i-1", "i-2"},
			func(n *corev1.Node) { n.Spec.Unschedulable = true }, "Remove i-1"},
		{"a candidate", "the autoscaler has not chosen it yet", []string{"i-1", "i-2"}, func(n *corev1.Node) {
			taint("DeletionCandidateOfClusterAutoscaler")(n)
			n.Spec.Unschedulable = false
		}, "Remove i-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := running(t, everything()...)
			n := w.node("node-i-2")
			c.mark(n)
			if err := w.workload.Update(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			for _, id := range c.pods {
				w.runs("web-"+id, id)
			}
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
			w.settle()
			w.wantCalls(c.why, c.want)
		})
	}
}

func TestDrainTimeout(t *testing.T) {
	t.Parallel()
	objects := everything()
	objects[0] = machinePool(func(mp *clusterv1.MachinePool) {
		mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = new(int32(60))
	})
	w := running(t, objects...)
	w.runs("web", "i-1")
	w.refuse["web"] = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	begun := w.now
	for w.now.Sub(begun) < 10*time.Minute && len(w.account.calls) == 0 {
		w.passes(1)
	}
	w.wantCalls("a drain ends with its timeout", "Remove i-1")
	if waited := w.now.Sub(begun); waited < time.Minute || waited > 3*time.Minute {
		t.Errorf("want the removal about a minute after the drain began, got %s", waited)
	}
}

func TestExternalAutoscaler(t *testing.T) {
	t.Parallel()
	objects := everything()
	objects[0] = machinePool(func(mp *clusterv1.MachinePool) {
		mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
	})
	w := running(t, objects...)
	w.account.mu.Lock()
	for name := range w.account.groups {
		w.account.resize(name, 5)
	}
	w.account.mu.Unlock()
	w.join()
	w.settle()
	w.wantCalls("the group's size is managed externally")
	mp := machinePool()
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(mp), mp); err != nil {
		t.Fatal(err)
	}
	if mp.Spec.Replicas == nil || *mp.Spec.Replicas != 5 {
		t.Errorf("want the MachinePool to follow the group's size 5, got %v", mp.Spec.Replicas)
	}
	w.settle()
	w.writes = nil
	w.passes(3)
	if len(w.writes) != 0 {
		t.Errorf("want no writes afterwards, got %v", w.writes)
	}
}

func TestPaused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		pause  func(w *world, on bool)
		want   string
	}{
		"cluster": {"a cluster pauses all that is its", func(w *world, on bool) {
			change(w, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = &on })
		}, "Cluster spec.paused is set to true"},
		"object": {"one object can be paused", func(w *world, on bool) {
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
				delete(o.Annotations, clusterv1.PausedAnnotation)
				if on {
					o.Annotations[clusterv1.PausedAnnotation] = ""
				}
			})
		}, "AWSMachinePool has the cluster.x-k8s.io/paused annotation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, everything()...)
			looks := w.account.looks
			tc.pause(w, true)
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(4)) })
			w.passes(2)
			if w.account.looks != looks {
				t.Errorf("%s: want the cloud left alone", tc.reason)
			}
			if got := w.condition(clusterv1.PausedCondition); got.Status != metav1.ConditionTrue || got.Message != tc.want {
				t.Errorf("%s: want Paused True with %q, got %+v", tc.reason, tc.want, got)
			}
			if got := w.condition(report.Ready); got.Status != metav1.ConditionTrue {
				t.Errorf("%s: pausing changes nothing else, got %+v", tc.reason, got)
			}
			w.remove(awsMachinePool())
			w.passes(2)
			if w.gone() {
				t.Fatalf("%s: deletion waits too", tc.reason)
			}
			if got := w.condition(clusterv1.PausedCondition).Message; !strings.Contains(got, "its deletion waits for that to end") {
				t.Errorf("%s: want to be told that the deletion waits, got %q", tc.reason, got)
			}
			tc.pause(w, false)
			for range 30 {
				if w.gone() {
					return
				}
				w.passes(1)
			}
			t.Errorf("%s: want it gone when it goes on, got\n%s", tc.reason, w.say())
		})
	}
}

func TestWatchFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.reconciler.WatchFilter = "mine"
	w.passes(2)
	if len(w.writes) != 0 || w.account.looks != 0 {
		t.Errorf("want an object of another manager left alone, got %v", w.writes)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Labels[clusterv1.WatchLabel] = "mine" })
	w.settled()
	w.wantCalls("an object with the label is taken", "PutTemplate", "CreateGroup")
}

func TestGroupName(t *testing.T) {
	t.Parallel()
	objects := everything()
	objects[1] = awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Annotations = map[string]string{ownership.GroupNameAnnotation: "mine"}
	})
	w := running(t, objects...)
	if w.account.groups["mine"] == nil {
		t.Errorf("want the group under the name that the annotation gives, got %v", w.account.groups)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	var got []string
	for len(w.recorder.Events) > 0 {
		got = append(got, <-w.recorder.Events)
	}
	if len(got) == 0 {
		t.Error("want events about what was made")
	}
	w.passes(5)
	if len(w.recorder.Events) > 0 {
		t.Errorf("want no event when nothing happens, got %s", <-w.recorder.Events)
	}
}

func TestPlaceIsReadInTheVersionOfItsLabels(t *testing.T) {
	t.Parallel()
	objects := everything()
	d := definition()
	d.Labels = map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}
	p := &unstructured.Unstructured{Object: place().Object}
	p.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	objects[3], objects[5] = p, d
	w := newWorld(t, objects...)
	w.settled()
	w.wantCalls("providers of the older contract are places too", "PutTemplate", "CreateGroup")
}

func TestAStartWaitsForTheFirstConnection(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	connected := w.cache
	w.cache = clustercache.NewFakeEmptyClusterCache()
	w.restart()
	before := w.get()
	w.pass()
	if len(w.writes) != 0 || w.again <= 0 || w.again > time.Minute {
		t.Errorf("want nothing said before the first connection was tried, and a look soon; got %v, %s", w.writes, w.again)
	}
	w.reconciler.ClusterCache = connected
	w.passes(2)
	if diff := cmp.Diff(before.Status, w.get().Status); diff != "" {
		t.Errorf("a start changed the status:\n%s", diff)
	}
	w.cache = clustercache.NewFakeEmptyClusterCache()
	w.restart()
	w.passes(40)
	if got := w.condition(report.Ready); got.Status != metav1.ConditionUnknown {
		t.Errorf("a cluster that stays away is told about, want Ready Unknown, got %+v", got)
	}
	if o := w.get(); o.Status.ReadyReplicas != nil {
		t.Errorf("what is not known is not counted, got %d", *o.Status.ReadyReplicas)
	}
}

func TestConditionsOfOthersStay(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	o := w.get()
	o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: "Backup", Status: metav1.ConditionTrue, Reason: "Done",
		LastTransitionTime: metav1.NewTime(start)})
	if err := w.management.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.runs("web", "i-1")
	w.refuse["web"] = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	w.remove(awsMachinePool())
	w.passes(2)
	if got := w.condition("Backup"); got.Reason != "Done" {
		t.Errorf("want the condition of another controller left alone, got %+v", got)
	}
	for _, c := range w.get().Status.Conditions {
		if c.Type == report.GroupReady || c.Type == "ASGReady" {
			t.Errorf("a pool that goes says nothing about what it wanted before, got %+v", c)
		}
	}
}

func TestARotatedTokenRollsNothing(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	change(w, data(), func(s *corev1.Secret) { s.Data["value"] = []byte("#cloud-config\ntoken: another") })
	w.settle()
	w.passes(3)
	calls := w.account.take()
	if got := only(calls, pool.PutTemplate, pool.UpdateGroup); !slices.Equal(got, []string{"PutTemplate", "UpdateGroup"}) {
		t.Errorf("new machines need the new token: want a version and the group pointed at it, got %q", calls)
	}
	if got := only(calls, pool.Remove, pool.Resize, pool.CreateGroup, pool.DeleteGroup); len(got) != 0 {
		t.Errorf("machines that exist stay, got %q", got)
	}
	if o := w.get(); o.Status.UpToDateReplicas == nil || *o.Status.UpToDateReplicas != 2 || *o.Status.LaunchTemplateVersion != "2" {
		t.Errorf("want both machines up to date and version 2 in use, got %+v", o.Status)
	}
}

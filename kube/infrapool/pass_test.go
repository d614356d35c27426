package infrapool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
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
	if o.Spec.ProviderID == "" || o.Status.LaunchTemplateID != "lt-1" || o.Status.Version != "v1.36.3" || o.Status.State != string(report.StateRunning) {
		t.Errorf("want the group's ID, the template, version and state, got %q, %+v", o.Spec.ProviderID, o.Status)
	}
	for name, got := range map[string]*int32{"desired": o.Status.DesiredReplicas, "ready": o.Status.ReadyReplicas, "up-to-date": o.Status.UpToDateReplicas, "current": o.Status.Replicas} {
		if got == nil || *got != 2 {
			t.Errorf("%s: want 2, got %v", name, got)
		}
	}
	capacity := map[corev1.ResourceName]string{}
	for name, n := range o.Status.Capacity {
		capacity[name] = n.String()
	}
	offers := map[corev1.ResourceName]string{"cpu": "2", "memory": "3Gi", "pods": "29", "nvidia.com/gpu": "1"}
	if diff := cmp.Diff(offers, capacity); diff != "" || o.Status.NodeInfo != (common.NodeInfo{Architecture: "arm64", OperatingSystem: "linux"}) {
		t.Errorf("want what a machine offers, for an autoscaler, got %+v\n%s", o.Status.NodeInfo, diff)
	}
	if len(o.Status.Instances) != 2 || o.Status.Instances[0].Node != "node-i-1" || !o.Status.Instances[0].Ready || *o.Status.Instances[0].Version != "v1.36.3" {
		t.Errorf("instances: got %+v", o.Status.Instances)
	}
	for _, name := range []string{"Ready", "TemplateReady", "LaunchTemplateReady", "GroupReady", "ASGReady", "InstancesReady", "UpToDate"} {
		if got := w.condition(name); got.Status != metav1.ConditionTrue || got.ObservedGeneration != o.Generation || got.LastTransitionTime.IsZero() {
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
	for name, tc := range map[string]struct {
		reason  string
		objects []client.Object
		want    []string
		repair  func(w *world)
	}{
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
			}), machinePool(), machinePool(func(mp *clusterv1.MachinePool) { mp.Name, mp.UID = "other", "other" }), cluster(), data(), definition(), place()},
			want:   []string{"MachinePoolMissing", "several MachinePools refer to this AWSMachinePool in spec.template.spec.infrastructureRef: mp, other"},
			repair: func(w *world) { w.remove(machinePool(func(mp *clusterv1.MachinePool) { mp.Name = "other" })) },
		},
		"no data secret name": {
			reason: "the bootstrap configuration that is waited for is named",
			objects: []client.Object{machinePool(func(mp *clusterv1.MachinePool) {
				mp.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{Kind: "KubeadmConfig", Name: "boot"}}
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
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}, Data: map[string][]byte{"value": []byte("s3cret"), "format": []byte("cloud-config")}}},
			want:   []string{"BootstrapDataInvalid", "holds no cloud-init data"},
			repair: func(w *world) { change(w, data(), func(s *corev1.Secret) { s.Data = data().Data }) },
		},
	} {
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

func TestWhatKeepsADeletionIsNamed(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.runs("web", "i-1")
	w.refuse["web"] = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keep"},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	if err := w.workload.Create(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	if err := w.workload.Status().Patch(t.Context(), readyPod("web"), client.Merge); err != nil {
		t.Fatal(err)
	}
	w.remove(awsMachinePool())
	w.passes(5)
	if got := w.condition(report.Deleting); !strings.Contains(got.Message, "default/web (PodDisruptionBudget keep)") {
		t.Errorf("want the pod and its budget named, got %+v", got)
	}
	w.wantCalls("nothing is deleted while pods can't go")
}

func readyPod(name string) *corev1.Pod {
	return &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
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
		{"taint", "so does the one that the autoscaler chose, though it is in use", []string{"i-2"}, taint("ToBeDeletedByClusterAutoscaler"), "Remove i-2"},
		{"cordoned and empty", "one that a user emptied is not missed", []string{"i-1"}, func(n *corev1.Node) { n.Spec.Unschedulable = true }, "Remove i-2"},
		{"cordoned and in use", "its pods have to move as others would", []string{"i-1", "i-2"}, func(n *corev1.Node) { n.Spec.Unschedulable = true }, "Remove i-1"},
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

func TestDelete(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.runs("web", "i-1")
	w.remove(awsMachinePool())
	w.pass()
	if got := w.condition(report.Deleting); got.Status != metav1.ConditionTrue {
		t.Errorf("want Deleting True, got %+v", got)
	}
	list := w.get().Spec.ProviderIDList
	for range 30 {
		if w.gone() {
			break
		}
		if got := w.get().Spec.ProviderIDList; !slices.Equal(got, list) {
			t.Errorf("a pool that goes keeps its list for who cleans up, want %v, got %v", list, got)
		}
		w.passes(1)
	}
	if !w.gone() || w.account.left() != "0 groups, 0 templates" {
		t.Fatalf("want nothing left, got %s, object gone: %v", w.account.left(), w.gone())
	}
	calls := w.account.take()
	if got := only(calls, pool.DeleteGroup, pool.DeleteTemplates); !slices.Equal(got, []string{"DeleteGroup", "DeleteTemplates"}) {
		t.Errorf("want the group and then its templates deleted, got %q", calls)
	}
	for _, name := range []string{"node-i-1", "node-i-2"} {
		if !w.node(name).Spec.Unschedulable {
			t.Errorf("%s was not drained before it went", name)
		}
	}
	if !slices.Contains(w.writes, "workload create eviction of *v1.Pod web") {
		t.Errorf("want web evicted, got %v", w.writes)
	}
}

func TestDeleteWithoutAnything(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		lose   func(w *world)
		drains bool
	}{
		"cluster gone":        {"the region is stored and there are no nodes to drain", func(w *world) { w.remove(cluster()) }, false},
		"infrastructure gone": {"the region is remembered, and the nodes are still there to be drained", func(w *world) { w.remove(place()) }, true},
		"both gone":           {"as after a forced deletion of everything", func(w *world) { w.remove(place()); w.remove(cluster()) }, false},
		"owner gone":          {"a pool without owner goes as well", func(w *world) { w.remove(machinePool()) }, true},
		"secret gone":         {"nothing boots any more", func(w *world) { w.remove(data()) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, everything()...)
			tc.lose(w)
			w.remove(awsMachinePool())
			for range 30 {
				if w.gone() {
					break
				}
				w.passes(1)
			}
			if !w.gone() || w.account.left() != "0 groups, 0 templates" {
				t.Fatalf("%s: want nothing left, got %s, object gone: %v", tc.reason, w.account.left(), w.gone())
			}
			if got := w.node("node-i-1").Spec.Unschedulable; got != tc.drains {
				t.Errorf("%s: want drained %v, got %v", tc.reason, tc.drains, got)
			}
		})
	}
}

func TestDeleteWaitsForAClusterThatIsAwayForAMoment(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.remove(awsMachinePool())
	w.cache = clustercache.NewFakeEmptyClusterCache()
	w.restart()
	begun := w.now
	for !w.gone() && w.now.Sub(begun) < time.Hour {
		w.passes(1)
	}
	if waited := w.now.Sub(begun); !w.gone() || waited < 5*time.Minute || waited > 20*time.Minute {
		t.Errorf("want deletion to go on without drain after some minutes, got gone %v after %s", w.gone(), waited)
	}
	if w.account.left() != "0 groups, 0 templates" {
		t.Errorf("want nothing left, got %s", w.account.left())
	}
}

func TestDeleteWithoutRegion(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, stored.Annotation) })
	w.remove(place())
	w.remove(awsMachinePool())
	w.passes(3)
	if w.gone() || w.account.left() != "1 groups, 1 templates" {
		t.Fatalf("a pool that can't be found must not be given up, got %s, gone: %v", w.account.left(), w.gone())
	}
	if text := w.say(); !strings.Contains(text, `set it to {"region": "<region>"}`) {
		t.Errorf("want to be told what to do, got\n%s", text)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
		o.Annotations[stored.Annotation] = `{"region":"eu-west-1"}`
	})
	for range 30 {
		if w.gone() {
			return
		}
		w.passes(1)
	}
	t.Errorf("want it gone once the region is known, got\n%s", w.say())
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

func TestLostOwner(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.remove(machinePool())
	w.passes(3)
	w.wantCalls("a pool whose owner is lost is left as it is")
	if text := w.say(); !strings.Contains(text, "MachinePool default/mp, which owns this AWSMachinePool, does not exist") {
		t.Errorf("want to be told, got\n%s", text)
	}
	if o := w.get(); *o.Status.Replicas != 2 || !o.Status.Ready {
		t.Errorf("what was seen before stays, got %+v", o.Status.Status)
	}
}

func TestACopyOfAnObjectOwnsNothing(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	original := w.get()
	for _, o := range []client.Object{
		machinePool(func(mp *clusterv1.MachinePool) { mp.Namespace = "other" }),
		cluster(func(c *clusterv1.Cluster) { c.Namespace = "other" }),
		func() client.Object { p := place(); p.SetNamespace("other"); return p }(),
		func() client.Object { s := data(); s.Namespace = "other"; return s }(),
		awsMachinePool(func(o *awsv1.AWSMachinePool) {
			o.Namespace, o.UID, o.CreationTimestamp = "other", "99999999", metav1.NewTime(w.now)
			o.Annotations, o.Finalizers = original.Annotations, original.Finalizers
		}),
	} {
		create(w, o)
	}
	looks := w.account.looks
	copied := client.ObjectKey{Namespace: "other", Name: "p"}
	at := func() error {
		_, err := w.reconciler.Reconcile(t.Context(), ctrlRequest(copied))
		return err
	}
	for range 3 {
		if err := at(); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Minute)
	}
	o := &awsv1.AWSMachinePool{}
	if err := w.management.Get(t.Context(), copied, o); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range o.Status.Conditions {
		found = found || strings.Contains(c.Message, "AWSMachinePool default/p has the same annotation muster.dev/owner-id")
	}
	if !found || w.account.looks != looks {
		t.Errorf("want the copy to report the owner of the group and to ask nothing, got %+v after %d looks", o.Status.Conditions, w.account.looks-looks)
	}
	w.remove(o)
	if err := at(); err != nil {
		t.Fatal(err)
	}
	if err := w.management.Get(t.Context(), copied, o); !apierrors.IsNotFound(err) || w.account.left() != "1 groups, 1 templates" {
		t.Errorf("want the copy gone and the group there, got %v, %s", err, w.account.left())
	}
}

func TestForeignGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	name := cloud.Owner{ID: uid, Name: "p"}.ResourceName()
	w.account.groups[name] = &group{owner: "another", region: "eu-west-1"}
	w.settled()
	if got := only(w.account.take(), pool.CreateGroup, pool.UpdateGroup, pool.Resize, pool.DeleteGroup); len(got) != 0 {
		t.Errorf("want a foreign group left alone, got %q", got)
	}
	if text := w.say(); !strings.Contains(text, "belongs to another owner") {
		t.Errorf("want to be told, got\n%s", text)
	}
	w.remove(awsMachinePool())
	for range 30 {
		if w.gone() {
			break
		}
		w.passes(1)
	}
	if !w.gone() || w.account.groups[name] == nil {
		t.Errorf("want the object gone and the foreign group there, got gone %v, %s", w.gone(), w.account.left())
	}
}

func TestOwnerIDSurvivesAMove(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	moved := w.get()
	objects := everything()
	objects[1] = awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.UID, o.Annotations, o.Finalizers, o.Spec = "other-uid", moved.Annotations, moved.Finalizers, moved.Spec
	})
	after := newWorld(t, objects...)
	after.account = w.account
	after.workload, after.cache = w.workload, w.cache
	after.restart()
	after.settle()
	after.wantCalls("the object's new UID changes nothing")
	if o := after.get(); *o.Status.Replicas != 2 || o.Annotations[ownership.Annotation] != uid {
		t.Errorf("want the same two machines, got %+v", o.Status.Status)
	}
}

func TestCloudErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.observe = &cloud.Error{Kind: cloud.Denied, Op: "autoscaling:DescribeAutoScalingGroups", Code: "AccessDenied", Message: "not you"}
	w.passes(4)
	if text := w.say(); !strings.Contains(text, "not you") {
		t.Errorf("want the cloud's own words in\n%s", text)
	}
	w.pass()
	w.writes = nil
	looks := w.account.looks
	for range 5 {
		w.pass()
	}
	if len(w.writes) != 0 || w.account.looks != looks {
		t.Errorf("want neither writes nor calls while an error is waited out, got %v, %d looks", w.writes, w.account.looks-looks)
	}
	w.account.observe = nil
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.MaxSize = 11 })
	w.settled()
	w.wantCalls("a change of the object ends the back-off", "PutTemplate", "CreateGroup")
	w.join()
	w.settle()
	known := w.get().Spec.ProviderIDList
	w.account.observe = &cloud.Error{Kind: cloud.Unavailable, Op: "autoscaling:DescribeAutoScalingGroups", Code: "InternalFailure", Message: "later"}
	w.now = w.now.Add(time.Hour)
	w.passes(4)
	if got := w.get().Spec.ProviderIDList; len(known) != 2 || !slices.Equal(got, known) {
		t.Errorf("a cloud that does not answer says nothing about instances: want them listed as before, %v, got %v", known, got)
	}
}

// A rate budget that is used up says nothing about a pool: however long that lasts, its object says what it said.
func TestHeldBackChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.settled()
	w.join()
	w.settle()
	before := w.say()
	w.account.observe = &cloud.Error{Kind: cloud.Throttled, Op: "autoscaling:DescribeAutoScalingGroups", Code: cloud.CodeClientRateLimited, After: 5 * time.Second, Message: "held back"}
	w.now = w.now.Add(time.Hour)
	w.pass()
	if got := w.say(); got != before {
		t.Errorf("want the same said as before\n%s\ngot\n%s", before, got)
	}
	w.now = w.now.Add(time.Hour)
	w.pass()
	if got := w.say(); got != before {
		t.Errorf("want the same said an hour later\n%s\ngot\n%s", before, got)
	}
}

func TestKubernetesErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.refuse[pool.CreateGroup] = errors.New("no answer")
	w.settled()
	if text := w.say(); !strings.Contains(text, "no answer") {
		t.Errorf("want the error in\n%s", text)
	}
	delete(w.account.refuse, pool.CreateGroup)
	w.passes(10)
	w.wantCalls("it is tried again", "PutTemplate", "CreateGroup")
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

func TestStaleReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	old := w.get()
	w.pass()
	stale := &staleClient{WithWatch: w.management, object: old}
	w.reconciler.Client = stale
	looks := w.account.looks
	w.writes = nil
	w.pass()
	if w.account.looks != looks || len(w.writes) != 0 || w.again <= 0 || w.again > time.Second {
		t.Errorf("want an object that we have written since read again soon, got %d looks, %v, again in %s", w.account.looks-looks, w.writes, w.again)
	}
	stale.object = nil
	w.pass()
	if w.account.looks == looks {
		t.Error("want the pass to go on once the cache has caught up")
	}
}

// staleClient reads the object from a cache that lags behind.
type staleClient struct {
	client.WithWatch
	object *awsv1.AWSMachinePool
}

func (c *staleClient) Get(ctx context.Context, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if to, ok := o.(*awsv1.AWSMachinePool); ok && c.object != nil {
		c.object.DeepCopyInto(to)
		return nil
	}
	return c.WithWatch.Get(ctx, k, o, opts...)
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
	o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: "Backup", Status: metav1.ConditionTrue, Reason: "Done", LastTransitionTime: metav1.NewTime(start)})
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

func TestAKillAtEveryStepConverges(t *testing.T) {
	t.Parallel()
	for kill := 0; kill < 12; kill += killStep() {
		w := newWorld(t, everything()...)
		for range kill {
			w.passes(1)
		}
		w.restart()
		w.settled()
		w.join()
		w.restart()
		w.settle()
		if got := w.account.take(); !slices.Equal(got, []string{"PutTemplate", "CreateGroup"}) {
			t.Errorf("killed after %d passes: want everything made once, got %q", kill, got)
		}
		w.remove(awsMachinePool())
		for range 40 {
			if w.gone() {
				break
			}
			w.passes(1)
			w.restart()
		}
		if w.account.left() != "0 groups, 1 templates" {
			t.Errorf("killed after every pass of the deletion: want the group gone and its template kept, got %s", w.account.left())
		}
		w.passes(4) // a process that lives for ten seconds knows that the group is gone, deletes the template and confirms it
		if !w.gone() || w.account.left() != "0 groups, 0 templates" {
			t.Errorf("killed after every pass of the deletion: want nothing left, got %s", w.account.left())
		}
	}
}

// TestAPoolOfAnotherTool: the object names a group that exists and is not the pool's. No other is created beside it, and the object
// goes without a trace in the cloud.
func TestAPoolOfAnotherTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.ProviderID, o.Spec.ProviderIDList = "arn:theirs", []string{"aws:///zone-a/i-9"}
	}), cluster(), place(), data(), definition())
	w.account.groups["theirs"] = &group{region: "eu-west-1", size: 2}
	w.passes(3)
	w.wantCalls("nothing is written")
	for _, name := range []string{"GroupReady", "Ready"} {
		if c := w.condition(name); c.Status != metav1.ConditionFalse || c.Reason != cloud.ReasonOwnershipConflict || !strings.Contains(c.Message, "Auto Scaling group theirs") {
			t.Errorf("want %s to name the group, got %+v", name, c)
		}
	}
	if o := w.get(); o.Spec.ProviderID != "arn:theirs" || len(o.Spec.ProviderIDList) != 1 {
		t.Errorf("want the lists left as they are, got %q %q", o.Spec.ProviderID, o.Spec.ProviderIDList)
	}
	w.events()
	w.remove(w.get())
	w.passes(3)
	w.wantCalls("nothing is deleted in the cloud")
	if !w.gone() {
		t.Errorf("want the object let go\n%s", w.say())
	}
	if got := strings.Join(w.events(), "\n"); strings.Count(got, "GroupLeft") != 1 || !strings.Contains(got, "Auto Scaling group theirs") {
		t.Errorf("want one event that names what is left, got %q", got)
	}
}

// TestAdoption: a group of another tool becomes the pool's when the annotation names it. The name stays when the annotation is removed, and
// counts for a group that is created in the place of one that was lost.
func TestAdoption(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.ProviderID, o.Annotations = "arn:theirs", map[string]string{pool.AdoptAnnotation: "theirs"}
	}), cluster(), place(), data(), definition())
	w.account.groups["theirs"] = &group{region: "eu-west-1", size: 3, max: 10, template: "lt-1:1", instances: []pool.Instance{{ID: "i-9", ProviderID: "aws:///zone-a/i-9", State: pool.Running}}}
	w.passes(1)
	w.wantCalls("the group is adopted, and nothing is made beside it", "Adopt")
	w.settled()
	calls := w.account.take()
	if slices.Contains(calls, "CreateGroup") || len(w.account.groups) != 1 {
		t.Errorf("want one group, got %v after %q", w.account.groups, calls)
	}
	if got := w.get().Annotations[stored.Annotation]; !strings.Contains(got, `"adopted":"theirs"`) {
		t.Errorf("want the adoption remembered, got %s", got)
	}
	change(w, w.get(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, pool.AdoptAnnotation) })
	w.settled()
	if c := w.condition("GroupReady"); len(w.account.groups) != 1 || c.Reason == "GroupUnchangeable" {
		t.Errorf("want the group kept without the annotation, got %v and %+v", w.account.groups, c)
	}
	change(w, w.get(), func(o *awsv1.AWSMachinePool) { o.Annotations[pool.AdoptAnnotation] = "theirs" })
	delete(w.account.groups, "theirs")
	w.settled()
	if len(w.account.groups) != 1 || w.account.groups["theirs"] == nil {
		t.Errorf("want the lost group created again under its name, got %v", w.account.groups)
	}
	w.account.groups["theirs"].owner = ""
	w.account.take()
	w.passes(3)
	w.wantCalls("a group that lost its tag is not adopted a second time")
	if c := w.condition("GroupReady"); !strings.Contains(c.Message, "has lost its owner tag") {
		t.Errorf("want the reason told, got %+v", c)
	}
}

// TestAdoptionRestsOnAFreshRead: a group that was the pool's, was given back and is asked for again is adopted, although a read of before it
// was given back still shows it with the owner tag.
func TestAdoptionRestsOnAFreshRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.ProviderID, o.Annotations = "arn:theirs", map[string]string{pool.AdoptAnnotation: "theirs"}
	}), cluster(), place(), data(), definition())
	theirs := &group{region: "eu-west-1", size: 3, max: 10, template: "lt-1:1", instances: []pool.Instance{{ID: "i-9", ProviderID: "aws:///zone-a/i-9", State: pool.Running}}}
	w.account.groups["theirs"] = theirs
	w.settled()
	change(w, w.get(), func(o *awsv1.AWSMachinePool) {
		for _, annotation := range []string{pool.AdoptAnnotation, stored.Annotation, ownership.Annotation} {
			delete(o.Annotations, annotation)
		}
	})
	theirs.owner = ""
	w.account.take()
	w.passes(3)
	w.wantCalls("without the annotation nothing is written")
	adopted := false
	w.account.before = func(call string, target target) {
		switch {
		case call == string(pool.Adopt):
			adopted = true
		case !adopted && target.MaxAge > 0:
			theirs.owner = target.Owner.ID
		case !adopted:
			theirs.owner = ""
		}
	}
	change(w, w.get(), func(o *awsv1.AWSMachinePool) {
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, pool.AdoptAnnotation, "theirs")
	})
	w.passes(1)
	w.wantCalls("the tag is written", "Adopt")
}

// TestTheGroupsTagsTellItsOwner: after a move or a restore the owner ID is no object's UID, and an older object of another namespace that
// carries it, as a copy does, takes neither the group nor its deletion from the object that the group's tags name.
func TestTheGroupsTagsTellItsOwner(t *testing.T) {
	t.Parallel()
	withID := func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{ownership.Annotation: "moved"} }
	copied := awsMachinePool(withID, func(o *awsv1.AWSMachinePool) {
		o.Namespace, o.UID, o.CreationTimestamp = "other", "older", metav1.NewTime(start.Add(-time.Hour))
	})
	for name, tc := range map[string]struct {
		why       string
		taggedFor string
		held      bool
	}{
		"tags":    {"the tags name it", "c/default/p", false},
		"another": {"the tags name the other", "c/other/p", true},
		"neither": {"the older object wins where the tags name neither", "c/elsewhere/p", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moved := func(o *awsv1.AWSMachinePool) { withID(o); o.CreationTimestamp = metav1.NewTime(start) }
			w := running(t, machinePool(), awsMachinePool(moved), cluster(), place(), data(), definition())
			for _, g := range w.account.groups {
				g.taggedFor = tc.taggedFor
			}
			if err := w.management.Create(t.Context(), copied.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			w.passes(2)
			if held := w.condition("Ready").Reason == "OwnerIDTaken"; held != tc.held {
				t.Errorf("%s: want held %v\n%s", tc.why, tc.held, w.say())
			}
			w.account.observe = &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 5 * time.Second, Message: "held back"}
			w.passes(2)
			if held := w.condition("Ready").Reason == "OwnerIDTaken"; held != tc.held {
				t.Errorf("%s, also while the group cannot be read: want held %v\n%s", tc.why, tc.held, w.say())
			}
			w.account.observe = nil
			w.account.take()
			w.remove(w.get())
			w.passes(8)
			if deleted := len(w.destructive()) > 0; deleted == tc.held {
				t.Errorf("%s: want the group deleted %v\n", tc.why, !tc.held)
			}
		})
	}
}

// TestADeletionReadsTheTagsAgain holds that an object with a rival is not let go on what the tags were a minute ago: its group would be left
// behind if a user has given it back since.
func TestADeletionReadsTheTagsAgain(t *testing.T) {
	t.Parallel()
	withID := func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{ownership.Annotation: "moved"} }
	w := running(t, machinePool(), awsMachinePool(withID, func(o *awsv1.AWSMachinePool) { o.CreationTimestamp = metav1.NewTime(start) }), cluster(), place(), data(), definition())
	older := awsMachinePool(withID, func(o *awsv1.AWSMachinePool) {
		o.Namespace, o.UID, o.CreationTimestamp = "other", "older", metav1.NewTime(start.Add(-time.Hour))
	})
	if err := w.management.Create(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	w.account.before = func(what string, on target) {
		for _, g := range w.account.groups {
			if g.taggedFor = "c/default/p"; what == "Observe" && on.MaxAge > 0 {
				g.taggedFor = "c/elsewhere/p"
			}
		}
	}
	w.account.take()
	w.remove(w.get())
	w.passes(8)
	if len(w.destructive()) == 0 {
		t.Errorf("want the group deleted, got %v", w.account.take())
	}
}

// TestTheGroupKeepsItsName: the annotation that names the group counts until the group exists. A change of it later neither makes a second
// group nor loses the first.
func TestTheGroupKeepsItsName(t *testing.T) {
	t.Parallel()
	named := func(name string) func(*awsv1.AWSMachinePool) {
		return func(o *awsv1.AWSMachinePool) {
			if o.Annotations == nil {
				o.Annotations = map[string]string{}
			}
			if o.Annotations[ownership.GroupNameAnnotation] = name; name == "" {
				delete(o.Annotations, ownership.GroupNameAnnotation)
			}
		}
	}
	derived := cloud.Owner{ID: uid, Name: "p"}.ResourceName()
	for name, tc := range map[string]struct {
		why                string
		made, later, stays string
		between            func(*awsv1.AWSMachinePool)
	}{
		"added":   {why: "the derived name stays", later: "a", stays: derived},
		"changed": {why: "the name that it was made with stays", made: "a", later: "b", stays: "a"},
		"removed": {why: "the name that it was made with stays", made: "a", stays: "a"},
		"restored": {"what is remembered was dropped, and the group is found by the name", "a", "a", "a", func(o *awsv1.AWSMachinePool) {
			delete(o.Annotations, stored.Annotation)
		}},
		"forgotten": {"what is remembered was dropped, and the group is found by the derived name", "", "a", derived, func(o *awsv1.AWSMachinePool) {
			delete(o.Annotations, stored.Annotation)
		}},
		"not seen yet": {"the group was made and is not in providerID yet", "a", "b", "a", func(o *awsv1.AWSMachinePool) { o.Spec.ProviderID = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, machinePool(), awsMachinePool(named(tc.made)), cluster(), place(), data(), definition())
			w.account.take()
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
				named(tc.later)(o)
				if tc.between != nil {
					tc.between(o)
				}
			})
			w.passes(4)
			w.wantCalls(tc.why)
			if len(w.account.groups) != 1 || w.account.groups[tc.stays] == nil {
				t.Fatalf("%s: want the group %s alone, got %v", tc.why, tc.stays, w.account.groups)
			}
			ready := w.condition("GroupReady")
			if differs := tc.later != tc.made; differs != (ready.Reason == "GroupUnchangeable") || differs && !strings.Contains(ready.Message, ownership.GroupNameAnnotation) {
				t.Errorf("%s: want the annotation named if it differs, got %+v", tc.why, ready)
			}
			w.remove(w.get())
			w.passes(8)
			if !w.gone() || w.account.left() != "0 groups, 0 templates" {
				t.Errorf("%s: want the pool deleted without a trace, gone %v, left %s", tc.why, w.gone(), w.account.left())
			}
		})
	}
}

// TestAnotherNameForAForeignGroup: a pool whose group's name is taken is given another by the annotation, as the condition advises.
func TestAnotherNameForAForeignGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.groups[cloud.Owner{ID: uid, Name: "p"}.ResourceName()] = &group{owner: "another", region: "eu-west-1"}
	w.settled()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[ownership.GroupNameAnnotation] = "free" })
	w.settled()
	if w.account.groups["free"] == nil {
		t.Errorf("want a group of the other name\n%s", w.say())
	}
}

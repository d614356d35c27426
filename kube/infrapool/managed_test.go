package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/aws/awsmanaged"
)

// managedWorld is a management cluster, a workload cluster and EKS, all in memory.
type managedWorld struct {
	t                    *testing.T
	management, workload client.WithWatch
	eks                  *eks
	reconciler           *infrapool.Reconciler[*awsv1.AWSManagedMachinePool, *awsv1.ManagedMachinePoolSource]
	recorder             *events.FakeRecorder
	now                  time.Time
	again                time.Duration
}

func managedPool(change ...func(*awsv1.AWSManagedMachinePool)) *awsv1.AWSManagedMachinePool {
	o := &awsv1.AWSManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: uid, Generation: 1,
		Labels:          map[string]string{clusterv1.ClusterNameLabel: "c"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: "mp"}}}}
	for _, f := range change {
		f(o)
	}
	return o
}

// withTemplate gives a pool a launch template of its own.
func withTemplate(o *awsv1.AWSManagedMachinePool) {
	o.Spec.AWSLaunchTemplate = &awsv1.AWSLaunchTemplate{InstanceType: "m5.large"}
}

// owner is the MachinePool of a managed pool; data is the name of its bootstrap data, config that of its configuration.
func owner(data, config string, change ...func(*clusterv1.MachinePool)) *clusterv1.MachinePool {
	return machinePool(append([]func(*clusterv1.MachinePool){func(mp *clusterv1.MachinePool) {
		mp.Spec.Template.Spec.InfrastructureRef.Kind = awsv1.AWSManagedMachinePoolKind
		mp.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: &data}
		if config != "" {
			mp.Spec.Template.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap.cluster.x-k8s.io",
				Kind: "EKSConfig", Name: config}
		}
	}}, change...)...)
}

func eksCluster() *clusterv1.Cluster {
	return cluster(func(c *clusterv1.Cluster) {
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io",
			Kind: "AWSManagedControlPlane", Name: "place"}
	})
}

func eksControlPlane(ready bool) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedControlPlane",
		"metadata": map[string]any{"name": "place", "namespace": "default"},
		"spec":     map[string]any{"region": "eu-west-1", "eksClusterName": "eks-1"}, "status": map[string]any{"ready": ready},
	}}
}

func newManagedWorld(t *testing.T, objects ...client.Object) *managedWorld {
	t.Helper()
	w := &managedWorld{t: t, now: start, recorder: events.NewFakeRecorder(1000)}
	w.eks = newEKS(func() time.Time { return w.now })
	s := scheme(t)
	d := definition()
	d.Name = "awsmanagedcontrolplanes.controlplane.cluster.x-k8s.io"
	b := fake.NewClientBuilder().WithScheme(s).WithObjects(append(objects, eksCluster(),
		d)...).WithStatusSubresource(&awsv1.AWSManagedMachinePool{}, &clusterv1.MachinePool{}).
		WithObjectTracker(passtest.Tracker(s))
	for _, i := range append(watch.Indexes(), watch.OwnerIDIndex(&awsv1.AWSManagedMachinePool{})) {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.management = b.Build()
	b = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&corev1.Node{}).WithObjectTracker(passtest.Tracker(s)).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.workload = b.Build()
	w.reconciler = infrapool.New(awsmanaged.Adapter{}, w.eks, infrapool.Options{Client: w.management, Recorder: w.recorder,
		Now:          func() time.Time { return w.now },
		ClusterCache: clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "c"})})
	return w
}

// passes runs some passes, with the clock moved on.
func (w *managedWorld) passes(n int) {
	w.t.Helper()
	for range n {
		result, err := w.reconciler.Reconcile(w.t.Context(), ctrlRequest(key))
		if err != nil {
			w.t.Fatalf("pass: %v", err)
		}
		w.again = result.RequeueAfter
		w.now = w.now.Add(max(w.again, time.Second))
	}
}

// join has every machine join, Ready for a while.
func (w *managedWorld) join() {
	w.t.Helper()
	for _, i := range w.eks.list {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + i.ID, CreationTimestamp: metav1.NewTime(w.now)},
			Spec: corev1.NodeSpec{ProviderID: i.ProviderID}}
		if err := w.workload.Create(w.t.Context(), n); err != nil {
			continue
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(w.now)}}
		if err := w.workload.Status().Update(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
	}
	w.now = w.now.Add(time.Minute)
}

func (w *managedWorld) get() *awsv1.AWSManagedMachinePool {
	w.t.Helper()
	o := &awsv1.AWSManagedMachinePool{}
	if err := w.management.Get(w.t.Context(), key, o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// condition is one of the object's conditions; without one it is empty.
func (w *managedWorld) condition(name string) metav1.Condition {
	w.t.Helper()
	if c := meta.FindStatusCondition(w.get().Status.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// newEvents are the events since the last time.
func (w *managedWorld) newEvents() []string {
	var list []string
	for len(w.recorder.Events) > 0 {
		list = append(list, <-w.recorder.Events)
	}
	return list
}

func (w *managedWorld) wantCalls(reason string, want ...string) {
	w.t.Helper()
	if !slices.Equal(w.eks.calls, want) {
		w.t.Errorf("%s: want steps %q, got %q\n%+v", reason, want, w.eks.calls, w.get().Status.Conditions)
	}
	w.eks.calls = nil
}

// edit changes an object of the management cluster.
func edit[O client.Object](w *managedWorld, o O, f func(O)) {
	w.t.Helper()
	if err := w.management.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		w.t.Fatal(err)
	}
	f(o)
	if err := w.management.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// TestManagedNeedsNoData: the machines of a node group join by themselves; what they are launched from is EKS's own.
func TestManagedNeedsNoData(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(), eksControlPlane(true))
	w.passes(3)
	w.wantCalls("no template of the pool, no data that is waited for", "CreateGroup")
	if got := w.condition("EKSNodegroupReady"); got.Status != metav1.ConditionFalse || got.Reason != "Creating" {
		t.Errorf("EKS is creating the node group: got %+v", got)
	}
	w.eks.done()
	w.join()
	w.passes(3)
	o := w.get()
	if diff := cmp.Diff([]string{"aws:///zone-a/i-1", "aws:///zone-a/i-2"}, o.Spec.ProviderIDList); diff != "" {
		t.Errorf("provider IDs, want -, got +\n%s", diff)
	}
	if !o.Status.Ready || o.Spec.ProviderID == "" || o.Status.LaunchTemplateID != nil || o.Status.LaunchTemplateVersion != nil ||
		*o.Status.Replicas != 2 {
		t.Errorf("want a provisioned pool without a template of its own, got %q, %+v", o.Spec.ProviderID, o.Status)
	}
	for _, name := range []string{"Ready", "GroupReady", "EKSNodegroupReady", "TemplateReady", "LaunchTemplateReady", "IAMNodegroupRolesReady",
		"InstancesReady", "UpToDate"} {
		if got := w.condition(name); got.Status != metav1.ConditionTrue {
			t.Errorf("%s: want True, got %+v", name, got)
		}
	}
	if got := w.newEvents(); !slices.Contains(got, "Normal GroupActive Created the node group: "+o.Spec.ProviderID) {
		t.Errorf("want it told that the group has been made, got %q", got)
	}
	w.passes(20)
	if got := w.newEvents(); len(got) > 0 {
		t.Errorf("nothing happens: want no event, got %q", got)
	}
	w.wantCalls("nothing is to be done")
}

// TestManagedTemplate: bootstrap data is waited for if a provider creates it, and reaches the template; versions are reported by
// their names, once.
func TestManagedTemplate(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", "config"), managedPool(withTemplate), eksControlPlane(true), data())
	w.passes(3)
	w.wantCalls("the data is being made")
	if got := w.condition("LaunchTemplateReady"); got.Reason != "WaitingForBootstrapData" {
		t.Errorf("want it said what is waited for, got %+v", got)
	}
	edit(w, owner("", "config"), func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Bootstrap.DataSecretName = new("data") })
	w.passes(3)
	w.wantCalls("a template first", "PutTemplate", "CreateGroup")
	if last := w.eks.seen[len(w.eks.seen)-1]; last.Bootstrap.Empty() {
		t.Error("want the data handed on, got none")
	}
	if o := w.get(); o.Status.LaunchTemplateID == nil || *o.Status.LaunchTemplateID != "lt-1" || o.Status.LaunchTemplateVersion == nil ||
		*o.Status.LaunchTemplateVersion != "1" {
		t.Errorf("want the template's ID and version as soon as it is there, got %+v", o.Status)
	}
	w.eks.done()
	w.join()
	w.passes(2)
	w.newEvents()
	edit(w, managedPool(), func(o *awsv1.AWSManagedMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
	w.passes(4)
	w.wantCalls("a change is rolled out by EKS, which alone points the group at a template", "PutTemplate", "StartProviderRollout")
	newEvents := w.newEvents()
	for _, want := range []string{"Normal TemplateVersionCreated Created version 2 of launch template lt-1: instanceType m5.xlarge",
		"Normal ProviderRolloutStarted", "Normal ProviderRolloutRunning"} {
		n := 0
		for _, e := range newEvents {
			if strings.HasPrefix(e, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("want %q told once, got %d of it in %q", want, n, newEvents)
		}
	}
}

// TestManagedWithoutData: a template of a pool without bootstrap configuration waits for no data.
func TestManagedWithoutData(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(withTemplate), eksControlPlane(true))
	w.passes(3)
	w.wantCalls("EKS supplies what machines need to join", "PutTemplate", "CreateGroup")
}

// TestManagedWaitsForTheControlPlane: no node group is made before nodes can join, and one that exists is looked after all the
// same.
func TestManagedWaitsForTheControlPlane(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(), eksControlPlane(false))
	w.passes(2)
	w.wantCalls("nodes can't join yet")
	if got := w.condition("EKSNodegroupReady"); got.Status != metav1.ConditionFalse || got.Reason != "WaitingForEKSControlPlane" {
		t.Errorf("want it said what is waited for, got %+v", got)
	}
	edit(w, eksControlPlane(false), func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"ready": true} })
	w.passes(3)
	w.wantCalls("nodes can join", "CreateGroup")
	w.eks.done()
	w.join()
	w.passes(2)
	edit(w, eksControlPlane(false), func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"ready": false} })
	w.eks.list[1].State = pool.Terminating
	w.passes(2)
	if got := len(w.get().Spec.ProviderIDList); got != 1 {
		t.Errorf("want the group looked at while its control plane is not ready, got %d provider IDs", got)
	}
}

// TestManagedElsewhere: a cluster whose control plane is not Amazon's has no node groups, and the object says so.
func TestManagedElsewhere(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool())
	edit(w, eksCluster(), func(c *clusterv1.Cluster) { c.Spec.ControlPlaneRef.Kind = "KubeadmControlPlane" })
	w.passes(2)
	if got := w.condition("GroupReady"); !strings.Contains(got.Message, "names no AWSManagedControlPlane in spec.controlPlaneRef") ||
		len(w.eks.seen) > 0 {
		t.Errorf("want it said and EKS not asked, got %+v", got)
	}
}

// TestManagedIsDeletedWithoutItsControlPlane: what is needed to find the node group is on the object.
func TestManagedIsDeletedWithoutItsControlPlane(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(withTemplate), eksControlPlane(true))
	w.passes(4)
	w.eks.done()
	w.join()
	w.passes(2)
	w.wantCalls("made", "PutTemplate", "CreateGroup")
	for _, o := range []client.Object{eksControlPlane(true), eksCluster(), managedPool()} {
		if err := w.management.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.newEvents()
	w.passes(4)
	w.wantCalls("the nodes are gone with their cluster", "DeleteGroup")
	w.eks.done()
	w.passes(2)
	w.wantCalls("then the template", "DeleteTemplates")
	if err := w.management.Get(t.Context(), key, &awsv1.AWSManagedMachinePool{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("want the object gone, got %v", err)
	}
	if diff := cmp.Diff(map[string]bool{"eu-west-1/eks-1": true}, w.eks.asked); diff != "" {
		t.Errorf("asked at, want -, got +\n%s", diff)
	}
	if newEvents := w.newEvents(); !slices.Contains(newEvents, "Normal GroupGone Deleted the node group") {
		t.Errorf("want it told that the group is gone, got %q", newEvents)
	}
}

// TestManagedFails: what EKS says is on the object, in EKS's words, told once, and the pool is not given up.
func TestManagedFails(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(), eksControlPlane(true))
	w.passes(3)
	w.eks.group.Busy, w.eks.group.Failed = nil, &pool.Cause{Reason: "Ec2SubnetNotFound",
		Message: "EKS could not make the node group; Ec2SubnetNotFound: One or more Amazon EC2 Subnets could not be found"}
	w.passes(5)
	if got := w.condition("EKSNodegroupReady"); got.Status != metav1.ConditionFalse || got.Reason != "Ec2SubnetNotFound" ||
		!strings.Contains(got.Message, "could not be found") {
		t.Errorf("want EKS's words, got %+v", got)
	}
	n := 0
	for _, e := range w.newEvents() {
		if strings.HasPrefix(e, "Warning Ec2SubnetNotFound") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("want it told once, got %d times", n)
	}
	if o := w.get(); o.Status.FailureReason != nil || o.Status.FailureMessage != nil {
		t.Errorf("nothing is beyond repair: got %+v", o.Status)
	}
	if err := w.management.Delete(t.Context(), managedPool()); err != nil {
		t.Fatal(err)
	}
	w.eks.calls = nil
	w.passes(2)
	w.wantCalls("it can be deleted", "DeleteGroup")
}

// TestManagedTokenIsKept: the group launches from the version that it was last pointed at, for as long as that is good, while
// the bootstrap data goes on to other tokens: the token in that version has to stay alive.
func TestManagedTokenIsKept(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("data", ""), managedPool(withTemplate), eksControlPlane(true), data())
	holds := func(id string) {
		edit(w, data(), func(s *corev1.Secret) { s.Data["value"] = []byte("#cloud-config\ntoken: " + id + ".0123456789abcdef") })
	}
	holds("abcdef")
	w.passes(4)
	w.eks.done()
	w.join()
	w.passes(2)
	if err := w.workload.Create(t.Context(), token("abcdef", w.now.Add(15*time.Minute))); err != nil {
		t.Fatal(err)
	}
	w.eks.calls = nil
	holds("zzzzzz")
	for end := w.now.Add(2 * time.Hour); w.now.Before(end); {
		w.passes(1)
		s := token("abcdef", time.Time{})
		if err := w.workload.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			t.Fatal(err)
		}
		if at, err := time.Parse(time.RFC3339, string(s.Data["expiration"])); err != nil || !at.After(w.now) {
			t.Fatalf("at %s the token that the group launches with had run out at %s, %v", w.now, at, err)
		}
	}
	w.wantCalls("another token alone makes no version")
}

// TestManagedSizedElsewhere: the group's own size reaches the MachinePool, and is never written.
func TestManagedSizedElsewhere(t *testing.T) {
	t.Parallel()
	mp := owner("", "", func(mp *clusterv1.MachinePool) {
		mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
	})
	w := newManagedWorld(t, mp, managedPool(), eksControlPlane(true))
	w.passes(3)
	w.eks.group.Size = 4
	w.eks.done()
	w.join()
	w.eks.calls = nil
	w.passes(3)
	w.wantCalls("the size is managed externally")
	got := &clusterv1.MachinePool{}
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(mp), got); err != nil || *got.Spec.Replicas != 4 {
		t.Errorf("want replicas as the group has them, got %v, %v", got.Spec.Replicas, err)
	}
}

// TestManagedErrorIsReportedOnce: what a pass has told is not told again by the conditions that repeat it, and no pass after it
// tells it either.
func TestManagedErrorIsReportedOnce(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(), eksControlPlane(true))
	w.eks.unmet = &cloud.SpecUnsatisfiableError{Err: cloud.Invalidf("MachinePool spec.template.spec.version", "EKS knows no such version")}
	w.passes(5)
	if got := w.newEvents(); len(got) != 1 || !strings.Contains(got[0], "EKS knows no such version") {
		t.Errorf("want it told once, got %q", got)
	}
	if got := w.condition("EKSNodegroupReady"); got.Reason != "Invalid" {
		t.Errorf("want it said for as long as it holds, got %+v", got)
	}
}

// TestManagedHasNoMachines: what means nothing for the kind is said to.
func TestManagedHasNoMachines(t *testing.T) {
	t.Parallel()
	w := newManagedWorld(t, owner("", ""), managedPool(func(o *awsv1.AWSManagedMachinePool) {
		o.Annotations = map[string]string{settings.MachinesAnnotation: "true"}
	}), eksControlPlane(true))
	w.passes(3)
	w.wantCalls("the pool is made nevertheless", "CreateGroup")
	if got := w.condition(settings.Valid); got.Status != metav1.ConditionFalse ||
		!strings.Contains(got.Message, "instances of this kind have no Machines") {
		t.Errorf("want it said that the annotation means nothing, got %+v", got)
	}
}

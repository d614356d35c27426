package partstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// world is a management cluster in memory, and a pool in it.
type world struct {
	t      *testing.T
	client client.WithWatch
	doer   *machines.Doer
	writes []string
	began  map[string]bool
}

// writesOfAPass is after how many writes a pass starts no further action.
const writesOfAPass = 100

func newWorld(t *testing.T, infras []client.Object, list []clusterv1.Machine) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t: t, began: map[string]bool{}}
	b := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&awsv1.AWSMachine{},
		&clusterv1.Machine{}).WithInterceptorFuncs(w.counting())
	for _, o := range infras {
		b = b.WithObjects(o.DeepCopyObject().(client.Object))
	}
	for i := range list {
		b = b.WithObjects(list[i].DeepCopy())
		w.began[list[i].Name] = !list[i].DeletionTimestamp.IsZero()
	}
	w.client = b.Build()
	o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u-p"}}
	w.doer = &machines.Doer{Client: w.client, Recorder: events.NewFakeRecorder(100), Kind: kind, Pool: o, PoolKind: "AWSMachinePool",
		Owner: metav1.OwnerReference{APIVersion: awsv1.GroupVersion.String(), Kind: "AWSMachinePool", Name: "p", UID: "u-p"}, Cluster: "c",
		MachinePool: "mp", Now: now}
	return w
}

// counting notes what is written.
func (w *world) counting() interceptor.Funcs {
	note := func(verb string, o client.Object) {
		w.writes = append(w.writes, fmt.Sprintf("%s %s", verb, o.GetName()))
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			note("create", o)
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			note("patch", o)
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note("delete", o)
			return c.Delete(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			note("patch "+sub+" of", o)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

func (w *world) list() []clusterv1.Machine {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.client.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

func (w *world) infras() []client.Object {
	w.t.Helper()
	list := &awsv1.AWSMachineList{}
	if err := w.client.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	var out []client.Object
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

func (w *world) machine(name string) *clusterv1.Machine {
	w.t.Helper()
	m := &clusterv1.Machine{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// deletedMachines are the Machines that are being deleted and were not in the beginning.
func (w *world) deletedMachines() []string {
	var out []string
	for _, m := range w.list() {
		if !m.DeletionTimestamp.IsZero() && !w.began[m.Name] {
			out = append(out, m.Name)
		}
	}
	slices.Sort(out)
	return out
}

// pass decides and does, and gives what was written.
func (w *world) pass(f machines.Input) []string {
	w.t.Helper()
	w.writes = nil
	f.Known, f.Now = machines.BuildIndex(w.doer.Kind, "u-p", w.infras(), w.list()), now
	f.NameOf = w.doer.NameOf
	if _, err := w.doer.Do(w.t.Context(), machines.Decide(f)); err != nil {
		w.t.Fatal(err)
	}
	return w.writes
}

func TestALifeOfAMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	on := machines.Input{On: true, Announced: true, Trusted: true}
	check := func(reason string, f machines.Input, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, w.pass(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	on.Instances = []pool.Instance{instance("i-1", pool.Pending)}
	check("it is made, with what is known", on, "create mp-i-1", "patch status of mp-i-1")
	check("nothing is new", on)
	on.Instances = []pool.Instance{instance("i-1", pool.Running)}
	check("what is new is written", on, "patch status of mp-i-1")
	check("once", on)
	m := machine("mp-i-1")
	if err := w.client.Create(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	check("a Machine changes nothing", on)
	on.Instances = nil
	check("the Machine goes first, with the reason", on, "patch mp-i-1", "delete mp-i-1")
	if got := w.machine("mp-i-1").Annotations[machines.CauseAnnotation]; !strings.HasPrefix(got, "InstanceGone: ") {
		t.Errorf("want the cause on it, got %q", got)
	}
	check("then the other", on, "delete mp-i-1")
	check("which is let go", on, "patch mp-i-1")
	check("and nothing is left to do", on)
	if len(w.infras()) > 0 {
		t.Errorf("want it gone, got %v", w.infras())
	}
}

// Who stands for an instance says for which, and is handed on to the next one that has its ID.
func TestTheInstanceIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	on := machines.Input{On: true, Announced: true, Trusted: true}
	for _, step := range []struct {
		uid, named string
		want       []string
	}{
		{"a", "a", []string{"create mp-i-1", "patch status of mp-i-1"}}, {"a", "a", nil}, {"b", "b", []string{"patch mp-i-1"}}, {"", "b", nil},
	} {
		on.Instances = []pool.Instance{identified("i-1", step.uid)}
		if diff := cmp.Diff(step.want, w.pass(on)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", step.uid, diff)
		}
		if got := w.infras()[0].GetAnnotations()[machines.InstanceUIDAnnotation]; got != step.named {
			t.Errorf("%q: want it to stand for %q, got %q", step.uid, step.named, got)
		}
	}
}

// TestPlacesHaveNoUID holds that an object which stands for whichever instance has its ID names none of them.
func TestPlacesHaveNoUID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.doer.Kind.Places = true
	w.pass(machines.Input{On: true, Trusted: true, Instances: []pool.Instance{identified("i-1", "first")}})
	w.pass(machines.Input{On: true, Trusted: true, Instances: []pool.Instance{identified("i-1", "second")}})
	list := w.infras()
	if len(list) != 1 || len(list[0].GetAnnotations()) > 0 {
		t.Errorf("want one object without annotations, got %v", list)
	}
}

// TestOthersFinalizers holds that an object which the controller of another provider keeps, too, ends with its instance and not before:
// that controller may take its finalizer off at any time, or never.
func TestOthersFinalizers(t *testing.T) {
	t.Parallel()
	const others = "awsmachine.example.org"
	with := func(names ...string) func(*awsv1.AWSMachine) {
		return func(o *awsv1.AWSMachine) { o.Finalizers = names }
	}
	there := []pool.Instance{instance("i-1", pool.Running)}
	for _, c := range []struct {
		reason    string
		names     []string
		instances []pool.Instance
		want      []string
	}{
		{"it stays while the instance is there", []string{awsv1.MachineFinalizer, others}, there, []string{awsv1.MachineFinalizer, others}},
		{"also where the other has let it go", []string{awsv1.MachineFinalizer}, there, []string{awsv1.MachineFinalizer}},
		{"it goes with the instance, without waiting for the other", []string{awsv1.MachineFinalizer, others}, nil, nil},
		{"it goes where the other alone keeps it", []string{others}, nil, nil},
		{"a third one is not ours to take", []string{awsv1.MachineFinalizer, others, "third.example.org"}, nil, []string{"third.example.org"}},
	} {
		w := newWorld(t, []client.Object{infra("i-1", infraGoing, with(c.names...))}, nil)
		w.doer.Kind.OthersFinalizer = others
		w.pass(machines.Input{On: true, Trusted: true, Instances: c.instances})
		var got []string
		for _, o := range w.infras() {
			got = o.GetFinalizers()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

func TestMachinesAreTakenAwayWithoutTheirInstances(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1")})
	off := machines.Input{Trusted: true, Instances: []pool.Instance{instance("i-1", pool.Running)}}
	for _, want := range [][]string{
		{"patch i-1", "delete i-1"}, // the Machine, paused and then deleted
		{"patch i-1"},               // its finalizer
		{"patch i-1", "delete i-1"}, // the other
		{"patch i-1"},
		nil,
	} {
		if diff := cmp.Diff(want, w.pass(off)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if len(w.infras())+len(w.list()) > 0 {
		t.Errorf("want none left, got %v %v", w.infras(), w.list())
	}
}

// TestWhatOthersWroteStays: another provider's labels, owners and fields are kept when ours are added.
func TestWhatOthersWroteStays(t *testing.T) {
	t.Parallel()
	theirs := infra("asg-x", func(o *awsv1.AWSMachine) {
		o.Spec.ProviderID, o.Finalizers = "aws:///zone-b/i-1", []string{"theirs.example.org/x"}
		o.Labels = map[string]string{"theirs": "x"}
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x"}}
	})
	w := newWorld(t, []client.Object{theirs}, nil)
	on := machines.Input{On: true, Announced: true, Trusted: true, Instances: []pool.Instance{instance("i-1", pool.Running)}}
	w.pass(on)
	got := w.infras()[0]
	if got.GetLabels()["theirs"] != "x" || got.GetLabels()[clusterv1.MachinePoolNameLabel] != "mp" || len(got.GetOwnerReferences()) != 2 ||
		len(got.GetFinalizers()) != 2 {
		t.Errorf("want theirs and ours, got %v %v %v", got.GetLabels(), got.GetOwnerReferences(), got.GetFinalizers())
	}
	if again := w.pass(on); len(again) > 0 {
		t.Errorf("want nothing written again, got %v", again)
	}
}

func TestAManyAtOnceAreMadeInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	var actions []machines.Action
	for k := range writesOfAPass {
		i := instance(fmt.Sprintf("i-%d", k), pool.Running)
		actions = append(actions, machines.Action{Do: machines.Create, Instance: &i})
	}
	left, err := w.doer.Do(t.Context(), actions)
	if made := len(w.infras()); err != nil || left != writesOfAPass/2 || made != writesOfAPass/2 {
		t.Errorf("want half of %d made, for each is two writes, and half left, got %d and %d, %v", writesOfAPass, made, left, err)
	}
}

func TestManyDrainsAreBegunInParts(t *testing.T) {
	t.Parallel()
	var objects []client.Object
	var list []clusterv1.Machine
	step := pool.Step{Kind: pool.Drain}
	for k := range writesOfAPass {
		id := fmt.Sprintf("i-%d", k)
		objects, list = append(objects, infra(id)), append(list, machine(id))
		step.Targets = append(step.Targets, pool.InstanceRef{ID: id, ProviderID: "aws:///zone-a/" + id})
	}
	w := newWorld(t, objects, list)
	known := machines.BuildIndex(kind, "u-p", objects, w.list())
	n := machines.Nodes{Nodes: &recordingNodes{}, Doer: w.doer, Known: known, Guards: known.Evaluate(kind, true, true, now).Guards}
	if err := n.Start(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if got := len(w.deletedMachines()); got != writesOfAPass/2 {
		t.Errorf("want half of %d Machines deleted, for each is two writes, got %d", writesOfAPass, got)
	}
}

// TestANameThatIsTaken: an object that has the name already is left to the next pass, taken back, or reported and left alone.
// TestANameOfAPausedObject has the object of an instance that is gone keep its name, which the object of another instance needs.
func TestANameOfAPausedObject(t *testing.T) {
	t.Parallel()
	i := instance("i-1", pool.Running)
	former := func(o *awsv1.AWSMachine) { o.Spec.ProviderID = "aws:///zone-a/i-0" }
	for reason, tc := range map[string]struct {
		infra  client.Object
		paused []func(*clusterv1.Machine)
		want   string
	}{
		"the object is paused": {infra("i-1", former, infraPaused), nil,
			"AWSMachine ns/i-1 has the provider ID aws:///zone-a/i-0, and has the name of the object " +
				"for instance i-1 of AWSMachinePool p: it stays as long as it or its Machine has the annotation cluster.x-k8s.io/paused"},
		"its Machine is": {infra("i-1", former), []func(*clusterv1.Machine){machinePaused},
			"AWSMachine ns/i-1 has the provider ID aws:///zone-a/i-0"},
		"none is: it goes, and the name is free": {infra("i-1", former), nil, ""},
	} {
		w := newWorld(t, []client.Object{tc.infra}, []clusterv1.Machine{machine("i-1", tc.paused...)})
		f := machines.Input{On: true, Announced: true, Trusted: true, Instances: []pool.Instance{i},
			Known:  machines.BuildIndex(kind, "u-p", w.infras(), w.list()),
			NameOf: func(i pool.Instance) string { return i.ID }, Now: now}
		if _, err := w.doer.Do(t.Context(), machines.Decide(f)); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
		if got := strings.Join(w.doer.Conflicts, "\n"); (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: want the conflict %q, got %q", reason, tc.want, got)
		}
	}
}

func TestANameThatIsTaken(t *testing.T) {
	t.Parallel()
	i := instance("i-1", pool.Running)
	lost := func(o *awsv1.AWSMachine) { o.OwnerReferences, o.Spec.ProviderID = nil, "aws:///zone-a/i-1" }
	for reason, tc := range map[string]struct {
		other    client.Object
		conflict string
		writes   []string
		labeled  bool
		owners   int
	}{
		"created a moment ago, which the cache did not show": {infra("mp-i-1"), "", []string{"create mp-i-1"}, false, 1},
		"it lost its labels and its owner":                   {infra("mp-i-1", lost), "", []string{"create mp-i-1", "patch mp-i-1"}, true, 1},
		"and is being deleted: the next pass decides": {infra("mp-i-1", lost, infraGoing), "", []string{"create mp-i-1", "patch mp-i-1"},
			true, 0},
		"it names another instance": {infra("mp-i-1", func(o *awsv1.AWSMachine) { o.OwnerReferences = nil }),
			"AWSMachine ns/mp-i-1 has the provider ID aws:///zone-a/mp-i-1, and has the name of the object for instance i-1 of AWSMachinePool p",
			[]string{"create mp-i-1"}, false, 0},
		"another pool owns it": {infra("mp-i-1", func(o *awsv1.AWSMachine) {
			lost(o)
			o.OwnerReferences = []metav1.OwnerReference{ofPool()}
			o.OwnerReferences[0].Name = "q"
		}),
			"AWSMachine ns/mp-i-1 is owned by AWSMachinePool q, and has the name of the object for instance i-1 of AWSMachinePool p",
			[]string{"create mp-i-1"}, false, 1},
	} {
		w := newWorld(t, []client.Object{tc.other}, nil)
		if _, err := w.doer.Do(t.Context(), []machines.Action{{Do: machines.Create, Instance: &i}}); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
		if got := strings.Join(w.doer.Conflicts, "\n"); (got == "") != (tc.conflict == "") || !strings.Contains(got, tc.conflict) {
			t.Errorf("%s: want the conflict %q, got %q", reason, tc.conflict, got)
		}
		if diff := cmp.Diff(tc.writes, w.writes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
		o := w.infras()[0]
		if labeled := o.GetLabels()[clusterv1.MachinePoolNameLabel] == "mp"; labeled != tc.labeled || len(o.GetOwnerReferences()) != tc.owners {
			t.Errorf("%s: want labels %v and %d owners, got %v and %v", reason, tc.labeled, tc.owners, o.GetLabels(), o.GetOwnerReferences())
		}
	}
}

// TestWhoIsDeletedIsKnown: no Machine is deleted by a pool that does not know yet of all that are being deleted; machines of
// others do not count.
func TestWhoIsDeletedIsKnown(t *testing.T) {
	t.Parallel()
	labels := func(m *clusterv1.Machine) {
		m.Labels = map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachinePoolNameLabel: "mp"}
	}
	elsewhere := func(m *clusterv1.Machine) { m.Spec.InfrastructureRef.APIGroup = "x.example.org" }
	otherPool := func(m *clusterv1.Machine) { m.Labels[clusterv1.MachinePoolNameLabel] = "other" }
	for name, tc := range map[string]struct {
		live, cached clusterv1.Machine
		refused      bool
	}{
		"it is known":                 {machine("i-2", labels, machineGoing), machine("i-2", labels, machineGoing), false},
		"it is not":                   {machine("i-2", labels, machineGoing), machine("i-2", labels), true},
		"it belongs to another owner": {machine("i-2", labels, machineGoing, elsewhere), machine("i-2", labels, elsewhere), false},
		"it is of another pool":       {machine("i-2", labels, machineGoing, otherPool), machine("i-2", labels, otherPool), false},
		"none is deleted":             {machine("i-2", labels), machine("i-2", labels), false},
	} {
		objects := []client.Object{infra("i-1"), infra("i-2")}
		w := newWorld(t, objects, []clusterv1.Machine{machine("i-1", labels), tc.live})
		w.doer.Live = w.client
		known := machines.BuildIndex(kind, "u-p", objects, []clusterv1.Machine{*w.machine("i-1"), tc.cached})
		n := machines.Nodes{Nodes: &recordingNodes{}, Doer: w.doer, Known: known, Guards: known.Evaluate(kind, true, true, now).Guards}
		err := n.Start(t.Context(), pool.Step{Kind: pool.Drain, Targets: []pool.InstanceRef{{ID: "i-1", ProviderID: "aws:///zone-a/i-1"}}})
		if apierrors.IsConflict(err) != tc.refused || (err == nil) == tc.refused {
			t.Errorf("%s: want refused %v, got %v", name, tc.refused, err)
		}
		if deleted := len(w.deletedMachines()) > 0; deleted == tc.refused {
			t.Errorf("%s: want deleted %v, got %v", name, !tc.refused, deleted)
		}
	}
}

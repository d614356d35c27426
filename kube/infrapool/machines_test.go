package infrapool_test

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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/machines"
)

func TestEveryInstanceHasAMachine(t *testing.T) {
	t.Parallel()
	w := populated(t)
	o := w.infras()["mp-i-1"]
	if o.Labels[clusterv1.ClusterNameLabel] != "c" || o.Labels[clusterv1.MachinePoolNameLabel] != "mp" {
		t.Errorf("want the labels that the core controller looks for, got %v", o.Labels)
	}
	if len(o.OwnerReferences) != 1 || o.OwnerReferences[0].Kind != "AWSMachinePool" || o.OwnerReferences[0].UID != uid ||
		o.OwnerReferences[0].Controller != nil {
		t.Errorf("want the pool as owner and not as controller, got %v", o.OwnerReferences)
	}
	if o.Spec.ProviderID != "aws:///zone-a/i-1" || o.Spec.InstanceID != "i-1" || o.Status.FailureDomain != "zone-a" {
		t.Errorf("want the instance's own IDs and zone, got %+v %+v", o.Spec, o.Status)
	}
	if !o.Status.Ready || o.Status.Initialization.Provisioned == nil || !*o.Status.Initialization.Provisioned ||
		!meta.IsStatusConditionTrue(o.Status.Conditions, "Ready") {
		t.Errorf("want a running instance ready in the words of both contracts, got %+v", o.Status)
	}
	if got := w.get().Status.InfrastructureMachineKind; got != "AWSMachine" {
		t.Errorf("want the kind told to the core controller, got %q", got)
	}
	w.writes = nil
	w.passes(3)
	if len(w.writes) > 0 {
		t.Errorf("nothing happened, but was written: %v", w.writes)
	}
}

// TestADeletedMachine: deleting a Machine removes exactly its instance, once its controller has drained it.
func TestADeletedMachine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		replicas int32
		want     string
		left     []string
	}{
		"alone": {"the pool still wants as many: it is replaced, its successor first", 2, "Remove i-2",
			[]string{"mp-i-1", "mp-i-3"}},
		"and one less asked": {"as the cluster-autoscaler does: the size is lowered with it", 1, "Remove i-2", []string{"mp-i-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = &tc.replicas })
			w.remove(w.machine("mp-i-2"))
			w.passes(3)
			if got := w.destructive(); len(got) > 0 {
				t.Errorf("%s: its controller has not drained it yet, but %v", tc.reason, got)
			}
			w.core()
			w.lives()
			if got := w.destructive(); !slices.Equal(got, []string{tc.want}) {
				t.Errorf("%s: want %s, got %v\n%s", tc.reason, tc.want, got, w.say())
			}
			if got := w.names(); !slices.Equal(got, tc.left) {
				t.Errorf("%s: want AWSMachines %v, got %v", tc.reason, tc.left, got)
			}
			if got := len(w.machines()); got != len(tc.left) {
				t.Errorf("%s: want %d Machines, got %d", tc.reason, len(tc.left), got)
			}
		})
	}
}

// TestThePoolsOwnRemovalsGoThroughMachines: the Machine is deleted with the cause, and its hooks hold the instance, whatever
// the drain's timeout says.
func TestThePoolsOwnRemovalsGoThroughMachines(t *testing.T) {
	t.Parallel()
	w := populated(t)
	hook := clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/backup"
	change(w, w.machine("mp-i-1"), func(m *clusterv1.Machine) { m.Annotations = map[string]string{hook: ""} })
	change(w, machinePool(), func(mp *clusterv1.MachinePool) {
		mp.Spec.Replicas = new(int32(1))
		mp.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = new(int32(1))
	})
	for range 5 {
		w.passes(1)
		w.core()
	}
	m := w.machine("mp-i-1")
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || m.DeletionTimestamp.IsZero() {
		t.Fatalf("want the Machine being deleted, got %v %v", m.DeletionTimestamp, err)
	}
	if got := m.Annotations[machines.CauseAnnotation]; !strings.HasPrefix(got, "ScaleIn: ") {
		t.Errorf("want the cause on the Machine, got %q", got)
	}
	if got := w.destructive(); len(got) > 0 {
		t.Errorf("the hook holds it, but %v", got)
	}
	for _, node := range w.nodes() {
		if node.Spec.Unschedulable {
			t.Errorf("the Machine's controller drains, but we cordoned %s", node.Name)
		}
	}
	change(w, m, func(m *clusterv1.Machine) { delete(m.Annotations, hook) })
	w.core()
	w.lives()
	if got := w.destructive(); !slices.Equal(got, []string{"Remove i-1"}) {
		t.Errorf("want i-1 removed once its hook is gone, got %v\n%s", got, w.say())
	}
	if got := w.names(); !slices.Equal(got, []string{"mp-i-2"}) {
		t.Errorf("want one left, got %v", got)
	}
}

func TestAMarkedMachineGoesFirst(t *testing.T) {
	t.Parallel()
	w := populated(t)
	change(w, w.machine("mp-i-2"), func(m *clusterv1.Machine) {
		m.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: "now"}
	})
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	w.lives()
	if got := w.destructive(); !slices.Equal(got, []string{"Remove i-2"}) {
		t.Errorf("want the marked one removed, got %v", got)
	}
}

func TestAnInstanceThatVanishes(t *testing.T) {
	t.Parallel()
	w := populated(t)
	hooked := clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/backup"
	change(w, w.machine("mp-i-1"), func(m *clusterv1.Machine) { m.Annotations = map[string]string{hooked: ""} })
	w.account.vanish("i-1")
	w.turns("i-1", corev1.ConditionUnknown)
	w.now = w.now.Add(5 * time.Minute)
	w.lives()
	if got := w.names(); !slices.Equal(got, []string{"mp-i-2", "mp-i-3"}) {
		t.Errorf("want the AWSMachine gone with its instance, whatever holds the Machine, got %v", got)
	}
	m := w.machine("mp-i-1")
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || m.DeletionTimestamp.IsZero() ||
		!strings.HasPrefix(m.Annotations[machines.CauseAnnotation], "InstanceGone: ") {
		t.Errorf("want the Machine deleted because of that, got %v %v %v", m.DeletionTimestamp, m.Annotations, err)
	}
	if got := w.destructive(); len(got) > 0 {
		t.Errorf("want no other instance removed, got %v", got)
	}
}

// TestAnInstanceThatRunsOutsideOfItsGroup holds that the Machine of an instance that a user has taken out of its group stays while its Node
// is Ready: the controller of Machines would delete the Node with its pods. When the user deletes the Machine, its controller drains the
// Node.
func TestAnInstanceThatRunsOutsideOfItsGroup(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.account.vanish("i-1")
	w.now = w.now.Add(5 * time.Minute)
	w.lives()
	m := w.machine("mp-i-1")
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || !m.DeletionTimestamp.IsZero() {
		t.Errorf("want the Machine left while its Node is Ready, got %v, %v", m.DeletionTimestamp, err)
	}
	w.remove(w.machine("mp-i-1"))
	w.pass()
	if o := w.infras()["mp-i-1"]; o == nil || !o.DeletionTimestamp.IsZero() {
		t.Errorf("want the AWSMachine left until the Node is drained, got %v", o)
	}
	w.lives()
	if got := w.names(); slices.Contains(got, "mp-i-1") {
		t.Errorf("want both gone after the drain, got %v", got)
	}
	if got := w.destructive(); len(got) > 0 {
		t.Errorf("want no instance removed, got %v", got)
	}
}

// TestAnInstanceThatIsNotShownYet: the cloud's reads are eventually consistent, and a Machine's deletion takes its instance along.
func TestAnInstanceThatIsNotShownYet(t *testing.T) {
	t.Parallel()
	w := populated(t)
	for _, o := range w.infras() {
		w.now = o.CreationTimestamp.Add(20 * time.Second)
	}
	w.account.vanish("i-1")
	w.turns("i-1", corev1.ConditionUnknown)
	w.pass()
	m := w.machine("mp-i-1")
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || !m.DeletionTimestamp.IsZero() ||
		w.again > time.Second {
		t.Errorf("want the Machine of a young instance left, and a look again at once, got %v, %v, again after %s", m.DeletionTimestamp, err,
			w.again)
	}
	w.now = w.now.Add(time.Minute)
	w.pass()
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || m.DeletionTimestamp.IsZero() {
		t.Errorf("want it deleted once no look can be behind any more, got %v, %v", m.DeletionTimestamp, err)
	}
}

// TestAnAWSMachineIsDeletedByHand: its Machine's controller would drain nothing then, so we do.
func TestAnAWSMachineIsDeletedByHand(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.runs("web", "i-1")
	w.refuse["web"] = errBudget
	w.remove(w.infras()["mp-i-1"])
	w.passes(3)
	if got := w.destructive(); len(got) > 0 {
		t.Errorf("a budget keeps its pod, but %v", got)
	}
	delete(w.refuse, "web")
	w.lives()
	if got := w.destructive(); !slices.Equal(got, []string{"Remove i-1"}) {
		t.Errorf("want it removed after its drain and its successor's start, got %v\n%s", got, w.say())
	}
	if got := w.names(); !slices.Equal(got, []string{"mp-i-2", "mp-i-3"}) {
		t.Errorf("want its successor in its place, got %v", got)
	}
}

// TestMachinesAreSwitchedOff: they go, and the instances stay as they are.
func TestMachinesAreSwitchedOff(t *testing.T) {
	t.Parallel()
	w := populated(t)
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.MachinesAnnotation] = "false" })
	w.pass()
	if w.again > time.Second || len(w.machines()) != 2 {
		t.Errorf("want the core controller told first, and another look at once, got one in %s and %d Machines", w.again, len(w.machines()))
	}
	w.lives()
	if infras, list := w.names(), w.machines(); len(infras)+len(list) > 0 {
		t.Errorf("want no AWSMachines and Machines, got %v and %d", infras, len(list))
	}
	if got := w.destructive(); len(got) > 0 {
		t.Errorf("want the instances left alone, got %v", got)
	}
	for _, node := range w.nodes() {
		if node.Spec.Unschedulable {
			t.Errorf("node %s was cordoned", node.Name)
		}
	}
	if got := w.get().Status.InfrastructureMachineKind; got != "" {
		t.Errorf("want no kind told, got %q", got)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.MachinesAnnotation] = "true" })
	w.lives()
	if got := w.names(); !slices.Equal(got, []string{"mp-i-1", "mp-i-2"}) || len(w.machines()) != 2 {
		t.Errorf("want them back when switched on again, got %v", got)
	}
}

func TestAValueThatMeansNothingChangesNothing(t *testing.T) {
	t.Parallel()
	w := populated(t)
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.MachinesAnnotation] = "yes" })
	w.lives()
	if got := w.names(); len(got) != 2 || w.get().Status.InfrastructureMachineKind != "AWSMachine" {
		t.Errorf("want the machines to stay, got %v", got)
	}
	if c := w.condition(settings.Valid); c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, settings.MachinesAnnotation) {
		t.Errorf("want it said, got %+v", c)
	}
}

// TestAPoolWithMachinesIsDeleted: Machines first, then the group, then the object.
func TestAPoolWithMachinesIsDeleted(t *testing.T) {
	t.Parallel()
	w := populated(t)
	hook := clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/backup"
	change(w, w.machine("mp-i-1"), func(m *clusterv1.Machine) { m.Annotations = map[string]string{hook: ""} })
	w.remove(w.get())
	for range 5 {
		w.passes(1)
		w.core()
	}
	if got := w.destructive(); len(got) > 0 {
		t.Errorf("one Machine is held, but %v", got)
	}
	if c := w.condition("Deleting"); !strings.Contains(c.Message, "draining node-i-1") {
		t.Errorf("want it said what is waited for, got %+v", c)
	}
	change(w, w.machine("mp-i-1"), func(m *clusterv1.Machine) { delete(m.Annotations, hook) })
	for range 20 {
		w.core()
		if w.gone() {
			break
		}
		w.passes(1)
	}
	if got := w.destructive(); !slices.Equal(got, []string{"DeleteGroup"}) || !w.gone() {
		t.Errorf("want the group deleted and then the object, got %v, gone %v", got, w.gone())
	}
	w.core()
	if infras, list := w.names(), w.machines(); len(infras)+len(list) > 0 {
		t.Errorf("want nothing left, got %v and %d Machines", infras, len(list))
	}
}

// TestAMachinePoolWithMachinesIsDeleted: between the deletion of its Machines and that of the infrastructure object no instance is
// replaced.
func TestAMachinePoolWithMachinesIsDeleted(t *testing.T) {
	t.Parallel()
	w := populated(t)
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Finalizers = []string{clusterv1.MachinePoolFinalizer} })
	w.remove(machinePool())
	for _, m := range w.machines() {
		w.remove(&m)
	}
	for range 4 {
		w.passes(1)
		w.core()
	}
	if got := w.account.take(); len(got) > 0 {
		t.Errorf("want nothing begun before the object is deleted itself, got %v", got)
	}
}

// TestWhatAPoolLeftBehind: an AWSMachine that the pool's last passes did not know of is let go when it is deleted.
func TestWhatAPoolLeftBehind(t *testing.T) {
	t.Parallel()
	left := &awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp-i-9", Finalizers: []string{awsv1.MachineFinalizer},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: awsv1.GroupVersion.String(), Kind: "AWSMachinePool", Name: "p", UID: uid}}}}
	w := newWorld(t, left)
	w.pass()
	if len(w.names()) != 1 {
		t.Fatalf("want it kept until the user deletes it")
	}
	w.remove(left)
	w.pass()
	if got := w.names(); len(got) > 0 {
		t.Errorf("want it gone, got %v", got)
	}
}

// TestWhatAPoolLeftBehindWithoutAnOwner: nor is one kept that has lost its owner reference, as a restore drops it.
func TestWhatAPoolLeftBehindWithoutAnOwner(t *testing.T) {
	t.Parallel()
	left := &awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp-i-9", Finalizers: []string{awsv1.MachineFinalizer},
		Labels: map[string]string{clusterv1.MachinePoolNameLabel: "mp"}}}
	another := left.DeepCopy()
	another.Name, another.Labels = "other-i-9", map[string]string{clusterv1.MachinePoolNameLabel: "other"}
	w := newWorld(t, machinePool(), left, another)
	w.remove(left)
	w.remove(another)
	w.pass()
	if got := w.names(); !slices.Equal(got, []string{"other-i-9"}) {
		t.Errorf("want that of another pool kept alone, got %v", got)
	}
}

// TestAPausedMachineIsLeftAlone: nothing is done to it, and why is said.
func TestAPausedMachineIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := populated(t)
	change(w, w.machine("mp-i-1"), func(m *clusterv1.Machine) { m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	w.passes(4)
	m := w.machine("mp-i-1")
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || !m.DeletionTimestamp.IsZero() {
		t.Errorf("want it there, got %v %v", m.DeletionTimestamp, err)
	}
	if c := w.condition("Ready"); !strings.Contains(c.Message, clusterv1.PausedAnnotation) {
		t.Errorf("want it said, got %+v", c)
	}
}

func TestTheGateSwitchesAllPools(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"": 2, "false": 0} {
		t.Run(fmt.Sprintf("annotation %q", value), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
				if value != "" {
					o.Annotations = map[string]string{settings.MachinesAnnotation: value}
				}
			}), cluster(), place(), data(), definition())
			w.reconciler.Machines = true
			w.passes(8)
			if got := len(w.names()); got != want {
				t.Errorf("want %d AWSMachines, got %d", want, got)
			}
		})
	}
}

// hidingDeletions is a cache that does not show yet that Machines are being deleted.
type hidingDeletions struct{ client.WithWatch }

func (h *hidingDeletions) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := h.WithWatch.List(ctx, list, opts...); err != nil {
		return err
	}
	if machines, ok := list.(*clusterv1.MachineList); ok {
		for i := range machines.Items {
			machines.Items[i].DeletionTimestamp = nil
		}
	}
	return nil
}

// TestADeletionThatTheCacheDoesNotShow: a Machine's deletion can't be taken back, so that none is deleted in ignorance of
// another.
func TestADeletionThatTheCacheDoesNotShow(t *testing.T) {
	t.Parallel()
	w := populated(t)
	behind := &hidingDeletions{w.management}
	w.reconciler.Live = w.management
	w.reconciler.Client = behind
	w.remove(w.machine("mp-i-2"))
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
	w.passes(3)
	m := w.machine("mp-i-1")
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil || !m.DeletionTimestamp.IsZero() {
		t.Errorf("want no second Machine deleted while the cache does not show the first, got %v %v", m.DeletionTimestamp, err)
	}
	w.reconciler.Client = w.management
	w.lives()
	if got := w.destructive(); !slices.Equal(got, []string{"Remove i-2"}) {
		t.Errorf("want the one that was deleted removed, got %v", got)
	}
}

// quarrelling is a client of which one write is refused as a conflict, and another as forbidden.
type quarrelling struct{ client.WithWatch }

func (q quarrelling) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	machines := schema.GroupResource{Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachines"}
	switch o.GetName() {
	case "mp-i-1":
		return apierrors.NewConflict(machines, o.GetName(), errors.New("changed"))
	case "mp-i-2":
		return apierrors.NewForbidden(machines, o.GetName(), errors.New("not allowed"))
	}
	return q.WithWatch.Patch(ctx, o, p, opts...)
}

// TestAnErrorBesideAConflict: a conflict is not reported, and hides no error.
func TestAnErrorBesideAConflict(t *testing.T) {
	t.Parallel()
	w := populated(t)
	for _, name := range w.names() {
		change(w, w.infras()[name], func(o *awsv1.AWSMachine) { delete(o.Labels, clusterv1.ClusterNameLabel) })
	}
	w.reconciler.Client = quarrelling{w.management}
	if _, err := w.reconciler.Reconcile(t.Context(), ctrlRequest(key)); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("want the refusal that is no conflict told, got %v", err)
	}
}

// dying is a client whose process ends at a write: right before it has an effect, or right after it.
type dying struct {
	client.WithWatch
	left  int
	after bool
}

var errKilled = errors.New("killed")

func (d *dying) write(do func() error) error {
	switch d.left--; {
	case d.left > 0:
		return do()
	case d.left == 0 && d.after:
		if err := do(); err != nil {
			return err
		}
	}
	return errKilled
}

func (d *dying) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return d.write(func() error { return d.WithWatch.Create(ctx, o, opts...) })
}

func (d *dying) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return d.write(func() error { return d.WithWatch.Patch(ctx, o, p, opts...) })
}

func (d *dying) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return d.write(func() error { return d.WithWatch.Delete(ctx, o, opts...) })
}

func (d *dying) Status() client.SubResourceWriter { return dyingStatus{d.WithWatch.Status(), d} }

type dyingStatus struct {
	client.SubResourceWriter
	d *dying
}

func (s dyingStatus) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.d.write(func() error { return s.SubResourceWriter.Patch(ctx, o, p, opts...) })
}

// TestAKillAtEveryWriteOfMachines: whatever the last write of a process was, the next one ends in the same place, and no instance
// else has gone.
func TestAKillAtEveryWriteOfMachines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		begin   func(w *world)
		removed []string
		left    []string
	}{
		"scale-in": {func(w *world) {
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(1)) })
		}, []string{"Remove i-1"}, []string{"mp-i-2"}},
		"scale-out": {func(w *world) {
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(4)) })
		}, nil, []string{"mp-i-1", "mp-i-2", "mp-i-3", "mp-i-4"}},
		"deletion": {func(w *world) { w.remove(w.machine("mp-i-2")) }, []string{"Remove i-2"}, []string{"mp-i-1", "mp-i-3"}},
		"off": {func(w *world) {
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[settings.MachinesAnnotation] = "false" })
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kill := 1; kill <= 12; kill += killStep() {
				w := populated(t)
				tc.begin(w)
				d := &dying{WithWatch: w.management, left: (kill + 1) / 2, after: kill%2 == 0}
				w.reconciler.Client = d
				for range 12 {
					_, err := w.reconciler.Reconcile(t.Context(), ctrlRequest(key))
					w.core()
					w.join()
					w.now = w.now.Add(5 * time.Second)
					if err != nil {
						break
					}
				}
				w.restart()
				w.lives()
				if got := w.destructive(); !slices.Equal(got, tc.removed) {
					t.Errorf("killed at write %d (after it: %v): want %v, got %v", (kill+1)/2, d.after, tc.removed, got)
				}
				if got := w.names(); !slices.Equal(got, tc.left) || len(w.machines()) != len(tc.left) {
					t.Errorf("killed at write %d (after it: %v): want %v, got %v and %d Machines", (kill+1)/2, d.after, tc.left, got, len(w.machines()))
				}
			}
		})
	}
}

// events are those that were recorded since the last time.
func (w *world) events() []string {
	var list []string
	for len(w.recorder.Events) > 0 {
		list = append(list, <-w.recorder.Events)
	}
	return list
}

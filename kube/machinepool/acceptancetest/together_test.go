package acceptancetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/muster-project/muster/kube/machines"
)

// TestMachinesLive holds that Machines which the API server accepts become ready with Cluster API's controller, that only one controller
// writes their Nodes, and that nothing is written if nothing changes. It runs alone, because it counts passes, and because Cluster API's
// webhook accepts the taints of its Machines by a feature gate of the process.
func TestMachinesLive(t *testing.T) {
	needsServer(t)
	propagate(t, true)
	t.Cleanup(func() { propagate(t, false) })
	num := func(n int32) *int32 { return &n }
	w := newProvided(t, 2, func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels = map[string]string{"node.cluster.x-k8s.io/tier": "web"}
		p.Spec.Template.Annotations = map[string]string{"note": "x"}
		s := &p.Spec.Template.Spec
		s.MinReadySeconds, s.FailureDomain = num(1), "zone-b"
		s.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: clusterv1.MachineUpToDateCondition}}
		s.Taints = []clusterv1.MachineTaint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule,
			Propagation: clusterv1.MachineTaintPropagationAlways}}
		s.Deletion = clusterv1.MachineDeletionSpec{NodeDrainTimeoutSeconds: num(300), NodeVolumeDetachTimeoutSeconds: num(200),
			NodeDeletionTimeoutSeconds: num(100)}
	})
	w.runs(2)
	m := &clusterv1.Machine{}
	if err := admin.Get(t.Context(), w.key("m1"), m); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(*m.Spec.MinReadySeconds, *m.Spec.Deletion.NodeDrainTimeoutSeconds, *m.Spec.Deletion.NodeVolumeDetachTimeoutSeconds,
		*m.Spec.Deletion.NodeDeletionTimeoutSeconds, m.Spec.FailureDomain, m.Spec.ReadinessGates, m.Spec.Taints, m.Spec.Version,
		m.Status.NodeRef.Name == w.nodeName(1))
	if want := "300 200 100 zone-a [{UpToDate }] [{gpu yes NoSchedule Always}] v1.36.0 true\n"; got != "1 "+want {
		t.Errorf("Machine: want %s, got %s", "1 "+want, got)
	}
	node := &corev1.Node{}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: w.nodeName(1)}, node); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{clusterv1.MachineAnnotation: "m1", clusterv1.OwnerKindAnnotation: "MachinePool",
		clusterv1.OwnerNameAnnotation:   "pool",
		clusterv1.ClusterNameAnnotation: "c1", clusterv1.ClusterNamespaceAnnotation: w.ns} {
		if node.Annotations[k] != want {
			t.Errorf("node's annotation %s: want %s, got %s", k, want, node.Annotations[k])
		}
	}
	gpu := &corev1.Taint{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(gpu) }) ||
		node.Labels["node.cluster.x-k8s.io/tier"] != "web" {
		t.Errorf("node: want the taint and the label of the template, got %v, %v", node.Spec.Taints, node.Labels)
	}
	w.restsUnwritten()
}

// propagate sets Cluster API's feature gate for taints of Machines.
func propagate(t *testing.T, on bool) {
	t.Helper()
	if err := feature.MutableGates.Set(fmt.Sprintf("%s=%t", feature.MachineTaintPropagation, on)); err != nil {
		t.Fatal(err)
	}
}

// restsUnwritten holds that a pass over all objects writes nothing: their resource versions stay.
func (w *provided) restsUnwritten() {
	w.t.Helper()
	versions := func(ctx context.Context) (string, error) {
		pool, err := w.stored(ctx)
		if err != nil {
			return "", err
		}
		all := pool.ResourceVersion
		list := &clusterv1.MachineList{}
		if err := admin.List(ctx, list, client.InNamespace(w.ns)); err != nil {
			return "", err
		}
		for i := range list.Items {
			all += " " + list.Items[i].ResourceVersion
		}
		return all, nil
	}
	last, same := "", 0
	w.eventually("nothing is written any more", func(ctx context.Context) error {
		now, err := versions(ctx)
		if err != nil {
			return err
		}
		if same++; now != last {
			last, same = now, 0
		}
		if same < 20 {
			return fmt.Errorf("unchanged for %d looks", same)
		}
		return nil
	})
	// Changes without an effect on the status wake the pool once more. No other test runs meanwhile.
	passes := reconciles(w.t)
	w.change(poolGVK, "infra", func(o map[string]any) { o["touched"] = "yes" })
	w.change(machineGVK, "m1", func(o map[string]any) { o["touched"] = "yes" })
	w.eventually("the pool is looked at again", func(context.Context) error {
		if now := reconciles(w.t); now <= passes {
			return fmt.Errorf("passes: want more than %v, got %v", passes, now)
		}
		return nil
	})
	now, err := versions(w.t.Context())
	if err != nil || now != last {
		w.t.Fatalf("versions after a change without an effect: want %s, got %s, %v", last, now, err)
	}
}

// reconciles returns how often a pool was reconciled.
func reconciles(t *testing.T) (passes float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "controller_runtime_reconcile_total" && l.GetName() == "controller" && l.GetValue() == "machinepool" {
					passes += m.GetCounter().GetValue()
				}
			}
		}
	}
	return passes
}

// TestRow59_HealthCheckReplacesAMachine holds the contract of health checks: a marked Machine is drained and deleted with its instance and
// its Node, and no other.
func TestRow59_HealthCheckReplacesAMachine(t *testing.T) {
	t.Parallel()
	w := newProvided(t, 3, nil)
	w.runs(3)
	w.healthCheck(1)
	w.ready(2, corev1.ConditionFalse, time.Now().Add(-time.Minute))
	w.eventually("the Machine goes", func(ctx context.Context) error {
		names, err := w.machines(ctx)
		if err == nil && !slices.Equal(names, []string{"m1", "m3"}) {
			return fmt.Errorf("Machines: want m1 and m3, got %v", names)
		}
		return err
	})
	if got := played.state(w.id(2)); got != "cordoned" {
		t.Errorf("node when its instance was taken: want it drained, so cordoned, got %s", got)
	}
	w.eventually("the node goes", func(ctx context.Context) error {
		err := admin.Get(ctx, client.ObjectKey{Name: w.nodeName(2)}, &corev1.Node{})
		if !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("node: want it gone"), err)
		}
		return nil
	})
	w.eventually("the cause is reported", func(ctx context.Context) error {
		list := &eventsv1.EventList{}
		if err := admin.List(ctx, list, client.InNamespace(w.ns)); err != nil {
			return err
		}
		for i := range list.Items {
			if e := &list.Items[i]; e.Reason == "UnhealthyMachine" && e.Regarding.Kind == "MachinePool" {
				return nil
			}
		}
		return fmt.Errorf("no event UnhealthyMachine among %d", len(list.Items))
	})
	w.instance(4)
	w.runs(3)
}

// TestRow59_HealthCheckOverItsBudgetReplacesNothing holds that of several Machines that turn unhealthy together none is deleted if the
// health check allows fewer: the pool deletes only marked Machines.
func TestRow59_HealthCheckOverItsBudgetReplacesNothing(t *testing.T) {
	t.Parallel()
	w := newProvided(t, 3, nil)
	w.runs(3)
	// Both are unhealthy before the health check exists.
	w.ready(2, corev1.ConditionFalse, time.Now().Add(-time.Minute))
	w.ready(3, corev1.ConditionFalse, time.Now().Add(-time.Minute))
	w.eventually("the pool reports them", func(ctx context.Context) error {
		pool, err := w.stored(ctx)
		if err == nil && show(pool.Status.ReadyReplicas) != any(int32(1)) {
			return fmt.Errorf("want one ready, got %+v", pool.Status)
		}
		return err
	})
	w.healthCheck(1)
	w.eventually("the health check counts", func(ctx context.Context) error {
		mhc := &clusterv1.MachineHealthCheck{}
		if err := admin.Get(ctx, w.key("mhc"), mhc); err != nil {
			return err
		}
		c := meta.FindStatusCondition(mhc.Status.Conditions, clusterv1.MachineHealthCheckRemediationAllowedCondition)
		if c == nil || c.Status != metav1.ConditionFalse || show(mhc.Status.CurrentHealthy) != any(int32(1)) {
			return fmt.Errorf("want remediation not allowed, got %+v", mhc.Status)
		}
		return nil
	})
	names, err := w.machines(t.Context())
	if err != nil || !slices.Equal(names, []string{"m1", "m2", "m3"}) {
		t.Errorf("Machines: want all three, got %v, %v", names, err)
	}
}

// healthCheck creates a health check of the pool's Machines that marks Machines at once if their Nodes are not Ready, while at most
// maxUnhealthy are.
func (w *provided) healthCheck(most int) {
	w.t.Helper()
	limit := intstr.FromInt(most)
	w.create(&clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "mhc"}, Spec: clusterv1.MachineHealthCheckSpec{
		ClusterName: "c1", Selector: metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachinePoolNameLabel: "pool"}},
		Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionFalse, TimeoutSeconds: new(int32)}}},
		Remediation: clusterv1.MachineHealthCheckRemediation{TriggerIf: clusterv1.MachineHealthCheckRemediationTriggerIf{
			UnhealthyLessThanOrEqualTo: &limit}},
	}})
}

// TestDeletedMachineTerminatesOnlyItsInstance holds that a user who deletes a Machine has exactly that one drained and terminated.
func TestDeletedMachineTerminatesOnlyItsInstance(t *testing.T) {
	t.Parallel()
	w := newProvided(t, 2, nil)
	w.runs(2)
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "m1"}}
	if err := admin.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.eventually("the Machine goes and is not made again", func(ctx context.Context) error {
		names, err := w.machines(ctx)
		if err != nil {
			return err
		}
		pool, err := w.stored(ctx)
		if err == nil && (!slices.Equal(names, []string{"m2"}) || len(pool.Spec.ProviderIDList) != 1) {
			return fmt.Errorf("want m2 alone, got Machines %v, instances %v", names, pool.Spec.ProviderIDList)
		}
		return err
	})
	if got := played.state(w.id(1)); got != "cordoned" {
		t.Errorf("node when its instance was taken: want it drained, so cordoned, got %s", got)
	}
	if got := played.state(w.id(2)); got != "" {
		t.Errorf("the other instance: want it left alone, got it taken while %s", got)
	}
}

// TestRow69_PoolDeletionWaitsForMachineHooks holds the order: Machines, then the infrastructure, then the pool.
func TestRow69_PoolDeletionWaitsForMachineHooks(t *testing.T) {
	t.Parallel()
	w := newProvided(t, 2, nil)
	w.runs(2)
	// A hook blocks the deletion of one Machine, so that the message can be read meanwhile.
	w.eventually("the hook is set", func(ctx context.Context) error {
		m := &clusterv1.Machine{}
		if err := admin.Get(ctx, w.key("m2"), m); err != nil {
			return err
		}
		m.Annotations = map[string]string{clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/test": "t"}
		return admin.Update(ctx, m)
	})
	if err := admin.Delete(t.Context(), &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"}}); err != nil {
		t.Fatal(err)
	}
	w.eventually("what is waited for is said", func(ctx context.Context) error {
		pool, err := w.stored(ctx)
		if err != nil {
			return err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, clusterv1.DeletingCondition)
		if c == nil || c.Reason != "WaitingForMachinesDeletion" ||
			!strings.HasPrefix(c.Message, "Waiting for Machines to be deleted, 1 left: m2 (WaitingForPreTerminateHook: Waiting for "+
				"pre-terminate hooks") {
			return fmt.Errorf("Deleting: got %+v", c)
		}
		return nil
	})
	w.eventually("the hook is done", func(ctx context.Context) error {
		m := &clusterv1.Machine{}
		if err := admin.Get(ctx, w.key("m2"), m); err != nil {
			return err
		}
		delete(m.Annotations, clusterv1.PreTerminateDeleteHookAnnotationPrefix+"/test")
		return admin.Update(ctx, m)
	})
	w.eventually("the pool goes", func(ctx context.Context) error {
		pool, err := w.stored(ctx)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(fmt.Errorf("want it gone, got %+v", pool.Status.Conditions), err)
	})
	for n := range 2 {
		if got := played.state(w.id(n + 1)); got != "cordoned" {
			t.Errorf("node %d when its instance was taken: want it drained, so cordoned, got %s", n+1, got)
		}
		if err := admin.Get(t.Context(), client.ObjectKey{Name: w.nodeName(n + 1)}, &corev1.Node{}); !apierrors.IsNotFound(err) {
			t.Errorf("node %d: want it gone, got %v", n+1, err)
		}
	}
	played.mu.Lock()
	defer played.mu.Unlock()
	var went []string
	for _, name := range played.order {
		if prefix := w.ns + "/"; len(name) > len(prefix) && name[:len(prefix)] == prefix {
			went = append(went, name[len(prefix):])
		}
	}
	if want := []string{"m1", "m2", "infra"}; !slices.Equal(went, want) {
		t.Errorf("order: want %v, got %v", want, went)
	}
}

// TestCauseIsRecordedOnTheMachine holds that the controller that terminates the instance can report the cause.
func TestCauseIsRecordedOnTheMachine(t *testing.T) {
	t.Parallel()
	w := newProvided(t, 1, nil)
	w.runs(1)
	w.eventually("the hook and the mark are set", func(ctx context.Context) error {
		m := &clusterv1.Machine{}
		if err := admin.Get(ctx, w.key("m1"), m); err != nil {
			return err
		}
		m.Annotations = map[string]string{clusterv1.PreDrainDeleteHookAnnotationPrefix + "/test": "t", clusterv1.RemediateMachineAnnotation: ""}
		return admin.Update(ctx, m)
	})
	w.create(&clusterv1.MachineHealthCheck{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "mhc"}, Spec: clusterv1.MachineHealthCheckSpec{
		ClusterName: "c1", Selector: metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.MachinePoolNameLabel: "pool"}},
		Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionFalse, TimeoutSeconds: new(int32)}}},
	}})
	const cause = "UnhealthyMachine: Health check failed: marked for remediation via cluster.x-k8s.io/remediate-machine annotation"
	w.eventually("the Machine is deleted for its mark", func(ctx context.Context) error {
		m, pool := &clusterv1.Machine{}, &clusterv1.MachinePool{}
		if err := admin.Get(ctx, w.key("m1"), m); err != nil {
			return err
		}
		if err := admin.Get(ctx, w.key("pool"), pool); err != nil {
			return err
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, clusterv1.RemediatingCondition)
		if m.DeletionTimestamp.IsZero() || m.Annotations[machines.CauseAnnotation] != cause || c == nil || c.Status != metav1.ConditionTrue {
			return fmt.Errorf("want it being deleted with %q, got %v %v, %+v", cause, m.DeletionTimestamp, m.Annotations, c)
		}
		return nil
	})
}

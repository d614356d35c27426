package machinepool

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestRow31_MachineWakesItsPool(t *testing.T) {
	t.Parallel()
	pool, long, elsewhere := aPool(1), aPool(1), aPool(1)
	long.Name = strings.Repeat("long-", 20) + "pool"
	elsewhere.Name, elsewhere.Spec.ClusterName = "elsewhere", "c2"
	for _, p := range []*clusterv1.MachinePool{pool, long, elsewhere} {
		p.Labels = map[string]string{clusterv1.ClusterNameLabel: p.Spec.ClusterName}
	}
	w := newWorld(t, []client.Object{pool, long, elsewhere})
	of := func(cluster, pool string) map[string]string {
		return map[string]string{clusterv1.ClusterNameLabel: cluster, clusterv1.MachinePoolNameLabel: pool}
	}
	for name, tc := range map[string]struct {
		reason string
		owner  *metav1.OwnerReference
		labels map[string]string
		want   string
	}{
		"controlled":       {"the owner is the pool", controllerRef("MachinePool", "pool", "pool-uid"), nil, "[default/pool]"},
		"controlled, gone": {"a request for a deleted pool costs one read", controllerRef("MachinePool", "gone", "x"), nil, "[default/gone]"},
		"labelled":         {"an infrastructure machine that no Machine controls yet", nil, of("c1", "pool"), "[default/pool]"},
		"labelled, a Machine": {"an infrastructure machine is controlled by its Machine", controllerRef("Machine", "m1", "x"), of("c1", "pool"),
			"[default/pool]"},
		"long name":       {"a label holds a hash of it", nil, of("c1", format.MustFormatValue(long.Name)), "[default/" + long.Name + "]"},
		"another cluster": {"pools of two clusters may have the same name", nil, of("c1", "elsewhere"), "[]"},
		"MachineSet":      {"not a pool's", controllerRef("MachineSet", "ms", "x"), map[string]string{clusterv1.ClusterNameLabel: "c1"}, "[]"},
		"no labels":       {"no pool's", nil, nil, "[]"},
	} {
		m := aMachine("m1", tc.owner)
		m.Labels = tc.labels
		want(t, name+": "+tc.reason, fmt.Sprint(waker{w.mgmt}.poolOfMember(t.Context(), m)), tc.want)
	}
}

func TestMachineChanged(t *testing.T) {
	t.Parallel()
	base := aMachine("m1", nil)
	base.ResourceVersion = "1"
	conditions.Set(base, metav1.Condition{Type: "Ready", Status: "True", Reason: "Ready"})
	for name, tc := range map[string]struct {
		change func(m *clusterv1.Machine)
		want   bool
	}{
		"resync": {func(m *clusterv1.Machine) { m.ResourceVersion = "1" }, true},
		"ready": {func(m *clusterv1.Machine) {
			conditions.Set(m, metav1.Condition{Type: "Ready", Status: "False", Reason: "NotReady"})
		}, true},
		"reason": {func(m *clusterv1.Machine) {
			conditions.Set(m, metav1.Condition{Type: "Ready", Status: "True", Reason: "Other"})
		}, true},
		"marked": {func(m *clusterv1.Machine) {
			conditions.Set(m, metav1.Condition{Type: "OwnerRemediated", Status: "False", Reason: "X"})
		}, true},
		"message":   {func(m *clusterv1.Machine) { m.Status.Conditions[0].Message = "x" }, false},
		"phase":     {func(m *clusterv1.Machine) { m.Status.Phase = "Running" }, false},
		"node info": {func(m *clusterv1.Machine) { m.Status.NodeRef.Name = "n" }, false},
		"spec":      {func(m *clusterv1.Machine) { m.Generation = 7 }, true},
		"label":     {func(m *clusterv1.Machine) { m.Labels = map[string]string{"a": "b"} }, true},
		"pause":     {func(m *clusterv1.Machine) { m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} }, true},
		"owner":     {func(m *clusterv1.Machine) { m.OwnerReferences = []metav1.OwnerReference{{}} }, true},
		"deletion":  {func(m *clusterv1.Machine) { now := metav1.Now(); m.DeletionTimestamp = &now }, true},
		"another":   {func(m *clusterv1.Machine) { m.UID = "another" }, true},
	} {
		after := base.DeepCopy()
		after.ResourceVersion = "2"
		tc.change(after)
		want(t, name, machineChanged().Update(event.UpdateEvent{ObjectOld: base, ObjectNew: after}), tc.want)
	}
	want(t, "a Machine that is created", machineChanged().Create(event.CreateEvent{Object: base}), true)
	want(t, "a Machine that is deleted", machineChanged().Delete(event.DeleteEvent{Object: base}), true)
}

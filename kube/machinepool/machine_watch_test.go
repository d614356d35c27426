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

func TestRow31_AMachineWakesThePoolThatItsLabelsName(t *testing.T) {
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
		"controlled":          {"the owner is the pool", controllerRef("MachinePool", "pool", "pool-uid"), nil, "[default/pool]"},
		"controlled, gone":    {"a pool that is gone is looked for in vain, at no cost", controllerRef("MachinePool", "gone", "x"), nil, "[default/gone]"},
		"labelled":            {"an infrastructure machine that no Machine controls yet", nil, of("c1", "pool"), "[default/pool]"},
		"labelled, a Machine": {"an infrastructure machine is controlled by its Machine", controllerRef("Machine", "m1", "x"), of("c1", "pool"), "[default/pool]"},
		"long name":           {"a label holds a hash of it", nil, of("c1", format.MustFormatValue(long.Name)), "[default/" + long.Name + "]"},
		"another cluster":     {"names of pools are a cluster's own", nil, of("c1", "elsewhere"), "[]"},
		"MachineSet":          {"not a pool's", controllerRef("MachineSet", "ms", "x"), map[string]string{clusterv1.ClusterNameLabel: "c1"}, "[]"},
		"no labels":           {"nobody's", nil, nil, "[]"},
	} {
		m := aMachine("m1", tc.owner)
		m.Labels = tc.labels
		want(t, name+": "+tc.reason, fmt.Sprint(w.r.poolOfMember(t.Context(), m)), tc.want)
	}
}

func TestMachineMatters(t *testing.T) {
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
		"words":     {func(m *clusterv1.Machine) { m.Status.Conditions[0].Message = "x" }, false},
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
		want(t, name, machineMatters().Update(event.UpdateEvent{ObjectOld: base, ObjectNew: after}), tc.want)
	}
	want(t, "a Machine that is made", machineMatters().Create(event.CreateEvent{Object: base}), true)
	want(t, "a Machine that is gone", machineMatters().Delete(event.DeleteEvent{Object: base}), true)
}

func TestSameVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wanted, have string
		want         bool
	}{
		"same":                        {"v1.36.0", "v1.36.0", true},
		"vendor's suffix":             {"v1.36.0", "v1.36.0-eks-1a2b3c", true},
		"vendor's build":              {"v1.36.0", "v1.36.0+k3s1", true},
		"another build than wanted":   {"v1.36.0+k3s2", "v1.36.0+k3s1", false},
		"another suffix than wanted":  {"v1.36.0-rc.1", "v1.36.0", false},
		"patch":                       {"v1.36.1", "v1.36.0", false},
		"minor":                       {"v1.36.0", "v1.35.0", false},
		"no version":                  {"v1.36.0", "unknown", false},
		"wanted is none":              {"latest", "v1.36.0", false},
		"wanted without its letter v": {"1.36.0", "v1.36.0", true},
	} {
		want(t, name, sameVersion(tc.wanted, tc.have), tc.want)
	}
}

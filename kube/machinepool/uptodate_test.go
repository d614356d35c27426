package machinepool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/status"
)

const uptodateID = "aws:///zone-a/i-1"

func num(n int32) *int32 { return &n }

// running returns a Node by instance key that runs a version.
func running(version string) map[string]*corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	n.Status.NodeInfo.KubeletVersion = version
	return map[string]*corev1.Node{members.InstanceKey(uptodateID): n}
}

func TestSetCondition(t *testing.T) {
	t.Parallel()
	const last = "False NotUpToDate: as last known"
	for _, tc := range []struct {
		why       string
		upToDate  *int32
		version   string
		nodes     map[string]*corev1.Node
		condition string // status of the infrastructure machine's condition
		set       bool   // the Machine has a condition already
		want      string
	}{
		{why: "the count covers all", upToDate: num(2), version: "v1.36.0", nodes: running("v1.36.0"), want: "True UpToDate: "},
		{why: "the provider's count takes precedence over the version", upToDate: num(2), version: "v1.36.0", nodes: running("v1.35.1"),
			want: "True UpToDate: "},
		{why: "the count covers none", upToDate: num(0), version: "v1.36.0", nodes: running("v1.36.0"),
			want: "False NotUpToDate: P infra reports no machine as up to date"},
		{why: "which ones the count covers is unknown", upToDate: num(1), version: "v1.36.0", nodes: running("v1.36.0"),
			want: "Unknown UpToDateUnknown: P infra reports how many machines are up to date, but not which"},
		{why: "an outdated version shows that much", upToDate: num(1), version: "v1.36.0", nodes: running("v1.35.1"),
			want: "False NotUpToDate: the node runs v1.35.1, the pool wants v1.36.0"},
		{why: "the report of the machine takes precedence", upToDate: num(1), version: "v1.36.0", nodes: running("v1.36.0"), condition: "False",
			want: "False NotUpToDate: launched from version 1"},
		{why: "also over the version", upToDate: num(1), version: "v1.36.0", nodes: running("v1.35.1"), condition: "True",
			want: "True UpToDate: launched from version 1"},
		{why: "an unknown condition is no report", upToDate: num(0), version: "v1.36.0", nodes: running("v1.36.0"), condition: "Unknown",
			want: "False NotUpToDate: P infra reports no machine as up to date"},
		{why: "without a count only the version can be compared", version: "v1.36.0", nodes: running("v1.36.0"), want: "True UpToDate: "},
		{why: "also if it is outdated", version: "v1.36.0", nodes: running("v1.35.1"),
			want: "False NotUpToDate: the node runs v1.35.1, the pool wants v1.36.0"},
		{why: "nothing to compare", version: "v1.36.0", nodes: running(""), want: "Unknown UpToDateUnknown: the machine has no node yet"},
		{why: "no Node to compare", version: "v1.36.0", nodes: map[string]*corev1.Node{},
			want: "Unknown UpToDateUnknown: the machine has no node yet"},
		{why: "nothing to compare with", nodes: running("v1.36.0"),
			want: "Unknown UpToDateUnknown: P infra does not report which of its machines are up to date"},
		{why: "an unreachable cluster keeps the last known condition", version: "v1.36.0", set: true, want: last},
		{why: "without one it is unknown", version: "v1.36.0", want: "Unknown UpToDateUnknown: no connection"},
		{why: "what the provider reports needs no connection", upToDate: num(2), version: "v1.36.0", set: true, want: "True UpToDate: "},
	} {
		machine := &clusterv1.Machine{Spec: clusterv1.MachineSpec{ProviderID: uptodateID}}
		if tc.set {
			conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: "False", Reason: "NotUpToDate",
				Message: "as last known"})
		}
		infra := &unstructured.Unstructured{Object: map[string]any{}}
		if tc.condition != "" {
			_ = unstructured.SetNestedSlice(infra.Object, []any{map[string]any{"type": "UpToDate", "status": tc.condition, "reason": "X",
				"message": "launched from version 1", "lastTransitionTime": "2026-01-01T00:00:00Z"}}, "status", "conditions")
		}
		b := members.UpToDateBasis{Infrastructure: "P infra", UpToDate: tc.upToDate, Replicas: num(2), Version: tc.version, Nodes: tc.nodes,
			NodesUnknown: "no connection"}
		b.SetCondition(machine, members.Member{Infra: infra, Machine: machine})
		c := conditions.Get(machine, clusterv1.MachineUpToDateCondition)
		if got := string(c.Status) + " " + c.Reason + ": " + c.Message; got != tc.want {
			t.Errorf("%s: want %q, got %q", tc.why, tc.want, got)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	of := func(name string, s metav1.ConditionStatus) *clusterv1.Machine {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		m.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineUpToDateCondition, Status: s, Reason: "R"}}
		return m
	}
	ids := []string{"aws:///a/i-1", "aws:///a/i-2", "aws:///a/i-3", "aws:///a/i-4", "aws:////i-1"}
	machines := map[string]*clusterv1.Machine{}
	for n, m := range []*clusterv1.Machine{of("m1", "True"), of("m2", "False"), of("m3", "Unknown")} {
		machines[members.InstanceKey(ids[n])] = m
	}
	if diff := cmp.Diff(&status.UpToDateByMachine{UpToDate: 1, Not: []string{"m2"}, Unknown: []string{"m3", ids[3]}},
		members.UpToDateByMachine(ids, machines)); diff != "" {
		t.Errorf("by Machine (-want +got):\n%s", diff)
	}
	nodes := map[string]*corev1.Node{}
	for n, version := range []string{"v1.36.0", "v1.35.1", ""} {
		for _, node := range running(version) {
			nodes[members.InstanceKey(ids[n])] = node
		}
	}
	want := &status.UpToDateByMachine{UpToDate: 1, Not: []string{"n (v1.35.1)"}, Unknown: []string{ids[2], ids[3]},
		Basis: "only the Kubernetes version was compared, because P infra reports no status.upToDateReplicas"}
	if diff := cmp.Diff(want, members.UpToDateBasis{Infrastructure: "P infra", Version: "v1.36.0", Nodes: nodes}.ByVersion(ids)); diff != "" {
		t.Errorf("by version (-want +got):\n%s", diff)
	}
}

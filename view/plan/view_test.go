package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/view"
)

func n(i int32) *int32 { return &i }

func aPool(change func(*clusterv1.MachinePool)) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{}
	mp.Namespace, mp.Name, mp.Generation = "default", "capa-mp-0", 3
	mp.Spec.ClusterName, mp.Spec.Replicas = "capa", n(2)
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infraGVK.Group, Kind: infraGVK.Kind,
		Name: "capa-mp-0"}
	mp.Status = clusterv1.MachinePoolStatus{ObservedGeneration: 3, Phase: "Running", Replicas: n(2), ReadyReplicas: n(2),
		UpToDateReplicas: n(2)}
	if change != nil {
		change(mp)
	}
	return mp
}

var infraGVK = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "AWSMachinePool"}

func infra(status map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	u.SetGroupVersionKind(infraGVK)
	u.SetNamespace("default")
	u.SetName("capa-mp-0")
	return u
}

func condition(t, status, message string) map[string]any {
	return map[string]any{"type": t, "status": status, "reason": "Because", "message": message}
}

func TestPoolOf(t *testing.T) {
	deleted := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for _, tc := range []struct {
		reason string
		mp     *clusterv1.MachinePool
		infra  *unstructured.Unstructured
		want   view.Pool
	}{
		{reason: "all machines ready: settled, and the infrastructure's summary is the message",
			mp: aPool(nil), infra: infra(map[string]any{"state": "Running",
				"conditions": []any{condition("Ready", "True", "2 of 2 instances\nare Ready")}}),
			want: view.Pool{State: "Running", Message: "2 of 2 instances are Ready", Settled: true, Level: view.Healthy}},
		{reason: "nodes that are ready before the infrastructure has seen them settle nothing: the table would contradict itself",
			mp: aPool(nil), infra: infra(map[string]any{"state": "Scaling",
				"conditions": []any{condition("Ready", "False", "1 of 2 machines are Ready")}}),
			want: view.Pool{State: "Scaling", Message: "1 of 2 machines are Ready",
				Problems: []string{"AWSMachinePool: Ready is False (Because): 1 of 2 machines are Ready"}}},
		{reason: "a status that is about an older spec settles nothing", mp: aPool(func(mp *clusterv1.MachinePool) { mp.Generation = 4 }),
			infra: infra(nil),
			want:  view.Pool{State: "Running"}},
		{reason: "one machine too many is not settled", mp: aPool(func(mp *clusterv1.MachinePool) { mp.Status.Replicas = n(3) }),
			infra: infra(nil),
			want:  view.Pool{Current: n(3), State: "Running"}},
		{reason: "unknown is not settled, even where nothing is wanted", mp: aPool(func(mp *clusterv1.MachinePool) {
			mp.Spec.Replicas = n(0)
			mp.Status.Replicas, mp.Status.ReadyReplicas, mp.Status.UpToDateReplicas = nil, nil, nil
		}), infra: infra(nil), want: view.Pool{Desired: n(0), Current: nil, Ready: nil, UpToDate: nil, State: "Running"}},
		{reason: "what the core object does not say the infrastructure may", mp: aPool(func(mp *clusterv1.MachinePool) {
			mp.Status.UpToDateReplicas = nil
		}), infra: infra(map[string]any{"upToDateReplicas": int64(1)}), want: view.Pool{UpToDate: n(1), State: "Running", Settled: true}},
		{reason: "missing bootstrap data is why everything else waits: its condition speaks",
			mp: aPool(func(mp *clusterv1.MachinePool) {
				mp.Status.ReadyReplicas = n(0)
				mp.Status.Conditions = []metav1.Condition{{Type: "BootstrapConfigReady", Status: "False", Reason: "TooOld",
					Message: "* Data: v1.16.8 is older\n  than v1.22\n* CA: not yet"}}
			}),
			infra: infra(map[string]any{"state": "Waiting", "conditions": []any{condition("Ready", "False", "waiting for bootstrap data"),
				condition("GroupReady", "Unknown", "not asked"), condition("TemplateReady", "False", "waiting for bootstrap data")}}),
			want: view.Pool{Ready: n(0), State: "Waiting", Message: "Data: v1.16.8 is older than v1.22; CA: not yet", Problems: []string{
				"MachinePool: BootstrapConfigReady is False (TooOld): Data: v1.16.8 is older than v1.22; CA: not yet",
				"AWSMachinePool: Ready, TemplateReady is False (Because): waiting for bootstrap data",
				"AWSMachinePool: GroupReady is Unknown (Because): not asked"}}},
		{reason: "no infrastructure object: that is the problem", mp: aPool(func(mp *clusterv1.MachinePool) {
			mp.Status.Phase = "Pending"
			mp.Status.Conditions = []metav1.Condition{{Type: "InfrastructureReady", Status: "False", Reason: "NotFound",
				Message: "AWSMachinePool does not exist"}}
		}), want: view.Pool{State: "Pending", Message: "AWSMachinePool does not exist", Settled: true, Problems: []string{
			"MachinePool: InfrastructureReady is False (NotFound): AWSMachinePool does not exist", `AWSMachinePool "capa-mp-0" does not exist`}}},
		{reason: "an error is the message and settles nothing, whatever Ready says", mp: aPool(nil), infra: infra(map[string]any{
			"state": "Error", "conditions": []any{condition("Ready", "True", "2 of 2 machines are Ready"),
				condition("UpToDate", "False", "no such image")}}),
			want: view.Pool{State: "Error", Level: view.Problem, Message: "no such image",
				Problems: []string{"AWSMachinePool: UpToDate is False (Because): no such image"}}},
		{reason: "while it is deleted, deletion speaks and nothing is settled",
			mp: aPool(func(mp *clusterv1.MachinePool) { mp.DeletionTimestamp = &deleted }),
			infra: infra(map[string]any{"state": "Deleting", "conditions": []any{condition("Ready", "False", "deleted"),
				condition("Deleting", "True", "1 of 2 nodes drained")}}),
			want: view.Pool{State: "Deleting", Message: "1 of 2 nodes drained",
				Problems: []string{"AWSMachinePool: Ready is False (Because): deleted"}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			want := tc.want
			want.Namespace, want.Name, want.Cluster = "default", "capa-mp-0", "capa"
			want.Infrastructure = view.Reference{Kind: infraGVK.Kind, Name: "capa-mp-0"}
			if want.Level == "" {
				want.Level = view.Progressing
			}
			unknown := tc.mp.Status.Replicas == nil
			for _, c := range []**int32{&want.Desired, &want.Current, &want.Ready, &want.UpToDate} {
				if *c == nil && !unknown {
					*c = n(2)
				}
			}
			if diff := cmp.Diff(want, view.PoolOf(tc.mp, tc.infra)); diff != "" {
				t.Fatalf("pool (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pools := []view.Pool{
		{Namespace: "default", Name: "capa-mp-0", Cluster: "capa", Desired: n(2), Current: n(2), Ready: n(2), UpToDate: n(2),
			State: "Running", Created: now.Add(-42 * time.Second), Message: "2 of 2 instances are Ready — all of them"},
		{Namespace: "default", Name: "new", Cluster: "capa"},
		{Namespace: "team", Name: "a-pool-with-a-rather-long-name", Cluster: "c", Desired: n(100), Current: n(98), Ready: n(97), UpToDate: n(40),
			State: "Updating", Created: now.Add(-26 * time.Hour),
			Message: "60 of 100 instances are still launched from lt-0123:4, 2 wait for the budget default/web"},
	}
	for _, tc := range []struct {
		reason, golden string
		pools          []view.Pool
		width          int
	}{
		{reason: "columns line up, unknown is shown as unknown", golden: "table.txt", pools: pools},
		{reason: "a narrow terminal has fewer columns, and messages wrap", golden: "table-80.txt", pools: pools, width: 80},
		{reason: "the namespace is left out where all pools are in the default one", golden: "table-default.txt", pools: pools[:2], width: 80},
		{reason: "no pools is said in words", golden: "table-empty.txt"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var got strings.Builder
			if err := view.Table(&got, tc.pools, now, view.Terminal{Width: tc.width}); err != nil {
				t.Fatal(err)
			}
			goldenFile(t, filepath.Join("view", tc.golden), got.String(), "what is printed")
		})
	}
	var lines strings.Builder
	for _, p := range pools {
		lines.WriteString(p.Line() + "\n")
	}
	goldenFile(t, filepath.Join("view", "lines.txt"), lines.String(), "what is printed")
}

// goldenFile compares a text with a file below testdata, which it writes with -update.
func goldenFile(t *testing.T, name, got, why string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", why, path, diff)
	}
}

// TestInfrastructure holds that pools are shown without an infrastructure object that does not exist, or that is of an unknown kind.
func TestInfrastructure(t *testing.T) {
	scheme, err := view.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{infraGVK.GroupVersion()})
	mapper.Add(infraGVK, meta.RESTScopeNamespace)
	with := aPool(nil)
	without := aPool(func(mp *clusterv1.MachinePool) { mp.Name, mp.Spec.Template.Spec.InfrastructureRef.Name = "b", "gone" })
	unknown := aPool(func(mp *clusterv1.MachinePool) {
		mp.Name, mp.Spec.Template.Spec.InfrastructureRef.Kind = "a", "NoSuchPool"
	})
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(with, without, unknown, infra(map[string]any{"state": "Scaling"})).Build()
	got := map[string]string{}
	for _, mp := range []*clusterv1.MachinePool{with, without, unknown} {
		infra, err := view.Infrastructure(t.Context(), c, mapper, mp)
		if err != nil {
			t.Fatal(err)
		}
		got[mp.Name] = view.PoolOf(mp, infra).State
	}
	want := map[string]string{"capa-mp-0": "Scaling", "b": "Running", "a": "Running"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

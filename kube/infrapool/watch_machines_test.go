package infrapool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/watch"
)

// TestRequestsOfMachines holds that a machine enqueues only the pool that it belongs to, if that is of the kind.
func TestRequestsOfMachines(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(poolNamed("a", "c1", "AWSMachinePool", ""),
		poolNamed("b", "c1", "AWSMachinePool", ""), poolNamed("x", "c1", "OtherPool", "")).Build()
	q := watch.Requests{Group: awsv1.GroupVersion.Group, Kind: "AWSMachinePool", Reader: c}
	kind := schema.GroupKind{Group: awsv1.GroupVersion.Group, Kind: "AWSMachine"}
	owner := func(group, kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: group + "/v1beta2", Kind: kind, Name: name}}
	}
	ours := awsv1.GroupVersion.Group
	const lost = "its owner reference is lost"
	for reason, tc := range map[string]struct {
		owners []metav1.OwnerReference
		want   []string
	}{
		"its pool":                      {owner(ours, "AWSMachinePool", "infra-a"), []string{"infra-a"}},
		"a machine of no pool":          {nil, nil},
		lost:                            {nil, []string{"infra-b"}},
		"a pool of another kind":        {owner(ours, "OtherPool", "infra-a"), nil},
		"a kind of that name elsewhere": {owner("x.example.org", "AWSMachinePool", "infra-a"), nil},
	} {
		o := &awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", OwnerReferences: tc.owners,
			Labels: map[string]string{}}}
		if reason == lost {
			o.Labels[clusterv1.MachinePoolNameLabel] = "b"
		}
		var got []string
		for _, request := range q.OfInfraMachine(t.Context(), o) {
			got = append(got, request.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("AWSMachine, %s (-want +got):\n%s", reason, diff)
		}
	}
	for reason, tc := range map[string]struct {
		owners      []metav1.OwnerReference
		group, kind string
		want        []string
	}{
		"its pool":                      {owner("cluster.x-k8s.io", "MachinePool", "b"), ours, "AWSMachine", []string{"infra-b"}},
		"a pool of another provider":    {owner("cluster.x-k8s.io", "MachinePool", "x"), ours, "AWSMachine", nil},
		"a pool that is gone":           {owner("cluster.x-k8s.io", "MachinePool", "gone"), ours, "AWSMachine", nil},
		"a machine of a MachineSet":     {owner("cluster.x-k8s.io", "MachineSet", "b"), ours, "AWSMachine", nil},
		"another infrastructure":        {owner("cluster.x-k8s.io", "MachinePool", "b"), ours, "OtherMachine", nil},
		"a kind of that name elsewhere": {owner("cluster.x-k8s.io", "MachinePool", "b"), "x.example.org", "AWSMachine", nil},
	} {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", OwnerReferences: tc.owners}}
		m.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: tc.group, Kind: tc.kind, Name: "m"}
		var got []string
		for _, request := range q.OfMachine(kind)(t.Context(), m) {
			got = append(got, request.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("Machine, %s (-want +got):\n%s", reason, diff)
		}
	}
}

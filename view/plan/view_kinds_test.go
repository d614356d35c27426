package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/muster-project/muster/view"
)

// A kind is typed as kubectl takes it: its definition declares the names.
func TestKindNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, typed, kind string
		want             bool
	}{
		{"as manifests have it", "MachinePool", "MachinePool", true},
		{"in lower case and the plural", "machinepools", "MachinePool", true},
		{"the short name of core's kind", "mp", "MachinePool", true},
		{"the short name of an Auto Scaling group", "awsmp", "AWSMachinePool", true},
		{"in whatever case", "AWSMMP", "AWSManagedMachinePool", true},
		{"the short name of a scale set", "amp", "AzureMachinePool", true},
		{"a short name with its group", "amp.infrastructure.cluster.x-k8s.io", "AzureMachinePool", true},
		{"a plural with its group", "awsmachinepools.infrastructure.cluster.x-k8s.io", "AWSMachinePool", true},
		{"with its version and its group", "machinepool.v1beta2.cluster.x-k8s.io", "MachinePool", true},
		{"of another group", "machinepool.exp.example.com", "MachinePool", false},
		{"of core's group, which has no such kind", "amp.cluster.x-k8s.io", "AzureMachinePool", false},
		{"the short name of the machines of a scale set is another kind's", "ampm", "AzureMachinePool", false},
		{"the short name of another cloud's kind", "awsmp", "AzureMachinePool", false},
		{"a name that is longer than one declared", "awsmps", "AWSMachinePool", false},
		{"the name of a kind without a definition here", "foomachinepools", "FooMachinePool", true},
	} {
		gk := schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: c.kind}
		if c.kind == "MachinePool" {
			gk.Group = "cluster.x-k8s.io"
		}
		if got := view.SameKind(c.typed, gk); got != c.want {
			t.Errorf("%s: SameKind(%q, %q): want %v, got %v", c.why, c.typed, c.kind, c.want, got)
		}
	}
}

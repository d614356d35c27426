package agentpool_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
)

// TestVMs holds that an agent pool of type VirtualMachines is compared and changed as one of a scale set is, and sent as AKS takes it.
func TestVMs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, is, wanted, sent string }{
		{"a new one", `{}`, `{"type":"VirtualMachines","vmSize":"S","count":2,"enableAutoScaling":false}`,
			`{"type":"VirtualMachines","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2}]}}}`},
		{"a change beside the machines keeps the profile",
			`{"type":"VirtualMachines","vmSize":"","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2},{"size":"M","count":1}]}}}`,
			`{"mode":"System"}`,
			`{"type":"VirtualMachines","mode":"System","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2},{"size":"M","count":1}]}}}`},
		{"a count", `{"type":"VirtualMachines","vmSize":"","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2}]}},"virtualMachineNodesStatus":[{"size":"S","count":2}]}`,
			`{"count":3}`, `{"type":"VirtualMachines","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":3}]}}}`},
		{"a count of machines of several sizes",
			`{"type":"VirtualMachines","vmSize":"","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2},{"size":"M","count":1}]}}}`,
			`{"count":5}`, `{"type":"VirtualMachines","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":4},{"size":"M","count":1}]}}}`},
		{"one size instead of several", `{"type":"VirtualMachines","vmSize":"","virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2},{"size":"M","count":1}]}}}`,
			`{"vmSize":"L"}`, `{"type":"VirtualMachines","virtualMachinesProfile":{"scale":{"manual":[{"size":"L","count":3}]}}}`},
		{"a scale set", `{"type":"VirtualMachineScaleSets","vmSize":"S","count":2}`, `{"count":3}`,
			`{"type":"VirtualMachineScaleSets","vmSize":"S","count":3}`},
	} {
		got := body.Sent(body.Merge(document(t, c.wanted), body.Flat(document(t, c.is))))
		if diff := cmp.Diff(document(t, c.sent), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestVMsRefused holds what a specification can't ask of an agent pool of type VirtualMachines.
func TestVMsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, spec, want string }{
		{"one size", `{"virtualMachinesProfile":{"scale":{"manual":[{"size":"S","count":2}]}}}`, ""},
		{"several sizes", `{"virtualMachinesProfile":{"scale":{"manual":[{"size":"S"},{"size":"M"}]}}}`,
			"spec.resources[0].spec.virtualMachinesProfile"},
		{"another size", `{"vmSize":"M","virtualMachinesProfile":{"scale":{"manual":[{"size":"S"}]}}}`,
			"spec.resources[0].spec.virtualMachinesProfile"},
		{"AKS's autoscaler", `{"vmSize":"M","enableAutoScaling":true}`, "spec.resources[0].spec.enableAutoScaling"},
		{"its profile", `{"virtualMachinesProfile":{"scale":{"autoscale":[{"size":"S"}]}}}`, "spec.resources[0].spec.enableAutoScaling"},
	} {
		m := &aksv1.AgentPoolManifest{Spec: document(t, c.spec)}
		m.Spec[body.Type] = body.TypeVMs
		if _, err := body.OfManifest(m, nil); fieldOf(err) != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: want a refusal of %q, got %v", c.why, c.want, err)
		}
	}
	spec := &aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S", Scaling: &aksv1.ManagedMachinePoolScaling{MinSize: new(1)},
		ASOManagedClustersAgentPoolPatches: []string{`{"spec":{"type":"VirtualMachines"}}`}}
	if _, err := body.OfManaged(spec, "", nil); fieldOf(err) != "spec.scaling" {
		t.Errorf("want spec.scaling refused, got %v", err)
	}
}

// fieldOf returns the field that a refusal is about; empty for none.
func fieldOf(err error) string {
	var e *cloud.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Field
}

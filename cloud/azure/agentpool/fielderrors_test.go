package agentpool

import (
	"errors"
	"testing"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
)

// TestWithField holds which field a refusal of AKS is about, in the words of both kinds.
func TestWithField(t *testing.T) {
	t.Parallel()
	managed := target{Target: Target{Spec: &aksv1.AgentPoolSource{Managed: &aksv1.AzureManagedMachinePoolSpec{}}}}
	manifest := target{Target: Target{Spec: &aksv1.AgentPoolSource{Manifest: &aksv1.AgentPoolManifest{Index: 2}}}}
	for _, c := range []struct {
		why, code, message, managed, manifest string
	}{
		{"a property that can't be changed", "PropertyChangeNotAllowed", "Changing property 'properties.maxPods' is not allowed.",
			"spec.maxPods", "spec.resources[2].spec.maxPods"},
		{"a parameter, which the kind calls otherwise", "InvalidParameter", "The value of parameter agentPoolProfile.vmSize is invalid.",
			"spec.sku", "spec.resources[2].spec.vmSize"},
		{"a parameter of one of several pools", "InvalidParameter", "The value of parameter agentPoolProfiles[pool].nodeTaints is invalid.",
			"spec.taints", "spec.resources[2].spec.nodeTaints"},
		{"a part of a property", "InvalidParameter", "The value of parameter agentPoolProfile.upgradeSettings.maxSurge is invalid: '0' must be " +
			"a number.",
			"spec.upgradeSettings.maxSurge", "spec.resources[2].spec.upgradeSettings.maxSurge"},
		{"the end of a sentence is no part of a name", "InvalidParameter", "Required parameter is agentPoolProfile.vmSize.",
			"spec.sku", "spec.resources[2].spec.vmSize"},
		{"a size that is not offered", "VMSizeNotSupported", "The VM size of Standard_Nope is not allowed in your subscription in location " +
			"'westus2'.",
			"spec.sku", "spec.resources[2].spec.vmSize"},
		{"a version that does not go with the control plane's", "NodePoolMcVersionIncompatible",
			"Node pool version 1.35.1 and control plane version 1.34.7 are incompatible.",
			"MachinePool spec.template.spec.version", "spec.resources[2].spec.orchestratorVersion"},
		{"the count, which is the MachinePool's", "InvalidParameter",
			"The value of parameter agentPoolProfile.count is invalid: 0 must be from 1 to " +
				"1000.",
			"MachinePool spec.replicas", "spec.resources[2].spec.count"},
		{"nothing is named", "InvalidParameter", "Must define at least one system pool.", "", ""},
	} {
		for _, kind := range []struct {
			t    target
			want string
		}{{managed, c.managed}, {manifest, c.manifest}} {
			var e *cloud.Error
			if err := kind.t.withField(&cloud.Error{Kind: cloud.Invalid, Code: c.code, Message: c.message}); !errors.As(err, &e) ||
				e.Field != kind.want {
				t.Errorf("%s: want the field %q, got %q", c.why, kind.want, e.Field)
			}
		}
	}
	for _, c := range []struct {
		why string
		err *cloud.Error
	}{
		{"a refusal that names its field keeps it", &cloud.Error{Kind: cloud.Invalid, Field: "spec.mode",
			Message: "Changing property 'properties.maxPods'"}},
		{"no other kind of refusal is about a field", &cloud.Error{Kind: cloud.Conflict, Message: "Changing property 'properties.maxPods'"}},
	} {
		before := c.err.Field
		var e *cloud.Error
		if errors.As(managed.withField(c.err), &e); e.Field != before {
			t.Errorf("%s: want %q, got %q", c.why, before, e.Field)
		}
	}
}

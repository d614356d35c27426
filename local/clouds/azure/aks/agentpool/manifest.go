package agentpool

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/objects"
)

// only are the fields of a manifest that Azure Service Operator alone knows.
var only = []string{"azureName", "owner", "operatorSpec", "originalVersion"}

// Manifest returns the agent pool of an AzureASOManagedMachinePool.
func Manifest(o *unstructured.Unstructured, _ aksv1.ManagedClusterView) (map[string]any, error) {
	var s aksv1.AzureASOManagedMachinePoolSpec
	if err := objects.DecodeSpec(o, &s); err != nil {
		return nil, err
	}
	manifest, err := s.AgentPoolManifest()
	if err != nil {
		return nil, fmt.Errorf("AzureASOManagedMachinePool %s: %w", o.GetName(), err)
	}
	out := Resolve(manifest.Spec)
	out["name"] = manifest.Name
	return out, nil
}

// Resolve returns a manifest's specification in the form of AKS: without the fields of Azure Service Operator, and with references by
// resource IDs.
func Resolve(spec map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range spec {
		target, reference := strings.CutSuffix(name, "Reference")
		if object, ok := value.(map[string]any); ok && reference {
			out[target+"ID"] = object["armId"]
			continue
		}
		out[name] = number(value)
	}
	for _, name := range only {
		delete(out, name)
	}
	return out
}

// number makes the whole numbers of an object those of JSON.
func number(v any) any {
	switch x := v.(type) {
	case int64:
		return float64(x)
	case map[string]any:
		for k, e := range x {
			x[k] = number(e)
		}
	case []any:
		for i, e := range x {
			x[i] = number(e)
		}
	}
	return v
}

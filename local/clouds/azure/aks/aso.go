package aks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/fields"
)

// above are the fields of a manifest that stand beside the properties in a request, and only those of Azure Service Operator alone.
var (
	above = []string{"location", "tags", "identity", "sku", "kind", "extendedLocation"}
	only  = []string{"azureName", "owner", "operatorSpec", "originalVersion"}
)

// manifestBody is the ManagedCluster of an AzureASOManagedControlPlane's manifests as AKS is asked for it.
func manifestBody(o *unstructured.Unstructured) (map[string]any, error) {
	resources, _, err := unstructured.NestedSlice(o.Object, "spec", "resources")
	if err != nil {
		return nil, err
	}
	version, _, err := unstructured.NestedString(o.Object, "spec", "version")
	if err != nil {
		return nil, err
	}
	for _, r := range resources {
		manifest, ok := r.(map[string]any)
		if !ok || manifest["kind"] != "ManagedCluster" {
			continue
		}
		spec, _, err := unstructured.NestedMap(manifest, "spec")
		if err != nil {
			return nil, err
		}
		out := map[string]any{}
		for _, name := range above {
			if value, ok := spec[name]; ok {
				out[name] = value
			}
			delete(spec, name)
		}
		properties := resolved(spec)
		properties["kubernetesVersion"] = kubernetesVersion(version)
		out["properties"] = properties
		return out, nil
	}
	return nil, fmt.Errorf("%s %s: no ManagedCluster in spec.resources", o.GetKind(), o.GetName())
}

// resolved is a manifest's specification as AKS takes it: without what is Azure Service Operator's, and with references by resource IDs.
func resolved(spec map[string]any) map[string]any {
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

// manifestProfile is the agent pool of an AzureASOManagedMachinePool.
func manifestProfile(o *unstructured.Unstructured, _ aksv1.ManagedClusterView) (map[string]any, error) {
	var s aksv1.AzureASOManagedMachinePoolSpec
	if err := specOf(o, &s); err != nil {
		return nil, err
	}
	manifest, err := s.AgentPoolManifest()
	if err != nil {
		return nil, fmt.Errorf("AzureASOManagedMachinePool %s: %w", o.GetName(), err)
	}
	out := resolved(manifest.Spec)
	out["name"] = manifest.Name
	return out, nil
}

// manifestStatus says of every manifest that it is ready.
func manifestStatus(o *unstructured.Unstructured) error {
	resources, _, err := unstructured.NestedSlice(o.Object, "spec", "resources")
	if err != nil {
		return err
	}
	all := []any{}
	for _, r := range resources {
		m, ok := r.(map[string]any)
		if !ok {
			continue
		}
		u := unstructured.Unstructured{Object: m}
		kind := u.GroupVersionKind()
		all = append(all, map[string]any{"ready": true,
			"resource": map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind, "name": u.GetName()}})
	}
	return fields.Set(o, fields.Field{Value: all, Path: []string{"status", "resources"}})
}

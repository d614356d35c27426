package aks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds/azure/aks/agentpool"
	"github.com/muster-project/muster/local/fields"
)

// above lists the fields of a manifest that a request has outside of the properties.
var above = []string{"location", "tags", "identity", "sku", "kind", "extendedLocation"}

// manifestBody returns the request to AKS for the ManagedCluster in an AzureASOManagedControlPlane's manifests.
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
		properties := agentpool.Resolve(spec)
		properties["kubernetesVersion"] = kubernetesVersion(version)
		out["properties"] = properties
		return out, nil
	}
	return nil, fmt.Errorf("%s %s: no ManagedCluster in spec.resources", o.GetKind(), o.GetName())
}

// manifestStatus reports every manifest as ready.
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

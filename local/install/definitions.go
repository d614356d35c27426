package install

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/crd"
	"github.com/muster-project/muster/local/foreign"
)

// clusterctlLabel marks the definitions whose objects clusterctl move looks at. clusterctl init sets it on what it installs; in a world it
// is set here, or clusterctl would move nothing without an error.
const clusterctlLabel = "clusterctl.cluster.x-k8s.io"

// definitions returns the generated ones, and those of kinds that others own.
func definitions(others []foreign.Kind) ([]*unstructured.Unstructured, error) {
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list the definitions: %w", err)
	}
	var all []*unstructured.Unstructured
	for _, f := range files {
		b, err := crd.Files.ReadFile(f.Name())
		if err != nil {
			return nil, fmt.Errorf("read a definition: %w", err)
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(b, &u.Object); err != nil {
			return nil, fmt.Errorf("read the definition %s: %w", f.Name(), err)
		}
		all = append(all, u)
	}
	for _, k := range others {
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(k.Definition())
		if err != nil {
			return nil, fmt.Errorf("read the definition of %s: %w", k.Kind, err)
		}
		all = append(all, &unstructured.Unstructured{Object: o})
	}
	for _, d := range all {
		labels := d.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[clusterctlLabel] = ""
		d.SetLabels(labels)
	}
	return all, nil
}

// convert sets the webhook that converts a definition's objects between its versions. Versions with the same fields need none: the API
// server changes the apiVersion by itself.
func convert(d *unstructured.Unstructured, webhook *Webhook) error {
	versions, _, err := unstructured.NestedSlice(d.Object, "spec", "versions")
	if err != nil || len(versions) < 2 || sameFields(versions) {
		return err
	}
	if webhook == nil {
		for _, v := range versions {
			if v, ok := v.(map[string]any); ok && v["storage"] != true {
				v["served"] = false
			}
		}
		return unstructured.SetNestedSlice(d.Object, versions, "spec", "versions")
	}
	return unstructured.SetNestedMap(d.Object, map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"url": webhook.URL + "/convert", "caBundle": base64.StdEncoding.EncodeToString(webhook.CA)},
		},
	}, "spec", "conversion")
}

// sameFields reports whether all versions have one schema.
func sameFields(versions []any) bool {
	var first any
	for k, v := range versions {
		v, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if k == 0 {
			first = v["schema"]
		} else if !equality.Semantic.DeepEqual(first, v["schema"]) {
			return false
		}
	}
	return true
}

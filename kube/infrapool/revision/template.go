// Package revision keeps the templates of a pool whose rollouts ended, so that a pool can return to them. A template is the part of the
// specification that makes new machines: fields of the infrastructure object, and the version of its MachinePool. Each is kept as a
// ControllerRevision, as Kubernetes keeps those of its own workloads.
package revision

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Template is the part of a pool's specification that makes new machines.
type Template struct {
	// Spec has the fields of the infrastructure object's specification by their names, null for those that are not set.
	Spec map[string]any `json:"spec"`
	// Except are fields of them that are not kept, as in Fields.
	Except []string `json:"except,omitempty"`
	// MachinePool has those of the MachinePool.
	MachinePool MachinePool `json:"machinePool"`
}

// MachinePool is the part of a template that is in the MachinePool.
type MachinePool struct {
	// Version is spec.template.spec.version; empty if it is not set.
	Version string `json:"version,omitempty"`
}

// Fields are the fields of an object's specification that belong to its template.
type Fields struct {
	// Names are those of the fields. Except are fields of them, such as template.vmExtensions, that are no part of the template.
	Names, Except []string
}

// Of returns the template of a pool. mp may be nil.
func Of(o client.Object, fields Fields, mp *clusterv1.MachinePool) (Template, error) {
	all, err := contentOf(o)
	if err != nil {
		return Template{}, err
	}
	for _, path := range fields.Except {
		unstructured.RemoveNestedField(all, pathOf(path)...)
	}
	t := Template{Except: fields.Except, Spec: make(map[string]any, len(fields.Names))}
	for _, name := range fields.Names {
		// What is not set is nil here.
		t.Spec[name], _, _ = unstructured.NestedFieldNoCopy(all, "spec", name)
	}
	if mp != nil {
		t.MachinePool.Version = mp.Spec.Template.Spec.Version
	}
	return t, nil
}

// contentOf returns a copy of the fields of an object.
func contentOf(o client.Object) (map[string]any, error) {
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.DeepCopyObject()) // which shares the fields of an unstructured one
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", client.ObjectKeyFromObject(o), err)
	}
	return all, nil
}

// pathOf returns the path of a field of the specification.
func pathOf(field string) []string { return append([]string{"spec"}, strings.Split(field, ".")...) }

// Fields returns the fields that a template was made of.
func (t Template) Fields() Fields {
	return Fields{Names: slices.Sorted(maps.Keys(t.Spec)), Except: t.Except}
}

// Onto makes into, which is empty, the same as an object but for its template: of the template those fields that are named, and no other.
func (t Template) Onto(into, o client.Object, fields Fields) error {
	all, err := contentOf(o)
	if err != nil {
		return err
	}
	kept := map[string]any{}
	for _, path := range fields.Except {
		if value, set, _ := unstructured.NestedFieldCopy(all, pathOf(path)...); set {
			kept[path] = value
		}
	}
	for _, name := range fields.Names {
		unstructured.RemoveNestedField(all, "spec", name)
		if value := t.Spec[name]; value != nil && err == nil {
			err = unstructured.SetNestedField(all, runtime.DeepCopyJSONValue(value), "spec", name)
		}
	}
	for path, value := range kept {
		if err == nil {
			err = unstructured.SetNestedField(all, value, pathOf(path)...)
		}
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(all, into)
	}
	if err != nil {
		return fmt.Errorf("set a former template of %s: %w", client.ObjectKeyFromObject(o), err)
	}
	return nil
}

// Hash identifies a template of one pool, in lower-case letters and digits. Fields that are not set do not count: a kind that is given
// another one keeps its hashes.
func (t Template) Hash(pool string) (string, error) {
	t.Spec, t.Except = maps.Clone(t.Spec), nil
	maps.DeleteFunc(t.Spec, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("encode a template: %w", err)
	}
	sum := sha256.Sum256(append([]byte(pool+"\n"), text...))
	return new(big.Int).SetBytes(sum[:10]).Text(36), nil
}

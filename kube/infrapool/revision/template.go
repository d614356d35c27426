// Package revision keeps the templates of a pool whose rollouts ended, so that a pool can return to them. A template is the part of the
// specification that makes new machines: fields of the infrastructure object, and the version of its MachinePool. Each is kept as a
// ControllerRevision, as Kubernetes keeps those of its own workloads.
package revision

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Template is the part of a pool's specification that makes new machines.
type Template struct {
	// Spec has the fields of the infrastructure object's specification by their names, null for those that are not set.
	Spec map[string]json.RawMessage `json:"spec"`
	// MachinePool has those of the MachinePool.
	MachinePool MachinePool `json:"machinePool"`
}

// MachinePool is the part of a template that is in the MachinePool.
type MachinePool struct {
	// Version is spec.template.spec.version; empty if it is not set.
	Version string `json:"version,omitempty"`
}

// unset is the value of a field that is not set.
var unset = json.RawMessage("null")

// Of returns the template of a pool. fields are the names of those fields of the object's specification that belong to it; mp may be nil.
func Of(o client.Object, fields []string, mp *clusterv1.MachinePool) (Template, error) {
	all, err := specOf(o)
	if err != nil {
		return Template{}, err
	}
	t := Template{Spec: make(map[string]json.RawMessage, len(fields))}
	for _, name := range fields {
		if t.Spec[name] = all[name]; t.Spec[name] == nil {
			t.Spec[name] = unset
		}
	}
	if mp != nil {
		t.MachinePool.Version = mp.Spec.Template.Spec.Version
	}
	return t, nil
}

// specOf returns the fields of an object's specification.
func specOf(o client.Object) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", client.ObjectKeyFromObject(o), err)
	}
	var whole struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, fmt.Errorf("read the specification of %s: %w", client.ObjectKeyFromObject(o), err)
	}
	return whole.Spec, nil
}

// Onto makes into, which is empty, the same as an object but for its template: of the template those fields that are named, and no other.
func (t Template) Onto(into, o client.Object, fields []string) error {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode %s: %w", client.ObjectKeyFromObject(o), err)
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("read %s: %w", client.ObjectKeyFromObject(o), err)
	}
	spec := map[string]json.RawMessage{}
	if err := json.Unmarshal(whole["spec"], &spec); err != nil {
		return fmt.Errorf("read the specification of %s: %w", client.ObjectKeyFromObject(o), err)
	}
	for _, name := range fields {
		delete(spec, name)
		if value, set := t.Spec[name]; set && !bytes.Equal(value, unset) {
			spec[name] = value
		}
	}
	if whole["spec"], err = json.Marshal(spec); err == nil {
		text, err = json.Marshal(whole)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("set a former template of %s: %w", client.ObjectKeyFromObject(o), err)
	}
	return nil
}

// Hash identifies a template of one pool, in lower-case letters and digits, however its fields are encoded.
func (t Template) Hash(pool string) (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("encode a template: %w", err)
	}
	var values any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return "", fmt.Errorf("read a template: %w", err)
	}
	if text, err = json.Marshal(values); err != nil {
		return "", fmt.Errorf("encode a template: %w", err)
	}
	sum := sha256.Sum256(append([]byte(pool+"\n"), text...))
	return new(big.Int).SetBytes(sum[:10]).Text(36), nil
}

// Package revision keeps the templates of a pool whose rollouts ended, so that a pool can return to them. A template is the part of the
// specification that makes new machines: fields of the infrastructure object, and the version of its MachinePool. Each is kept as a
// ControllerRevision, as Kubernetes keeps those of its own workloads.
package revision

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Template is the part of a pool's specification that makes new machines.
type Template struct {
	// Spec has the fields of the infrastructure object's specification by their names, null for those that are not set.
	Spec map[string]json.RawMessage `json:"spec"`
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

// unset is the value of a field that is not set.
var unset = json.RawMessage("null")

// Fields are the fields of an object's specification that belong to its template.
type Fields struct {
	// Names are those of the fields. Except are fields of them, such as template.vmExtensions, that are no part of the template.
	Names, Except []string
}

// without returns a field without those within it that are excepted.
func (f Fields) without(name string, value json.RawMessage) (json.RawMessage, error) {
	for _, path := range f.Except {
		of, inner, _ := strings.Cut(path, ".")
		if of != name || bytes.Equal(value, unset) {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil {
			return nil, fmt.Errorf("read spec.%s: %w", name, err)
		}
		delete(fields, inner)
		var err error
		if value, err = json.Marshal(fields); err != nil {
			return nil, fmt.Errorf("encode spec.%s: %w", name, err)
		}
	}
	return value, nil
}

// excepted returns a field of a template with what the present one has in the fields that are excepted.
func (f Fields) excepted(name string, value, present json.RawMessage) (json.RawMessage, error) {
	value, err := f.without(name, value)
	if err != nil || present == nil || bytes.Equal(value, unset) {
		return value, err
	}
	var to, from map[string]json.RawMessage
	for _, path := range f.Except {
		of, inner, _ := strings.Cut(path, ".")
		if of != name {
			continue
		}
		if err := errors.Join(json.Unmarshal(value, &to), json.Unmarshal(present, &from)); err != nil {
			return nil, fmt.Errorf("read spec.%s: %w", name, err)
		}
		if kept, set := from[inner]; set {
			to[inner] = kept
		}
		if value, err = json.Marshal(to); err != nil {
			return nil, fmt.Errorf("encode spec.%s: %w", name, err)
		}
	}
	return value, nil
}

// Of returns the template of a pool. mp may be nil.
func Of(o client.Object, fields Fields, mp *clusterv1.MachinePool) (Template, error) {
	all, err := specOf(o)
	if err != nil {
		return Template{}, err
	}
	t := Template{Except: fields.Except, Spec: make(map[string]json.RawMessage, len(fields.Names))}
	for _, name := range fields.Names {
		value := all[name]
		if value == nil {
			value = unset
		}
		if t.Spec[name], err = fields.without(name, value); err != nil {
			return Template{}, err
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

// Fields returns the fields that a template was made of.
func (t Template) Fields() Fields {
	return Fields{Names: slices.Sorted(maps.Keys(t.Spec)), Except: t.Except}
}

// Onto makes into, which is empty, the same as an object but for its template: of the template those fields that are named, and no other.
func (t Template) Onto(into, o client.Object, fields Fields) error {
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
	for _, name := range fields.Names {
		present := spec[name]
		delete(spec, name)
		if value, set := t.Spec[name]; set && !bytes.Equal(value, unset) {
			if spec[name], err = fields.excepted(name, value, present); err != nil {
				return err
			}
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

// Hash identifies a template of one pool, in lower-case letters and digits, however its fields are encoded. Fields that are not set do not
// count: a kind that is given another one keeps its hashes.
func (t Template) Hash(pool string) (string, error) {
	t.Spec, t.Except = maps.Clone(t.Spec), nil
	maps.DeleteFunc(t.Spec, func(_ string, value json.RawMessage) bool { return bytes.Equal(value, unset) })
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

package rollout

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Edit is one change of one object.
type Edit struct {
	// Object names the object, with its kind. It holds nothing else.
	Object *unstructured.Unstructured
	// Merge is a JSON merge patch (RFC 7396).
	Merge []byte
	// Kubectl are the arguments of kubectl for the same change.
	Kubectl []string
	// Says is what the change does, as a sentence.
	Says string
}

// Patch returns the change for a client.
func (e Edit) Patch() client.Patch { return client.RawPatch(types.MergePatchType, e.Merge) }

// target is an object that is changed, as kubectl names it.
type target struct {
	kind            schema.GroupVersionKind
	namespace, name string
	annotations     map[string]string
}

// String names the object for people.
func (t target) String() string {
	if t.namespace == "" {
		return t.kind.Kind + " " + t.name
	}
	return t.kind.Kind + " " + t.namespace + "/" + t.name
}

// arguments name the object for kubectl.
func (t target) arguments() []string {
	out := []string{strings.ToLower(t.kind.Kind) + "/" + t.name}
	if t.namespace != "" {
		out = append(out, "--namespace", t.namespace)
	}
	return out
}

// object returns the object with nothing but its name.
func (t target) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(t.kind)
	u.SetNamespace(t.namespace)
	u.SetName(t.name)
	return u
}

// annotate returns the change that sets an annotation.
func (t target) annotate(key, value, says string) (Edit, error) {
	arguments := append([]string{"annotate", "--overwrite"}, t.arguments()...)
	return t.edit(key, value, append(arguments, key+"="+value), says)
}

// remove returns the change that removes an annotation.
func (t target) remove(key, says string) (Edit, error) {
	arguments := append([]string{"annotate"}, t.arguments()...)
	return t.edit(key, nil, append(arguments, key+"-"), says)
}

// merge returns the change that a JSON merge patch makes.
func (t target) merge(patch []byte, says string) Edit {
	return Edit{Object: t.object(), Merge: patch, Kubectl: append(append([]string{"patch"}, t.arguments()...), "--type=merge", "--patch",
		string(patch)), Says: fmt.Sprintf("%s: %s", t, says)}
}

// edit returns the change of an annotation, which nil removes.
func (t target) edit(key string, value any, kubectl []string, says string) (Edit, error) {
	merge, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err != nil {
		return Edit{}, fmt.Errorf("encode annotation %s: %w", key, err)
	}
	return Edit{Object: t.object(), Merge: merge, Kubectl: kubectl, Says: fmt.Sprintf("%s: %s", t, says)}, nil
}

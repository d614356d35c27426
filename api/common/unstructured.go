package common

import (
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// FieldsOf reads the fields of an object of another controller's kind. Missing fields stay empty. It returns an error if a field has
// another type than fields, a pointer to a struct with JSON tags.
func FieldsOf(u *unstructured.Unstructured, fields any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), fields); err != nil {
		return fmt.Errorf("read %s %s: a field has another type than it should: %w", u.GetKind(),
			path.Join(u.GetNamespace(), u.GetName()), err)
	}
	return nil
}

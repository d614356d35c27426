// Package fields writes single fields of objects whose types are not known here: those that the clouds' own providers define.
package fields

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Field is a value and where it belongs in an object.
type Field struct {
	Value any
	Path  []string
}

// Set writes fields whatever they were. A status of null counts as none.
func Set(o *unstructured.Unstructured, fields ...Field) error {
	if v, ok := o.Object["status"]; ok && v == nil {
		delete(o.Object, "status")
	}
	for _, f := range fields {
		if err := unstructured.SetNestedField(o.Object, f.Value, f.Path...); err != nil {
			return err
		}
	}
	return nil
}

// Fill writes fields that are not there or hold nothing.
func Fill(o *unstructured.Unstructured, fields ...Field) error {
	for _, f := range fields {
		found, ok, err := unstructured.NestedFieldNoCopy(o.Object, f.Path...)
		if err != nil {
			return err
		}
		if ok && !isEmpty(found) {
			continue
		}
		if err := unstructured.SetNestedField(o.Object, f.Value, f.Path...); err != nil {
			return err
		}
	}
	return nil
}

func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case int64:
		return x == 0
	case []any:
		return len(x) == 0
	default:
		return false
	}
}

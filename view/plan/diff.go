package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// difference is one field that an edit changes.
type difference struct {
	at       path
	from, to any
	// was and is say whether the field is there before and after.
	was, is bool
}

// unasked are fields that controllers write, and annotations that tools keep for themselves.
var unasked = []string{
	"spec.providerID", "spec.providerIDList",
	"metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]", "metadata.annotations[cluster.x-k8s.io/conversion-data]",
}

// differences returns the fields of two states of an object that differ, in order: of its specification, its data, its labels and
// annotations.
func differences(before, after client.Object) ([]difference, error) {
	a, err := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", before.GetName(), err)
	}
	b, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", before.GetName(), err)
	}
	var out []difference
	for _, top := range []path{{"spec"}, {"data"}, {"metadata", "labels"}, {"metadata", "annotations"}} {
		from, was := lookup(a, top)
		to, is := lookup(b, top)
		out = append(out, compare(difference{at: top, from: from, to: to, was: was, is: is})...)
	}
	return slices.DeleteFunc(out, func(d difference) bool { return slices.Contains(unasked, d.at.String()) }), nil
}

// Difference is a field in which two states of an object differ. From and To are its values in short, "-" for none.
type Difference struct {
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Differences returns the fields in which two states of an object differ, in order.
func Differences(before, after client.Object) ([]Difference, error) {
	list, err := differences(before, after)
	if err != nil {
		return nil, err
	}
	out := make([]Difference, 0, len(list))
	for _, d := range list {
		out = append(out, Difference{Path: d.at.String(), From: short(d.from, d.was), To: short(d.to, d.is)})
	}
	return out, nil
}

// compare goes down as far as both sides are of a shape.
func compare(d difference) []difference {
	if reflect.DeepEqual(d.from, d.to) && d.was == d.is {
		return nil
	}
	if objects(d) {
		from, _ := d.from.(map[string]any)
		to, _ := d.to.(map[string]any)
		return compareFields(d.at, from, to)
	}
	before, a := d.from.([]any)
	after, b := d.to.([]any)
	if !a || !b || len(before) != len(after) {
		return []difference{d}
	}
	var out []difference
	for i := range before {
		out = append(out, compare(difference{at: below(d.at, i), from: before[i], to: after[i], was: true, is: true})...)
	}
	return out
}

// objects reports whether both sides are objects, or one is and the other is not there.
func objects(d difference) bool {
	_, a := d.from.(map[string]any)
	_, b := d.to.(map[string]any)
	return a && b || a && !d.is || b && !d.was
}

func compareFields(at path, from, to map[string]any) []difference {
	var out []difference
	names := maps.Clone(from)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, to)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d := difference{at: below(at, name)}
		d.from, d.was = from[name]
		d.to, d.is = to[name]
		out = append(out, compare(d)...)
	}
	return out
}

func below(p path, part any) path { return append(slices.Clone(p), part) }

// only is before with this difference alone.
func (d difference) only(before client.Object) (client.Object, error) {
	return changed(before, d.at, d.to, d.is)
}

// without is after with everything but this difference.
func (d difference) without(after client.Object) (client.Object, error) {
	return changed(after, d.at, d.from, d.was)
}

// changed returns a copy of an object with another value at a path.
func changed(o client.Object, at path, value any, set bool) (client.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", o.GetName(), err)
	}
	edited, err := with(content, at, value, set)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", at, o.GetName(), err)
	}
	fields, ok := edited.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s of %s: the object is gone", at, o.GetName())
	}
	out, ok := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", o)
	}
	if u, plain := out.(*unstructured.Unstructured); plain {
		u.Object = fields
		return u, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, out); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", at, o.GetName(), err)
	}
	out.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	return out, nil
}

// valueLimit keeps a value within a column.
const valueLimit = 40

// short returns a value in a few words.
func short(value any, there bool) string {
	if !there {
		return "-"
	}
	text := fmt.Sprint(value)
	switch v := value.(type) {
	case string:
		if v == "" {
			text = `""`
		}
	case map[string]any, []any:
		text = strings.TrimSpace(compact(v))
	}
	if r := []rune(text); len(r) > valueLimit {
		text = string(r[:valueLimit-1]) + "…"
	}
	return text
}

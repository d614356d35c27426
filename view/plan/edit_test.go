package plan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	kind := schema.GroupKind{Group: "g", Kind: "Widget"}
	for _, c := range []struct {
		why  string
		err  error
		want string
	}{
		{"an unknown field is told without the object that the API server repeats before it",
			apierrors.NewInvalid(kind, "w", field.ErrorList{field.Invalid(field.NewPath("patch"), `{"spec":{"token":"s3cret"}}`,
				`strict decoding error: unknown field "spec.x"`)}),
			`Widget default/w: unknown field "spec.x"`},
		{"a field that is refused is named with what is wrong with it",
			apierrors.NewInvalid(kind, "w", field.ErrorList{field.Invalid(field.NewPath("spec", "n"), 0, "must be more"),
				field.Required(field.NewPath("spec", "m"), "")}),
			"Widget default/w: spec.n: Invalid value: 0: must be more; spec.m: Required value"},
		{"a value of another type is told without Go's words", apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(
			"json: cannot unmarshal string into Go struct field MachinePoolSpec.spec.replicas of type int32")),
			"Widget default/w: spec.replicas: want a whole number from -2147483648 to 2147483647, found text"},
		{"a number that is too large is shown", apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(
			"json: cannot unmarshal number 99999999999 into Go struct field MachinePoolSpec.spec.replicas of type int32")),
			"Widget default/w: spec.replicas: want a whole number from -2147483648 to 2147483647, found 99999999999"},
		{"what names no field is said as it is", apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "w", errors.New("no")),
			`Widget default/w: widgets "w" is forbidden: no`},
		{"and so is what is none of the API server's", errors.New("connection refused"), "Widget default/w: connection refused"},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "default"}}}
		got := refusal(o, c.err)
		if got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

// A file is planned as kubectl apply would apply it.
func TestThreeWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why            string
		last           string
		manifest, live map[string]any
		want           string
	}{
		{"what is given and differs is changed, what is not given stays", "", map[string]any{"a": "2"}, map[string]any{"a": "1", "b": "1"},
			`{"spec":{"a":"2"}}`},
		{"what was given before and is not any more is taken away", `{"spec":{"a":"1","b":"1"}}`, map[string]any{"a": "1"},
			map[string]any{"a": "1", "b": "1", "c": "1"}, `{"spec":{"b":null}}`},
		{"what is as given is left alone", "", map[string]any{"a": "1"}, map[string]any{"a": "1"}, `{}`},
		{"annotations of others stay, although kubectl notes that it was given some", `{"metadata":{"annotations":{}},"spec":{"a":"1"}}`,
			map[string]any{"a": "1"}, map[string]any{"a": "1"}, `{}`},
		{"an annotation that was given before goes alone", `{"metadata":{"annotations":{"own":"x"}},"spec":{"a":"1"}}`, map[string]any{"a": "1"},
			map[string]any{"a": "1"}, `{"metadata":{"annotations":{"own":null}}}`},
	} {
		manifest := &unstructured.Unstructured{Object: map[string]any{"spec": c.manifest}}
		live := &unstructured.Unstructured{Object: map[string]any{"spec": c.live}}
		live.SetAnnotations(map[string]string{"muster.dev/owner-id": "x"})
		if c.last != "" {
			live.SetAnnotations(map[string]string{"muster.dev/owner-id": "x", lastApplied: c.last})
		}
		text, err := threeWay(manifest, live)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		// The annotation of kubectl differs each time.
		if meta, ok := got["metadata"].(map[string]any); ok {
			annotations, _ := meta["annotations"].(map[string]any)
			if delete(annotations, lastApplied); len(annotations) == 0 {
				delete(got, "metadata")
			}
		}
		if compact(got) != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, compact(got))
		}
	}
}

func TestParseSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want assignment
		bad  bool
		// words are in the error.
		words string
	}{
		{text: "spec.x=9007199254740993", want: assignment{at: path{"spec", "x"}, value: int64(9007199254740993)}},
		{text: "spec.x=.nan", bad: true, words: "--set spec.x: found .nan, want a number in digits: JSON has no NaN"},
		{text: "spec.x={a: [-.inf]}", bad: true, words: "--set spec.x: found {a: [-.inf]}, want a number in digits: JSON has no -Inf"},
		{text: "spec.x=99999999999999999999", bad: true,
			words: "--set spec.x: found 1e+20, want a whole number from -9223372036854775808 to 9223372036854775807"},
		{text: "spec.x={a: [1, 1e300]}", bad: true, words: "--set spec.x: a: [1]: found 1e+300, want a whole number"},
		{text: "spec.replicas=5", want: assignment{at: path{"spec", "replicas"}, value: int64(5)}},
		{text: "spec.x=1.5", want: assignment{at: path{"spec", "x"}, value: 1.5}},
		{text: "spec.template.spec.version=v1.36.3", want: assignment{at: path{"spec", "template", "spec", "version"}, value: "v1.36.3"}},
		{text: "spec.strategy.rollingUpdate.maxSurge=25%", want: assignment{at: path{"spec", "strategy", "rollingUpdate", "maxSurge"},
			value: "25%"}},
		{text: `spec.x="5"`, want: assignment{at: path{"spec", "x"}, value: "5"}},
		{text: "spec.x=", want: assignment{at: path{"spec", "x"}, value: ""}},
		{text: "spec.x=null", want: assignment{at: path{"spec", "x"}, remove: true}},
		{text: "spec.subnets[0].id=subnet-1", want: assignment{at: path{"spec", "subnets", 0, "id"}, value: "subnet-1"}},
		{text: "spec.subnets=[{id: a}, {size: 2}]", want: assignment{at: path{"spec", "subnets"},
			value: []any{map[string]any{"id": "a"}, map[string]any{"size": int64(2)}}}},
		{text: "metadata.annotations[muster.dev/restart-now]=new kernel, a=b",
			want: assignment{at: path{"metadata", "annotations", "muster.dev/restart-now"}, value: "new kernel, a=b"}},
		{text: "metadata.annotations[a=b]=c", want: assignment{at: path{"metadata", "annotations", "a=b"}, value: "c"}},
		{text: "spec.replicas", bad: true},
		{text: "replicas=5", bad: true},
		{text: "=5", bad: true},
		{text: "spec..x=5", bad: true},
		{text: "spec[x=5", bad: true},
		{text: "spec.x={", bad: true},
	} {
		got, err := parseSet(c.text)
		if (err != nil) != c.bad || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: want an error %v %s, got %v", c.text, c.bad, c.words, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(assignment{})); diff != "" && !c.bad {
			t.Errorf("%s: %s", c.text, diff)
		}
	}
}

// Reading a path and writing it give the same path.
func FuzzPath(f *testing.F) {
	for _, text := range []string{"spec.a.b", "spec.list[3].x", "metadata.annotations[a/b.c]", "spec.[", "a.b]c[d", "a[0][1].b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		again, err := parsePath(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q: read as %q, and again as %q, %v", text, p, again, err)
		}
	})
}

func TestWith(t *testing.T) {
	t.Parallel()
	content := map[string]any{"spec": map[string]any{"a": int64(1), "list": []any{map[string]any{"id": "x"}, map[string]any{"id": "y"}}}}
	for _, c := range []struct {
		why   string
		at    path
		value any
		set   bool
		want  string
		bad   bool
	}{
		{"a value is set", path{"spec", "a"}, int64(2), true, `{"spec":{"a":2,"list":[{"id":"x"},{"id":"y"}]}}`, false},
		{"where nothing is, the way there is made", path{"spec", "b", "c"}, "d", true,
			`{"spec":{"a":1,"b":{"c":"d"},"list":[{"id":"x"},{"id":"y"}]}}`, false},
		{"a value is taken away", path{"spec", "a"}, nil, false, `{"spec":{"list":[{"id":"x"},{"id":"y"}]}}`, false},
		{"what is not there need not be taken away", path{"spec", "b", "c"}, nil, false,
			`{"spec":{"a":1,"list":[{"id":"x"},{"id":"y"}]}}`, false},
		{"one of a list is changed", path{"spec", "list", 1, "id"}, "z", true, `{"spec":{"a":1,"list":[{"id":"x"},{"id":"z"}]}}`, false},
		{"one more is put at the end", path{"spec", "list", 2, "id"}, "z", true,
			`{"spec":{"a":1,"list":[{"id":"x"},{"id":"y"},{"id":"z"}]}}`, false},
		{"one of a list is taken away", path{"spec", "list", 0}, nil, false, `{"spec":{"a":1,"list":[{"id":"y"}]}}`, false},
		{"there is no gap in a list", path{"spec", "list", 5}, "z", true, "", true},
		{"a number has no fields", path{"spec", "a", "b"}, "z", true, "", true},
		{"an object has no places", path{"spec", 0}, "z", true, "", true},
	} {
		before := compact(content)
		got, err := with(content, c.at, c.value, c.set)
		if (err != nil) != c.bad || !c.bad && compact(got) != c.want {
			t.Errorf("%s: want %s, got %s, %v", c.why, c.want, compact(got), err)
		}
		if compact(content) != before {
			t.Fatalf("%s: want what was given as it was, got %s", c.why, compact(content))
		}
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	object := func(spec map[string]any, annotations map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		u.SetAnnotations(annotations)
		return u
	}
	a := object(map[string]any{"same": "x", "gone": "x", "m": map[string]any{"x": "1"}, "l": []any{map[string]any{"id": "a"}},
		"len": []any{"a"}, "providerID": "old"},
		map[string]string{lastApplied: "{}"})
	b := object(map[string]any{"same": "x", "new": "x", "m": map[string]any{"x": "2", "y": "1"}, "l": []any{map[string]any{"id": "b"}},
		"len": []any{"a", "b"}, "providerID": "new"},
		map[string]string{lastApplied: "{...}", "muster.dev/rollout": "paused"})
	list, err := differences(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.at.String()+" "+short(d.from, d.was)+" "+short(d.to, d.is))
		one, err := d.only(a)
		if err != nil {
			t.Fatal(err)
		}
		if left, err := differences(one, b); err != nil || len(left) != len(list)-1 {
			t.Errorf("%s alone: want one difference less, got %v, %v", d.at, left, err)
		}
		other, err := d.without(b)
		if err != nil {
			t.Fatal(err)
		}
		if left, err := differences(a, other); err != nil || len(left) != len(list)-1 {
			t.Errorf("all but %s: want one difference less, got %v, %v", d.at, left, err)
		}
	}
	want := []string{"spec.gone x -", "spec.l[0].id a b", `spec.len ["a"] ["a","b"]`, "spec.m.x 1 2", "spec.m.y - 1", "spec.new - x",
		"metadata.annotations[muster.dev/rollout] - paused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

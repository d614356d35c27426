package seed

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// server is an API server that answers each apply with the next error; nil takes the object.
type server struct {
	answers []error
	applied []string
}

func (s *server) client() client.Client {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	return fake.NewClientBuilder().WithRESTMapper(mapper).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, obj runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			if len(s.answers) > 0 {
				err := s.answers[0]
				s.answers = s.answers[1:]
				if err != nil {
					return err
				}
			}
			u := obj.(interface {
				GetKind() string
				GetNamespace() string
				GetName() string
			})
			s.applied = append(s.applied, u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName())
			return nil
		},
	}).Build()
}

func parse(t *testing.T, text string) []Object {
	t.Helper()
	objects, err := Parse([]Source{{Name: "m.yaml", Text: text}}, FromMap(nil))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func TestApply(t *testing.T) {
	const one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	kind := schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachinePool"}
	webhook := apierrors.NewInternalError(errors.New("failed calling webhook: connection refused"))
	refused := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity,
		Reason: metav1.StatusReasonInvalid,
		Details: &metav1.StatusDetails{Name: "a", Kind: kind.Kind, Causes: []metav1.StatusCause{
			{Field: "spec.minSize", Message: "Invalid value: -1: should be greater than or equal to 0"},
			{Field: "spec.maxSize", Message: "Required value"}}}}}
	invalid := func(causes ...*field.Error) error { return apierrors.NewInvalid(kind, "a", causes) }
	late := field.InternalError(field.NewPath("spec.ref"), context.DeadlineExceeded)
	unclassified := func(message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: message}}
	}
	forever := func(err error) []error {
		all := make([]error, 1000)
		for i := range all {
			all[i] = err
		}
		return all
	}
	for _, tc := range []struct {
		reason  string
		text    string
		answers []error
		want    []string
		err     string
		within  time.Duration
	}{
		{reason: "an object without a namespace goes into default, one whose kind has none into none; namespaces come first",
			text: one + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ns, namespace: wrong}\n",
			want: []string{"Namespace /ns", "ConfigMap default/a"}},
		{reason: "a webhook that is not up yet is waited for", text: one, answers: []error{webhook, webhook, nil},
			want: []string{"ConfigMap default/a"}, within: time.Second},
		{reason: "so is an API server that starts again", text: one, want: []string{"ConfigMap default/a"}, within: time.Second,
			answers: []error{&url.Error{Op: "Patch", URL: "https://127.0.0.1", Err: errors.New("connection refused")}}},
		{reason: "but not for ever", text: one, answers: forever(webhook),
			err: "m.yaml: document 1 (ConfigMap a): Internal error occurred: failed calling webhook", within: patience + time.Second},
		{reason: "a refusal is final and names the fields", text: one, answers: []error{refused},
			err: "m.yaml: document 1 (ConfigMap a): refused: spec.minSize: Invalid value: -1: should be greater than or equal to 0; spec.maxSize: " +
				"Required value"},
		{reason: "an admission that could not check a field in time is waited for", text: one, answers: []error{invalid(late, late), nil},
			want: []string{"ConfigMap default/a"}, within: time.Second},
		{reason: "but not where it refuses another field", text: one,
			err:     "refused: spec.ref: Internal error: context deadline exceeded; spec.minSize: ",
			answers: []error{invalid(late, field.Required(field.NewPath("spec.minSize"), ""))}},
		{reason: "an unknown field is a refusal, though the API server calls it an internal error", text: one,
			answers: []error{unclassified("failed to create typed patch object (default/a; v1, Kind=ConfigMap): .spec.minsize: field not declared " +
				"in schema")},
			err: "(ConfigMap a): refused: spec.minsize: field not declared in schema"},
		{reason: "so is what can't be converted", text: one,
			answers: []error{unclassified("conversion webhook for AWSMachinePool failed: spec.subnets[0]: want a string")},
			err:     "spec.subnets[0]: want a string"},
		{reason: "also where the API server gives the conversion as an internal error", text: one, err: "spec.subnets[0]: want a string",
			answers: forever(apierrors.NewInternalError(
				errors.New("conversion webhook for AWSMachinePool failed: spec.subnets[0]: want a string")))},
		{reason: "a conversion webhook that is not up yet is waited for", text: one, want: []string{"ConfigMap default/a"}, within: time.Second,
			answers: []error{unclassified(`conversion webhook for AWSMachinePool failed: Post "https://127.0.0.1:1/convert": connection refused`)}},
		{reason: "a kind that is not served is reported soon", text: "apiVersion: v1\nkind: Confgmap\nmetadata: {name: a}\n",
			err: "m.yaml: document 1 (Confgmap a): no such kind is served", within: kindPatience + time.Second},
		{reason: "a namespace that is not there is not waited for", text: one, err: `namespaces "default" not found`,
			answers: forever(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "default"))},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				record, err := OpenRecord(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				s := &server{answers: tc.answers}
				began := time.Now()
				err = (&Applier{Client: s.client(), Record: record}).Apply(t.Context(), parse(t, tc.text))
				if got := time.Since(began); got > tc.within {
					t.Errorf("it took %v, want at most %v", got, tc.within)
				}
				if tc.err != "" {
					if err == nil || !strings.Contains(err.Error(), tc.err) {
						t.Fatalf("error: want %q, got %v", tc.err, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, s.applied); diff != "" {
					t.Fatalf("applied (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestApplyOnceInAWorldsLife(t *testing.T) {
	dir := t.TempDir()
	objects := parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	s := &server{answers: []error{nil, apierrors.NewBadRequest("no")}}
	for i, want := range []struct {
		fails    bool
		applied  int
		reported map[string]bool
	}{
		{fails: true, applied: 1, reported: map[string]bool{"a": true}},
		{applied: 2, reported: map[string]bool{"a": false, "b": true}},
		{applied: 2, reported: map[string]bool{"a": false, "b": false}},
	} {
		record, err := OpenRecord(dir)
		if err != nil {
			t.Fatal(err)
		}
		reported := map[string]bool{}
		err = (&Applier{Client: s.client(), Record: record, OnApplied: func(o Object, applied bool) { reported[o.GetName()] = applied }}).Apply(
			t.Context(), objects)
		if (err != nil) != want.fails {
			t.Fatalf("start %d: want a failure: %v, got %v", i+1, want.fails, err)
		}
		if len(s.applied) != want.applied {
			t.Errorf("start %d: want %d applied in all, got %v", i+1, want.applied, s.applied)
		}
		if diff := cmp.Diff(want.reported, reported); diff != "" {
			t.Errorf("start %d: told (-want +got):\n%s", i+1, diff)
		}
	}
}

func TestApplyEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the world stopped"))
	record, err := OpenRecord(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &server{answers: []error{apierrors.NewInternalError(errors.New("webhook")), apierrors.NewInternalError(errors.New("webhook"))}}
	err = (&Applier{Client: s.client(), Record: record}).Apply(ctx, parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	if err == nil || !strings.Contains(err.Error(), "the world stopped") || !strings.Contains(err.Error(), "webhook") {
		t.Fatalf("want both what ended it and what it waited for, got %v", err)
	}
}

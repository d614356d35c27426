package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
)

// Hub gives an object in the version that controllers read.
type Hub func(ctx context.Context, o client.Object) (client.Object, error)

// edited is an object before and after an edit, in the version that controllers read. Before is nil for one that is new.
type edited struct {
	before, after client.Object
}

// editor has the API server say what would become of objects. Whatever it sends is a dry run.
type editor struct {
	client client.Client
	hub    Hub
	// apply makes server-side apply of edits, under this field manager; empty makes them as kubectl apply does by itself.
	apply string
}

func newEditor(c client.Client, hub Hub, apply string) editor {
	return editor{client: client.NewDryRunClient(c), hub: hub, apply: apply}
}

// lastApplied is where kubectl apply keeps what it was given.
const lastApplied = corev1.LastAppliedConfigAnnotation

// put returns what an object would become if the edit were applied.
func (e editor) put(ctx context.Context, manifest *unstructured.Unstructured) (edited, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	err := e.client.Get(ctx, client.ObjectKeyFromObject(manifest), live)
	switch {
	case apierrors.IsNotFound(err):
		made := manifest.DeepCopy()
		if err := e.client.Create(ctx, made, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
			return edited{}, refusal(manifest, err)
		}
		return e.pair(ctx, nil, made)
	case err != nil:
		return edited{}, refusal(manifest, err)
	case e.apply != "":
		after := manifest.DeepCopy()
		after.SetManagedFields(nil)
		if err := e.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), client.FieldOwner(e.apply)); err != nil {
			return edited{}, refusal(manifest, err)
		}
		return e.pair(ctx, live, after)
	}
	patch, err := threeWay(manifest, live)
	if err != nil {
		return edited{}, refusal(manifest, err)
	}
	return e.patch(ctx, live, patch)
}

// threeWay returns the patch that kubectl apply would send: the given fields, and the removal of those that the last apply had and this one
// lacks. Like kubectl it stores the given fields in an annotation, so the annotations are never all removed.
func threeWay(manifest, live *unstructured.Unstructured) ([]byte, error) {
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode what is given: %w", err)
	}
	noted := manifest.DeepCopy()
	annotations := noted.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[lastApplied] = string(text)
	noted.SetAnnotations(annotations)
	modified, err := json.Marshal(noted)
	if err != nil {
		return nil, fmt.Errorf("encode what is given: %w", err)
	}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encode what is there: %w", err)
	}
	return jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(live.GetAnnotations()[lastApplied]), modified, current)
}

// set returns an object with other values for some of its fields.
func (e editor) set(ctx context.Context, live *unstructured.Unstructured, list []assignment) (edited, error) {
	after := live.DeepCopy()
	for _, a := range list {
		content, err := with(after.Object, a.at, a.value, !a.remove)
		if err != nil {
			return edited{}, fmt.Errorf("--set %s: %w", a.at, err)
		}
		after.Object, _ = content.(map[string]any)
	}
	patch, err := client.MergeFrom(live).Data(after)
	if err != nil {
		return edited{}, fmt.Errorf("compare %s %s: %w", live.GetKind(), live.GetName(), err)
	}
	return e.patch(ctx, live, patch)
}

func (e editor) patch(ctx context.Context, live *unstructured.Unstructured, patch []byte) (edited, error) {
	after := live.DeepCopy()
	if string(patch) != "{}" {
		err := e.client.Patch(ctx, after, client.RawPatch(types.MergePatchType, patch), client.FieldValidation(metav1.FieldValidationStrict))
		if err != nil {
			return edited{}, refusal(live, err)
		}
	}
	return e.pair(ctx, live, after)
}

// pair puts both states into the version that controllers read.
func (e editor) pair(ctx context.Context, before, after *unstructured.Unstructured) (edited, error) {
	var out edited
	var err error
	if before != nil {
		if out.before, err = e.read(ctx, before); err != nil {
			return out, err
		}
	}
	out.after, err = e.read(ctx, after)
	return out, err
}

// read gives an object as controllers read it. A kind that has no type here stays what it is. A version that has none has the fields of the
// kind's version that has one: the API server itself converts it.
func (e editor) read(ctx context.Context, u *unstructured.Unstructured) (client.Object, error) {
	gvk := u.GroupVersionKind()
	if versions := e.client.Scheme().VersionsForGroupKind(gvk.GroupKind()); len(versions) > 0 && !e.client.Scheme().Recognizes(gvk) {
		gvk = versions[0].WithKind(gvk.Kind)
	}
	made, err := e.client.Scheme().New(gvk)
	if runtime.IsNotRegisteredError(err) {
		return u, nil
	}
	typed, ok := made.(client.Object)
	if err != nil || !ok {
		return nil, fmt.Errorf("make a %s: %w", gvk, errors.Join(err))
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", gvk.Kind, u.GetName(), err)
	}
	typed.GetObjectKind().SetGroupVersionKind(gvk)
	return e.hub(ctx, typed)
}

// refusal names the object; the words are the API server's own, without the object that it repeats.
func refusal(o *unstructured.Unstructured, err error) error {
	return fmt.Errorf("%s %s: %w", o.GetKind(), client.ObjectKeyFromObject(o), inShort(err))
}

// strictly is the prefix of the API server's error for fields that a kind does not have. The whole object precedes it.
const strictly = "strict decoding error: "

// inShort removes redundant text from an error of the API server.
func inShort(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	if field := wrongType.FindStringSubmatch(status.Status().Message); field != nil {
		found := cmp.Or(strings.TrimSpace(field[2]), foundWords[field[1]])
		return &refusedError{fmt.Sprintf("%s: want %s, found %s", field[3], common.TypeInWords(field[4]), found), err}
	}
	if _, fields, ok := strings.Cut(status.Status().Message, strictly); ok {
		return &refusedError{fields, err}
	}
	var words []string
	if d := status.Status().Details; d != nil {
		for _, c := range d.Causes {
			if c.Field != "" && c.Field != "<nil>" {
				words = append(words, c.Field+": "+c.Message)
			}
		}
	}
	if len(words) == 0 {
		return err
	}
	return &refusedError{strings.Join(words, "; "), err}
}

// wrongType matches the error of a webhook for a value of the wrong type, in the words of Go. It captures the type found, the field, and
// the type wanted.
var wrongType = regexp.MustCompile(`json: cannot unmarshal (\w+)( \S+)? into Go struct field \w+\.([\w.]+) of type (\S+)`)

// foundWords maps the type names of JSON in such errors to plain words.
var foundWords = map[string]string{
	"string": "text", "number": "a number", "bool": "true or false", "object": "an object", "array": "a list",
}

// refusedError is a refusal in short.
type refusedError struct {
	words string
	err   error
}

// Error returns the refusal in short.
func (e *refusedError) Error() string { return e.words }

// Unwrap gives the API server's own error.
func (e *refusedError) Unwrap() error { return e.err }

// groupKind of an object.
func groupKind(o client.Object) schema.GroupKind {
	return o.GetObjectKind().GroupVersionKind().GroupKind()
}

// compact returns a value as JSON in one line.
func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(reflect.TypeOf(value))
	}
	return string(text)
}

package memapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patch changes an object, or its status, by a patch.
func (s *Server) patch(k *kind, key client.ObjectKey, sub string, how types.PatchType, data []byte) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.existing(k, key)
	if err != nil {
		return nil, err
	}
	content, err := old.concerned(sub)
	if err != nil {
		return nil, err
	}
	var change map[string]any
	if err := utiljson.Unmarshal(data, &change); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("patch of %s %s: %s", k.gvk.Kind, key, err))
	}
	switch {
	case how == types.MergePatchType:
		content = merge(content, change)
	case how == types.StrategicMergePatchType && k.builtin && k.structure != nil:
		content, err = strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(content), change, reflect.New(k.structure).Interface())
	default:
		err = unsupported(how, k)
	}
	if err != nil {
		return nil, err
	}
	o, err := k.fromContent(content)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("patch of %s %s: %s", k.gvk.Kind, key, err))
	}
	return s.replace(k, key, sub, old, o)
}

// unsupported returns the real server's error for strategic merge patches of custom resources, and an error of this server for all other
// patch types.
func unsupported(how types.PatchType, k *kind) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("a patch of type %s is not supported for %s: use a merge patch", how, k.gvk.Kind),
	}}
}

// merge applies a JSON merge patch (RFC 7386). The content is shared with the result and not changed.
func merge(content, change map[string]any) map[string]any {
	out := maps.Clone(content)
	if out == nil {
		out = make(map[string]any, len(change))
	}
	for name, value := range change {
		switch v := value.(type) {
		case nil:
			delete(out, name)
		case map[string]any:
			below, _ := out[name].(map[string]any)
			out[name] = merge(below, v)
		default:
			out[name] = v
		}
	}
	return out
}

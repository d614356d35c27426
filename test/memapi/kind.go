package memapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// clusterScoped are the kinds without a namespace that clusters with machine pools have.
var clusterScoped = []string{
	"Node", "Namespace", "CertificateSigningRequest", "CustomResourceDefinition", "PriorityClass", "PersistentVolume", "StorageClass",
	"ClusterRole", "ClusterRoleBinding",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "AWSClusterControllerIdentity", "AWSClusterRoleIdentity",
	"AWSClusterStaticIdentity",
}

// kind describes a kind in one version.
type kind struct {
	gvk      schema.GroupVersionKind
	resource schema.GroupResource
	// structure is the Go type of the objects, nil if they are stored unstructured.
	structure  reflect.Type
	namespaced bool
	// Objects of builtin kinds may be updated without a resource version and patched by strategic merge, custom resources may not.
	builtin bool
	// counted kinds have a generation.
	counted bool
	status  bool
	indexes []Index
}

func newKind(scheme *runtime.Scheme, gvk schema.GroupVersionKind) (*kind, error) {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	k := &kind{gvk: gvk, resource: plural.GroupResource(), namespaced: !slices.Contains(clusterScoped, gvk.Kind)}
	k.builtin = !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io")
	k.counted = gvk.Group != "" || gvk.Kind == "Pod"
	if !scheme.Recognizes(gvk) {
		return k, nil
	}
	made, err := scheme.New(gvk)
	if err != nil {
		return nil, fmt.Errorf("type of %s: %w", gvk, err)
	}
	switch made.(type) {
	case *unstructured.Unstructured:
	case client.Object:
		k.structure = reflect.TypeOf(made).Elem()
	default:
		return nil, fmt.Errorf("type of %s is %T, which is no object with metadata", gvk, made)
	}
	return k, nil
}

// find returns the kind of an object or of a list.
func (s *Server) find(o runtime.Object) (*kind, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kindOf(o)
}

func (s *Server) kindOf(o runtime.Object) (*kind, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	if k := s.types[reflect.TypeOf(o)]; k != nil {
		return k, nil
	}
	gvk, err := apiutil.GVKForObject(o, s.options.Scheme)
	if err != nil {
		return nil, err
	}
	if _, list := o.(client.ObjectList); list {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	k := s.kinds[gvk]
	if k == nil {
		if k, err = newKind(s.options.Scheme, gvk); err != nil {
			return nil, err
		}
		s.kinds[gvk] = k
	}
	if formOf(o) == typed {
		s.types[reflect.TypeOf(o)] = k
	}
	return k, nil
}

// key returns the key of an object of the kind: cluster-scoped kinds have no namespace whatever the caller passes.
func (k *kind) key(key client.ObjectKey) client.ObjectKey {
	if !k.namespaced {
		key.Namespace = ""
	}
	return key
}

// fork returns a copy of a stored object whose metadata fields and status may be set, but nothing below them.
func (k *kind) fork(o client.Object) client.Object {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		n := reflect.New(k.structure)
		n.Elem().Set(reflect.ValueOf(o).Elem())
		return n.Interface().(client.Object)
	}
	n := make(map[string]any, len(u.Object))
	for name, value := range u.Object {
		n[name] = value
	}
	if m, ok := u.Object["metadata"].(map[string]any); ok {
		n["metadata"] = runtime.DeepCopyJSON(m)
	}
	return &unstructured.Unstructured{Object: n}
}

// takeStatus gives an object the status of another one.
func (k *kind) takeStatus(o, from client.Object) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		if status, ok := from.(*unstructured.Unstructured).Object["status"]; ok {
			u.Object["status"] = status
		} else {
			delete(u.Object, "status")
		}
		return
	}
	if f := reflect.ValueOf(o).Elem().FieldByName("Status"); f.IsValid() {
		f.Set(reflect.ValueOf(from).Elem().FieldByName("Status"))
	}
}

// same reports whether two objects are equal in all that a write to the subresource, or to the object, may have changed.
func (k *kind) same(sub string, a, b client.Object) bool {
	if sub != "status" || k.structure == nil {
		return equality.Semantic.DeepEqual(a, b)
	}
	av, bv := reflect.ValueOf(a).Elem().FieldByName("Status"), reflect.ValueOf(b).Elem().FieldByName("Status")
	return !av.IsValid() || equality.Semantic.DeepEqual(av.Interface(), bv.Interface())
}

// sameSpec reports whether two objects are equal in all but metadata and status.
func (k *kind) sameSpec(a, b client.Object) bool {
	if k.structure == nil {
		return equality.Semantic.DeepEqual(specOf(a.(*unstructured.Unstructured)), specOf(b.(*unstructured.Unstructured)))
	}
	av, bv := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range k.structure.NumField() {
		switch k.structure.Field(i).Name {
		case "TypeMeta", "ObjectMeta", "Status":
			continue
		}
		if !equality.Semantic.DeepEqual(av.Field(i).Interface(), bv.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func specOf(u *unstructured.Unstructured) map[string]any {
	out := make(map[string]any, len(u.Object))
	for name, value := range u.Object {
		if name != "metadata" && name != "status" {
			out[name] = value
		}
	}
	return out
}

// form is in which shape a caller has an object.
type form int

const (
	typed form = iota
	untyped
	metadata
)

func formOf(o runtime.Object) form {
	switch o.(type) {
	case *unstructured.Unstructured, *unstructured.UnstructuredList:
		return untyped
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return metadata
	}
	return typed
}

package fakeapi

import (
	"encoding/json"
	"net/http"
	"path"
	"sort"
	"strconv"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// object is what the server stores.
type object interface {
	runtime.Object
	metav1.Object
}

// event is one change, for watches.
type event struct {
	version int
	kind    string
	object  object
}

func resource(q request) schema.GroupResource {
	return schema.GroupResource{Resource: path.Base(q.collection)}
}

// key of an object; pods are listed over all namespaces, so a collection without namespace is turned into the object's own.
func key(o object, collection string) string {
	return path.Base(collection) + "/" + o.GetNamespace() + "/" + o.GetName()
}

func (q request) key() string {
	namespace := ""
	if dir := path.Dir(q.collection); path.Base(path.Dir(dir)) == "namespaces" {
		namespace = path.Base(dir)
	}
	return path.Base(q.collection) + "/" + namespace + "/" + q.name
}

// put stores an object as it is, as a controller with all rights would.
func (s *Server) put(collection string, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key(o, collection)
	kind := "MODIFIED"
	if s.objects[k] == nil {
		kind = "ADDED"
	}
	s.store(k, o, kind)
}

// store writes with the lock held.
func (s *Server) store(k string, o object, kind string) {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	if kind == "DELETED" {
		delete(s.objects, k)
	} else {
		s.objects[k] = o
	}
	s.log = append(s.log, event{version: s.version, kind: kind, object: o})
	s.changed.Broadcast()
}

func (s *Server) get(q request) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[q.key()]
	if !ok {
		return nil, apierrors.NewNotFound(resource(q), q.name)
	}
	return o.DeepCopyObject(), nil
}

// matches tells whether an object is of the collection and selected.
func (q request) matches(k string, o object) bool {
	if kind, _, _ := strings.Cut(k, "/"); kind != path.Base(q.collection) {
		return false
	}
	if name, ok := q.selector["metadata.name"]; ok && name != o.GetName() {
		return false
	}
	node, byNode := q.selector["spec.nodeName"]
	pod, isPod := o.(*corev1.Pod)
	return !byNode || isPod && pod.Spec.NodeName == node
}

func (s *Server) list(q request) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for k, o := range s.objects {
		if q.matches(k, o) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	items := make([]object, 0, len(keys))
	for _, k := range keys {
		items = append(items, s.objects[k].DeepCopyObject().(object))
	}
	return listOf(q, items, strconv.Itoa(s.version))
}

// listOf makes the typed list that clients expect.
func listOf(q request, items []object, version string) (runtime.Object, error) {
	meta := metav1.ListMeta{ResourceVersion: version}
	switch path.Base(q.collection) {
	case "pods":
		l := &corev1.PodList{ListMeta: meta}
		for _, o := range items {
			l.Items = append(l.Items, *o.(*corev1.Pod))
		}
		return l, nil
	case "certificatesigningrequests":
		l := &certificatesv1.CertificateSigningRequestList{ListMeta: meta}
		for _, o := range items {
			l.Items = append(l.Items, *o.(*certificatesv1.CertificateSigningRequest))
		}
		return l, nil
	}
	return nil, apierrors.NewMethodNotSupported(resource(q), "list")
}

// decode reads a body in any of the encodings that Kubernetes has.
func decode(body []byte) (object, error) {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	typed, ok := o.(object)
	if !ok {
		return nil, apierrors.NewBadRequest("want an object")
	}
	return typed, nil
}

func (s *Server) create(q request, body []byte) (runtime.Object, error) {
	o, err := decode(body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.sub == "eviction" {
		return s.terminate(q)
	}
	q.name = o.GetName()
	if s.objects[q.key()] != nil {
		return nil, apierrors.NewAlreadyExists(resource(q), q.name)
	}
	o.SetUID(types.UID("uid-" + strconv.Itoa(s.version+1)))
	o.SetCreationTimestamp(metav1.NewTime(time.Now()))
	s.store(q.key(), o, "ADDED")
	if csr, ok := o.(*certificatesv1.CertificateSigningRequest); ok {
		s.decide(q, csr.DeepCopy())
	}
	return o.DeepCopyObject(), nil
}

// decide is the approving and signing controllers, with the lock held.
func (s *Server) decide(q request, csr *certificatesv1.CertificateSigningRequest) {
	condition := certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
		Reason: "AutoApproved"}
	switch s.sign(csr.Name) {
	case Silence:
		return
	case Deny:
		condition.Type, condition.Reason, condition.Message = certificatesv1.CertificateDenied, "NotWanted", "denied by the test"
	case Fail:
		condition.Type, condition.Reason, condition.Message = certificatesv1.CertificateFailed, "SignerValidationFailure", "failed by the test"
	default:
		cert, err := s.ca.client(csr.Spec.Request)
		if err != nil {
			condition.Type, condition.Message = certificatesv1.CertificateFailed, err.Error()
		}
		csr.Status.Certificate = cert
	}
	csr.Status.Conditions = append(csr.Status.Conditions, condition)
	s.store(q.key(), csr, "MODIFIED")
}

func (s *Server) update(q request, body []byte) (runtime.Object, error) {
	o, err := decode(body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.objects[q.key()]
	if !ok {
		return nil, apierrors.NewNotFound(resource(q), q.name)
	}
	if v := o.GetResourceVersion(); v != "" && v != was.GetResourceVersion() {
		return nil, apierrors.NewConflict(resource(q), q.name, nil)
	}
	s.store(q.key(), o, "MODIFIED")
	return o.DeepCopyObject(), nil
}

func (s *Server) patch(q request, body []byte) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.objects[q.key()]
	if !ok {
		return nil, apierrors.NewNotFound(resource(q), q.name)
	}
	old, err := json.Marshal(was)
	if err != nil {
		return nil, err
	}
	next, err := empty(q)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(old, body, next)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := json.Unmarshal(merged, next); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if next.GetUID() != was.GetUID() {
		return nil, apierrors.NewConflict(resource(q), q.name, nil)
	}
	s.store(q.key(), next, "MODIFIED")
	return next.DeepCopyObject(), nil
}

func empty(q request) (object, error) {
	switch path.Base(q.collection) {
	case "nodes":
		return &corev1.Node{}, nil
	case "pods":
		return &corev1.Pod{}, nil
	case "leases":
		return &coordinationv1.Lease{}, nil
	}
	return nil, apierrors.NewMethodNotSupported(resource(q), "patch")
}

// terminate asks a pod to end, with the lock held: its kubelet deletes it.
func (s *Server) terminate(q request) (runtime.Object, error) {
	was, ok := s.objects[q.key()].(*corev1.Pod)
	if !ok {
		return nil, apierrors.NewNotFound(resource(q), q.name)
	}
	pod := was.DeepCopy()
	now, grace := metav1.NewTime(time.Now()), int64(1)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, &grace
	s.store(q.key(), pod, "MODIFIED")
	return pod.DeepCopy(), nil
}

func (s *Server) delete(q request, body []byte) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.objects[q.key()]
	if !ok {
		return nil, apierrors.NewNotFound(resource(q), q.name)
	}
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &metav1.DeleteOptions{})
	options, isOptions := o.(*metav1.DeleteOptions)
	if err != nil || !isOptions {
		return nil, apierrors.NewBadRequest("want DeleteOptions")
	}
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != was.GetUID() {
		return nil, apierrors.NewConflict(resource(q), q.name, nil)
	}
	_, isPod := was.(*corev1.Pod)
	atOnce := !isPod || options.GracePeriodSeconds != nil && *options.GracePeriodSeconds == 0
	if !atOnce && !strings.HasPrefix(q.user, "system:node:") {
		return s.terminate(q)
	}
	if !atOnce {
		return nil, apierrors.NewGenericServerResponse(http.StatusBadRequest, "delete", resource(q), q.name,
			"a kubelet deletes with grace period 0", 0, true)
	}
	s.store(q.key(), was.DeepCopyObject().(object), "DELETED")
	return was.DeepCopyObject(), nil
}

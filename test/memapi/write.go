package memapi

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// defaultGraceSeconds is the default grace period of pods.
const defaultGraceSeconds = 30

// now returns the time as the API writes it, in whole seconds.
func (s *Server) now() metav1.Time { return metav1.Unix(s.options.Now().Unix(), 0) }

// create stores an object from a request body.
func (s *Server) create(k *kind, key client.ObjectKey, data []byte) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := k.decode(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if o.GetResourceVersion() != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if k.namespaced && key.Namespace == "" {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("an empty namespace may not be set during creation of a %s", k.gvk.Kind))
	}
	if key.Name == "" && o.GetGenerateName() != "" {
		key.Name = s.generate(k, key.Namespace, o.GetGenerateName())
	}
	if key.Name == "" {
		return nil, apierrors.NewInvalid(k.gvk.GroupKind(), "",
			field.ErrorList{field.Required(field.NewPath("metadata", "name"), "name or generateName is required")})
	}
	if s.objects.get(k, key) != nil {
		return nil, apierrors.NewAlreadyExists(k.resource, key.Name)
	}
	s.created++
	o.SetName(key.Name)
	o.SetNamespace(key.Namespace)
	o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.created)))
	o.SetCreationTimestamp(s.now())
	o.SetDeletionTimestamp(nil)
	o.SetDeletionGracePeriodSeconds(nil)
	o.SetManagedFields(nil)
	o.SetSelfLink("")
	o.SetGeneration(0)
	if k.counted {
		o.SetGeneration(1)
	}
	if k.status {
		empty, err := k.decode([]byte("{}"))
		if err != nil {
			return nil, err
		}
		k.takeStatus(o, empty)
	}
	return s.commit(k, key, nil, o), nil
}

// generate makes a free name in the way of the API: five letters after the prefix.
func (s *Server) generate(k *kind, namespace, prefix string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	for n := s.created; ; n++ {
		suffix, rest := make([]byte, 5), n
		for i := range suffix {
			suffix[len(suffix)-1-i] = letters[rest%int64(len(letters))]
			rest /= int64(len(letters))
		}
		name := prefix + string(suffix)
		if s.objects.get(k, client.ObjectKey{Namespace: namespace, Name: name}) == nil {
			return name
		}
	}
}

// update replaces an object, or its status, by what was sent.
func (s *Server) update(k *kind, key client.ObjectKey, sub string, data []byte) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := k.decode(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	old, err := s.existing(k, key)
	if err != nil {
		return nil, err
	}
	if o.GetResourceVersion() == "" && !k.builtin {
		return nil, apierrors.NewInvalid(k.gvk.GroupKind(), key.Name,
			field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update")})
	}
	if uid := o.GetUID(); uid != "" && uid != old.object.GetUID() {
		return nil, apierrors.NewConflict(k.resource, key.Name,
			fmt.Errorf("precondition failed: UID in precondition: %s, UID in object meta: %s", uid, old.object.GetUID()))
	}
	return s.replace(k, key, sub, old, o)
}

// replace stores an object in the place of an old one, with what the server alone decides. The lock is held.
func (s *Server) replace(k *kind, key client.ObjectKey, sub string, old *entry, o client.Object) (*entry, error) {
	if v := o.GetResourceVersion(); v != "" && v != old.object.GetResourceVersion() {
		return nil, apierrors.NewConflict(k.resource, key.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	o, err := k.prepare(key, sub, old.object, o)
	if err != nil {
		return nil, err
	}
	if k.same(sub, old.object, o) {
		return old, nil
	}
	if !going(o) {
		return s.commit(k, key, old, o), nil
	}
	s.commit(k, key, old, nil)
	return newEntry(k, o), nil
}

// going reports whether nothing keeps an object that is being deleted.
func going(o client.Object) bool {
	grace := o.GetDeletionGracePeriodSeconds()
	return o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

// prepare takes from what was sent only what this write may change.
func (k *kind) prepare(key client.ObjectKey, sub string, old, sent client.Object) (client.Object, error) {
	if sub == "status" {
		if !k.status {
			return nil, fmt.Errorf("%s has no status subresource: name the kind in Options.Status", k.gvk.Kind)
		}
		o := k.fork(old)
		k.takeStatus(o, sent)
		return o, nil
	}
	if named := k.key(client.ObjectKeyFromObject(sent)); named != key {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", named, key))
	}
	path := field.NewPath("metadata")
	var wrong field.ErrorList
	if sent.GetUID() != "" {
		wrong = validation.ValidateImmutableField(sent.GetUID(), old.GetUID(), path.Child("uid"))
	}
	if old.GetDeletionTimestamp() != nil {
		wrong = append(wrong, validation.ValidateNoNewFinalizers(sent.GetFinalizers(), old.GetFinalizers(), path.Child("finalizers"))...)
	}
	if len(wrong) > 0 {
		return nil, apierrors.NewInvalid(k.gvk.GroupKind(), key.Name, wrong)
	}
	if k.status {
		k.takeStatus(sent, old)
	}
	sent.SetNamespace(key.Namespace)
	sent.SetResourceVersion(old.GetResourceVersion())
	sent.SetUID(old.GetUID())
	sent.SetCreationTimestamp(old.GetCreationTimestamp())
	sent.SetDeletionTimestamp(old.GetDeletionTimestamp())
	sent.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	sent.SetManagedFields(nil)
	sent.SetSelfLink("")
	sent.SetGeneration(old.GetGeneration())
	if k.counted && !k.sameSpec(old, sent) {
		sent.SetGeneration(old.GetGeneration() + 1)
	}
	return sent, nil
}

// delete removes an object, or marks it where finalizers or a pod's grace keep it.
func (s *Server) delete(k *kind, key client.ObjectKey, options *metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.existing(k, key)
	if err != nil {
		return err
	}
	if err := unmet(k, old.object, options.Preconditions); err != nil {
		return err
	}
	o, changed := s.marked(k, old.object, options.GracePeriodSeconds)
	switch {
	case going(o):
		s.commit(k, key, old, nil)
	case changed:
		s.commit(k, key, old, o)
	}
	return nil
}

// deleteAll deletes what a list finds.
func (s *Server) deleteAll(k *kind, which *client.ListOptions, options *metav1.DeleteOptions) error {
	p, err := s.page(s.objects, k, which, false)
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range p.entries {
		if err := s.delete(k, client.ObjectKeyFromObject(e.object), options); client.IgnoreNotFound(err) != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func unmet(k *kind, o client.Object, p *metav1.Preconditions) error {
	var wrong []string
	if p != nil && p.UID != nil && *p.UID != o.GetUID() {
		wrong = append(wrong, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, o.GetUID()))
	}
	if p != nil && p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion() {
		wrong = append(wrong, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *p.ResourceVersion, o.GetResourceVersion()))
	}
	if len(wrong) == 0 {
		return nil
	}
	return apierrors.NewConflict(k.resource, o.GetName(), errors.New(strings.Join(wrong, "; ")))
}

// marked returns the object with the requested deletion in its metadata, and whether that changed it. The grace period of a deletion in
// progress can only be shortened, and only explicitly.
func (s *Server) marked(k *kind, old client.Object, requested *int64) (client.Object, bool) {
	o, now := k.fork(old), s.now()
	at := old.GetDeletionTimestamp()
	if at == nil {
		grace := graceSeconds(old, requested)
		o.SetDeletionTimestamp(&metav1.Time{Time: now.Add(time.Duration(grace) * time.Second)})
		o.SetDeletionGracePeriodSeconds(&grace)
		if old.GetGeneration() > 0 {
			o.SetGeneration(old.GetGeneration() + 1)
		}
		return o, true
	}
	last := old.GetDeletionGracePeriodSeconds()
	if requested == nil || last == nil || *requested >= *last {
		return o, false
	}
	grace := max(*requested, 0)
	sooner := metav1.Time{Time: at.Add(time.Duration(grace-*last) * time.Second)}
	if sooner.Before(&now) {
		sooner = now
		grace = min(grace, 1)
	}
	o.SetDeletionTimestamp(&sooner)
	o.SetDeletionGracePeriodSeconds(&grace)
	return o, true
}

// graceSeconds returns how long the object stays after its deletion. Only a pod on a Node waits, for its kubelet.
func graceSeconds(o client.Object, requested *int64) int64 {
	pod, ok := o.(*corev1.Pod)
	switch {
	case !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return 0
	case requested != nil:
		return max(*requested, 0)
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return *pod.Spec.TerminationGracePeriodSeconds
	}
	return defaultGraceSeconds
}

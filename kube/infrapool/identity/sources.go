package identity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cluster-api/controllers/external"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/muster-project/muster/api/common"
)

// The kinds of the core group that identities consist of.
const (
	kindSecret    = "Secret"
	kindNamespace = "Namespace"
)

// dependency is one object that an identity consists of; without a name it is every object of the kind.
type dependency struct{ kind, namespace, name string }

// all is the dependency on every object of a kind.
func (d dependency) all() dependency { return dependency{kind: d.kind} }

// Sources holds what the identities of the objects of one controller consisted of in their last passes, and enqueues these objects when
// that changes. It is a cache: after a start of the process every object has a pass.
type Sources struct {
	// MayWatch returns an error if the manager may not list and watch a kind without namespaces: its cache would never fill. Nil allows all.
	MayWatch func(context.Context, schema.GroupVersionKind) error
	// OwnCredentials are the namespaces that may use the manager's own credentials; nil is every namespace.
	OwnCredentials *common.AllowedNamespaces
	// Endpoints are the addresses of clouds' APIs that secrets of identities may name, in addition to the public ones.
	Endpoints []string

	reader          client.Reader
	secretNamespace string

	manager    ctrl.Manager
	controller controller.Controller
	tracker    *external.ObjectTracker

	mu     sync.Mutex
	byUser map[types.NamespacedName][]dependency
	users  map[dependency]map[types.NamespacedName]bool
	// elsewhere are the namespaces whose secrets are watched through caches of their own.
	elsewhere map[string]bool
}

// NewSources returns the Sources of one controller. The secrets of cluster-scoped identities are in secretNamespace; if it is empty, in
// DefaultNamespace.
func NewSources(reader client.Reader, secretNamespace string) *Sources {
	return &Sources{
		reader: reader, secretNamespace: cmp.Or(secretNamespace, DefaultNamespace),
		byUser: map[types.NamespacedName][]dependency{}, users: map[dependency]map[types.NamespacedName]bool{}, elsewhere: map[string]bool{},
	}
}

// Watch has changes of dependencies enqueue the objects of the controller. Without it they are reconciled at the next interval. The cache
// of the manager holds all secrets of the secret namespace, which the controller watches.
func (s *Sources) Watch(mgr ctrl.Manager, c controller.Controller, tracker *external.ObjectTracker) {
	s.manager, s.controller, s.tracker = mgr, c, tracker
}

// For returns the Credentials of an object in a namespace. What they read enqueues nothing before Use.
func (s *Sources) For(namespace string) *Credentials {
	return &Credentials{Namespace: namespace, SecretNamespace: s.secretNamespace, sources: s}
}

// Of returns the Credentials of an object. What they read enqueues it from then on, and Use ends that for what they no longer read.
func (s *Sources) Of(user types.NamespacedName) *Credentials {
	c := s.For(user.Namespace)
	c.user = user
	return c
}

// add adds a dependency of an object.
func (s *Sources) add(user types.NamespacedName, of dependency) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.byUser[user], of) {
		return
	}
	s.byUser[user] = append(s.byUser[user], of)
	s.index(user, of)
}

// index has a dependency enqueue an object.
func (s *Sources) index(user types.NamespacedName, of dependency) {
	if s.users[of] == nil {
		s.users[of] = map[types.NamespacedName]bool{}
	}
	s.users[of][user] = true
}

// Use replaces the dependencies of an object by those that c has read; nil forgets the object.
func (s *Sources) Use(user types.NamespacedName, c *Credentials) {
	var read []dependency
	if c != nil {
		read = c.read
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(s.byUser[user], read) {
		return
	}
	for _, of := range s.byUser[user] {
		delete(s.users[of], user)
		if len(s.users[of]) == 0 {
			delete(s.users, of)
		}
	}
	delete(s.byUser, user)
	if len(read) == 0 {
		return
	}
	s.byUser[user] = slices.Clone(read)
	for _, of := range read {
		s.index(user, of)
	}
}

// SecretRequests returns the requests for the objects whose identities use a secret.
func (s *Sources) SecretRequests(secret client.Object) []ctrl.Request {
	return s.requests(dependency{kind: kindSecret, namespace: secret.GetNamespace(), name: secret.GetName()})
}

// requests returns those for the objects whose identities have a dependency.
func (s *Sources) requests(of dependency) []ctrl.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []ctrl.Request
	for user := range s.users[of] {
		all = append(all, ctrl.Request{NamespacedName: user})
	}
	slices.SortFunc(all, func(a, b ctrl.Request) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// watch enqueues the objects whose identities depend on an object of the kind when that changes.
func (s *Sources) watch(ctx context.Context, o client.Object) error {
	if s.tracker == nil {
		return nil
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	wake := func(_ context.Context, o client.Object) []ctrl.Request {
		of := dependency{kind: kind, namespace: o.GetNamespace(), name: o.GetName()}
		return append(s.requests(of), s.requests(of.all())...)
	}
	if err := s.tracker.Watch(ctrl.LoggerFrom(ctx), o, handler.EnqueueRequestsFromMapFunc(wake),
		predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{})); err != nil {
		return fmt.Errorf("watch %s: %w", kind, err)
	}
	return nil
}

// watchSecrets enqueues the objects whose identities use secrets of a namespace when these change. Outside the secret namespace the cache
// of the manager holds secrets of clusters alone, so that such a namespace gets a cache of its own with nothing but names and versions.
func (s *Sources) watchSecrets(ctx context.Context, namespace string) error {
	if s.manager == nil || namespace == s.secretNamespace {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.elsewhere[namespace] {
		return nil
	}
	names, err := cache.New(s.manager.GetConfig(), cache.Options{
		HTTPClient: s.manager.GetHTTPClient(), Scheme: s.manager.GetScheme(), Mapper: s.manager.GetRESTMapper(),
		DefaultNamespaces: map[string]cache.Config{namespace: {}}, DefaultTransform: nameAndVersion,
	})
	if err != nil {
		return fmt.Errorf("make a cache of the secrets of namespace %s: %w", namespace, err)
	}
	if err := s.manager.Add(names); err != nil {
		return fmt.Errorf("run the cache of the secrets of namespace %s: %w", namespace, err)
	}
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kindSecret))
	wake := func(_ context.Context, o client.Object) []ctrl.Request { return s.SecretRequests(o) }
	if err := s.controller.Watch(source.Kind[client.Object](names, secret, handler.EnqueueRequestsFromMapFunc(wake),
		predicate.ResourceVersionChangedPredicate{})); err != nil {
		return fmt.Errorf("watch the secrets of namespace %s: %w", namespace, err)
	}
	s.elsewhere[namespace] = true
	ctrl.LoggerFrom(ctx).V(2).Info("watching the secrets of identities", "namespace", namespace)
	return nil
}

// nameAndVersion reduces the metadata of a secret to what shows that it has changed.
func nameAndVersion(o any) (any, error) {
	whole, ok := o.(*metav1.PartialObjectMetadata)
	if !ok {
		return nil, fmt.Errorf("want the metadata of a secret to cache, got %T", o)
	}
	return &metav1.PartialObjectMetadata{TypeMeta: whole.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: whole.Namespace, Name: whole.Name, UID: whole.UID, ResourceVersion: whole.ResourceVersion,
	}}, nil
}

package infrapool

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// The kinds of the core group that identities rest on.
const (
	kindSecret    = "Secret"
	kindNamespace = "Namespace"
)

// origin is one object that an identity rests on.
type origin struct{ kind, namespace, name string }

// sources are what the objects' identities rested on in their last passes. They are not state: after a start of the process
// every object has a pass.
type sources struct {
	mu     sync.Mutex
	byUser map[types.NamespacedName][]origin
	users  map[origin]map[types.NamespacedName]bool
}

func newSources() *sources {
	return &sources{byUser: map[types.NamespacedName][]origin{}, users: map[origin]map[types.NamespacedName]bool{}}
}

// use replaces what an object's identity rests on; nothing forgets the object.
func (s *sources) use(user types.NamespacedName, read []origin) {
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
		if s.users[of] == nil {
			s.users[of] = map[types.NamespacedName]bool{}
		}
		s.users[of][user] = true
	}
}

// requests are those for the objects whose identities rest on an origin.
func (s *sources) requests(of origin) []ctrl.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []ctrl.Request
	for user := range s.users[of] {
		all = append(all, ctrl.Request{NamespacedName: user})
	}
	slices.SortFunc(all, func(a, b ctrl.Request) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	return all
}

// watchSource wakes the objects whose identities rest on an object of the given kind when that changes.
func (r *Reconciler[O, S]) watchSource(ctx context.Context, o client.Object) error {
	if r.watches.tracker == nil {
		return nil
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	wake := func(_ context.Context, o client.Object) []ctrl.Request {
		return r.sources.requests(origin{kind: kind, namespace: o.GetNamespace(), name: o.GetName()})
	}
	if err := r.watches.tracker.Watch(ctrl.LoggerFrom(ctx), o, handler.EnqueueRequestsFromMapFunc(wake),
		predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{})); err != nil {
		return fmt.Errorf("watch %s: %w", kind, err)
	}
	return nil
}

// sourceSecretRequests are the requests for the objects whose identities rest on a secret.
func (r *Reconciler[O, S]) sourceSecretRequests(secret client.Object) []ctrl.Request {
	return r.sources.requests(origin{kind: kindSecret, namespace: secret.GetNamespace(), name: secret.GetName()})
}

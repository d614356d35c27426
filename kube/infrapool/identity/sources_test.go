package identity

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestSources holds that a dependency enqueues exactly the objects whose last pass read it.
func TestSources(t *testing.T) {
	t.Parallel()
	user := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }
	secret := dependency{kindSecret, "muster-system", "keys"}
	role := dependency{kind: "AWSClusterRoleIdentity", name: "r"}
	s := NewSources(nil, "")
	s.Use(user("b"), &Credentials{read: []dependency{role, secret}})
	s.Use(user("a"), &Credentials{read: []dependency{role}})
	s.Use(user("a"), &Credentials{read: []dependency{role}})
	want := func(reason string, of dependency, names string) {
		t.Helper()
		if got := fmt.Sprint(s.requests(of)); got != names {
			t.Errorf("%s: want %s, got %s", reason, names, got)
		}
	}
	want("both read it, each once, in order", role, "[ns/a ns/b]")
	want("one read it", secret, "[ns/b]")
	grants := dependency{kind: "AdoptionGrant"}
	s.Of(user("b")).note(grants)
	want("what is read enqueues from then on", grants, "[ns/b]")
	s.Use(user("b"), &Credentials{read: []dependency{role}})
	want("what a pass no longer reads enqueues nothing", secret, "[]")
	want("nor does a kind", grants, "[]")
	s.Use(user("a"), nil)
	s.Use(user("b"), nil)
	want("objects that are gone are forgotten", role, "[]")
	if len(s.byUser)+len(s.users) > 0 {
		t.Errorf("want nothing kept for objects that are gone, got %v %v", s.byUser, s.users)
	}
}

// TestSecretRequests holds that a secret of an identity enqueues the pools that use it, and one of the same name elsewhere does not.
func TestSecretRequests(t *testing.T) {
	t.Parallel()
	s := NewSources(nil, "")
	s.Use(types.NamespacedName{Namespace: "ns", Name: "p"}, &Credentials{read: []dependency{{kindSecret, "muster-system", "keys"}}})
	got := s.SecretRequests(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "muster-system", Name: "keys"}})
	if fmt.Sprint(got) != "[ns/p]" {
		t.Errorf("want a request for the pool, got %v", got)
	}
	if got := s.SecretRequests(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"}}); len(got) > 0 {
		t.Errorf("want none for a secret of the same name elsewhere, got %v", got)
	}
}

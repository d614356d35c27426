package infrapool

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// What an identity rests on wakes exactly those whose last pass read it.
func TestSources(t *testing.T) {
	t.Parallel()
	user := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }
	secret := origin{kindSecret, "muster-system", "keys"}
	role := origin{kind: "AWSClusterRoleIdentity", name: "r"}
	s := NewSources(nil, "")
	s.Use(user("b"), &Credentials{read: []origin{role, secret}})
	s.Use(user("a"), &Credentials{read: []origin{role}})
	s.Use(user("a"), &Credentials{read: []origin{role}})
	want := func(reason string, of origin, names string) {
		t.Helper()
		if got := fmt.Sprint(s.requests(of)); got != names {
			t.Errorf("%s: want %s, got %s", reason, names, got)
		}
	}
	want("both read it, each once, in order", role, "[ns/a ns/b]")
	want("one read it", secret, "[ns/b]")
	s.Use(user("b"), &Credentials{read: []origin{role}})
	want("what a pass no longer reads wakes nobody", secret, "[]")
	s.Use(user("a"), nil)
	s.Use(user("b"), nil)
	want("objects that are gone are forgotten", role, "[]")
	if len(s.byUser)+len(s.users) > 0 {
		t.Errorf("want nothing kept for objects that are gone, got %v %v", s.byUser, s.users)
	}
}

// A secret of an identity wakes the pools beside those that boot from it.
func TestSecretOfIdentityWakes(t *testing.T) {
	t.Parallel()
	r := &Reconciler[*awsv1.AWSMachinePool, string]{sources: NewSources(nil, "")}
	r.sources.Use(types.NamespacedName{Namespace: "ns", Name: "p"}, &Credentials{read: []origin{{kindSecret, "muster-system", "keys"}}})
	got := r.sources.SecretRequests(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "muster-system", Name: "keys"}})
	if fmt.Sprint(got) != "[ns/p]" {
		t.Errorf("want a request for the pool, got %v", got)
	}
	if got := r.sources.SecretRequests(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "keys"}}); len(got) > 0 {
		t.Errorf("want none for a secret of the same name elsewhere, got %v", got)
	}
}

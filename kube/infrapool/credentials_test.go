package infrapool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// identityDefinitions are the kinds of identities, as the ecosystem's provider labels them.
func identityDefinitions() []client.Object {
	var all []client.Object
	for _, plural := range []string{"awsclustercontrolleridentities", "awsclusterstaticidentities", "awsclusterroleidentities"} {
		all = append(all, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: plural + ".infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2"}}})
	}
	return all
}

// parsed is an object that is read untyped.
func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func identityObject(t *testing.T, kind, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return parsed(t, fmt.Sprintf("{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: %s, metadata: {name: %s}, spec: %s}", kind,
		name, spec))
}

// keys is a secret of a static identity.
func keys(data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: identity.DefaultNamespace, Name: "keys"}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}

func goodKeys() *corev1.Secret {
	return keys(map[string]string{"AccessKeyID": "AKIATENANT\n", "SecretAccessKey": "tenants-s3cret", "SessionToken": ""})
}

// named is the place with an identityRef.
func named(kind, name string) *unstructured.Unstructured {
	p := place()
	p.Object["spec"].(map[string]any)["identityRef"] = map[string]any{"kind": kind, "name": name}
	return p
}

// tenant is a pool whose cluster names an identity.
func tenant(place *unstructured.Unstructured, others ...client.Object) []client.Object {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"tenant": "a"}}}
	all := append([]client.Object{machinePool(), awsMachinePool(), cluster(), place, data(), definition(), namespace},
		identityDefinitions()...)
	return append(all, others...)
}

// TestIdentity holds which identity is used, and that none is if the chain leads to no credentials.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range identityCases(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tenant(c.place, c.others...)...)
			caller := ""
			w.account.before = func(_ string, t target) { caller = asker(t.Spec.Cluster.Identity) }
			w.passes(3)
			if caller != c.asks {
				t.Errorf("%s: want the cloud asked by %q, got %q\n%s", c.reason, c.asks, caller, w.say())
			}
			conditions := w.say()
			if c.held == "" {
				if meta.IsStatusConditionTrue(w.get().Status.Conditions, "ASGReady") != true {
					t.Errorf("%s: want a group made, got\n%s", c.reason, conditions)
				}
				return
			}
			ready := w.condition("Ready")
			for _, words := range append(c.words, c.held) {
				if !strings.Contains(ready.Reason+" "+ready.Message, words) && !strings.Contains(conditions, words) {
					t.Errorf("%s: want %q said, got\n%s", c.reason, words, conditions)
				}
			}
			if strings.Contains(conditions, "s3cret") || strings.Contains(conditions, "AKIATENANT") {
				t.Errorf("want no key in a condition, got\n%s", conditions)
			}
		})
	}
}

// identityCase is a cluster's reference to an identity, and which credentials follow from it.
type identityCase struct {
	name, reason string
	place        *unstructured.Unstructured
	others       []client.Object
	// asks describes the caller: the identity's name, the ID of its keys, and its roles in the order of their assumption.
	asks string
	// held is the reason for which none is used, words are parts of the message.
	held  string
	words []string
}

func identityCases(t *testing.T) []identityCase {
	const all = "allowedNamespaces: {}"
	role := func(name, more string) *unstructured.Unstructured {
		return identityObject(t, "AWSClusterRoleIdentity", name, "{roleARN: 'arn:aws:iam::1:role/"+name+"', "+all+more+"}")
	}
	static := identityObject(t, "AWSClusterStaticIdentity", "s", "{secretRef: keys, "+all+"}")
	return []identityCase{
		{name: "none named", reason: "the controller's own credentials are for clusters without a reference", place: place(), asks: "controller"},
		{name: "controller", reason: "who is allowed may use the controller's own", place: named("AWSClusterControllerIdentity", "default"),
			others: []client.Object{identityObject(t, "AWSClusterControllerIdentity", "default", "{"+all+"}")}, asks: "controller"},
		{name: "controller by another name", reason: "the kind has one object", place: named("AWSClusterControllerIdentity", "other"),
			others: []client.Object{identityObject(t, "AWSClusterControllerIdentity", "other", "{"+all+"}")},
			held:   "IdentityInvalid", words: []string{"AWSCluster default/place: spec.identityRef.name", "default"}},
		{name: "static", reason: "keys come from the controller's namespace, without the line's end that an editor adds",
			place: named("AWSClusterStaticIdentity", "s"), others: []client.Object{static, goodKeys()},
			asks: "AWSClusterStaticIdentity/s AKIATENANT"},
		{name: "role", reason: "without a source the controller assumes the role", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{role("r", "")}, asks: "AWSClusterRoleIdentity/r arn:aws:iam::1:role/r"},
		{name: "role by the controller", reason: "the source may be said", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{role("r", ", sourceIdentityRef: {kind: AWSClusterControllerIdentity, name: default}"),
				identityObject(t, "AWSClusterControllerIdentity", "default", "{"+all+"}")}, asks: "AWSClusterRoleIdentity/r arn:aws:iam::1:role/r"},
		{name: "chain", reason: "roles are assumed from the keys on", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{role("r", ", sourceIdentityRef: {kind: AWSClusterRoleIdentity, name: q}"),
				role("q", ", sourceIdentityRef: {kind: AWSClusterStaticIdentity, name: s}"), static, goodKeys()},
			asks: "AWSClusterRoleIdentity/r AKIATENANT arn:aws:iam::1:role/q arn:aws:iam::1:role/r"},
		{name: "selected by labels", reason: "the namespace's labels count", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{identityObject(t, "AWSClusterRoleIdentity", "r",
				"{roleARN: 'arn:aws:iam::1:role/r', allowedNamespaces: {selector: {matchLabels: {tenant: a}}}}")},
			asks: "AWSClusterRoleIdentity/r arn:aws:iam::1:role/r"},
		{name: "not selected", reason: "other labels don't", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{identityObject(t, "AWSClusterRoleIdentity", "r",
				"{roleARN: 'arn:aws:iam::1:role/r', allowedNamespaces: {selector: {matchLabels: {tenant: b}}}}")},
			held: "IdentityNotAllowed", words: []string{"AWSClusterRoleIdentity/r: spec.allowedNamespaces", "namespace default"}},
		{name: "not allowed", reason: "without the field no namespace may", place: named("AWSClusterStaticIdentity", "s"),
			others: []client.Object{identityObject(t, "AWSClusterStaticIdentity", "s", "{secretRef: keys}"), goodKeys()},
			held:   "IdentityNotAllowed", words: []string{"AWSClusterStaticIdentity/s: spec.allowedNamespaces"}},
		{name: "source not allowed", reason: "every identity on the way is asked", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{role("r", ", sourceIdentityRef: {kind: AWSClusterControllerIdentity, name: default}"),
				identityObject(t, "AWSClusterControllerIdentity", "default", "{allowedNamespaces: {list: [other]}}")},
			held: "IdentityNotAllowed", words: []string{"AWSClusterControllerIdentity/default: spec.allowedNamespaces"}},
		{name: "missing", reason: "a reference to nothing is no reference to the controller", place: named("AWSClusterStaticIdentity", "s"),
			held: "IdentityMissing", words: []string{"AWSCluster default/place: spec.identityRef", "AWSClusterStaticIdentity s does not exist"}},
		{name: "source missing", reason: "nor is a source that does not exist", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{role("r", ", sourceIdentityRef: {kind: AWSClusterStaticIdentity, name: s}")},
			held:   "IdentityMissing", words: []string{"AWSClusterRoleIdentity/r: spec.sourceIdentityRef",
				"AWSClusterStaticIdentity s does not exist"}},
		{name: "secret missing", reason: "nor a secret", place: named("AWSClusterStaticIdentity", "s"), others: []client.Object{static},
			held: "IdentityMissing", words: []string{"AWSClusterStaticIdentity/s: spec.secretRef", "secret muster-system/keys does not exist"}},
		{name: "secret without a key", reason: "half a pair signs nothing", place: named("AWSClusterStaticIdentity", "s"),
			others: []client.Object{static, keys(map[string]string{"AccessKeyID": "AKIATENANT"})},
			held:   "IdentityInvalid", words: []string{"secret muster-system/keys", "SecretAccessKey"}},
		{name: "loop", reason: "a way without an end has no credentials", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{role("r", ", sourceIdentityRef: {kind: AWSClusterRoleIdentity, name: q}"),
				role("q", ", sourceIdentityRef: {kind: AWSClusterRoleIdentity, name: r}")},
			held: "IdentityInvalid", words: []string{"AWSClusterRoleIdentity/q: spec.sourceIdentityRef",
				"r -> AWSClusterRoleIdentity/q -> AWSClusterRoleIdentity/r"}},
		{name: "unknown kind", reason: "an unknown kind", place: named("AWSClusterMagicIdentity", "m"),
			held: "IdentityInvalid", words: []string{"spec.identityRef.kind", "AWSClusterMagicIdentity"}},
		{name: "no role", reason: "a role is named by an ARN", place: named("AWSClusterRoleIdentity", "r"),
			others: []client.Object{identityObject(t, "AWSClusterRoleIdentity", "r", "{roleARN: admin, "+all+"}")},
			held:   "IdentityInvalid", words: []string{"AWSClusterRoleIdentity/r: spec.roleARN"}},
		{name: "malformed reference", reason: "a field of another type is no reference, and the controller is no substitute",
			place: func() *unstructured.Unstructured {
				p := place()
				p.Object["spec"].(map[string]any)["identityRef"] = "admin"
				return p
			}(), held: "IdentityInvalid", words: []string{"AWSCluster default/place"}},
	}
}

// asker words who asks.
func asker(i *awsv1.IdentityView) string {
	if i == nil {
		return "controller"
	}
	words := []string{i.Name}
	if id, _, _ := i.Keys.Expose(); id != "" {
		words = append(words, id)
	}
	for _, r := range i.Roles {
		words = append(words, r.ARN)
	}
	return strings.Join(words, " ")
}

// The next call uses a rotated secret, which also ends the back-off that the old one caused.
func TestRotatedSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tenant(named("AWSClusterStaticIdentity", "s"),
		identityObject(t, "AWSClusterStaticIdentity", "s", "{secretRef: keys, allowedNamespaces: {list: [default]}}"), goodKeys())...)
	var seen []string
	w.account.before = func(_ string, t target) {
		_, secret, _ := t.Spec.Cluster.Identity.Keys.Expose()
		seen = append(seen, secret)
	}
	w.passes(2)
	change(w, goodKeys(), func(s *corev1.Secret) { s.Data["SecretAccessKey"] = []byte("rotated") })
	w.pass()
	if last := seen[len(seen)-1]; seen[0] != "tenants-s3cret" || last != "rotated" {
		t.Errorf("want the keys of the secret as it is, got %q", seen)
	}
}

// A pool that is deleted after its infrastructure cluster is deleted with the identity that created it, and no other.
func TestIdentityIsRemembered(t *testing.T) {
	t.Parallel()
	role := identityObject(t, "AWSClusterRoleIdentity", "r", "{roleARN: 'arn:aws:iam::1:role/r', allowedNamespaces: {}}")
	w := running(t, tenant(named("AWSClusterRoleIdentity", "r"), role)...)
	if got := w.get().Annotations[stored.Annotation]; !strings.Contains(got, `"identity":"AWSClusterRoleIdentity/r"`) {
		t.Fatalf("want the identity remembered, got %s", got)
	}
	var caller []string
	w.account.before = func(_ string, t target) { caller = append(caller, asker(t.Spec.Cluster.Identity)) }
	w.remove(place())
	w.remove(role)
	w.remove(w.get())
	w.passes(3)
	if len(caller) > 0 || w.gone() {
		t.Errorf("want no call while the identity is missing, got %q\n%s", caller, w.say())
	}
	if conditions := w.say(); !strings.Contains(conditions, "IdentityMissing") {
		t.Errorf("want it said what is missing, got\n%s", conditions)
	}
	again := identityObject(t, "AWSClusterRoleIdentity", "r", "{roleARN: 'arn:aws:iam::1:role/r', allowedNamespaces: {}}")
	if err := w.management.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if w.gone() {
			break
		}
		w.pass()
		w.now = w.now.Add(time.Minute)
	}
	if !w.gone() || w.account.left() != "0 groups, 0 templates" {
		t.Errorf("want everything deleted by the remembered identity, left %s", w.account.left())
	}
	for _, who := range caller {
		if who != "AWSClusterRoleIdentity/r arn:aws:iam::1:role/r" {
			t.Errorf("want the remembered identity alone to ask, got %q", caller)
			break
		}
	}
}

// A plan uses the identity that the controller would, or reports why there is none.
func TestPlanAsksByIdentity(t *testing.T) {
	t.Parallel()
	w := running(t, tenant(named("AWSClusterRoleIdentity", "r"),
		identityObject(t, "AWSClusterRoleIdentity", "r", "{roleARN: 'arn:aws:iam::1:role/r', allowedNamespaces: {}}"))...)
	caller := ""
	w.account.before = func(_ string, t target) { caller = asker(t.Spec.Cluster.Identity) }
	look, err := w.planner(nil).Look(t.Context(), nil, key, 0)
	if err != nil || !look.Seen || caller != "AWSClusterRoleIdentity/r arn:aws:iam::1:role/r" {
		t.Errorf("want the identity to ask, got %q, %+v, %v", caller, look.NotObserved, err)
	}
	caller = ""
	look, err = w.planner(nil).Look(t.Context(), []client.Object{named("AWSClusterRoleIdentity", "other")}, key, 0)
	if err != nil || look.Seen || caller != "" || look.NotObserved == nil || look.NotObserved.Reason != identity.ReasonMissing {
		t.Errorf("want no call and the reason reported, got %q, %+v, %v", caller, look.NotObserved, err)
	}
}

// shown returns status.replicas, or "unknown" if the status lacks it.
func (w *world) shown() string {
	w.t.Helper()
	text, err := json.Marshal(w.get().Status)
	var status map[string]any
	if err = errors.Join(err, json.Unmarshal(text, &status)); err != nil {
		w.t.Fatal(err)
	}
	if n, ok := status["replicas"]; ok {
		return fmt.Sprint(n)
	}
	return "unknown"
}

// TestCountsWithoutAnIdentity: a cloud that was never asked has not answered that there are no machines, and what it answered last stays.
func TestCountsWithoutAnIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tenant(named("AWSClusterControllerIdentity", "default"))...)
	w.settled()
	if got := w.shown(); got != "unknown" || len(w.account.calls) > 0 {
		t.Errorf("no identity from the start: want no count, got %s", got)
	}
	w.make(identityObject(t, "AWSClusterControllerIdentity", "default", "{allowedNamespaces: {}}"))
	w.settled()
	w.join()
	w.settle()
	if got := w.shown(); got != "2" {
		t.Errorf("want 2 machines counted, got %s", got)
	}
	w.remove(identityObject(t, "AWSClusterControllerIdentity", "default", "{}"))
	w.passes(3)
	if got := w.shown(); got != "2" || w.condition("Ready").Reason != "IdentityMissing" {
		t.Errorf("an identity that was deleted: want the last count, got %s, %+v", got, w.condition("Ready"))
	}
	change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(0)) })
	w.make(identityObject(t, "AWSClusterControllerIdentity", "default", "{allowedNamespaces: {}}"))
	for range 20 {
		w.passes(1)
		w.join()
	}
	if got := w.shown(); got != "0" {
		t.Errorf("want no machines counted, got %s", got)
	}
}

package gates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
)

func TestOfPolicy(t *testing.T) {
	t.Parallel()
	own := &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", UID: "1", Generation: 2}}
	cluster := &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{UID: "3", Generation: 4}}
	defaults := Rules{Interval: time.Minute, Failures: 3}
	query := &musterv1.PrometheusGate{Address: "https://prometheus", Query: "up", SecretRef: &musterv1.GateSecretReference{Name: "token"}}
	object := func(namespace string) *musterv1.ConditionGate {
		return &musterv1.ConditionGate{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Name: "shop", Namespace: namespace,
			Healthy: new(true)}
	}
	asked := func(namespace string) *Condition {
		return &Condition{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Name: "shop", Namespace: namespace, Healthy: true,
			Status: "True"}
	}
	for _, c := range []struct {
		why    string
		policy metav1.Object
		gate   musterv1.RolloutGate
		want   Gate
		asks   bool
	}{
		{"an approval is read on the pool", own, musterv1.RolloutGate{Name: "ok", Approval: &musterv1.ApprovalGate{}}, Gate{}, false},
		{"a query with its rules", own,
			musterv1.RolloutGate{Name: "q", Prometheus: query, Success: "result < 1", Failures: 2, Unknown: musterv1.UnknownFail,
				Interval: &metav1.Duration{Duration: time.Hour}},
			Gate{Policy: Policy{"1", 2, "team-a"}, Name: "q", Rules: Rules{time.Hour, 2, true},
				Prometheus: &Prometheus{"https://prometheus", "up", "token", "result < 1"}}, true},
		{"an object of the policy's namespace", own, musterv1.RolloutGate{Name: "c", Condition: object("")},
			Gate{Policy: Policy{"1", 2, "team-a"}, Name: "c", Rules: defaults, Condition: asked("team-a")}, true},
		{"an object of another namespace, where admission was absent", own, musterv1.RolloutGate{Name: "c", Condition: object("kube-system")},
			Gate{Policy: Policy{"1", 2, "team-a"}, Name: "c", Rules: defaults, Condition: asked("team-a")}, true},
		{"an operator's policy names a namespace", cluster, musterv1.RolloutGate{Name: "c", Condition: object("argocd")},
			Gate{Policy: Policy{"3", 4, ""}, Name: "c", Rules: defaults, Condition: asked("argocd")}, true},
		{"or asks in that of the pool", cluster, musterv1.RolloutGate{Name: "c", Condition: object("")},
			Gate{Policy: Policy{"3", 4, ""}, Name: "c", Rules: defaults, Condition: asked("pools")}, true},
	} {
		got, asks := OfPolicy(c.policy, c.gate, "pools")
		if diff := cmp.Diff(c.want, got); diff != "" || asks != c.asks {
			t.Errorf("%s: want asks %t, got %t: -want +got\n%s", c.why, c.asks, asks, diff)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	cluster := &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{UID: "3", Generation: 4}}
	key := func(g musterv1.RolloutGate, namespace string) Key {
		gate, _ := OfPolicy(cluster, g, namespace)
		return gate.Key()
	}
	query := musterv1.RolloutGate{Name: "g", Prometheus: &musterv1.PrometheusGate{}}
	if key(query, "a") != key(query, "b") {
		t.Error("want the pools of all namespaces to share a query")
	}
	object := musterv1.RolloutGate{Name: "g", Condition: &musterv1.ConditionGate{Name: "shop"}}
	if key(object, "a") == key(object, "b") {
		t.Error("want objects of two namespaces to be two questions")
	}
	before := key(query, "a")
	cluster.Generation++
	if key(query, "a") == before {
		t.Error("want a changed policy to be another question")
	}
}

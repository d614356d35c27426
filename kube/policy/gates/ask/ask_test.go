package ask

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/policy/gates"
	"github.com/muster-project/muster/kube/policy/gates/address"
	"github.com/muster-project/muster/kube/policy/gates/health"
)

const token = "very-secret-token"

// objects is an API server with Secrets and other objects by their keys, and errors in their place.
type objects map[client.ObjectKey]any

func (o objects) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	resource := schema.GroupResource{Group: "argoproj.io", Resource: "applications"}
	switch found := o[key].(type) {
	case nil:
		return apierrors.NewNotFound(resource, key.Name)
	case error:
		return found
	case *corev1.Secret:
		found.DeepCopyInto(into.(*corev1.Secret))
	case map[string]any:
		into.(*unstructured.Unstructured).Object["status"] = found
	}
	return nil
}

func (o objects) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("gates list nothing")
}

func key(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

func secret(labels map[string]string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Data: data}
}

func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}, meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	return m
}

func askerOf(t *testing.T, o objects, addresses, kinds []string) Asker {
	t.Helper()
	list, err := address.Parse(addresses)
	if err != nil {
		t.Fatal(err)
	}
	of, err := health.Parse(kinds)
	if err != nil {
		t.Fatal(err)
	}
	return Asker{Live: o, Mapper: mapper(), SecretNamespace: "muster-system", Addresses: list, Kinds: of}
}

// TestQuery holds which Secrets reach which servers. The author of the policy is the attacker.
func TestQuery(t *testing.T) {
	t.Parallel()
	requests := make(chan string, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Header.Get("Authorization")
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"scalar","result":[1,"0.5"]}}`)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	host := strings.TrimPrefix(server.URL, "https://")
	labelled := map[string]string{gates.SecretLabel: gates.SecretLabelValue}
	o := objects{
		key("team", "good"):              secret(labelled, map[string][]byte{"token": []byte(token + "\n"), "ca.crt": ca}),
		key("team", "ca"):                secret(labelled, map[string][]byte{"ca.crt": ca}),
		key("team", "unlabelled"):        secret(nil, map[string][]byte{"token": []byte(token), "ca.crt": ca}),
		key("team", "otherwise"):         secret(map[string]string{gates.SecretLabel: "false"}, map[string][]byte{"token": []byte(token)}),
		key("team", "empty"):             secret(labelled, map[string][]byte{"password": []byte(token)}),
		key("team", "binary"):            secret(labelled, map[string][]byte{"token": []byte(token + "\r\nX: y")}),
		key("team", "forbidden"):         apierrors.NewForbidden(corev1.Resource("secrets"), "forbidden", errors.New("no rights")),
		key("team", "down"):              errors.New("dial tcp 10.0.0.1:6443: connection refused"),
		key("muster-system", "operator"): secret(labelled, map[string][]byte{"token": []byte(token), "ca.crt": ca}),
	}
	own, cluster := gates.Policy{Namespace: "team"}, gates.Policy{}
	for _, c := range []struct {
		why    string
		policy gates.Policy
		q      gates.Prometheus
		want   gates.Verdict
		says   string
		sent   string
	}{
		{"a query with a token", own, gates.Prometheus{Secret: "good", Success: "result < 1"}, gates.Positive, "success is true", token},
		{"a server that asks for none", own, gates.Prometheus{Secret: "ca", Success: "result > 1"}, gates.Negative, "success is false", ""},
		{"a Secret that gates may not use", own, gates.Prometheus{Secret: "unlabelled"}, gates.Undecided,
			`want a Secret unlabelled with the label muster.dev/gate: "true"`, ""},
		{"a label with another value", own, gates.Prometheus{Secret: "otherwise"}, gates.Undecided, "with the label", ""},
		{"a Secret that is not there is told no other way", own, gates.Prometheus{Secret: "absent"}, gates.Undecided,
			`want a Secret absent with the label muster.dev/gate: "true"`, ""},
		{"the operator's Secret", own, gates.Prometheus{Secret: "operator"}, gates.Undecided, "in namespace team", ""},
		{"a name with another namespace", own, gates.Prometheus{Secret: "../muster-system/operator"}, gates.Undecided, "in namespace team", ""},
		{"the operator's own policy", cluster, gates.Prometheus{Secret: "operator"}, gates.Positive, "no 0", token},
		{"a Secret with other keys", own, gates.Prometheus{Secret: "empty"}, gates.Undecided, "want key token or ca.crt", ""},
		{"a token that is a second header", own, gates.Prometheus{Secret: "binary"}, gates.Undecided, "not a bearer token", ""},
		{"a manager without rights", own, gates.Prometheus{Secret: "forbidden"}, gates.Undecided, "no rights", ""},
		{"an API server that is away", own, gates.Prometheus{Secret: "down"}, gates.Undecided, "can't be reached", ""},
		{"a token in clear text", own, gates.Prometheus{Secret: "good", Address: "http://" + host}, gates.Undecided, "over https alone", ""},
		{"the API server", own, gates.Prometheus{Secret: "good", Address: "https://kubernetes.default.svc"}, gates.Undecided, "not allowed", ""},
		{"the metadata of the cloud", own, gates.Prometheus{Address: "http://169.254.169.254/latest"}, gates.Undecided, "not allowed", ""},
		{"an address with a password", own, gates.Prometheus{Address: "https://u:" + token + "@" + host}, gates.Undecided, "without user", ""},
		{"an expression that does not compile, where admission was absent", own, gates.Prometheus{Secret: "good", Success: "resutl < 1"},
			gates.Undecided, "success: want a CEL expression", ""},
	} {
		if c.q.Address == "" {
			c.q.Address = server.URL
		}
		c.q.Query = "up"
		got := askerOf(t, o, []string{host}, nil).Ask(t.Context(), gates.Gate{Policy: c.policy, Prometheus: &c.q})
		if got.Verdict != c.want || !strings.Contains(got.Message, c.says) {
			t.Errorf("%s: want %s with %q, got %+v", c.why, c.want, c.says, got)
		}
		if strings.Contains(got.Message+got.Value, token) || strings.Contains(got.Message, "10.0.0.1") {
			t.Errorf("%s: want no token and no address of the API server, got %+v", c.why, got)
		}
		var seen []string
		for len(requests) > 0 {
			seen = append(seen, <-requests)
		}
		sent := strings.TrimPrefix(strings.Join(seen, ","), "Bearer ")
		if sent != c.sent || (len(seen) > 0) != (c.want != gates.Undecided) {
			t.Errorf("%s: want %q sent, got %d requests with %q", c.why, c.sent, len(seen), sent)
		}
	}
}

func TestNoAddressIsAllowed(t *testing.T) {
	t.Parallel()
	got := askerOf(t, objects{}, nil, nil).Ask(t.Context(),
		gates.Gate{Prometheus: &gates.Prometheus{Address: "https://prometheus.monitoring:9090", Query: "up"}})
	want := "Prometheus at https://prometheus.monitoring:9090: no address is allowed: have the operator set --gate-addresses of the manager"
	if got != gates.UndecidedSample(want) {
		t.Errorf("want %q, got %+v", want, got)
	}
}

// TestRead holds which objects a gate tells of. The author of the policy may not be able to read them.
func TestRead(t *testing.T) {
	t.Parallel()
	healthy := map[string]any{"health": map[string]any{"status": "Healthy"}}
	o := objects{
		key("team", "shop"):   healthy,
		key("argocd", "shop"): healthy,
		key("", "node-1"):     map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		key("team", "forbidden"): apierrors.NewForbidden(schema.GroupResource{Group: "argoproj.io", Resource: "applications"}, "forbidden",
			errors.New(`User "muster" cannot get resource`)),
		key("team", "token"): secret(nil, map[string][]byte{"token": []byte(token)}),
	}
	own, cluster := gates.Policy{Namespace: "team"}, gates.Policy{}
	application := func(namespace, name string) gates.Condition {
		return gates.Condition{APIVersion: "argoproj.io/v1alpha1", Kind: "Application", Namespace: namespace, Name: name, Healthy: true}
	}
	node := gates.Condition{APIVersion: "v1", Kind: "Node", Namespace: "team", Name: "node-1", Healthy: true}
	all := []string{"Application.argoproj.io", "Node", "Missing.example.com"}
	for _, c := range []struct {
		why    string
		policy gates.Policy
		c      gates.Condition
		kinds  []string
		want   gates.Verdict
		says   string
	}{
		{"an Application", own, application("team", "shop"), all, gates.Positive, "Application shop: its health is Healthy"},
		{"of another namespace by the operator's policy", cluster, application("argocd", "shop"), all, gates.Positive, "is Healthy"},
		{"one that is not there", own, application("team", "other"), all, gates.Undecided, `applications.argoproj.io "other" not found`},
		{"the operator allows no kind", own, application("team", "shop"), nil, gates.Undecided, "have the operator set --gate-kinds"},
		{"a manager without rights", own, application("team", "forbidden"), all, gates.Undecided, `User "muster" cannot get resource`},
		{"a Secret", own, gates.Condition{APIVersion: "v1", Kind: "Secret", Namespace: "team", Name: "token"}, all, gates.Undecided,
			"not allowed"},
		{"an object without a namespace", own, node, all, gates.Undecided, "are for a ClusterRolloutPolicy"},
		{"which is for the operator", cluster, node, all, gates.Positive, "Ready is True"},
		{"a kind that is not installed", own, gates.Condition{APIVersion: "example.com/v1", Kind: "Missing", Namespace: "team", Name: "x"}, all,
			gates.Undecided, "serves no Missing in example.com/v1"},
	} {
		got := askerOf(t, o, nil, c.kinds).Ask(t.Context(), gates.Gate{Policy: c.policy, Condition: &c.c})
		if got.Verdict != c.want || !strings.Contains(got.Message, c.says) {
			t.Errorf("%s: want %s with %q, got %+v", c.why, c.want, c.says, got)
		}
	}
	if got := (Asker{}).Ask(t.Context(), gates.Gate{}); got.Verdict != gates.Undecided {
		t.Errorf("want a gate that asks nothing unknown, got %+v", got)
	}
}

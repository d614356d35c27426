package compat

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/page"
)

// pageScene is a page that is served with the rights of config/page alone.
type pageScene struct {
	t     *testing.T
	c     client.Client
	ns    string
	url   string
	https *http.Client
}

// role creates a ClusterRole, or one in a namespace, with a binding to a ServiceAccount of the test's namespace.
func (s pageScene) role(name, in string, rules ...rbacv1.PolicyRule) {
	s.t.Helper()
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: s.ns, Name: name}}
	unique := fmt.Sprintf("%s-%s-%d", s.ns, name, time.Now().UnixNano())
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: unique}, Rules: rules}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: unique}
	objects := []client.Object{role}
	if in == "" {
		objects = append(objects, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: unique}, RoleRef: ref, Subjects: subjects})
	} else {
		objects = append(objects, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: unique}, RoleRef: ref,
			Subjects: subjects})
	}
	for _, o := range objects {
		if err := s.c.Create(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
	}
}

// token creates a ServiceAccount and returns a token of it.
func (s pageScene) token(name string) string {
	s.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}}
	if err := s.c.Create(s.t.Context(), account); err != nil {
		s.t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := s.c.SubResource("token").Create(s.t.Context(), account, request); err != nil {
		s.t.Fatal(err)
	}
	return request.Status.Token
}

// get returns the status and the text of a page.
func (s pageScene) get(path, token string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), watchLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.https.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// rulesOf returns the rules of a role's file.
func rulesOf(t *testing.T, parts ...string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "config", "page"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.Unmarshal(text, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// newPageScene serves a page.
func newPageScene(t *testing.T) pageScene {
	t.Helper()
	namespaced := namespace(t, admin(t))
	scheme, err := manager.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	port, err := held.Pick(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := pageScene{t: t, c: c, ns: namespaced, url: fmt.Sprintf("https://127.0.0.1:%d", port),
		https: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	config := rest.AnonymousClientConfig(server)
	config.BearerToken = s.token("manager")
	s.role("manager", "", append(rulesOf(t, "role.yaml"),
		rbacv1.PolicyRule{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
		rbacv1.PolicyRule{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"machinepools"}, Verbs: []string{"list"}})...)
	own, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	served, err := page.New(page.Options{Settings: page.Settings{BindAddress: fmt.Sprintf("127.0.0.1:%d", port)}, Config: config, Client: own,
		Scheme: scheme, CloudOf: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- served.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(readyTimeout); ; time.Sleep(20 * time.Millisecond) {
		if resp, err := s.https.Get(s.url + "/"); err == nil {
			resp.Body.Close()
			return s
		}
		if time.Now().After(deadline) {
			t.Fatal("the page is not served")
		}
	}
}

// TestPageShowsWhatTheUserMayRead holds that the rights of config/page suffice for the page, and that each user sees what the API server
// lets the user read and nothing else.
func TestPageShowsWhatTheUserMayRead(t *testing.T) {
	s := newPageScene(t)
	other := namespace(t, admin(t))
	for _, ns := range []string{s.ns, other} {
		for k := range 2 {
			if err := s.c.Create(t.Context(), object(t, ns, columns[k].manifest)); err != nil {
				t.Fatal(err)
			}
		}
	}
	pools := rbacv1.PolicyRule{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"machinepools"},
		Verbs: []string{"get", "list", "watch"}}
	infra := rbacv1.PolicyRule{APIGroups: []string{"infrastructure.cluster.x-k8s.io"}, Resources: []string{"awsmachinepools"},
		Verbs: []string{"get", "list", "watch"}}
	viewer := rulesOf(t, "viewer_role.yaml")
	tenant, poor, stranger := s.token("tenant"), s.token("poor"), s.token("stranger")
	outsider, operator := s.token("outsider"), s.token("operator")
	s.role("tenant", s.ns, pools, infra)
	s.role("poor", s.ns, pools)
	s.role("outsider", "", pools, infra)
	s.role("operator", "", pools, infra)
	for _, name := range []string{"tenant", "poor", "stranger", "operator"} {
		s.role(name, "", viewer...)
	}
	for _, c := range []struct {
		why, token, path string
		code             int
		has, hasNot      string
	}{
		{why: "no token", path: "/", code: 401},
		{why: "a token of another issuer", token: "x", path: "/", code: 401},
		{why: "rights to pools without the right to the page", token: outsider, path: "/", code: 403},
		{why: "the right to the page without rights to pools", token: stranger, path: "/", code: 403, hasNot: "cluster-a"},
		{why: "a tenant sees the pools of its namespace", token: tenant, path: "/", code: 200, has: s.ns, hasNot: other},
		{why: "with their infrastructure objects", token: tenant, path: "/", code: 200, hasNot: "may not list and watch"},
		{why: "and one of them", token: tenant, path: "/pools/" + s.ns + "/p", code: 200, has: `"kind": "Pool"`},
		{why: "and none of another namespace", token: tenant, path: "/pools/" + other + "/p", code: 403, hasNot: "cluster-a"},
		{why: "nor its stream", token: tenant, path: "/pools/" + other + "/p/events", code: 403},
		{why: "who may not read infrastructure objects sees pools without them", token: poor, path: "/", code: 200,
			has: "may not list and watch"},
		{why: "an operator sees all", token: operator, path: "/?q=" + other, code: 200, has: other},
	} {
		code, text := s.get(c.path, c.token)
		if code != c.code || !strings.Contains(text, c.has) || c.hasNot != "" && strings.Contains(text, c.hasNot) {
			t.Errorf("%s: want %d with %q and without %q, got %d: %s", c.why, c.code, c.has, c.hasNot, code, text)
		}
	}
}

package partstest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/tokens"
)

// tokenLasts is the lifetime of an extended token, tokenFreshFor the time for which a read expiration is used.
const tokenLasts, tokenFreshFor = 2 * tokens.Early, 10 * time.Second

const joins = "discovery:\n  bootstrapToken:\n    apiServerEndpoint: 127.0.0.1:6443\n    token: abcdef.0123456789abcdef\n"

func TestIDs(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(joins))
	_ = w.Close()
	zipped := base64.StdEncoding.EncodeToString(packed.Bytes())
	ignition := func(source, compression string) string {
		return `{"ignition":{"version":"3.1.0"},"storage":{"files":[{"contents":{"compression":"` + compression + `","source":"` + source +
			`"}}]}}`
	}
	for name, tc := range map[string]struct {
		why, data string
		want      []string
	}{
		"cloud-init": {"as kubeadm's configuration has it", "#cloud-config\nwrite_files:\n- content: |\n    " + joins, []string{"abcdef"}},
		"twice": {"discovery and TLS may name it both",
			"token: abcdef.0123456789abcdef\ntlsBootstrapToken: \"abcdef.0123456789abcdef\"", []string{"abcdef"}},
		"two": {"they may differ too", "tlsBootstrapToken: zzzzzz.0123456789abcdef\ntoken: 'aaaaaa.0123456789abcdef'",
			[]string{"aaaaaa", "zzzzzz"}},
		"script":           {"there may be none", "#!/bin/sh\n/etc/eks/bootstrap.sh my-cluster", nil},
		"no token":         {"a name that looks like one is none", "image: docker.0123456789abcdef", nil},
		"ignition, plain":  {"a data URL with escapes", ignition("data:,token%3A%20abcdef.0123456789abcdef%0A", ""), []string{"abcdef"}},
		"ignition, packed": {"as it is written when that is shorter", ignition("data:;base64,"+zipped, "gzip"), []string{"abcdef"}},
		"ignition, remote": {"what is elsewhere can't be seen", ignition("s3://bucket/token", ""), nil},
		"ignition, broken": {"and what is broken neither", ignition("data:;base64,AAAA", "gzip"), nil},
		"ignition, escape": {"likewise", ignition("data:,%zz", ""), nil},
	} {
		if got := tokens.IDs([]byte(tc.data)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %s: want %v, got %v", name, tc.why, tc.want, got)
		}
	}
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func secret(id, until string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Data: map[string][]byte{"token-secret": []byte("x")}}
	if until != "" {
		s.Data["expiration"] = []byte(until)
	}
	return s
}

func in(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }

func TestRefresh(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why    string
		tokens map[string]string
		ids    []string
		want   tokens.Refreshed
		until  map[string]string
		writes int
	}{
		"fresh": {why: "nothing is written while there is time", tokens: map[string]string{"a": in(14 * time.Minute)}, ids: []string{"a"},
			want:  tokens.Refreshed{Next: 14*time.Minute - tokenLasts/2, Until: now.Add(14 * time.Minute)},
			until: map[string]string{"a": in(14 * time.Minute)}},
		"runs out": {why: "it gets more", tokens: map[string]string{"a": in(time.Minute)}, ids: []string{"a"},
			want: tokens.Refreshed{Next: tokenLasts / 2, Until: now.Add(tokenLasts)}, until: map[string]string{"a": in(tokenLasts)}, writes: 1},
		"ran out": {why: "until the token cleaner has deleted it, it can be extended", tokens: map[string]string{"a": in(-time.Hour)},
			ids: []string{"a"}, want: tokens.Refreshed{Next: tokenLasts / 2, Until: now.Add(tokenLasts)},
			until: map[string]string{"a": in(tokenLasts)}, writes: 1},
		"no time": {why: "what is no time keeps no token valid", tokens: map[string]string{"a": "soon"}, ids: []string{"a"},
			want: tokens.Refreshed{Next: tokenLasts / 2, Until: now.Add(tokenLasts)}, until: map[string]string{"a": in(tokenLasts)}, writes: 1},
		"for ever": {why: "one without an end stays so", tokens: map[string]string{"a": ""}, ids: []string{"a"}},
		"gone":     {why: "it can't be made again, for its secret part is not kept", ids: []string{"a"}, want: tokens.Refreshed{Lost: true}},
		"others": {why: "those that are not asked for run out", tokens: map[string]string{"b": in(time.Minute)},
			until: map[string]string{"b": in(time.Minute)}},
		"gone, two": {why: "one lost does not keep the other from its renewal", tokens: map[string]string{"b": in(time.Minute)},
			ids: []string{"a", "b"}, want: tokens.Refreshed{Next: tokenLasts / 2, Lost: true, Until: now.Add(tokenLasts)},
			until: map[string]string{"b": in(tokenLasts)}, writes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fake.NewClientBuilder()
			for id, until := range tc.tokens {
				b = b.WithObjects(secret(id, until))
			}
			writes := 0
			c := b.WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch,
				opts ...client.PatchOption) error {
				writes++
				return c.Patch(ctx, o, p, opts...)
			}}).Build()
			got, err := tokens.Refresh(t.Context(), c, tc.ids, tokens.Early, now)
			if err != nil || got != tc.want || writes != tc.writes {
				t.Errorf("%s: want %+v with %d writes, got %+v with %d, error %v", tc.why, tc.want, tc.writes, got, writes, err)
			}
			for id, until := range tc.until {
				is := &corev1.Secret{}
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(secret(id, "")), is); err != nil {
					t.Fatal(err)
				}
				if string(is.Data["expiration"]) != until || string(is.Data["token-secret"]) != "x" {
					t.Errorf("%s: token %s: want it valid until %s and otherwise unchanged, got %s", tc.why, id, until, is.Data["expiration"])
				}
			}
		})
	}
}

// TestRefreshLate: who makes tokens replaces them when half of their time is over, and would never do so if others were quicker.
func TestRefreshLate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		left   time.Duration
		until  time.Time
	}{
		{"its maker looks at it every third of its time, so that at his latest look two and a half minutes are left", 150 * time.Second,
			now.Add(150 * time.Second)},
		{"he has not looked", tokens.Late, now.Add(tokenLasts)},
	} {
		c := fake.NewClientBuilder().WithObjects(secret("a", in(tc.left))).Build()
		got, err := tokens.Refresh(t.Context(), c, []string{"a"}, tokens.Late, now)
		if err != nil || !got.Until.Equal(tc.until) || got.Next != tc.until.Sub(now)-tokens.Late {
			t.Errorf("%s: want it valid until %s, got %+v, %v", tc.reason, tc.until, got, err)
		}
	}
}

func TestRefreshErrors(t *testing.T) {
	t.Parallel()
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey,
		client.Object, ...client.GetOption) error {
		return errors.New("out of reach")
	}}).Build()
	kept, err := tokens.Refresh(t.Context(), c, []string{"a"}, tokens.Early, now)
	if err == nil || !strings.Contains(err.Error(), "bootstrap token a of the workload cluster alive: out of reach") || kept.Lost {
		t.Errorf("a cluster that can't be asked has lost nothing: got %+v, %v", kept, err)
	}
}

// TestRefreshContinuesAfterErrors holds that a token that cannot be read does not prevent the extension of the others.
func TestRefreshContinuesAfterErrors(t *testing.T) {
	t.Parallel()
	soon := now.Add(time.Minute)
	b := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-b"},
		Data: map[string][]byte{"expiration": []byte(in(time.Minute))}}
	c := fake.NewClientBuilder().WithObjects(b).WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch,
		key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if strings.HasSuffix(key.Name, "-a") {
			return apierrors.NewForbidden(corev1.Resource("secrets"), key.Name, errors.New("by admission"))
		}
		return c.Get(ctx, key, o, opts...)
	}}).Build()
	kept, err := tokens.Refresh(t.Context(), c, []string{"a", "b"}, tokens.Early, now)
	if err == nil || !strings.Contains(err.Error(), "token a of") || !kept.Until.After(soon) {
		t.Errorf("want the error of a, and b kept, got %+v, %v", kept, err)
	}
}

// made returns a token that Cluster API's bootstrap provider created.
func made(id string) *corev1.Secret {
	s := secret(id, in(time.Minute))
	s.Data["description"] = []byte("token generated by cluster-api-bootstrap-provider-kubeadm")
	return s
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		refuse func(name string) error
		fails  bool
		left   []string
	}{
		"revoked": {reason: "a token that a user made may serve others, and those that are not asked for stay",
			left: []string{"bootstrap-token-other", "bootstrap-token-users"}},
		"one refused": {reason: "it keeps no other from being revoked", fails: true,
			left: []string{"bootstrap-token-a", "bootstrap-token-other", "bootstrap-token-users"},
			refuse: func(name string) error {
				if strings.HasSuffix(name, "-a") {
					return apierrors.NewForbidden(corev1.Resource("secrets"), name, errors.New("by admission"))
				}
				return nil
			}},
		"out of reach": {reason: "a server that does not answer is asked once", fails: true,
			left: []string{"bootstrap-token-a", "bootstrap-token-b", "bootstrap-token-other", "bootstrap-token-users"},
			refuse: func(name string) error {
				if !strings.HasSuffix(name, "-a") {
					t.Errorf("asked again, for %s", name)
				}
				return errors.New("out of reach")
			}},
	} {
		c := fake.NewClientBuilder().WithObjects(made("a"), made("b"), made("other"), secret("users", "")).Build()
		refusing := interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey,
			o client.Object, opts ...client.GetOption) error {
			if tc.refuse != nil {
				if err := tc.refuse(key.Name); err != nil {
					return err
				}
			}
			return c.Get(ctx, key, o, opts...)
		}})
		if err := tokens.Revoke(t.Context(), refusing, []string{"a", "b", "gone", "users"}); (err != nil) != tc.fails {
			t.Errorf("%s: %s: got error %v", name, tc.reason, err)
		}
		list := &corev1.SecretList{}
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, s := range list.Items {
			left = append(left, s.Name)
		}
		if !slices.Equal(left, tc.left) {
			t.Errorf("%s: %s: want %v left, got %v", name, tc.reason, tc.left, left)
		}
	}
}

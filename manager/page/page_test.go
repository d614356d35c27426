package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// reviews is an API server that knows the tokens "good", of a user who may see the page, and "known", of one who may not. It counts
// requests.
func reviews(t *testing.T, asked *int) *reviewer {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			*asked++
			switch r := o.(type) {
			case *authenticationv1.TokenReview:
				r.Status.Authenticated = r.Spec.Token == "good" || r.Spec.Token == "known"
				r.Status.User = authenticationv1.UserInfo{Username: r.Spec.Token + "-user", Groups: []string{"team"}, UID: "u",
					Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a"}, provenance + "pod-name": {"p"}}}
			case *authorizationv1.SubjectAccessReview:
				if n := r.Spec.NonResourceAttributes; n == nil || n.Path != URL || n.Verb != "get" || len(r.Spec.Extra) != 2 {
					t.Errorf("want the right to get %s asked for with all that is known of the user, got %v", URL, r.Spec)
				}
				r.Status.Allowed = r.Spec.User == "good-user"
			default:
				t.Errorf("want reviews alone, got %T", o)
			}
			return nil
		},
	}).Build()
	return newReviewer(c)
}

// TestGate holds who is let in, and that others learn nothing.
func TestGate(t *testing.T) {
	t.Parallel()
	asked, let := 0, 0
	g := &gate{reviews: reviews(t, &asked), pages: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, ok := userOf(r.Context()); ok {
			let++
			if user.UserName != "good-user" || len(user.Groups) != 1 || user.UID != "u" || len(user.Extra) != 1 {
				t.Errorf("want the whole user without the provenance of its token, got %v", user)
			}
		}
		_, _ = w.Write([]byte("secret"))
	})}
	for _, c := range []struct {
		why, method, path, header, cookie string
		code                              int
	}{
		{"no token", "GET", "/", "", "", 401},
		{"another token", "GET", "/", "Bearer other", "", 401},
		{"another scheme", "GET", "/", "Basic good", "", 401},
		{"an empty token", "GET", "/", "Bearer ", "", 401},
		{"too few rights", "GET", "/", "Bearer known", "", 403},
		{"a stream needs a token too", "GET", "/events", "", "", 401},
		{"so does a path that does not exist", "GET", "/nothing", "", "", 401},
		{"so does a script", "GET", "/assets/htmx.min.js", "", "", 401},
		{"the form is styled", "GET", "/assets/style.css", "", "", 200},
		{"a header", "GET", "/", "Bearer good", "", 200},
		{"a cookie", "GET", "/", "", "good", 200},
		{"the header wins over the cookie", "GET", "/", "Bearer other", "good", 401},
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			r := httptest.NewRequest(c.method, c.path, nil)
			r.Header.Set("Accept", accept)
			if c.header != "" {
				r.Header.Set("Authorization", c.header)
			}
			if c.cookie != "" {
				r.AddCookie(&http.Cookie{Name: cookieName, Value: c.cookie})
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != c.code {
				t.Errorf("%s: want %d, got %d", c.why, c.code, w.Code)
			}
			if c.code != 200 && (strings.Contains(w.Body.String(), "secret") || w.Header().Get("Content-Security-Policy") == "") {
				t.Errorf("%s: want nothing of the page and a policy, got %s", c.why, w.Body)
			}
		}
	}
	if let == 0 || asked > 20 {
		t.Errorf("want users let in, and reviews remembered, got %d and %d requests", let, asked)
	}
}

// TestReviewsAreRepeated holds that a token which is revoked is refused a minute later.
func TestReviewsAreRepeated(t *testing.T) {
	t.Parallel()
	asked := 0
	r := reviews(t, &asked)
	now := time.Now()
	r.now = func() time.Time { return now }
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 2}, {validFor / 2, 2}, {validFor + time.Second, 4}} {
		r.now = func() time.Time { return now.Add(c.after) }
		if _, err := r.user(t.Context(), "good"); err != nil {
			t.Fatal(err)
		}
		if asked != c.want {
			t.Errorf("after %v: want %d requests, got %d", c.after, c.want, asked)
		}
	}
}

// TestRefusalsDisplaceNoUser holds that many invalid tokens leave the review of a valid one remembered, and that both memories are bounded.
func TestRefusalsDisplaceNoUser(t *testing.T) {
	t.Parallel()
	asked := 0
	r := reviews(t, &asked)
	if _, err := r.user(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	for k := range 2*maxReviews + 1 {
		if _, err := r.user(t.Context(), "invalid-"+strconv.Itoa(k)); !apierrors.IsUnauthorized(err) {
			t.Fatalf("want an invalid token refused, got %v", err)
		}
	}
	if len(r.refused) > maxReviews {
		t.Errorf("want at most %d refusals remembered, got %d", maxReviews, len(r.refused))
	}
	before := asked
	if _, err := r.user(t.Context(), "good"); err != nil || asked != before {
		t.Errorf("want the valid token's review remembered, got %d more requests and %v", asked-before, err)
	}
}

// TestReviewsUnderWay holds that the reviews under way are bounded, that those which wait for too long are refused for now, and that a
// user who was accepted before does not wait for them.
func TestReviewsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var blocked atomic.Int32
		release := make(chan struct{})
		c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
				switch r := o.(type) {
				case *authenticationv1.TokenReview:
					if r.Spec.Token == "good" {
						r.Status.Authenticated, r.Status.User.Username = true, "good-user"
						return nil
					}
					blocked.Add(1)
					<-release
				case *authorizationv1.SubjectAccessReview:
					r.Status.Allowed = true
				}
				return nil
			},
		}).Build()
		r := newReviewer(c)
		if _, err := r.user(t.Context(), "good"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * validFor)
		ended := make(chan error, 5*reviewing)
		for k := range cap(ended) {
			go func() {
				_, err := r.user(t.Context(), "invalid-"+strconv.Itoa(k))
				ended <- err
			}()
		}
		synctest.Wait()
		begun := time.Now()
		if _, err := r.user(t.Context(), "good"); err != nil || time.Since(begun) > 0 {
			t.Errorf("want the user let in at once, got %v after %v", err, time.Since(begun))
		}
		for range cap(ended) - reviewing {
			if err := <-ended; !apierrors.IsTooManyRequests(err) {
				t.Errorf("want a review refused for now that waits for others, got %v", err)
			}
		}
		if waited := time.Since(begun); blocked.Load() != reviewing || waited != reviewLimit {
			t.Errorf("want %d reviews under way and the others refused after %v, got %d and %v", reviewing, reviewLimit, blocked.Load(), waited)
		}
		close(release)
		for range reviewing {
			if err := <-ended; !apierrors.IsUnauthorized(err) {
				t.Errorf("want an invalid token refused, got %v", err)
			}
		}
	})
}

// TestLogin holds that the form keeps a token that is accepted, in a cookie that no script and no other site has.
func TestLogin(t *testing.T) {
	t.Parallel()
	asked := 0
	g := http.NewCrossOriginProtection().Handler(&gate{reviews: reviews(t, &asked), pages: http.NotFoundHandler()})
	post := func(token, site string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
	if w := post("other", "same-origin"); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 {
		t.Errorf("want another token refused without a cookie, got %d %v", w.Code, w.Result().Cookies())
	}
	if w := post("good", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("want a form of another site refused, got %d", w.Code)
	}
	w := post("good", "same-origin")
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("want a cookie, got %d %v", w.Code, cookies)
	}
	if c := cookies[0]; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("want a cookie for this host alone, got %v", c)
	}
}

// TestLocalPageStaysLocal holds that a page without authentication is served on loopback alone, and answers to no other name.
func TestLocalPageStaysLocal(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true,
		"0.0.0.0:0": false, ":0": false, "10.0.0.1:80": false, "x": false} {
		if _, err := New(Options{Settings: Settings{BindAddress: address, Local: true}}); (err == nil) != ok {
			t.Errorf("%s: want accepted %t, got %v", address, ok, err)
		}
	}
	if _, err := New(Options{Settings: Settings{BindAddress: ":0"}}); err != nil {
		t.Errorf("want any address with authentication, got %v", err)
	}
	h := loopbackOnly(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{"127.0.0.1:80": 200, "localhost:80": 200, "[::1]:80": 200,
		"evil.example:80": 421, "evil.example": 421} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: want %d, got %d", host, want, w.Code)
		}
	}
}

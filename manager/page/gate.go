package page

import (
	"context"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/muster-project/muster/view/page"
	"github.com/muster-project/muster/view/page/assets"
)

type userKey struct{}

// userOf returns the user that the gate has let in.
func userOf(ctx context.Context) (rest.ImpersonationConfig, bool) {
	user, ok := ctx.Value(userKey{}).(rest.ImpersonationConfig)
	return user, ok
}

// gate lets users in whose token the API server accepts and who may see the page. Browsers send the token of a form, and have it in a
// cookie then: no script reads it, and no other site can have it sent.
type gate struct {
	reviews *reviewer
	pages   http.Handler
}

// maxForm bounds the form with the token, in bytes.
const maxForm = maxToken + 1024

// ServeHTTP answers a request.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page.SetPolicy(w.Header())
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/login":
		g.login(w, r)
		return
	case r.Method == http.MethodPost && r.URL.Path == "/logout":
		http.SetCookie(w, cookie("", -1))
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	case r.Method == http.MethodGet && (r.URL.Path == assets.Path+"style.css" || r.URL.Path == assets.Path+"icon.svg"):
		g.pages.ServeHTTP(w, r) // the form has them too
		return
	}
	user, err := g.reviews.user(r.Context(), tokenOf(r))
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	g.pages.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, user)))
}

// login keeps the token of the form in a cookie, if it is one of a user who may see the page.
func (g *gate) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	token := strings.TrimSpace(r.PostFormValue("token"))
	if _, err := g.reviews.user(r.Context(), token); err != nil {
		g.refuse(w, r, err)
		return
	}
	http.SetCookie(w, cookie(token, 0))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// cookie returns the cookie with a token. It ends with the browser's session; the token is reviewed again all the time.
func cookie(token string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: token, Path: "/", MaxAge: age, Secure: true, HttpOnly: true,
		SameSite: http.SameSiteStrictMode}
}

// refuse answers a request that is not let in. Browsers get a form for a token.
func (g *gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	code, text := http.StatusInternalServerError, "the API server could not review the token"
	switch {
	case apierrors.IsUnauthorized(err):
		code, text = http.StatusUnauthorized, err.Error()
		w.Header().Set("WWW-Authenticate", `Bearer realm="muster"`)
	case apierrors.IsForbidden(err):
		code, text = http.StatusForbidden, err.Error()
	case apierrors.IsTooManyRequests(err):
		code, text = http.StatusTooManyRequests, err.Error()
	default:
		klog.FromContext(r.Context()).Error(err, "review of a token for the page failed")
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, text, code)
		return
	}
	page.Login(w, code, text, tokenOf(r) != "" || r.Method == http.MethodPost)
}

package page

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// URL is the non-resource URL that a user must be allowed to get.
	URL = "/muster-page"
	// validFor is the time for which a review of a token, and of its user's right, is remembered: the same as for the metrics.
	validFor = time.Minute
	// refusedFor is the time for which a refusal is remembered.
	refusedFor = 10 * time.Second
	// maxReviews bounds the remembered users, and the remembered refusals.
	maxReviews = 1000
	// reviewing bounds the reviews that are under way at the same time, of tokens that were accepted lately and of all others.
	reviewing = 10
	// reviewQPS and reviewBurst bound the requests of all reviews together.
	reviewQPS, reviewBurst = 20, 40
	// reviewLimit bounds the time of a review, the wait for others included.
	reviewLimit = 10 * time.Second
	// maxToken bounds the length of a token, in bytes.
	maxToken = 64 << 10
)

// reviewer authenticates and authorizes by the API server, and remembers its answers for a short time. It is safe for concurrent use.
type reviewer struct {
	client client.Client
	now    func() time.Time
	// strangers and acquainted have room for the reviews that are under way. Those who send many invalid tokens delay only logins.
	strangers, acquainted chan struct{}

	mu sync.Mutex
	// accepted and refused are the answers by the hash of their token. Refusals do not displace users.
	accepted, refused answers
}

// answers are remembered reviews by the hash of their token.
type answers map[[sha256.Size]byte]review

// review is the remembered answer about a token: the user, or why it is refused.
type review struct {
	user  rest.ImpersonationConfig
	err   error
	until time.Time
}

// put remembers an answer. If there are too many, those that are out of date are forgotten, or all.
func (a answers) put(key [sha256.Size]byte, one review, now time.Time) {
	if _, ok := a[key]; !ok && len(a) >= maxReviews {
		maps.DeleteFunc(a, func(_ [sha256.Size]byte, old review) bool { return !now.Before(old.until) })
		if len(a) >= maxReviews {
			clear(a)
		}
	}
	a[key] = one
}

func newReviewer(c client.Client) *reviewer {
	return &reviewer{client: c, now: time.Now, strangers: make(chan struct{}, reviewing), acquainted: make(chan struct{}, reviewing),
		accepted: answers{}, refused: answers{}}
}

// provenance begins the keys of what an API server adds to users of its own tokens: from which credential and pod they come. It gives and
// limits no right, and is not impersonated. Everything else is, because a webhook that authorizes may limit a user by it.
const provenance = "authentication.kubernetes.io/"

// errUnauthorized and errForbidden are the errors without a valid token, and without the right to see the page.
var errUnauthorized = apierrors.NewUnauthorized("want a token of the API server: Authorization: Bearer TOKEN")

func errForbidden(user string) error {
	err := apierrors.NewForbidden(authorizationv1.Resource("muster-page"), "", nil)
	err.ErrStatus.Message = "user " + user + " may not get the non-resource URL " + URL + ": bind the ClusterRole muster-page-viewer"
	return err
}

// user returns the user of a token who may see the page.
func (r *reviewer) user(ctx context.Context, token string) (rest.ImpersonationConfig, error) {
	if token == "" || len(token) > maxToken {
		return rest.ImpersonationConfig{}, errUnauthorized
	}
	key := sha256.Sum256([]byte(token))
	found, valid := r.recall(key)
	if valid {
		return found.user, found.err
	}
	ctx, cancel := context.WithTimeout(ctx, reviewLimit)
	defer cancel()
	slots := r.strangers
	if found.user.UserName != "" {
		slots = r.acquainted
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return rest.ImpersonationConfig{}, apierrors.NewTooManyRequests("other tokens are being reviewed", int(refusedFor/time.Second))
	}
	if found, valid = r.recall(key); valid { // another request has had the token reviewed meanwhile
		return found.user, found.err
	}
	user, err := r.ask(ctx, token)
	if err != nil && !apierrors.IsUnauthorized(err) && !apierrors.IsForbidden(err) {
		return user, err // of the request: it is no answer
	}
	r.remember(key, user, err)
	return user, err
}

// recall returns the answer about a token, and whether it is still valid. Of an accepted token the user is returned later too.
func (r *reviewer) recall(key [sha256.Size]byte) (found review, valid bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.refused[key]; ok && r.now().Before(found.until) {
		return found, true
	}
	found = r.accepted[key]
	return found, r.now().Before(found.until)
}

// remember keeps the answer about a token.
func (r *reviewer) remember(key [sha256.Size]byte, user rest.ImpersonationConfig, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if err != nil {
		delete(r.accepted, key)
		r.refused.put(key, review{err: err, until: now.Add(refusedFor)}, now)
		return
	}
	delete(r.refused, key)
	r.accepted.put(key, review{user: user, until: now.Add(validFor)}, now)
}

// ask has the API server review a token and the right of its user.
func (r *reviewer) ask(ctx context.Context, token string) (rest.ImpersonationConfig, error) {
	t := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := r.client.Create(ctx, t); err != nil {
		return rest.ImpersonationConfig{}, apierrors.NewInternalError(err)
	}
	if !t.Status.Authenticated {
		return rest.ImpersonationConfig{}, errUnauthorized
	}
	info := t.Status.User
	user := rest.ImpersonationConfig{UserName: info.Username, UID: info.UID, Groups: info.Groups, Extra: map[string][]string{}}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: info.Username, UID: info.UID, Groups: info.Groups, Extra: map[string]authorizationv1.ExtraValue{},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: URL, Verb: "get"},
	}}
	for key, values := range info.Extra {
		if !strings.HasPrefix(key, provenance) {
			user.Extra[key] = values
		}
		review.Spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	if err := r.client.Create(ctx, review); err != nil {
		return rest.ImpersonationConfig{}, apierrors.NewInternalError(err)
	}
	if !review.Status.Allowed {
		return rest.ImpersonationConfig{}, errForbidden(info.Username)
	}
	return user, nil
}

// identity returns a key of a user: of two users with different rights it differs.
func identity(user rest.ImpersonationConfig) string {
	text, err := json.Marshal(user)
	if err != nil {
		return user.UserName // not reached: strings can be encoded
	}
	return string(text)
}

// cookieName is the name of the cookie that holds a browser's token. Its prefix has browsers accept it over TLS alone, for this host alone.
const cookieName = "__Host-muster-page"

// tokenOf returns the token of a request: of its header, or of the cookie that the login sets.
func tokenOf(r *http.Request) string {
	if header := r.Header.Get("Authorization"); header != "" {
		kind, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(kind, "Bearer") {
			return ""
		}
		return strings.TrimSpace(token)
	}
	if c, err := r.Cookie(cookieName); err == nil {
		return c.Value
	}
	return ""
}

package instancepool

import (
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/session"
)

// retryTokens derives the retry tokens of creations, with which OCI does a request once for 24 hours. A token is a function of the owner
// and of what is created, so that a process which has lost a reply sends the same one.
//
// OCI refuses the token of a creation whose effect was changed since: what was created has been deleted, for instance. What exists is read
// again then. Only if it still does not exist in a read from after the refusal, the next token is another one.
type retryTokens struct{ refused map[string]refusedToken }

type refusedToken struct {
	// generation is that of the token after since.
	generation int
	since      time.Time
}

// tokenDigits is the length of tokens, of which OCI takes 64 characters.
const tokenDigits = 40

// of returns the token of a creation.
func (r *retryTokens) of(now time.Time, parts ...string) (key string, token *string) {
	key = strings.Join(parts, "\n")
	is := r.refused[key]
	if is.generation > 0 && now.Before(is.since) {
		is.generation--
	}
	return key, retryToken(key, strconv.Itoa(is.generation))
}

// retryToken returns the token of a request that these parts tell from others.
func retryToken(parts ...string) *string {
	return new(cloud.Digest([]byte(strings.Join(parts, "\n")), tokenDigits))
}

// note notes the outcome of a request with the token of a key.
func (r *retryTokens) note(key string, now time.Time, err error) {
	if cloud.CodeOf(err) != session.CodeInvalidatedRetryToken {
		return
	}
	is := r.refused[key]
	if now.Before(is.since) {
		return
	}
	if r.refused == nil {
		r.refused = map[string]refusedToken{}
	}
	r.refused[key] = refusedToken{generation: is.generation + 1, since: now.Add(visibleWithin)}
}

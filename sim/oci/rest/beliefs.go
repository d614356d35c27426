package rest

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
)

// TokenAlone repeats the answer of the first request for a retry token, whatever the second one says. Otherwise another body is refused.
const TokenAlone sim.Switch = "oci.TokenAlone"

// Beliefs returns the behaviour that Oracle's services have in common.
func Beliefs() []evidence.Row {
	const (
		signing, published = "Oracle, Request Signatures", "2026"
		errors             = "Oracle, API Errors"
	)
	return evidence.Of("Oracle Cloud",
		evidence.Documented("Requests are signed with RSA-SHA256 over date, (request-target) and host; those with a body also over its hash, "+
			"its length and its type", signing, published),
		evidence.Documented("A clock that is more than 5 minutes off is refused with 401 NotAuthenticated", signing, published),
		evidence.Documented("What does not exist and what the caller may not do are both 404 NotAuthorizedOrNotFound", errors, published),
		evidence.Documented("An operation that does not exist is 404 NotFound, another method 405 MethodNotAllowed", errors, published),
		evidence.Documented("A retry token lasts 24 hours and has 64 characters at most",
			"Swagger of Container Engine, opc-retry-token", "20180222"),
		evidence.Documented("A retry token whose request a later one has changed is refused with 409 InvalidatedRetryToken", errors, published),
		evidence.Documented("An etag that is not the current one is refused with 412 NoEtagMatch", errors, published),
		evidence.Documented("A list ends with the page that has no opc-next-page", "Oracle, List Pagination", published),
		evidence.Observed("Security tokens are named as ST$ and the token in keyId, and hold the public key of their session as jwk",
			"oci-go-sdk v65.130.0, common/auth"),
		evidence.Assumed("A retry token with another body than before is refused with 409 InvalidatedRetryToken").
			Switch(TokenAlone, "answered as the first request was"),
	)
}

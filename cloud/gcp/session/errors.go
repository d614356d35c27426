package session

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// codeNotFound is the code of a 404 reply without a code of its own.
const codeNotFound = "notFound"

// Refusal makes the cloud's refusal of every error that a call of the clients can end with. It is nil for nil.
func (s *Session) Refusal(err error) error {
	if err == nil {
		return nil
	}
	var own *cloud.Error
	if errors.As(err, &own) {
		return byWhom(own, s.credentials)
	}
	e, target := &cloud.Error{Kind: cloud.Unavailable}, ""
	var unanswered *unanswered
	if errors.As(err, &unanswered) {
		e.Op = unanswered.call.String()
	}
	var reply *googleapi.Error
	var token *tokenError
	switch {
	case refusal.Unsent(e, err):
	case errors.As(err, &token):
		ofToken(e, token, s.now())
	case errors.As(err, &reply):
		target = ofReply(e, reply, s.now())
	default:
		refusal.Unanswered(e, err)
	}
	return driverkit.AboutPart(byWhom(e, s.credentials), target)
}

// byWhom names the credentials that were denied something.
func byWhom(e *cloud.Error, c Credentials) *cloud.Error {
	if e.Kind == cloud.Denied && e.Field == "" && c.Name != "" {
		e.Field = c.Name
	}
	return e
}

// ofToken takes over the answer of the token service.
func ofToken(e *cloud.Error, err *tokenError, now time.Time) {
	e.Op = opToken
	var reply *oauth2.RetrieveError
	if !errors.As(err, &reply) || reply.Response == nil {
		refusal.Unanswered(e, err)
		return
	}
	is := readToken(reply.Body)
	table.Token(e, refusal.ServiceError{Code: is.Error, Message: is.Description, Status: reply.Response.StatusCode},
		reply.Response.Header, now)
}

// ofReply takes over what a service has answered, and returns what it is about.
func ofReply(e *cloud.Error, reply *googleapi.Error, now time.Time) (target string) {
	e.Op, e.After = reply.Header.Get(headerCall), wire.RetryAfter(reply.Header, now)
	if refusal.NotFromService(reply.Code, []byte(reply.Body)) {
		*e = *cloud.NotFromService(e.Op, reply.Code)
		return ""
	}
	is := readReply([]byte(reply.Body))
	if is.Code == "" && reply.Code == http.StatusNotFound {
		is.Code = codeNotFound
	}
	is.classify(e, reply.Code)
	return is.Target
}

// classify sets e to the kind of the error, which depends on its code, its message and the HTTP status.
func (s serviceError) classify(e *cloud.Error, status int) {
	table.Describe(e, refusal.ServiceError{Kind: kindOf(s, status), Code: s.Code, Message: s.Message, Status: status})
}

// table holds the codes and texts of Google's refusals: its codes are reasons of replies, the codes of operations and of attempts to create
// instances, and canonical codes. Case and underscores do not count.
var table = refusal.New(refusal.Table{
	Spelling: normal,
	Codes: map[cloud.ErrorKind][]string{
		cloud.Throttled: {
			"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_OPERATION_RATE_EXCEEDED",
			"CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
		},
		cloud.Conflict: {
			"conditionNotMet", "resourceInUse", "resourceInUseByAnotherResource", "resourceNotReady", "alreadyExists", "ABORTED",
			"FAILED_PRECONDITION",
			"failedPrecondition", "CONFLICT", "concurrentModification", "fingerprintMismatch", "operationInProgress", "RESOURCE_ALREADY_EXISTS",
			"RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "RESOURCE_NOT_READY", "CLUSTER_ALREADY_HAS_OPERATION", "CANCELLED_BY_USER",
			"INVALID_STATE_FOR_OPERATION",
		},
		cloud.Capacity: {
			"quotaExceeded", "QUOTA_EXCEEDED", "limitExceeded", "LIMIT_EXCEEDED", "stockout", "STOCKOUT", "GCE_STOCKOUT", "GCE_QUOTA_EXCEEDED",
			"ZONE_RESOURCE_POOL_EXHAUSTED",
			"ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "REGION_RESOURCE_POOL_EXHAUSTED", "RESOURCE_POOL_EXHAUSTED", "RESOURCE_EXHAUSTED",
			"resourceAvailability",
			"IP_SPACE_EXHAUSTED", "IP_SPACE_EXHAUSTED_WITH_DETAILS", "resourcesExhausted", "RESERVATION_CAPACITY_EXCEEDED",
		},
		cloud.Denied: {
			"forbidden", "authError", "insufficientPermissions", "accessNotConfigured", "SERVICE_DISABLED", "PERMISSION_DENIED", "PERMISSIONS_ERROR",
			"IAM_PERMISSION_DENIED", "UNAUTHENTICATED", "CREDENTIALS_MISSING", "billingNotEnabled", "BILLING_DISABLED", "conditionViolated",
			"SERVICE_ACCOUNT_ACCESS_DENIED",
		},
		cloud.Invalid: {
			"invalid", "badRequest", "invalidParameter", "INVALID_ARGUMENT", "INVALID_FIELD_VALUE", "INVALID_USAGE", "UNSUPPORTED_OPERATION",
			codeNotFound, "NOT_FOUND", "RESOURCE_NOT_FOUND",
			"OUT_OF_RANGE", "parseError",
		},
		cloud.Unavailable: {"backendError", "internalError", "INTERNAL", "INTERNAL_ERROR", "UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN"},
	},
	Absent: []string{codeNotFound, "RESOURCE_NOT_FOUND"},
	Rewritten: append([]refusal.Rewritten{{Part: link, By: "$1"}, {Part: operationID, By: "operation"}},
		refusal.Dropped(uuid, instant, trailing)...),
	Places: []refusal.Place{{Name: quotaName, Label: "quota "}, {Name: zoneName, Label: "zone "}, {Name: regionName, Label: "region "}},
})

// normal is a code without case and underscores: what is resourceNotReady in a reply is RESOURCE_NOT_READY in an operation.
func normal(code string) string { return strings.ToLower(strings.ReplaceAll(code, "_", "")) }

// kindOf returns the kind of an error by its code, or else by the HTTP status.
func kindOf(s serviceError, status int) cloud.ErrorKind {
	switch status {
	case http.StatusTooManyRequests:
		return cloud.Throttled
	case http.StatusUnauthorized:
		return cloud.Denied
	}
	if kind, ok := table.Kind(s.Code); ok {
		return kind
	}
	if status == 0 {
		return cloud.Unavailable
	}
	return cloud.KindOfStatus(status)
}

// Absent reports whether a call failed because something that it names does not exist (any more).
func Absent(err error) bool { return table.IsAbsent(err) }

// Exists reports whether a creation failed because there is something of that name already.
func Exists(err error) bool {
	return table.Is(cloud.CodeOf(err), "alreadyExists", "RESOURCE_ALREADY_EXISTS")
}

// Vanished makes a conflict of a step on something that is gone: another client was faster, and the next look will show it.
func Vanished(err error) error {
	return driverkit.VanishedAs(err, Absent(err))
}

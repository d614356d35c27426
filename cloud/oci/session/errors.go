package session

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// The codes of refusals that code depends on.
const (
	// CodeNotFound refuses what does not exist, and what the caller may not see. It never tells that something is gone.
	CodeNotFound = "NotAuthorizedOrNotFound"
	// CodeIncorrectState refuses what the state of a resource does not allow for now.
	CodeIncorrectState = "IncorrectState"
	// CodeConflict refuses what the state of a resource never allows: the same request is refused again.
	CodeConflict = "Conflict"
	// CodeInvalidatedRetryToken refuses the retry token of a request that had its effect, which a later one has changed. What exists is read
	// again; the request is not sent with another token.
	CodeInvalidatedRetryToken = "InvalidatedRetryToken"
	// CodeNoEtagMatch refuses a change of another revision than the present one.
	CodeNoEtagMatch = "NoEtagMatch"
)

// table holds the codes of Oracle's refusals (Oracle, API Errors).
var table = refusal.New(refusal.Table{
	Codes: map[cloud.ErrorKind][]string{
		cloud.Throttled: {"TooManyRequests"},
		cloud.Conflict:  {CodeIncorrectState, "ExternalServerIncorrectState", CodeInvalidatedRetryToken, CodeNoEtagMatch},
		cloud.Capacity:  {"LimitExceeded", "QuotaExceeded", "OutOfCapacity", "OutOfHostCapacity"},
		cloud.Denied: {CodeNotFound, "NotAuthorized", "NotAllowed", "NotAuthenticated", "SignUpRequired", "NotAuthorizedOrResourceAlreadyExists",
			"RelatedResourceNotAuthorizedOrNotFound"},
		cloud.Invalid: {CodeConflict, "CannotParseRequest", "InvalidParameter", "MissingParameter", "InvalidParameterValue",
			"UnprocessableEntity",
			"RequestEntityTooLarge"},
		cloud.Unavailable: {"InternalError", "InternalServerError", "ServiceUnavailable"},
	},
	Rewritten: refusal.Dropped(regexp.MustCompile(`(?i)[,;]? ?\(?opc-request-id:? ?[0-9a-z/-]+\)?`)),
	Places: []refusal.Place{
		{Name: regexp.MustCompile(`limits were exceeded: ([a-z0-9-]+)`), Label: "limit "},
		{Name: regexp.MustCompile(`\b(\w+:[A-Z0-9-]+-AD-\d)\b`), Label: "availability domain "},
		{Name: regexp.MustCompile(`\bshape ([\w.]+\w)`), Label: "shape "},
	},
})

// lacking finds a lack of capacity in a message: the code of such an answer is that of an internal error.
var lacking = regexp.MustCompile(`(?i)out of (host )?capacity|(limits?|quotas?) (was|were|has been|have been) exceeded`)

// NotFound reports whether a call was refused because what it names does not exist or must not be seen.
func NotFound(err error) bool { return cloud.CodeOf(err) == CodeNotFound }

// FailureOf returns the failure that a node, a work request or another part of a resource reports, in Oracle's words.
func FailureOf(code, message string) *cloud.Error {
	e := &cloud.Error{}
	table.Describe(e, refusal.ServiceError{Kind: kindOf(code, message, 0), Code: code, Message: message})
	return e
}

// kindOf returns the kind of a refusal. Status is zero for a failure that is no answer.
func kindOf(code, message string, status int) cloud.ErrorKind {
	if lacking.MatchString(message) {
		return cloud.Capacity
	}
	if kind, known := table.Kind(code); known && status != http.StatusTooManyRequests {
		return kind
	}
	if status == 0 {
		return cloud.Unavailable
	}
	return cloud.KindOfStatus(status)
}

// serviceError is the body of an answer that refuses.
type serviceError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ofReply returns the error of an answer that refuses a request. A body without a code is not the service's own: it tells nothing but that
// there were too many requests.
func ofReply(op string, reply *http.Response, body []byte, now time.Time) error {
	var is serviceError
	_ = json.Unmarshal(body, &is) // what is no JSON has no code
	kind := kindOf(is.Code, is.Message, reply.StatusCode)
	router := reply.StatusCode == http.StatusNotFound && is.Code != CodeNotFound
	if is.Code == "" && kind != cloud.Throttled || reply.StatusCode < http.StatusBadRequest || router {
		return cloud.NotFromService(op, reply.StatusCode)
	}
	e := &cloud.Error{Op: op, After: wire.RetryAfter(reply.Header, now)}
	table.Describe(e, refusal.ServiceError{Kind: kind, Code: is.Code, Message: is.Message, Status: reply.StatusCode})
	return driverkit.AboutPart(e, partOf(is.Message))
}

// parts find the parameter that a refusal is about: "Invalid nodeShape: ..." or "name must be specified".
var parts = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\binvalid (?:parameter |value for |field )?["']?([a-z][\w.\[\]]*)["']?:`),
	regexp.MustCompile(`(?i)^["']?([a-z][\w.\[\]]*)["']? (?:must be specified|is required|must not be null)`),
	regexp.MustCompile(`(?i)unrecognized field ["']([\w.]+)["']`),
}

// partOf returns the parameter that a message names; empty for none.
func partOf(message string) string {
	for _, p := range parts {
		if found := p.FindStringSubmatch(message); found != nil {
			return found[1]
		}
	}
	return ""
}

// refused returns the error of a call. A denial names the identity.
func (s *Session) refused(call wire.Call, err error) error {
	var e *cloud.Error
	var unsendable *rest.UnsendableError
	switch {
	case errors.As(err, &e):
	case errors.As(err, &unsendable):
		e = &cloud.Error{Kind: cloud.Invalid, Op: call.String(), Code: "Unsendable", Message: cloud.NormalizeText(unsendable.Error())}
	default:
		e = &cloud.Error{Kind: cloud.Unavailable, Op: call.String()}
		if !refusal.Unsent(e, err) {
			refusal.Unanswered(e, err)
		}
	}
	if e.Kind == cloud.Denied && e.Field == "" {
		e.Field = s.identity
	}
	return driverkit.AboutPart(e, driverkit.PartOf(err))
}

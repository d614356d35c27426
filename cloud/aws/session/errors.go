package session

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// table holds the codes and texts of AWS's refusals.
var table = refusal.New(refusal.Table{
	Codes: map[cloud.ErrorKind][]string{
		cloud.Throttled: {
			"EC2ThrottledException", "PriorRequestNotComplete", "RateExceeded", "RequestLimitExceeded", "RequestThrottled",
			"RequestThrottledException", "SlowDown", "Throttled", "ThrottledException", "Throttling", "ThrottlingException",
			"TooManyRequestsException", "TransactionInProgressException",
		},
		cloud.Conflict: {
			"AlreadyExists", "ConcurrentTagAccess", "DependencyViolation", "IdempotentCallInProgress",
			"IdempotentParameterMismatch", "IncorrectInstanceState", "IncorrectState", "InstanceRefreshInProgress",
			"InvalidLaunchTemplateName.AlreadyExistsException", "InvalidState", "InvalidStateException", "ResourceContention",
			"ResourceInUse", "ResourceInUseException", "ResourcePropagationDelayException", "ScalingActivityInProgress",
			"ConcurrentModification", "DeleteConflict", "EntityAlreadyExists", "EntityTemporarilyUnmodifiable",
		},
		cloud.Capacity: {
			"InsufficientAddressCapacity", "InsufficientCapacity", "InsufficientCapacityOnHost",
			"InsufficientFreeAddressesInSubnet", "InsufficientHostCapacity", "InsufficientInstanceCapacity",
			"InsufficientReservedInstanceCapacity", "InsufficientVolumeCapacity", "MaxSpotInstanceCountExceeded",
			"ReservationCapacityExceeded", "ResourceLimitExceededException", "SpotMaxPriceTooLow", "UnfulfillableCapacity",
		},
		cloud.Denied: {
			"AccessDenied", "AccessDeniedException", "AuthFailure", "Blocked", "ExpiredToken", "ExpiredTokenException",
			"IncompleteSignature", "InvalidAccessKeyId", "InvalidClientTokenId", "InvalidSignatureException",
			"MissingAuthenticationToken", "MissingAuthenticationTokenException", "NotAuthorized", "OptInRequired",
			"PendingVerification", "RequestExpired", "ServiceLinkedRoleFailure", "SignatureDoesNotMatch",
			"UnauthorizedOperation", "UnrecognizedClientException",
		},
		cloud.Unavailable: {
			"InternalError", "InternalFailure", "InternalServerError", "RequestTimeout", "RequestTimeoutException",
			"ServerException", "ServerInternal", "ServiceFailure", "ServiceUnavailable", "ServiceUnavailableException", "Unavailable",
		},
		cloud.Invalid: {
			"BadRequestException", "ClientException", "NoSuchEntity", "NotFoundException", "OperationNotPermitted", "ParameterNotFound",
			"ResourceNotFoundException", "UnknownParameter", "UnknownVolumeType.Unsupported",
			"TagLimitExceeded", "TooManyTagsException",
		},
	},
	Manners: []refusal.Manner{
		{Suffix: "LimitExceeded", Kind: cloud.Capacity}, {Suffix: "QuotaExceeded", Kind: cloud.Capacity},
		{Prefix: "Invalid", Kind: cloud.Invalid}, {Prefix: "Missing", Kind: cloud.Invalid}, {Prefix: "Malformed", Kind: cloud.Invalid},
		{Prefix: "Unsupported", Kind: cloud.Invalid}, {Prefix: "Validation", Kind: cloud.Invalid}, {Suffix: "NotFound", Kind: cloud.Invalid},
		{Suffix: ".Malformed", Kind: cloud.Invalid},
	},
	Absent:     []string{"ResourceNotFoundException", "NoSuchEntity"},
	Rewritten:  append(refusal.Dropped(signed, encoded, requestID, uuid, instant), refusal.Rewritten{Part: session, By: "$1"}),
	KeepsLinks: true,
	Places:     []refusal.Place{{Name: zoneName}},
})

// Refusal makes the cloud's Refusal of every error that a call of the SDK can end with. It is nil for nil.
func Refusal(err error, now time.Time) error {
	if err == nil {
		return nil
	}
	var own *cloud.Error
	if errors.As(err, &own) {
		// There were no credentials to sign the request with.
		refused := *own
		return byWhom(err, &refused)
	}
	e := &cloud.Error{Kind: cloud.Unavailable, Op: operation(err)}
	if refusal.Unsent(e, err) {
		return e
	}
	var reply *smithyhttp.ResponseError
	if errors.As(err, &reply) && reply.Response != nil {
		e.After = wire.RetryAfter(reply.Response.Header, now)
		e.Kind = cloud.KindOfStatus(reply.HTTPStatusCode())
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return setNonServiceError(e, reply, err)
	}
	kind := e.Kind
	if known, ok := table.Kind(api.ErrorCode()); ok {
		kind = known
	}
	table.Describe(e, refusal.ServiceError{Kind: kindByWords(kind, api.ErrorMessage()), Code: api.ErrorCode(), Message: api.ErrorMessage()})
	return byWhom(err, e)
}

// kindByWords returns the kind of an error whose code says less than its message.
func kindByWords(kind cloud.ErrorKind, message string) cloud.ErrorKind {
	switch {
	case kind == cloud.Capacity && TagWords.MatchString(message):
		return cloud.Invalid
	case kind == cloud.Invalid && transient(message):
		return cloud.Conflict
	}
	return kind
}

// throttled reports whether the service refused a call because there were too many, and the HTTP status of the reply.
func throttled(err error) (status int, ok bool) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return 0, false
	}
	var reply *smithyhttp.ResponseError
	if errors.As(err, &reply) && reply.Response != nil {
		status = reply.HTTPStatusCode()
	}
	kind, known := table.Kind(api.ErrorCode())
	return status, known && kind == cloud.Throttled
}

// setNonServiceError gives code and message to an error that is not the service's own. What a reply's status said stays its kind, but
// for what only the service can say: that the specification is wrong.
func setNonServiceError(e *cloud.Error, reply *smithyhttp.ResponseError, err error) *cloud.Error {
	text := err.Error()
	if strings.Contains(text, "get identity") || strings.Contains(text, "failed to refresh cached credentials") {
		e.Kind, e.Code = cloud.Denied, cloud.CodeNoCredentials
		e.Message = "no usable credentials were found: check the credentials chain of the controller"
		return e
	}
	if e.Kind == cloud.Invalid {
		return cloud.NotFromService(e.Op, reply.HTTPStatusCode())
	}
	refusal.Unanswered(e, err)
	return e
}

// operation is the call's name in the form that policies use.
func operation(err error) string {
	var op *smithy.OperationError
	if !errors.As(err, &op) {
		return ""
	}
	return serviceName(op.Service()) + ":" + op.Operation()
}

// serviceName is a service's short name: "Auto Scaling" is "autoscaling".
func serviceName(id string) string { return strings.ToLower(strings.ReplaceAll(id, " ", "")) }

var (
	// signed matches the string that a service would have signed: it repeats the request's headers, and a session's token with them.
	signed    = regexp.MustCompile(`(?is)\s*the canonical string for this request should have been.*`)
	encoded   = regexp.MustCompile(`(?i)\s*encoded authorization failure message:\s*\S+`)
	requestID = regexp.MustCompile(`(?i)[(\[,;]?\s*(?:aws\s+)?request[ -]?id:?\s*[0-9a-z-]{8,}[)\].]?`)
	uuid      = regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	session   = regexp.MustCompile(`(assumed-role/[^/\s]+)/[^\s,]+`)
	instant   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?`)
	zoneName  = regexp.MustCompile(`\b[a-z]{2,4}(?:-[a-z]+)+-\d+[a-z]?(?:-[a-z]+-\d[a-z])?\b`)
)

// Clean returns a message without what differs from one request to the next, and what only the account's owner should see.
func Clean(message string) string { return table.Clean(message) }

// transient reports whether a message about a bad request only means that one service has not yet heard of what another
// one has just made, or that what the group launches from can't be changed while a refresh runs.
func transient(message string) bool {
	return strings.Contains(message, "template ID") && strings.Contains(message, "does not exist") ||
		strings.Contains(message, "active instance refresh")
}

// Absent reports whether the call failed because what it names does not exist (any more).
func Absent(err error) bool {
	var e *cloud.Error
	if !errors.As(err, &e) {
		return false
	}
	switch {
	case table.IsAbsent(err):
		return true
	case strings.HasPrefix(e.Code, "InvalidLaunchTemplate") && strings.Contains(e.Code, "NotFound"):
		return true
	case e.Code == "ValidationError":
		return slices.ContainsFunc([]string{"name not found", "No managed instance found", "Instance Id not found", "not found - null"},
			func(words string) bool { return strings.Contains(e.Message, words) })
	}
	return false
}

// Vanished makes a conflict of a step on something that is gone: another client was faster, and the next look will show it.
func Vanished(err error) error {
	return driverkit.VanishedAs(err, Absent(err))
}

// InstanceID finds the IDs of instances in a text.
var InstanceID = regexp.MustCompile(`\bi-[0-9a-f]{8,17}\b`)

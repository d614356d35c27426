package session

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// codeNotFound is the code of a 404 reply without an error body.
const codeNotFound = "NotFound"

// Refusal converts every error that a call of the SDK can return into a *cloud.Error. It returns nil for nil.
func Refusal(err error, now time.Time) error {
	if err == nil {
		return nil
	}
	by, call := callOf(err)
	var own *cloud.Error
	if errors.As(err, &own) {
		// No credential could be created.
		refused := *own
		return withIdentity(&refused, by)
	}
	e, target := &cloud.Error{Kind: cloud.Unavailable, Op: call}, ""
	var reply *azcore.ResponseError
	var token *azidentity.AuthenticationFailedError
	switch {
	case refusal.Unsent(e, err):
	case errors.As(err, &token):
		ofToken(e, token, now)
	case errors.As(err, &reply):
		target = ofReply(e, reply, now)
	default:
		setNonServiceError(e, err)
	}
	return driverkit.AboutPart(withIdentity(e, by), target)
}

// ofReply sets e from a reply of Azure Resource Manager, and returns the target of the error.
func ofReply(e *cloud.Error, reply *azcore.ResponseError, now time.Time) (target string) {
	var body []byte
	if reply.RawResponse != nil {
		e.After = wire.RetryAfter(reply.RawResponse.Header, now)
		// If the body can't be read, the status and the code in the header remain.
		body, _ = runtime.Payload(reply.RawResponse)
	}
	if refusal.NotFromService(reply.StatusCode, body) {
		*e = *cloud.NotFromService(e.Op, reply.StatusCode)
		return ""
	}
	failure := readReply(body)
	if failure.Code == "" {
		failure.Code = reply.ErrorCode
	}
	if failure.Code == "" && reply.StatusCode == http.StatusNotFound {
		failure.Code = codeNotFound
	}
	failure.classify(e, reply.StatusCode)
	return failure.Target
}

// classify sets e to the kind of the error, which depends on its code, its message and the HTTP status.
func (s serviceError) classify(e *cloud.Error, status int) {
	table.Describe(e, refusal.ServiceError{Kind: kindOf(s, status), Code: s.Code, Message: s.Message, Status: status})
}

// table holds the codes and texts of Azure's refusals. Case does not count in codes.
var table = refusal.New(refusal.Table{
	Spelling: strings.ToLower,
	Codes: map[cloud.ErrorKind][]string{
		cloud.Throttled: {
			"OperationNotAllowed_TooManyRequests", "ResourceCollectionRequestsThrottled", "ResourceRequestsThrottled",
			"SubscriptionRequestsThrottled", "TenantRequestsThrottled", "TooManyRequests", "TooManyRequestsReceived",
		},
		cloud.Conflict: {
			"AnotherOperationInProgress", "AttachDiskWhileBeingDetached", "Canceled", "ConcurrentRequestConflict", "ConditionNotMet", "Conflict",
			"ConflictingConcurrentWrite", "ConflictingConcurrentWriteNotAllowed", "InUseSubnetCannotBeDeleted",
			"NotLatestOperation", "OperationPreempted", "PreconditionFailed",
			"PrincipalNotFound", "ReferencedResourceNotProvisioned", "ResourceGroupBeingDeleted", "RetryableError",
			"RetryableErrorDueToAnotherOperation", "RoleAssignmentExists", "VMMarkedForDeletion",
		},
		cloud.Capacity: {
			"AllocationFailed", "AllocationTimedOut", "CapacityReservationFull", "OverconstrainedAllocationRequest",
			"OverconstrainedZonalAllocationRequest", "PublicIPCountLimitExceededByVMScaleSet", "ResourceCountExceedsLimitDueToTemplate",
			"SkuNotAvailable", "SpotVMQuotaExceeded", "SubnetIsFull", "ZonalAllocationFailed",
		},
		cloud.Denied: {
			"AuthenticationFailed", "AuthorizationFailed", "DenyAssignmentAuthorizationFailed", "DisallowedOperation",
			"DisallowedProvider", "ExpiredAuthenticationToken", "InvalidAuthenticationToken", "InvalidAuthenticationTokenTenant",
			"LinkedAccessCheckFailed", "LinkedAuthorizationFailed", "MarketplacePurchaseEligibilityFailed", "MissingSubscriptionRegistration",
			"ReadOnlyDisabledSubscription", "RequestDisallowedByPolicy", "ResourcePurchaseValidationFailed", "ScopeLocked",
			"SubscriptionNotFound", "SubscriptionNotRegistered",
		},
		cloud.Invalid: {
			"BadRequest", "ConflictingUserInput", "ImageNotFound", "GalleryImageNotFound", "NotSupported", "PlatformImageNotFound",
			"PropertyChangeNotAllowed", "SkuNotSupported",
		},
		cloud.Unavailable: {
			"GatewayTimeout", "InternalExecutionError", "InternalOperationError", "InternalServerError",
			"NetworkingInternalOperationError", "ServerTimeout", "ServiceUnavailable",
		},
	},
	Manners: []refusal.Manner{
		{Suffix: "allocationfailed", Kind: cloud.Capacity}, {Suffix: "allocationrequest", Kind: cloud.Capacity},
		{Suffix: "quotaexceeded", Kind: cloud.Capacity}, {Suffix: "limitreached", Kind: cloud.Capacity},
		{Suffix: "limitexceeded", Kind: cloud.Capacity}, {Suffix: "throttled", Kind: cloud.Throttled},
		{Suffix: "authorizationfailed", Kind: cloud.Denied}, {Suffix: "beingdeleted", Kind: cloud.Conflict},
		{Prefix: "invalid", Kind: cloud.Invalid}, {Prefix: "unsupported", Kind: cloud.Invalid}, {Suffix: "notfound", Kind: cloud.Invalid},
		{Suffix: "notsupported", Kind: cloud.Invalid}, {Suffix: "required", Kind: cloud.Invalid},
	},
	Absent:    []string{codeNotFound, "ResourceNotFound", "ResourceGroupNotFound", "ParentResourceNotFound", "RoleAssignmentNotFound"},
	Rewritten: refusal.Dropped(marked, stamped, instant, again),
	Places:    []refusal.Place{{Name: quotaName, Label: "quota "}, {Name: sizeName}, {Name: zoneName, Label: "zone "}, {Name: placeName}},
})

// codeNotAllowed is Azure's code of what is not allowed now, or never, with the status of a conflict in both cases.
const codeNotAllowed = "operationnotallowed"

// racing are the words of a refusal by which the same request may be accepted once something else has ended.
var racing = regexp.MustCompile(`(?i)in progress|another operation|marked for deletion|being (?:deleted|created|updated|changed)|` +
	`reached its limit of \d+ models|\b(?:re)?try(?:ing)? again|please (?:wait|retry)|concurrent|is (?:currently )?(?:stopped|deallocated)|not there yet`)

// kindOf is the kind of what was said: by the code, by the words where one code serves for much, else by the status.
func kindOf(s serviceError, status int) cloud.ErrorKind {
	if status == http.StatusTooManyRequests {
		return cloud.Throttled
	}
	if kind, ok := kindOfWords(s); ok {
		return kind
	}
	if kind, ok := table.Kind(s.Code); ok {
		return kind
	}
	if kind, ok := kindWithin(s); ok {
		return kind
	}
	if status == http.StatusConflict && s.final() {
		return cloud.Invalid
	}
	return cloud.KindOfStatus(status)
}

// kindOfWords is the kind of a refusal whose code says too little.
func kindOfWords(s serviceError) (cloud.ErrorKind, bool) {
	code, message := strings.ToLower(s.Code), strings.ToLower(s.Message)
	vague := code == codeNotAllowed || code == "" || code == "badrequest"
	switch {
	case vague && strings.Contains(message, "quota"):
		return cloud.Capacity, true
	case vague && strings.Contains(message, "too many requests"):
		return cloud.Throttled, true
	case strings.Contains(message, "is not an active virtual machine scale set vm instanceid"):
		return cloud.Conflict, true // another client was faster: the list is to be read again
	}
	return "", false
}

// final reports whether what is not allowed is not allowed later either: the refusal is an answer and no race.
func (s serviceError) final() bool {
	return strings.ToLower(s.Code) == codeNotAllowed && s.Message != "" && !racing.MatchString(s.Message)
}

// kindWithin is the kind of a failure of an agent pool: AKS repeats the code of what refused its own request within its words.
func kindWithin(s serviceError) (cloud.ErrorKind, bool) {
	if !strings.Contains(strings.ToLower(s.Code), "agentpool") {
		return "", false
	}
	words := strings.FieldsFunc(s.Message, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words {
		if kind, ok := table.Known(word); ok && (kind == cloud.Capacity || kind == cloud.Denied) {
			return kind, true
		}
	}
	return "", false
}

// Absent reports whether the call failed because what it names does not exist (any more).
func Absent(err error) bool { return table.IsAbsent(err) }

// Vanished makes a conflict of a step on something that is gone: another client was faster, and the next look will show it.
func Vanished(err error) error {
	return driverkit.VanishedAs(err, Absent(err))
}

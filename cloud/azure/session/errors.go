package session

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
)

// codeNotFound is what a 404 without words is known by.
const codeNotFound = "NotFound"

// Refusal makes the cloud's refusal of every error that a call of the SDK can end with. It is nil for nil.
func Refusal(err error, now time.Time) error {
	if err == nil {
		return nil
	}
	by, call := whoAsked(err)
	var own *cloud.Error
	if errors.As(err, &own) {
		// There was nothing to get a token with.
		refused := *own
		return byWhom(&refused, by)
	}
	e, target := &cloud.Error{Kind: cloud.Unavailable, Op: call}, ""
	var held *wire.RateLimitedError
	var reply *azcore.ResponseError
	var token *azidentity.AuthenticationFailedError
	var unsent *astray
	switch {
	case errors.As(err, &held):
		e.Kind, e.Code, e.Message, e.After = cloud.Throttled, cloud.CodeClientRateLimited, held.Error(), held.After
	case errors.As(err, &unsent):
		e.Kind, e.Code, e.Message = cloud.Denied, "Astray", unsent.Error()
	case errors.As(err, &token):
		ofToken(e, token, now)
	case errors.As(err, &reply):
		target = ofReply(e, reply, now)
	default:
		wordless(e, err)
	}
	return driverkit.AboutPart(byWhom(e, by), target)
}

// ofReply takes over what Azure Resource Manager has answered, and returns what it is about.
func ofReply(e *cloud.Error, reply *azcore.ResponseError, now time.Time) (target string) {
	var body []byte
	if reply.RawResponse != nil {
		e.After = wire.RetryAfter(reply.RawResponse.Header, now)
		// What can't be read says nothing: the status and the code in the header remain.
		body, _ = runtime.Payload(reply.RawResponse)
	}
	if kind := cloud.KindOfStatus(reply.StatusCode); kind == cloud.Invalid && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		*e = *cloud.NotFromService(e.Op, reply.StatusCode)
		return ""
	}
	said := readReply(body)
	if said.Code == "" {
		said.Code = reply.ErrorCode
	}
	if said.Code == "" && reply.StatusCode == http.StatusNotFound {
		said.Code = codeNotFound
	}
	said.classify(e, reply.StatusCode)
	return said.Target
}

// classify sorts what was said, and the status that it was said with, into a kind.
func (s said) classify(e *cloud.Error, status int) {
	driverkit.Describe(e, cloud.Error{Kind: kindOf(s, status), Code: s.Code, Message: Clean(s.Message), Where: where(s.Message)}, status)
}

// codes are the documented error codes whose kind does not follow from their name or from the status.
var codes = map[cloud.ErrorKind][]string{
	cloud.Throttled: {
		"OperationNotAllowed_TooManyRequests", "ResourceCollectionRequestsThrottled", "ResourceRequestsThrottled",
		"SubscriptionRequestsThrottled", "TenantRequestsThrottled", "TooManyRequests", "TooManyRequestsReceived",
	},
	cloud.Conflict: {
		"AnotherOperationInProgress", "AttachDiskWhileBeingDetached", "Canceled", "ConcurrentRequestConflict", "ConditionNotMet", "Conflict",
		"ConflictingConcurrentWrite", "ConflictingConcurrentWriteNotAllowed", "ConflictingUserInput", "InUseSubnetCannotBeDeleted",
		"OperationPreempted", "PreconditionFailed",
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
		"BadRequest", "ImageNotFound", "GalleryImageNotFound", "NotSupported", "PlatformImageNotFound", "PropertyChangeNotAllowed",
		"SkuNotSupported",
	},
	cloud.Unavailable: {
		"GatewayTimeout", "InternalExecutionError", "InternalOperationError", "InternalServerError",
		"NetworkingInternalOperationError", "ServerTimeout", "ServiceUnavailable",
	},
}

// kinds is codes the other way round, in small letters.
var kinds = driverkit.KindsByCode(codes, strings.ToLower)

// kindOf is the kind of what was said: by the code, by the words where one code serves for much, else by the status.
func kindOf(s said, status int) cloud.ErrorKind {
	if status == http.StatusTooManyRequests {
		return cloud.Throttled
	}
	message := strings.ToLower(s.Message)
	if code := strings.ToLower(s.Code); code == "operationnotallowed" || code == "" || code == "badrequest" {
		switch {
		case strings.Contains(message, "quota"):
			return cloud.Capacity
		case strings.Contains(message, "too many requests"):
			return cloud.Throttled
		}
	}
	if strings.Contains(message, "is not an active virtual machine scale set vm instanceid") {
		// Another client was faster: the list is to be read again.
		return cloud.Conflict
	}
	if kind, ok := kindOfCode(s.Code); ok {
		return kind
	}
	if kind, ok := kindWithin(s); ok {
		return kind
	}
	return cloud.KindOfStatus(status)
}

// kindWithin is the kind of a failure of an agent pool: AKS repeats the code of what refused its own request within its words.
func kindWithin(s said) (cloud.ErrorKind, bool) {
	if !strings.Contains(strings.ToLower(s.Code), "agentpool") {
		return "", false
	}
	words := strings.FieldsFunc(s.Message, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words {
		if kind, ok := kinds[strings.ToLower(word)]; ok && (kind == cloud.Capacity || kind == cloud.Denied) {
			return kind, true
		}
	}
	return "", false
}

// kindOfCode is the kind of an error code: by the table, else by the manner in which Azure names its codes.
func kindOfCode(code string) (cloud.ErrorKind, bool) {
	code = strings.ToLower(code)
	if kind, ok := kinds[code]; ok {
		return kind, true
	}
	for _, manner := range []struct {
		is    func(string, string) bool
		words string
		kind  cloud.ErrorKind
	}{
		{strings.HasSuffix, "allocationfailed", cloud.Capacity},
		{strings.HasSuffix, "allocationrequest", cloud.Capacity},
		{strings.HasSuffix, "quotaexceeded", cloud.Capacity},
		{strings.HasSuffix, "limitreached", cloud.Capacity},
		{strings.HasSuffix, "limitexceeded", cloud.Capacity},
		{strings.HasSuffix, "throttled", cloud.Throttled},
		{strings.HasSuffix, "authorizationfailed", cloud.Denied},
		{strings.HasSuffix, "beingdeleted", cloud.Conflict},
		{strings.HasPrefix, "invalid", cloud.Invalid},
		{strings.HasPrefix, "unsupported", cloud.Invalid},
		{strings.HasSuffix, "notfound", cloud.Invalid},
		{strings.HasSuffix, "notsupported", cloud.Invalid},
		{strings.HasSuffix, "required", cloud.Invalid},
	} {
		if manner.is(code, manner.words) {
			return manner.kind, true
		}
	}
	return "", false
}

// absences are the codes that say that the thing itself does not exist, not something that it names.
var absences = []string{codeNotFound, "ResourceNotFound", "ResourceGroupNotFound", "ParentResourceNotFound", "RoleAssignmentNotFound"}

// Absent reports whether the call failed because what it names does not exist (any more).
func Absent(err error) bool {
	return slices.ContainsFunc(absences, func(code string) bool { return strings.EqualFold(code, cloud.CodeOf(err)) })
}

// Vanished makes a conflict of a step on something that is gone: another client was faster, and the next look will show it.
func Vanished(err error) error {
	return driverkit.VanishedAs(err, Absent(err))
}

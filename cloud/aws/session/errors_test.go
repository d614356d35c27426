package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// answered is an error as the SDK returns it for a reply of the service.
func answered(status int, header http.Header, code, message string) error {
	return &smithy.OperationError{ServiceID: "Auto Scaling", OperationName: "CreateAutoScalingGroup", Err: &awshttp.ResponseError{
		RequestID: "2f8d5d0a-1111-2222-3333-444455556666",
		ResponseError: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header}},
			Err:      &smithy.GenericAPIError{Code: code, Message: message},
		},
	}}
}

func TestKindOfCode(t *testing.T) {
	for kind, list := range map[cloud.ErrorKind][]string{
		cloud.Throttled: {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException", "EC2ThrottledException"},
		cloud.Conflict: {
			"ScalingActivityInProgress", "ResourceInUse", "ResourceContention", "AlreadyExists", "IdempotentParameterMismatch",
			"InvalidLaunchTemplateName.AlreadyExistsException", "IncorrectInstanceState",
		},
		cloud.Capacity: {
			"InsufficientInstanceCapacity", "InsufficientFreeAddressesInSubnet", "VcpuLimitExceeded", "InstanceLimitExceeded",
			"LimitExceeded", "MaxSpotInstanceCountExceeded", "VolumeLimitExceeded", "ServiceQuotaExceeded",
		},
		cloud.Denied: {
			"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthFailure", "ExpiredToken", "InvalidClientTokenId",
			"SignatureDoesNotMatch", "OptInRequired", "ServiceLinkedRoleFailure",
		},
		cloud.Invalid: {
			"ValidationError", "InvalidParameterValue", "InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidKeyPair.NotFound",
			"InvalidSubnetID.NotFound", "InvalidGroup.NotFound", "MissingParameter", "UnsupportedOperation", "Unsupported",
			"MalformedQueryString", "ParameterNotFound", "InvalidInstanceType", "InvalidLaunchTemplateId.NotFound", "UnknownParameter",
			"TagLimitExceeded", "TooManyTagsException",
		},
		cloud.Unavailable: {"InternalFailure", "InternalError", "ServiceUnavailable", "Unavailable", "RequestTimeout"},
	} {
		for _, code := range list {
			if got, ok := table.Kind(code); !ok || got != kind {
				t.Errorf("code %s: want kind %s, got %s", code, kind, got)
			}
		}
	}
}

// refusals are errors of the SDK and what becomes of them.
var refusals = []struct {
	reason string
	err    error
	want   *cloud.Error
}{
	{
		"a code of the table, with the header's own time",
		answered(400, http.Header{"Retry-After": {"3"}}, "Throttling", "Rate exceeded"),
		&cloud.Error{Kind: cloud.Throttled, Code: "Throttling", Message: "Rate exceeded", After: 3 * time.Second},
	},
	{
		"an unknown code goes by the status: a server's error says nothing about what happened",
		answered(500, nil, "Surprise", "x"),
		&cloud.Error{Kind: cloud.Unavailable, Code: "Surprise", Message: "x"},
	},
	{
		"an unknown code with a client's status is the request's fault",
		answered(400, nil, "Surprise", "x"),
		&cloud.Error{Kind: cloud.Invalid, Code: "Surprise", Message: "x"},
	},
	{
		"request ids and encoded reasons are different each time, and session names after each renewal",
		answered(403, nil, "UnauthorizedOperation",
			"You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/muster/1763700000000 is not "+
				"authorized to perform: ec2:CreateLaunchTemplate because no policy allows it. Encoded authorization failure message: qVYjF0dGVzdA-_x "+
				"(RequestId: 2f8d5d0a-1111-2222-3333-444455556666)"),
		&cloud.Error{Kind: cloud.Denied, Code: "UnauthorizedOperation",
			Message: "You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/muster is not authorized to " +
				"perform: ec2:CreateLaunchTemplate because no policy allows it."},
	},
	{
		"capacity names its zone",
		answered(400, nil, "InsufficientInstanceCapacity",
			"We currently do not have sufficient m5.large capacity in the Availability Zone you requested (eu-west-1a)."),
		&cloud.Error{Kind: cloud.Capacity, Code: "InsufficientInstanceCapacity", Where: "eu-west-1a",
			Message: "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (eu-west-1a)."},
	},
	{
		"a template that one service has made and the other has not yet heard of is worth another try",
		answered(400, nil, "ValidationError", "You must use a valid fully-formed launch template. The specified launch template, with template "+
			"ID lt-0123, does not exist."),
		&cloud.Error{Kind: cloud.Conflict, Code: "ValidationError",
			Message: "You must use a valid fully-formed launch template. The specified launch template, with template ID lt-0123, does not exist."},
	},
	{
		"a request that was held back says for how long",
		&smithy.OperationError{ServiceID: "Auto Scaling", OperationName: "CreateAutoScalingGroup", Err: &smithyhttp.RequestSendError{
			Err: &wire.RateLimitedError{Call: wire.Call{Service: "autoscaling", Operation: "CreateAutoScalingGroup"}, Budget: "Auto Scaling",
				After: 2 * time.Second},
		}},
		&cloud.Error{Kind: cloud.Throttled, Code: "ClientRateLimited", After: 2 * time.Second,
			Message: "autoscaling:CreateAutoScalingGroup was held back: the rate budget of Auto Scaling is used up"},
	},
	{
		"a broken connection says neither that it happened nor that it did not; its addresses are kept out",
		&smithy.OperationError{ServiceID: "Auto Scaling", OperationName: "CreateAutoScalingGroup",
			Err: &smithyhttp.RequestSendError{Err: errors.New("read tcp 10.0.0.1:4711: connection reset")}},
		&cloud.Error{Kind: cloud.Unavailable, Code: "NoReply",
			Message: "the service gave no reply that could be read (the connection ended): it may have done what was asked"},
	},
	{
		"a page of a proxy says nothing about the specification, whatever its status",
		&smithy.OperationError{ServiceID: "Auto Scaling", OperationName: "CreateAutoScalingGroup", Err: &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: 404}}, Err: errors.New("deserialization failed, expected XML"),
		}},
		&cloud.Error{Kind: cloud.Unavailable, Code: "NoReply",
			Message: "the reply with HTTP status 404 is not the service's own: a proxy may have answered in its place"},
	},
	{
		"a deadline is the same",
		&smithy.OperationError{ServiceID: "Auto Scaling", OperationName: "CreateAutoScalingGroup", Err: context.DeadlineExceeded},
		&cloud.Error{Kind: cloud.Unavailable, Code: "NoReply",
			Message: "the service gave no reply that could be read (it took too long): it may have done what was asked"},
	},
	{
		"missing credentials are denied, before anything was sent",
		&smithy.OperationError{ServiceID: "Auto Scaling", OperationName: "CreateAutoScalingGroup",
			Err: fmt.Errorf("get identity: %w", errors.New("get credentials: no role"))},
		&cloud.Error{Kind: cloud.Denied, Code: "NoCredentials",
			Message: "no usable credentials were found: check the credentials chain of the controller"},
	},
}

func TestRefusal(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range refusals {
		c.want.Op = "autoscaling:CreateAutoScalingGroup"
		got := Refusal(c.err, now)
		if diff := cmp.Diff(error(c.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
	if got := Refusal(nil, now); got != nil {
		t.Errorf("want nothing for no error, got %v", got)
	}
}

func TestAbsent(t *testing.T) {
	for _, c := range []struct {
		reason, code, message string
		want                  bool
	}{
		{"a group that is not there", "ValidationError", "AutoScalingGroup name not found - AutoScalingGroup 'x' not found", true},
		{"an instance that left the group", "ValidationError", "Instance Id not found - No managed instance found for instance ID: i-0123", true},
		{"a template by name", "InvalidLaunchTemplateName.NotFoundException",
			"The specified launch template, with template name x, does not exist.", true},
		{"a template by ID", "InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID lt-0, does not exist.", true},
		{"another bad request says nothing about being there", "ValidationError", "Currently, desiredSize equals minSize (2).", false},
		{"a missing image is not what was to be deleted", "InvalidAMIID.NotFound", "The image id '[ami-1]' does not exist", false},
	} {
		if got := Absent(Refusal(answered(400, nil, c.code, c.message), time.Time{})); got != c.want {
			t.Errorf("%s: want %t, got %t", c.reason, c.want, got)
		}
	}
	if Absent(nil) || Absent(errors.New("x")) {
		t.Error("want other errors to say nothing about being there")
	}
}

package session

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// opToken is the operation of a refusal of the token service.
const opToken = serviceLogin + ":GetToken"

// callOf returns the identity whose call failed, nil for the controller, and the call's name.
func callOf(err error) (by *azurev1.IdentityView, call string) {
	var a *callError
	if errors.As(err, &a) {
		return a.by, a.call.String()
	}
	var reply *azcore.ResponseError
	if errors.As(err, &reply) && reply.RawResponse != nil && reply.RawResponse.Request != nil {
		ctx := reply.RawResponse.Request.Context()
		by, _ = ctx.Value(identityKey{}).(*azurev1.IdentityView)
		if c := wire.CallFrom(ctx); c.Operation != "" {
			call = c.String()
		}
	}
	return by, call
}

var entraCode = regexp.MustCompile(`\bAADSTS\d+\b`)

// ofToken sets e from the reply of the token service.
func ofToken(e *cloud.Error, token *azidentity.AuthenticationFailedError, now time.Time) {
	e.Op = opToken
	if token.RawResponse == nil {
		setNonServiceError(e, token)
		return
	}
	body, _ := runtime.Payload(token.RawResponse)
	var is struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &is)
	failure := refusal.ServiceError{Code: is.Error, Message: is.Description, Status: token.RawResponse.StatusCode}
	if code := entraCode.FindString(is.Description); code != "" {
		failure.Code, failure.Message = code, strings.TrimPrefix(strings.TrimPrefix(is.Description, code), ": ")
	}
	table.Token(e, failure, token.RawResponse.Header, now)
}

// setNonServiceError sets code and message for an error that Azure did not return.
func setNonServiceError(e *cloud.Error, err error) {
	if cloud.NetworkCause(err) == "" && withoutCredentials(err) {
		e.Kind, e.Code = cloud.Denied, cloud.CodeNoCredentials
		e.Message = "no usable credentials were found: check the identity of the cluster, or the environment of the controller"
		return
	}
	refusal.Unanswered(e, err)
}

// withoutCredentials reports whether no token could be requested for lack of credentials.
func withoutCredentials(err error) bool {
	var token *azidentity.AuthenticationFailedError
	if errors.As(err, &token) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "Credential:") || strings.Contains(text, "DefaultAzureCredential")
}

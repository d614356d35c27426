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

// whoAsked is the identity whose call failed, nil for the controller, and the call's name.
func whoAsked(err error) (by *azurev1.IdentityView, call string) {
	var a *asked
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

// ofToken takes over the answer of the token service.
func ofToken(e *cloud.Error, token *azidentity.AuthenticationFailedError, now time.Time) {
	e.Op = opToken
	if token.RawResponse == nil {
		wordless(e, token)
		return
	}
	body, _ := runtime.Payload(token.RawResponse)
	var is struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &is)
	said := refusal.Said{Code: is.Error, Message: is.Description, Status: token.RawResponse.StatusCode}
	if code := entraCode.FindString(is.Description); code != "" {
		said.Code, said.Message = code, strings.TrimPrefix(strings.TrimPrefix(is.Description, code), ": ")
	}
	table.Token(e, said, token.RawResponse.Header, now)
}

// wordless gives code and message to an error that is not Azure's own.
func wordless(e *cloud.Error, err error) {
	if cloud.NetworkCause(err) == "" && withoutCredentials(err) {
		e.Kind, e.Code = cloud.Denied, cloud.CodeNoCredentials
		e.Message = "no usable credentials were found: check the identity of the cluster, or the environment of the controller"
		return
	}
	refusal.Unanswered(e, err)
}

// withoutCredentials reports whether there was nothing to ask for a token with.
func withoutCredentials(err error) bool {
	var token *azidentity.AuthenticationFailedError
	if errors.As(err, &token) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "Credential:") || strings.Contains(text, "DefaultAzureCredential")
}

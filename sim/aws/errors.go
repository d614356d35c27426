package aws

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/muster-project/muster/sim/aws/query"
	"github.com/muster-project/muster/sim/aws/sigv4"
)

// apiError is a refusal in the words of the service.
type apiError struct {
	Code, Message string
	Status        int
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// refuse is a refusal that is the caller's fault.
func refuse(code, format string, args ...any) *apiError {
	return &apiError{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}

// invalid is Auto Scaling's refusal of a request that cannot be meant.
func invalid(format string, args ...any) *apiError { return refuse("ValidationError", format, args...) }

// toAPI spells any error in the words of the service.
func toAPI(service string, err error) *apiError {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*query.Error](err); ok {
		return queryError(service, e)
	}
	if e := signatureError(service, err); e != nil {
		return e
	}
	return &apiError{Code: internalCode(service), Message: "An internal error has occurred", Status: http.StatusInternalServerError}
}

func queryError(service string, e *query.Error) *apiError {
	switch {
	case service == serviceEC2 && e.Unknown:
		return refuse("UnknownParameter", "%s", e.Error())
	case service == serviceEC2:
		return refuse("InvalidParameterValue", "%s", e.Error())
	default:
		return invalid("%s", e.Error())
	}
}

func internalCode(service string) string {
	switch service {
	case serviceEC2:
		return "InternalError"
	case serviceSSM:
		return "InternalServerError"
	default:
		return "InternalFailure"
	}
}

// signatureError spells what is wrong with a signature; nil for other errors.
func signatureError(service string, err error) *apiError {
	e := &apiError{Status: http.StatusForbidden}
	ec2 := service == serviceEC2
	switch {
	case errors.Is(err, sigv4.ErrMissing):
		e.Code, e.Message = "MissingAuthenticationToken", "Request is missing Authentication Token"
	case errors.Is(err, sigv4.ErrMalformed):
		e.Code, e.Message, e.Status = "IncompleteSignature", err.Error(), http.StatusBadRequest
	case errors.Is(err, sigv4.ErrUnknown) && ec2:
		e.Code, e.Message, e.Status = "AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized
	case errors.Is(err, sigv4.ErrUnknown):
		e.Code, e.Message = "InvalidClientTokenId", "The security token included in the request is invalid."
	case errors.Is(err, sigv4.ErrExpired) && ec2:
		e.Code, e.Message, e.Status = "RequestExpired", "Request has expired.", http.StatusBadRequest
	case errors.Is(err, sigv4.ErrExpired):
		e.Code, e.Message = "SignatureDoesNotMatch", err.Error()
	case errors.Is(err, sigv4.ErrMismatch) && ec2:
		e.Code, e.Message, e.Status = "AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized
	case errors.Is(err, sigv4.ErrMismatch):
		e.Code = "SignatureDoesNotMatch"
		e.Message = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method."
	default:
		return nil
	}
	return e
}

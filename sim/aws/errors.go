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
	case service == serviceIAM:
		return refuse("ValidationError", "%s", e.Error())
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
	case serviceEKS:
		return "ServerException"
	case serviceIAM:
		return "ServiceFailure"
	case serviceS3:
		return "InternalError"
	default:
		return "InternalFailure"
	}
}

// signatureError spells what is wrong with a signature; nil for other errors. EC2 has words of its own.
func signatureError(service string, err error) *apiError {
	for _, known := range []error{sigv4.ErrMissing, sigv4.ErrMalformed, sigv4.ErrUnknown, sigv4.ErrExpired, sigv4.ErrMismatch} {
		if !errors.Is(err, known) {
			continue
		}
		e, ok := signatureOf[service][known]
		if !ok {
			e = signature[known]
		}
		if e.Message == "" {
			e.Message = err.Error()
		}
		return &e
	}
	return nil
}

var (
	signature = map[error]apiError{
		sigv4.ErrMissing:   {"MissingAuthenticationToken", "Request is missing Authentication Token", http.StatusForbidden},
		sigv4.ErrMalformed: {"IncompleteSignature", "", http.StatusBadRequest},
		sigv4.ErrUnknown:   {"InvalidClientTokenId", "The security token included in the request is invalid.", http.StatusForbidden},
		sigv4.ErrExpired:   {"SignatureDoesNotMatch", "", http.StatusForbidden},
		sigv4.ErrMismatch:  {"SignatureDoesNotMatch", mismatch, http.StatusForbidden},
	}
	// signatureOf are the words of services that have their own.
	signatureOf = map[string]map[error]apiError{
		serviceEC2: {
			sigv4.ErrUnknown:  {"AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized},
			sigv4.ErrMismatch: {"AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized},
			sigv4.ErrExpired:  {"RequestExpired", "Request has expired.", http.StatusBadRequest},
		},
		serviceS3: objectSignatures,
		serviceEKS: {
			sigv4.ErrMissing:  {"MissingAuthenticationTokenException", "Missing Authentication Token", http.StatusForbidden},
			sigv4.ErrUnknown:  {"UnrecognizedClientException", "The security token included in the request is invalid.", http.StatusForbidden},
			sigv4.ErrExpired:  {"InvalidSignatureException", "", http.StatusForbidden},
			sigv4.ErrMismatch: {"InvalidSignatureException", mismatch, http.StatusForbidden},
		},
	}
)

// tokenExpired is said of temporary keys whose time is over.
func tokenExpired(service string) *apiError {
	const message = "The security token included in the request is expired"
	switch service {
	case serviceEC2:
		return refuse("RequestExpired", "Request has expired.")
	case serviceSSM:
		return refuse("ExpiredTokenException", message)
	case serviceEKS:
		return &apiError{Code: "ExpiredTokenException", Message: message, Status: http.StatusForbidden}
	case serviceS3:
		return refuse("ExpiredToken", "The provided token has expired.")
	}
	return &apiError{Code: "ExpiredToken", Message: message, Status: http.StatusForbidden}
}

// mismatch is said of a signature that was made with another secret, or of another request.
const mismatch = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method."

package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/muster-project/muster/sim"
)

// APIError is a refusal in the words of the service.
type APIError struct {
	Code, Message string
	Status        int
}

func (e *APIError) Error() string { return e.Code + ": " + e.Message }

// Refuse is a refusal that is the caller's fault.
func Refuse(code, format string, args ...any) *APIError {
	return &APIError{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}

// Invalid is Auto Scaling's refusal of a request that cannot be meant.
func Invalid(format string, args ...any) *APIError { return Refuse("ValidationError", format, args...) }

// ToAPI spells any error in the words of the service.
func ToAPI(service string, err error) *APIError {
	if e, ok := errors.AsType[*APIError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*ParameterError](err); ok {
		return queryError(service, e)
	}
	if e := signatureError(service, err); e != nil {
		return e
	}
	if errors.Is(err, sim.ErrClosed) {
		return &APIError{Code: "ServiceUnavailable", Message: "The service is shutting down.", Status: http.StatusServiceUnavailable}
	}
	return &APIError{Code: internalCode(service), Message: "An internal error has occurred", Status: http.StatusInternalServerError}
}

func queryError(service string, e *ParameterError) *APIError {
	switch {
	case service == ServiceEC2 && e.Unknown:
		return Refuse("UnknownParameter", "%s", e.Error())
	case service == ServiceEC2:
		return Refuse("InvalidParameterValue", "%s", e.Error())
	case service == ServiceIAM:
		return Refuse("ValidationError", "%s", e.Error())
	default:
		return Invalid("%s", e.Error())
	}
}

func internalCode(service string) string {
	switch service {
	case ServiceEC2:
		return "InternalError"
	case ServiceSSM:
		return "InternalServerError"
	case ServiceEKS:
		return "ServerException"
	case ServiceIAM:
		return "ServiceFailure"
	case ServiceS3:
		return "InternalError"
	default:
		return "InternalFailure"
	}
}

// signatureError spells what is wrong with a signature; nil for other errors. EC2 has words of its own.
func signatureError(service string, err error) *APIError {
	for _, known := range []error{ErrSignatureMissing, ErrSignatureMalformed, ErrKeyUnknown, ErrSignatureExpired, ErrSignatureMismatch} {
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
	signature = map[error]APIError{
		ErrSignatureMissing:   {"MissingAuthenticationToken", "Request is missing Authentication Token", http.StatusForbidden},
		ErrSignatureMalformed: {"IncompleteSignature", "", http.StatusBadRequest},
		ErrKeyUnknown:         {"InvalidClientTokenId", "The security token included in the request is invalid.", http.StatusForbidden},
		ErrSignatureExpired:   {"SignatureDoesNotMatch", "", http.StatusForbidden},
		ErrSignatureMismatch:  {"SignatureDoesNotMatch", mismatch, http.StatusForbidden},
	}
	// signatureOf are the words of services that have their own.
	signatureOf = map[string]map[error]APIError{
		ServiceEC2: {
			ErrKeyUnknown:        {"AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized},
			ErrSignatureMismatch: {"AuthFailure", "AWS was not able to validate the provided access credentials", http.StatusUnauthorized},
			ErrSignatureExpired:  {"RequestExpired", "Request has expired.", http.StatusBadRequest},
		},
		ServiceS3: objectSignatures,
		ServiceEKS: {
			ErrSignatureMissing:  {"MissingAuthenticationTokenException", "Missing Authentication Token", http.StatusForbidden},
			ErrKeyUnknown:        {"UnrecognizedClientException", "The security token included in the request is invalid.", http.StatusForbidden},
			ErrSignatureExpired:  {"InvalidSignatureException", "", http.StatusForbidden},
			ErrSignatureMismatch: {"InvalidSignatureException", mismatch, http.StatusForbidden},
		},
	}
)

// TokenExpired is said of temporary keys whose time is over.
func TokenExpired(service string) *APIError {
	const message = "The security token included in the request is expired"
	switch service {
	case ServiceEC2:
		return Refuse("RequestExpired", "Request has expired.")
	case ServiceSSM:
		return Refuse("ExpiredTokenException", message)
	case ServiceEKS:
		return &APIError{Code: "ExpiredTokenException", Message: message, Status: http.StatusForbidden}
	case ServiceS3:
		return Refuse("ExpiredToken", "The provided token has expired.")
	}
	return &APIError{Code: "ExpiredToken", Message: message, Status: http.StatusForbidden}
}

// mismatch is said of a signature that was made with another secret, or of another request.
const mismatch = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and " +
	"signing method."

// unreadable is a body of which a field is not what it must be.
func unreadable(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Refuse("SerializationException", "%s: a value of another type is wanted", e.Field)
	}
	return Refuse("SerializationException", "")
}

// UnknownAction is the error for an action that the service does not have.
func UnknownAction(service, action, version string) *APIError {
	switch service {
	case ServiceEC2:
		return Refuse("InvalidAction", "The action %s is not valid for this web service.", action)
	case ServiceSSM:
		return Refuse("UnknownOperationException", "")
	default:
		return Refuse("InvalidAction", "Could not find operation %s for version %s", action, version)
	}
}

// ErrorMessage is the message of a refusal without its code.
func ErrorMessage(err error) string {
	if e, ok := errors.AsType[*APIError](err); ok {
		return e.Message
	}
	return err.Error()
}

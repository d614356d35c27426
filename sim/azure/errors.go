package azure

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// apiError is a refusal in ARM's words.
type apiError struct {
	Status        int
	Code, Message string
	Target        string
	Details       []detail
	// RetryAfter is for how long the client is asked to wait; zero says nothing.
	RetryAfter time.Duration
}

// detail is one more error below an error.
type detail struct {
	Code    string `json:"code"`
	Target  string `json:"target,omitempty"`
	Message string `json:"message"`
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// body is the error as it is sent.
func (e *apiError) body() document {
	inner := document{"code": e.Code, "message": e.Message}
	if e.Target != "" {
		inner["target"] = e.Target
	}
	if len(e.Details) > 0 {
		inner["details"] = e.Details
	}
	return document{"error": inner}
}

// refuse makes an error of a status and a code.
func refuse(status int, code, format string, args ...any) *apiError {
	return &apiError{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid refuses a parameter.
func invalid(target, format string, args ...any) *apiError {
	e := refuse(http.StatusBadRequest, "InvalidParameter", format, args...)
	e.Target = target
	return e
}

// missing refuses a body without something that it must hold.
func missing(target string) *apiError {
	return invalid(target, "Required parameter '%s' is missing (null).", target)
}

// unchangeable refuses to change what is fixed once it is there.
func unchangeable(property string) *apiError {
	e := refuse(http.StatusConflict, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", property)
	e.Target = property
	return e
}

// notAllowed refuses what could be done in another state.
func notAllowed(format string, args ...any) *apiError {
	return refuse(http.StatusConflict, "OperationNotAllowed", format, args...)
}

// notFound is the error for a resource that does not exist.
func notFound(kind, name, group string) *apiError {
	return refuse(http.StatusNotFound, "ResourceNotFound",
		"The Resource '%s/%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix", kind, name, group)
}

// busy is the error for a resource on which another operation runs.
func busy() *apiError {
	return refuse(http.StatusConflict, "Conflict", "The request failed due to conflict with a concurrent request. "+
		"To resolve it, please refer to https://aka.ms/activitylog to get more details on the conflicting requests.")
}

// toAPI makes any error one that ARM would send.
func toAPI(err error) *apiError {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	return refuse(http.StatusInternalServerError, "InternalServerError", "Encountered internal server error.")
}

// trouble is why an operation or a machine has failed.
type trouble struct {
	Code, Message string
	// Target is the machine that it came to, "" for what is about the scale set as a whole.
	Target string
}

// shown is the trouble as an operation tells of it: what came to a machine lies below what that made of the whole.
func (t *trouble) shown() document {
	if t.Target == "" {
		return document{"code": t.Code, "message": t.Message}
	}
	return document{
		"code": "ResourceOperationFailure", "message": "The resource operation completed with terminal provisioning state 'Failed'.",
		"details": []detail{{Code: t.Code, Target: t.Target, Message: t.Message}},
	}
}

// The troubles that machines come to, in the words of the service.
const (
	codeAllocation      = "AllocationFailed"
	codeZonal           = "ZonalAllocationFailed"
	codeOverconstrained = "OverconstrainedZonalAllocationRequest"
	codeOSTimeout       = "OSProvisioningTimedOut"
	codeExtension       = "VMExtensionProvisioningError"
	wordsAllocation     = "Allocation failed. We do not have sufficient capacity for the requested VM size in this region. " +
		"Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance"
	wordsZonal = "Allocation failed. We do not have sufficient capacity for the requested VM size in zone '%s'. " +
		"Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance"
	wordsOverconstrained = "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. " +
		"Please remove some constraints and try again. Constraints applied are: %s. Zones: %s"
	wordsOSTimeout = "OS Provisioning for VM '%s' did not finish in the allotted time. The VM may still finish provisioning successfully. " +
		"Please check provisioning state later. For details on how to check current provisioning state of Windows VMs, refer to " +
		"https://aka.ms/WindowsVMLifecycle and Linux VMs, refer to https://aka.ms/LinuxVMLifecycle."
	wordsExtension = "VM has reported a failure when processing extension '%s' (publisher '%s' and type '%s'). " +
		"Error message: 'Enable failed: failed to execute command: command terminated with exit status=1'. More information on troubleshooting is available at https://aka.ms/VMExtensionTroubleshoot."
)

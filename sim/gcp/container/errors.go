package container

import (
	"fmt"
	"net/http"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// domain is GKE's in the details of errors.
const domain = "container.googleapis.com"

// refuse returns an error in the form of GKE.
func refuse(status int, state, reason, format string, args ...any) *project.Error {
	return &project.Error{Status: status, State: state, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// badRequest refuses what a request says; an empty text is no refusal.
func badRequest(text string) error {
	if text == "" {
		return nil
	}
	return refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "badRequest", "%s", text)
}

// precondition refuses a request that what exists does not allow.
func precondition(format string, args ...any) *project.Error {
	return refuse(http.StatusBadRequest, "FAILED_PRECONDITION", "failedPrecondition", format, args...)
}

// busy refuses an operation while another one runs on the cluster.
func busy(w *project.Core, op string) error {
	if w.Switches.On(BusyAborted) {
		return refuse(http.StatusConflict, "ABORTED", "aborted", "Cluster is running incompatible operation %s.", op)
	}
	e := precondition("Cluster is running incompatible operation %s.", op)
	e.Details = []any{document.Object{
		"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": domain, "reason": "CLUSTER_ALREADY_HAS_OPERATION",
	}}
	return e
}

func notFound(path string) error {
	return refuse(http.StatusNotFound, "NOT_FOUND", "notFound", "Not found: %s.", path)
}

func alreadyExists(path string) error {
	return refuse(http.StatusConflict, "ALREADY_EXISTS", "alreadyExists", "Already exists: %s.", path)
}

// stale refuses an update whose etag is not that of what exists.
func stale(requested, current string) error {
	return refuse(http.StatusConflict, "ABORTED", "aborted", "The etag %q of the request does not match the current etag %q.", requested,
		current)
}

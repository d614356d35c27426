package session

import (
	"encoding/json"
	"regexp"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
)

// serviceError is the error that Google reports in a reply, of an operation, or of one instance.
type serviceError struct{ Code, Message, Target string }

// reply is the body of an error reply.
type reply struct {
	Error struct {
		Message string `json:"message"`
		Status  string `json:"status"`
		Errors  []struct {
			Reason   string `json:"reason"`
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
		Details []struct {
			Reason     string `json:"reason"`
			Violations []struct {
				Field       string `json:"field"`
				Description string `json:"description"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

// readReply decodes the body of an error reply: {"error":{...}}.
func readReply(body []byte) serviceError {
	var is reply
	if json.Unmarshal(body, &is) != nil {
		return serviceError{}
	}
	out := serviceError{Code: is.Error.Status, Message: is.Error.Message}
	if len(is.Error.Errors) > 0 {
		first := is.Error.Errors[0]
		// GKE writes the canonical code in both places, in two spellings: the one of the documentation is kept.
		if first.Reason != "" && normal(first.Reason) != normal(out.Code) {
			out.Code = first.Reason
		}
		if out.Message == "" {
			out.Message = first.Message
		}
	}
	for _, detail := range is.Error.Details {
		if _, known := table.Known(detail.Reason); known && detail.Reason != "" {
			out.Code = detail.Reason
		}
		for _, v := range detail.Violations {
			if out.Target == "" {
				out.Target = v.Field
			}
		}
	}
	if out.Target == "" {
		out.Target = fieldIn(out.Message)
	}
	return out
}

// tokenReply is the body of a refusal of the token service.
type tokenReply struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func readToken(body []byte) tokenReply {
	var is tokenReply
	_ = json.Unmarshal(body, &is) // A body that is no object says nothing: the status remains.
	return is
}

var fieldName = regexp.MustCompile(`(?i)(?:for field|field) '([\w.\[\]]+)'`)

// fieldIn returns the field of the request that a message names.
func fieldIn(message string) string {
	if found := fieldName.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}

// Failed returns why an operation has failed; nil while it has not.
func Failed(op *compute.Operation) *cloud.Error {
	if op == nil || op.Error == nil || len(op.Error.Errors) == 0 {
		return nil
	}
	first := op.Error.Errors[0]
	return ErrorOf(first.Code, first.Message)
}

// ErrorOf converts a failure that Google reports outside of a reply: of an operation, or of the last attempt to create an instance.
func ErrorOf(code, message string) *cloud.Error {
	e := &cloud.Error{Kind: cloud.Unavailable}
	serviceError{Code: code, Message: message}.classify(e, 0)
	return e
}

var (
	operationID = regexp.MustCompile(`(?i)\b(?:operation|op)[- ]?(?:id:? )?'?operation-[0-9a-f-]{16,}'?|\boperation-[0-9a-f-]{16,}`)
	uuid        = regexp.MustCompile(`(?i)[(\[,;]?\s*(?:request|trace|tracking|correlation)[ -]?id:?(?: is)?:?\s*'?[0-9a-f-]{16,}'?[)\].]?`)
	instant     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?`)
	link        = regexp.MustCompile(`https?://[^\s'"]*?/(projects/[^\s'"]+)`)
	trailing    = regexp.MustCompile(`,?\s*(?i:details): \[\s*\]`)

	// The quota, zone and region that a capacity message names.
	quotaName  = regexp.MustCompile(`(?i)quota '?([A-Z][A-Z0-9_]+)'?`)
	zoneName   = regexp.MustCompile(`\bzones?[/ ']+([a-z]+-[a-z]+\d+-[a-z][a-z0-9]*)\b`)
	regionName = regexp.MustCompile(`\bregion[s]?[/ ']+([a-z]+-[a-z]+\d+)\b`)
)

// Clean returns a message without what differs from one request to the next, and without the sentences that only lead somewhere else.
// Resources are named by their paths.
func Clean(message string) string { return table.Clean(message) }

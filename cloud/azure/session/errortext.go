package session

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxDepth bounds the nesting of errors that is read.
const maxDepth = 5

// serviceError is Azure's description of a failure: of a request, an operation, or one instance.
type serviceError struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Target  string         `json:"target"`
	Details []serviceError `json:"details"`
}

// UnmarshalJSON decodes an object. Any other value in its place (an empty list, a string) is ignored.
func (s *serviceError) UnmarshalJSON(data []byte) error {
	type fields serviceError
	var is fields
	if json.Unmarshal(data, &is) == nil {
		*s = serviceError(is)
		return nil
	}
	var words struct{ Code, Message string }
	if json.Unmarshal(data, &words) == nil {
		s.Code, s.Message = words.Code, words.Message
	}
	return nil
}

// readReply decodes the body of an error reply: {"error":{...}}, the error alone, or the status of an operation.
func readReply(body []byte) serviceError {
	var wrapped struct {
		Error *serviceError `json:"error"`
	}
	if json.Unmarshal(body, &wrapped) == nil && wrapped.Error != nil {
		return wrapped.Error.innermost(maxDepth)
	}
	var is serviceError
	if json.Unmarshal(body, &is) != nil {
		return serviceError{}
	}
	return is.innermost(maxDepth)
}

// wrappers holds the codes that only wrap another error.
var wrappers = map[string]bool{
	"":                          true,
	"badrequest":                true,
	"conflict":                  true,
	"deploymentfailed":          true,
	"invalidtemplatedeployment": true,
	"multipleerrorsoccurred":    true,
	"operationnotallowed":       true,
	"resourcedeploymentfailure": true,
	"resourceoperationfailure":  true,
}

// innermost returns the most specific error nested in s.
func (s serviceError) innermost(depth int) serviceError {
	if depth == 0 {
		return s
	}
	if within, ok := unwrapped(s.Message); ok {
		return within.innermost(depth - 1)
	}
	if !wrappers[strings.ToLower(s.Code)] {
		return s
	}
	for _, detail := range s.Details {
		inner := detail.innermost(depth - 1)
		if inner.Code == "" || wrappers[strings.ToLower(inner.Code)] && inner.Message == "" {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(inner.Message), "{") || inner.Message == "" {
			// The inner message holds the figures of a rate limit; the outer one is readable.
			inner.Message = s.Message
		}
		return inner
	}
	return s
}

// unwrapped returns the error that is encoded as JSON in another one's message.
func unwrapped(message string) (serviceError, bool) {
	message = strings.TrimSpace(message)
	if !strings.HasPrefix(message, "{") {
		return serviceError{}, false
	}
	var wrapped struct {
		Error *serviceError `json:"error"`
	}
	if json.Unmarshal([]byte(message), &wrapped) != nil || wrapped.Error == nil {
		return serviceError{}, false
	}
	return *wrapped.Error, true
}

const uuid = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

var (
	// marked are IDs and times of one request.
	marked  = regexp.MustCompile(`(?i)[(\[,;]?\s*(?:(?:service |client )?request|trace|correlation|activity|operation|tracking)[ -]?id:?(?: is)?:?\s*'?` + uuid + `'?[)\].]?`)
	stamped = regexp.MustCompile(`(?i)[(\[,;]?\s*timestamp:?\s*\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?[)\]]?`)
	instant = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?`)
	again   = regexp.MustCompile(`(?i)\s*please (?:re)?try (?:again )?after '?\d+'? seconds\.?`)

	// The quota, size, zone and location that a capacity message names.
	quotaName = regexp.MustCompile(`(?i)approved (.{1,60}?) quota`)
	placeName = regexp.MustCompile(`(?i)\blocation:? '?([a-z]+[0-9]?)\b'?`)
	zoneName  = regexp.MustCompile(`(?i)\bzones?:? '?([1-9](?:, ?[1-9])*)\b'?`)
	sizeName  = regexp.MustCompile(`\b(?:Standard|Basic)_\w+`)
)

// Clean returns a message without what differs from one request to the next, and without the sentences that only lead somewhere else.
func Clean(message string) string { return table.Clean(message) }

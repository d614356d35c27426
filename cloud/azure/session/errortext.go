package session

import (
	"encoding/json"
	"regexp"
	"strings"
)

// depthMost bounds how deep refusals within refusals are read.
const depthMost = 5

// said is what Azure says of something that failed: in a reply, of an operation, or of one instance.
type said struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Target  string `json:"target"`
	Details []said `json:"details"`
}

// UnmarshalJSON reads what is an object; whatever else stands in its place (a list of nothing, a word) says nothing.
func (s *said) UnmarshalJSON(data []byte) error {
	type plain said
	var is plain
	if json.Unmarshal(data, &is) == nil {
		*s = said(is)
		return nil
	}
	var words struct{ Code, Message string }
	if json.Unmarshal(data, &words) == nil {
		s.Code, s.Message = words.Code, words.Message
	}
	return nil
}

// readReply reads a refusal's body: {"error":{...}}, the error alone, or what has become of an operation.
func readReply(body []byte) said {
	var wrapped struct {
		Error *said `json:"error"`
	}
	if json.Unmarshal(body, &wrapped) == nil && wrapped.Error != nil {
		return wrapped.Error.plainest(depthMost)
	}
	var is said
	if json.Unmarshal(body, &is) != nil {
		return said{}
	}
	return is.plainest(depthMost)
}

// wrappers are codes that say no more than that something within has failed.
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

// plainest is the innermost refusal that says what is the matter.
func (s said) plainest(depth int) said {
	if depth == 0 {
		return s
	}
	if within, ok := unwrapped(s.Message); ok {
		return within.plainest(depth - 1)
	}
	if !wrappers[strings.ToLower(s.Code)] {
		return s
	}
	for _, detail := range s.Details {
		inner := detail.plainest(depth - 1)
		if inner.Code == "" || wrappers[strings.ToLower(inner.Code)] && inner.Message == "" {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(inner.Message), "{") || inner.Message == "" {
			// Figures of a rate limit: the words are those around it.
			inner.Message = s.Message
		}
		return inner
	}
	return s
}

// unwrapped is a refusal that stands as JSON in another one's message.
func unwrapped(message string) (said, bool) {
	message = strings.TrimSpace(message)
	if !strings.HasPrefix(message, "{") {
		return said{}, false
	}
	var wrapped struct {
		Error *said `json:"error"`
	}
	if json.Unmarshal([]byte(message), &wrapped) != nil || wrapped.Error == nil {
		return said{}, false
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

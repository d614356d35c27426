package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

// codeNotFound is the type of the refusal of what does not exist.
const codeNotFound = "not_found"

// table holds the types of Scaleway's refusals (scaleway-sdk-go v1.39.0, scw/errors.go). A lock is Scaleway's own, because of an abuse that
// was reported: no request opens it.
var table = refusal.New(refusal.Table{
	Codes: map[cloud.ErrorKind][]string{
		cloud.Throttled:   {"too_many_requests"},
		cloud.Conflict:    {"transient_state", "precondition_failed", "resource_still_in_use"},
		cloud.Capacity:    {"quotas_exceeded", "out_of_stock"},
		cloud.Denied:      {"permissions_denied", "denied_authentication", "locked"},
		cloud.Invalid:     {"invalid_arguments", "resource_expired", codeNotFound},
		cloud.Unavailable: {"internal_error", "unavailable"},
	},
	Absent:    []string{codeNotFound},
	Rewritten: refusal.Dropped(regexp.MustCompile(`(?i),? ?\(?(request|trace)[ _-]?id:? ?[0-9a-f-]{16,}\)?`)),
	Places:    []refusal.Place{{Name: regexp.MustCompile(`\b([a-z]{2}-[a-z]{3}-\d)\b`), Label: "zone "}},
})

// Absent reports whether a call failed because what it names does not exist (any more).
func Absent(err error) bool { return table.IsAbsent(err) }

// serviceError is the body of an error reply.
type serviceError struct {
	Type, Message, Resource string
	CurrentState            string `json:"current_state"`
	HelpMessage             string `json:"help_message"`
	Precondition            string
	Reason                  string
	Details                 []detail
}

// detail is one of the things that a refusal is about.
type detail struct {
	ArgumentName   string `json:"argument_name"`
	HelpMessage    string `json:"help_message"`
	Reason         string
	Resource       string
	Action         string
	Quota, Current uint64
}

func (d detail) words() string {
	switch {
	case d.ArgumentName != "":
		return strings.TrimSpace(d.ArgumentName + ": " + cmp.Or(d.HelpMessage, d.Reason))
	case d.Quota > 0 || d.Current > 0:
		return fmt.Sprintf("quota of %s: %d of %d are used", d.Resource, d.Current, d.Quota)
	}
	return strings.TrimSpace(d.Action + " " + d.Resource)
}

// ofReply returns the error of a reply that refuses a request. A body that is no JSON is not the service's own: it tells nothing but that
// there were too many requests, or that there is no service.
func ofReply(op string, reply *http.Response, body []byte, now time.Time) error {
	var is serviceError
	if err := json.Unmarshal(body, &is); err != nil && cloud.KindOfStatus(reply.StatusCode) != cloud.Throttled {
		return cloud.NotFromService(op, reply.StatusCode)
	}
	kind, known := table.Kind(is.Type)
	if !known || reply.StatusCode == http.StatusTooManyRequests {
		kind = cloud.KindOfStatus(reply.StatusCode)
	}
	if is.Type == "" && reply.StatusCode == http.StatusNotFound {
		// The router's own 404 has no type: the address is wrong, which does not tell that a resource is gone.
		return cloud.NotFromService(op, reply.StatusCode)
	}
	e := &cloud.Error{Op: op, After: wire.RetryAfter(reply.Header, now)}
	table.Describe(e, refusal.ServiceError{Kind: kind, Code: is.Type, Message: is.words(), Status: reply.StatusCode})
	if len(is.Details) > 0 {
		return driverkit.AboutPart(e, is.Details[0].ArgumentName)
	}
	return e
}

// words returns the message with what the details add to it.
func (s serviceError) words() string {
	parts := []string{s.Message}
	for _, d := range s.Details {
		parts = append(parts, d.words())
	}
	switch s.Type {
	case "transient_state":
		parts = append(parts, fmt.Sprintf("the %s is %s", s.Resource, s.CurrentState))
	case "out_of_stock", "locked":
		parts = append(parts, s.Resource)
	case "precondition_failed":
		parts = append(parts, cmp.Or(s.HelpMessage, s.Precondition))
	case "denied_authentication":
		parts = append(parts, s.Reason)
	case codeNotFound:
		parts[0] = strings.TrimSpace(s.Resource + ": " + s.Message)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// refused returns the error of a call, nil for nil. A denial names the identity.
func (s *Session) refused(call wire.Call, err error) error {
	if err == nil {
		return nil
	}
	var e *cloud.Error
	if !errors.As(err, &e) {
		e = &cloud.Error{Op: call.String(), Kind: cloud.Unavailable}
		if !refusal.Unsent(e, err) {
			refusal.Unanswered(e, err)
		}
	}
	if e.Kind == cloud.Denied && e.Field == "" {
		e.Field = s.identity
	}
	return driverkit.AboutPart(e, driverkit.PartOf(err))
}

// lacking finds a lack of capacity in the words of a pool or a node, which have no type.
var lacking = regexp.MustCompile(`(?i)\b(out of stock|stock|quotas?|capacity|insufficient|no machines)\b`)

// FailureOf returns what Scaleway tells of a pool or a node that is not well, in its own words. It names no kind, so that the words tell
// whether there is no capacity.
func FailureOf(words, zone string) *cloud.Error {
	e, kind := &cloud.Error{}, cloud.Unavailable
	if lacking.MatchString(words) {
		kind = cloud.Capacity
	}
	if zone != "" && !strings.Contains(words, zone) {
		words += " (zone " + zone + ")"
	}
	table.Describe(e, refusal.ServiceError{Kind: kind, Message: words})
	return e
}

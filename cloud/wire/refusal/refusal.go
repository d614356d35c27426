// Package refusal converts the failures that the services of a cloud report into errors of Muster's kinds: in replies, of operations, of
// machines, and of tokens. A Table holds the parts that differ between clouds; only the cloud's session knows the encoding of its errors.
package refusal

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// Table holds the error codes and texts of one cloud's services. It is declared once and not changed.
type Table struct {
	// Codes are the documented error codes whose kind follows neither from Manners nor from the status of the reply.
	Codes map[cloud.ErrorKind][]string
	// Manners assign kinds to other codes by their prefix or suffix. The first that applies counts, after Codes.
	Manners []Manner
	// Spelling returns a code as it is compared with others; nil compares them as they are written. Manners are written in that spelling.
	Spelling func(code string) string
	// Absent lists the codes of a missing resource, as opposed to a missing dependency.
	Absent []string
	// Rewritten lists the parts of messages that differ from one request to the next, or that only the account's owner should see.
	Rewritten []Rewritten
	// KeepsLinks keeps the sentences of messages that refer the reader to an address.
	KeepsLinks bool
	// Places extract the missing resource and its location from the message of a lack of capacity.
	Places []Place

	kinds map[string]cloud.ErrorKind
}

// New returns the table, ready to use.
func New(t Table) *Table {
	t.kinds = map[string]cloud.ErrorKind{}
	for kind, list := range t.Codes {
		for _, code := range list {
			t.kinds[t.spelled(code)] = kind
		}
	}
	return &t
}

// Manner assigns a kind to the codes with a prefix and suffix.
type Manner struct {
	Prefix, Suffix string
	Kind           cloud.ErrorKind
}

// Rewritten replaces a part of messages; an empty By removes it.
type Rewritten struct {
	Part *regexp.Regexp
	By   string
}

// Dropped returns the Rewritten that remove parts of messages.
func Dropped(parts ...*regexp.Regexp) []Rewritten {
	out := make([]Rewritten, len(parts))
	for i, part := range parts {
		out[i].Part = part
	}
	return out
}

// Place finds a name in a message: the last group of the expression, or all of it. Label stands before the name.
type Place struct {
	Name  *regexp.Regexp
	Label string
}

// ServiceError is a failure as a service reports it.
type ServiceError struct {
	// Kind of the failure, determined by the cloud's session.
	Kind cloud.ErrorKind
	// Code and Message as the service returns them.
	Code, Message string
	// Status of the HTTP reply; zero for a failure of an operation or of a machine.
	Status int
}

// Known returns the kind of a documented error code, and false for any other.
func (t *Table) Known(code string) (cloud.ErrorKind, bool) {
	kind, ok := t.kinds[t.spelled(code)]
	return kind, ok
}

// Kind returns the kind of an error code: a documented one's, else that of its manner. It is false for one that says nothing of the kind.
func (t *Table) Kind(code string) (cloud.ErrorKind, bool) {
	if kind, ok := t.Known(code); ok {
		return kind, true
	}
	code = t.spelled(code)
	for _, m := range t.Manners {
		if strings.HasPrefix(code, m.Prefix) && strings.HasSuffix(code, m.Suffix) {
			return m.Kind, true
		}
	}
	return "", false
}

// IsAbsent reports whether a call failed because what it names does not exist (any more).
func (t *Table) IsAbsent(err error) bool { return t.Is(cloud.CodeOf(err), t.Absent...) }

// Is reports whether a code is one of others.
func (t *Table) Is(code string, others ...string) bool {
	code = t.spelled(code)
	return slices.ContainsFunc(others, func(known string) bool { return t.spelled(known) == code })
}

func (t *Table) spelled(code string) string {
	if t.Spelling == nil {
		return code
	}
	return t.Spelling(code)
}

// Describe sets an error from the failure of a service. The place is set only for a lack of capacity, and the time to wait only if the same
// request may succeed later. Without code and message the code is the text of the HTTP status.
func (t *Table) Describe(e *cloud.Error, s ServiceError) {
	e.Kind, e.Code, e.Message = s.Kind, s.Code, t.Clean(s.Message)
	if e.Kind != cloud.Throttled && e.Kind != cloud.Unavailable {
		e.After = 0
	}
	if e.Kind == cloud.Capacity {
		e.Where = t.where(s.Message)
	}
	if e.Message == "" && e.Code == "" {
		e.Code = strings.ReplaceAll(http.StatusText(s.Status), " ", "")
	}
}

// Clean returns a message without what differs from one request to the next, so that a condition does not flap.
func (t *Table) Clean(message string) string {
	for _, r := range t.Rewritten {
		message = r.Part.ReplaceAllString(message, r.By)
	}
	if !t.KeepsLinks {
		message = withoutLinks(message)
	}
	return cloud.NormalizeText(message)
}

// where returns what is lacking, and where, as far as a message names it.
func (t *Table) where(message string) string {
	var parts []string
	for _, p := range t.Places {
		if found := p.Name.FindStringSubmatch(message); found != nil && found[len(found)-1] != "" {
			parts = append(parts, p.Label+found[len(found)-1])
		}
	}
	return strings.Join(parts, ", ")
}

// Token fills an error in with the refusal of a token service, by the header of its reply. A refusal without a code is one of credentials.
func (t *Table) Token(e *cloud.Error, s ServiceError, header http.Header, now time.Time) {
	e.Code, e.Message, e.Kind = s.Code, t.Clean(s.Message), cloud.Denied
	switch {
	case s.Status == http.StatusTooManyRequests:
		e.Kind, e.After = cloud.Throttled, wire.RetryAfter(header, now)
	case s.Status >= http.StatusInternalServerError:
		e.Kind, e.After = cloud.Unavailable, wire.RetryAfter(header, now)
	}
	if e.Code == "" {
		e.Code = cloud.CodeNoCredentials
	}
}

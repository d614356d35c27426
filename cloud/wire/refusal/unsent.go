package refusal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// Astray is the error of a request that was not sent, because it would have carried a token to a host of another owner.
type Astray struct {
	// Host names where the request led, Not a description that the host does not meet: "no service of Google's".
	Host, Not string
}

// Error names the host.
func (a *Astray) Error() string {
	return fmt.Sprintf("the request was not sent: it leads to %q, which is %s", a.Host, a.Not)
}

// NonRetriable keeps the Azure SDK from trying again.
func (a *Astray) NonRetriable() {}

// Unsent fills an error in with why a request was not sent, and reports whether it was not: a rate budget held it back, or it led astray.
func Unsent(e *cloud.Error, err error) bool {
	var held *wire.RateLimitedError
	var astray *Astray
	switch {
	case errors.As(err, &held):
		e.Kind, e.Code, e.Message, e.After = cloud.Throttled, cloud.CodeClientRateLimited, held.Error(), held.After
	case errors.As(err, &astray):
		e.Kind, e.Code, e.Message = cloud.Denied, "Astray", astray.Error()
	default:
		return false
	}
	return true
}

// Unanswered fills an error in with why a request got no answer.
func Unanswered(e *cloud.Error, err error) {
	no := cloud.NoResponse(e.Op, err)
	e.Code, e.Message = no.Code, no.Message
}

// NotFromService reports whether a reply that refuses a request is a page of something between Muster and the service, which says nothing
// of the request.
func NotFromService(status int, body []byte) bool {
	return cloud.KindOfStatus(status) == cloud.Invalid && strings.HasPrefix(strings.TrimSpace(string(body)), "<")
}

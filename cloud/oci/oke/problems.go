package oke

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// LaunchFailed is the reason of a failure whose code does not tell its kind.
const LaunchFailed = "LaunchFailed"

// Problems collects what OKE tells of a pool and its nodes, each message once.
type Problems struct {
	// Places are the availability domains of what is added, for messages.
	Places string
	List   []pool.Cause
}

// Add adds a failure. The reason is that of its code where it tells one. Where it is about machines that do not exist it tells no
// availability domain: those in which they may be are named.
func (p *Problems) Add(reason, code, message string) {
	if code == "" && message == "" {
		return
	}
	cause := driverkit.FailureOf(session.FailureOf(code, message))
	if cause.Reason == LaunchFailed {
		cause.Reason = reason
	}
	plain := cause.Message
	if p.Places != "" {
		cause.Message = strings.TrimSuffix(cause.Message, ".") + " (" + p.Places + ")"
	}
	for _, told := range p.List {
		if told == cause || code == "" && strings.Contains(told.Message, strings.TrimSuffix(plain, ".")) {
			return
		}
	}
	p.List = append(p.List, cause)
}

// illStates are the states of pools that are not well, in the form of reasons.
var illStates = map[string]string{
	"NEEDS_ATTENTION": "NodePoolNeedsAttention", "FAILED": "NodePoolFailed", StateInactive: "NodePoolInactive",
}

// AddState adds why a pool as a whole is not well, and reports whether it is not.
func (p *Problems) AddState(at Pool, state, details string) bool {
	reason, ill := illStates[state]
	if ill && details == "" && len(p.List) == 0 {
		p.Places, details = "", fmt.Sprintf("OKE reports the state %s of %s, and no details", state, at.Label(at.Name))
	}
	if ill {
		p.Add(reason, "", details)
	}
	return ill
}

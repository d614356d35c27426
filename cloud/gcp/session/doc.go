// Package session is shared by all GCP drivers: the clients of Compute Engine and GKE for one project over one transport with rate
// budgets, who asks, the six kinds of error made of what Google refuses, resources told apart by what they name, and reads that all pools
// of a project share. It knows no kind of pool.
//
// Begin with Sessions.Of, which gives the Session of a project; pass every error of a client through Session.Refusal. No method waits for
// an operation: a call sends one request, and what has become of it is seen in the resource itself.
package session

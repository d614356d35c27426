// Package session is shared by all Azure drivers: the SDK's clients of one subscription over one transport with rate budgets, the identity
// of the calls, the conversion of Azure's errors into the six kinds, complete lists, the catalogue of machine sizes, and single polls of
// long-running operations. It knows no kind of pool.
//
// Begin with Sessions.Of, which returns the Session of a cluster, and pass every error of a client through Refusal. No method waits for an
// operation: a client's Begin method sends one request, and the outcome is observed on the resource itself.
package session

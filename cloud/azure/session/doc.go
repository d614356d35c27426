// Package session is what every Azure driver shares: the SDK's clients of one subscription over one transport with rate budgets,
// who asks, the six kinds of error made of what Azure refuses, lists read to their end, the catalogue of machine sizes, and one look
// at a long-running operation. It knows no kind of pool.
//
// Begin with Sessions.Of, which gives the Session of a cluster; pass every error of a client through Refusal. No method waits for
// an operation: a client's Begin method sends one request, and what has become of it is seen in the resource itself.
package session

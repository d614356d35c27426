// Package session is shared by all AWS drivers: the SDK's clients of one region over one transport with rate budgets, the six
// kinds of error made of what the services refuse, lists read to their end, look-ups that are made once, and the tags by which
// cloud objects are known to be ours. It knows no kind of pool.
//
// Begin with Sessions.Of, which gives the Session of a cluster; pass every error of a client through Refusal.
package session

// Package session sends requests to Oracle Cloud for the drivers of its pools. A Session has the clients of the services in one region as
// one identity. All pools of a compartment share the lists of its pools; all sessions share one transport with its rate budgets.
//
// Requests are signed by the base client of Oracle's SDK. Nothing is sent twice, nothing waits, and the SDK's circuit breaker is off.
// Security tokens of instances and of workloads are obtained here and not by the SDK, which sleeps between attempts.
//
// Oracle Cloud answers 404 to requests about what does not exist and about what the caller may not see. No 404 tells that something is
// gone: an object is gone where a complete list of its compartment lacks it.
package session

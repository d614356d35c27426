// Package session sends requests to Scaleway's Kubernetes API for the drivers of its pools. All pools of a cluster share the reads of the
// cluster, its pools and its nodes; all sessions share one transport with its rate budgets.
//
// Requests go through the client of Scaleway's SDK, which signs them and retries nothing. The generated methods of the SDK are not called:
// each asks for /metadata once and keeps the answer in a field that it does not guard against concurrent calls.
package session

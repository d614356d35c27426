// Package azure simulates the parts of Azure that machine pools stand on: Azure Resource Manager with virtual machine scale sets of
// both modes and their machines, managed clusters and agent pools of AKS, sizes, role assignments, tags, the networks and identities that
// scale sets refer to, and the token endpoints of Microsoft Entra ID and of managed identities. It speaks the wire protocol, so that the
// SDK of Azure talks to it unchanged: an endpoint, plain HTTP and DisableRPRegistration are all there is to set.
//
// One http.Handler answers everything. What the cloud holds is on disk before a reply is sent. Time passes by itself: machines are
// made one after another, operations go on and end, all at sim.Speed.
//
// Upgrade policies and automatic repairs act as in life: they change and replace machines without draining them.
//
// What is not simulated is refused with ARM's own error for an unknown type, version, member or parameter, never ignored.
package azure

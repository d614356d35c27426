// Package compute simulates the part of the Core Services that manages instances in groups (Compute Management): instance configurations,
// instance pools and their instances.
package compute

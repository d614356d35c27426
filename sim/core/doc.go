// Package core is the base of all simulated clouds, whatever their protocol: the state on disk with its clock and numbering, the tables of
// the services, the execution of operations, the faults before and after their effect, the log of requests, and the administrative
// endpoints.
package core

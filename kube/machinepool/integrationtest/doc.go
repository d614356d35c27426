// Package integrationtest tests pools with Machines together with Cluster API's own controllers of Machines and MachineHealthChecks, on a
// real API server. It contains only tests.
package integrationtest

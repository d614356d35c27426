// Package acceptancetest holds, on a real API server and beside cluster-api's own controllers, what a machine pool controller of the field
// does and what it lacks: one test a row. What needs no API server is in the tests of package machinepool.
package acceptancetest

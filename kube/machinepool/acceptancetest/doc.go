// Package acceptancetest tests, on a real API server and together with Cluster API's own controllers, the behaviour of other machine pool
// controllers and the fixes of their defects: one test a row. Rows that need no API server are tested in package
// machinepool. Pools with Machines live here with a provider that terminates their instances.
package acceptancetest

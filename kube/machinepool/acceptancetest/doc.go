// Package acceptancetest tests, on a real API server and together with Cluster API's own controllers, the behaviour of other machine pool
// controllers and the fixes of their defects: one test a row. Rows that need no API server are tested in package machinepool.
package acceptancetest

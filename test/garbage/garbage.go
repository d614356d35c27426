// Package garbage sets how often the processes of tests collect garbage. With Go's own pace it takes a quarter of their processor time.
package garbage

import (
	"os"
	"runtime/debug"
	"testing"
)

const (
	// Worlds is the percentage for tests that make many small worlds in memory: simulators, fake clients, forecasts.
	Worlds = 800
	// APIServers is the percentage for an API server, and for tests with controllers on one. Each has more in use.
	APIServers = 400
	// limit is where garbage is collected more often than the percentage says.
	limit = 1 << 30
)

// Main runs the tests of a package at that pace and ends the process: a TestMain that does nothing else calls it.
func Main(m *testing.M, percent int) {
	Allow(percent)
	os.Exit(m.Run())
}

// Allow lets garbage pile up to a percentage of what is in use before it is collected, unless the environment variable GOGC sets one.
func Allow(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// AllowServer is Allow for an API server or the controllers on one, up to a limit of the memory in use unless GOGC or GOMEMLIMIT is set.
func AllowServer() {
	Allow(APIServers)
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

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
	// APIServers is the percentage for tests that run an API server in their process, which has more in use.
	APIServers = 400
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

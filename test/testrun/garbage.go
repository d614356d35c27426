package testrun

import (
	"os"
	"runtime/debug"
	"testing"
)

// Values of GOGC for tests. With Go's default, garbage collection takes a quarter of their processor time.
const (
	// GarbageOfWorlds is the percentage for tests with many small worlds in memory: simulators, fake clients, forecasts.
	GarbageOfWorlds = 800
	// GarbageOfAPIServers is the percentage for an API server, and for tests with controllers on one: each keeps more in use.
	GarbageOfAPIServers = 400
	// garbageLimit is the heap size in bytes above which the percentage no longer applies.
	garbageLimit = 1 << 30
)

// Main sets the percentage, runs the tests of the package and ends the process. A TestMain that does nothing else calls it.
func Main(m *testing.M, percent int) {
	AllowGarbage(percent)
	os.Exit(m.Run())
}

// AllowGarbage sets GOGC for this process, unless the environment does.
func AllowGarbage(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// AllowServerGarbage sets GOGC and a memory limit for an API server or controllers on one, unless the environment sets GOGC or GOMEMLIMIT.
func AllowServerGarbage() {
	AllowGarbage(GarbageOfAPIServers)
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(garbageLimit)
	}
}

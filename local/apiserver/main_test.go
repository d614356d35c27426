package apiserver_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// garbage is how much of it may pile up, in percent of what is in use: an API server makes much of it, and its collection
// would take a quarter of the processor time.
const garbage = 400

func TestMain(m *testing.M) {
	debug.SetGCPercent(garbage)
	os.Exit(m.Run())
}

package permissions

import (
	"os"
	"runtime/debug"
	"testing"
)

// garbage is how much of it may pile up, in percent of what is in use: worlds are small, and a quarter of the processor time would go
// into its collection otherwise.
const garbage = 800

func TestMain(m *testing.M) {
	debug.SetGCPercent(garbage)
	os.Exit(m.Run())
}

package world

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/muster-project/muster/test/e2e/binary"
)

// Binary is the path of the built muster; it is empty with -short.
var Binary string

// Main runs the tests of a package with the built binary, and ends the process. With -short nothing is built: tests that need the
// binary call NeedsBinary.
func Main(m *testing.M) {
	flag.Parse()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	if testing.Short() {
		return m.Run()
	}
	path, remove, err := binary.Build("muster")
	if err != nil {
		fmt.Fprintln(os.Stderr, "build cmd/muster:", err)
		return 1
	}
	defer remove()
	Binary = path
	if err := collectLess(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// garbage is how much of it may pile up in the processes that the tests start, in percent of what is in use: with Go's own 100, and the 50
// of the API servers, a quarter of a world's processor time would go into its collection. There is no limit in bytes beside it: what the
// API servers of a world with six workload clusters have in use comes to a gigabyte, and under a limit that is near to that they spend
// half of their time on garbage.
const garbage = "200"

// collectLess lets garbage pile up, unless the environment says how much.
func collectLess() error {
	if _, ok := os.LookupEnv("GOGC"); ok {
		return nil
	}
	return os.Setenv("GOGC", garbage)
}

// NeedsBinary skips a test with -short.
func NeedsBinary(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built binary: left out with -short")
	}
}

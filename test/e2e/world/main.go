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
	path, remove, err := binary.Build()
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

// collectLess lets garbage pile up in the processes that the tests start, to five times what is in use or to a gigabyte each: a quarter
// of a world's processor time would go into its collection otherwise. What the environment says already stays.
func collectLess() error {
	for name, value := range map[string]string{"GOGC": "400", "GOMEMLIMIT": "1GiB"} {
		if _, ok := os.LookupEnv(name); ok {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// NeedsBinary skips a test with -short.
func NeedsBinary(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built binary: left out with -short")
	}
}

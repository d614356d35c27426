package world

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/muster-project/muster/test/binary"
)

// Binary is the path of the built muster, from the first call of NeedsBinary on.
var Binary string

// built builds the binary for the first test that needs it.
var built = sync.OnceValues(func() (remove func(), err error) {
	if Binary, remove, err = binary.Build("cmd/muster"); err != nil {
		return nil, fmt.Errorf("build cmd/muster: %w", err)
	}
	return remove, collectLess()
})

// beyondCores is the number of concurrent tests beyond the number of cores. A test also waits: for machines that boot in the time of the
// simulated cloud, and for controllers with timers. With Go's default of one test for each core, cores would be idle meanwhile. Other
// packages run at the same time, so more would not pay.
const beyondCores = 1

// Main runs the tests of a package with the built binary, and exits. Unless -parallel is set, it runs beyondCores more tests at a time than
// there are cores.
func Main(m *testing.M) {
	// The command line, which Run parses, comes later and wins.
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+beyondCores)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if Binary != "" {
		if remove, _ := built(); remove != nil {
			remove()
		}
	}
	os.Exit(code)
}

// garbage is the value of GOGC for the processes that the tests start. With Go's default of 100, and the 50 of the API servers, garbage
// collection would take a quarter of a world's processor time. There is no limit in bytes: the API servers of a world with six workload
// clusters use a gigabyte, and with a limit near that they spend half of their time on garbage collection.
const garbage = "200"

// collectLess sets GOGC for child processes unless the environment has it.
func collectLess() error {
	if _, ok := os.LookupEnv("GOGC"); ok {
		return nil
	}
	return os.Setenv("GOGC", garbage)
}

// NeedsBinary builds the binary where no test has done so before, and skips a test with -short.
func NeedsBinary(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built binary: left out with -short")
	}
	if _, err := built(); err != nil {
		t.Fatal(err)
	}
}

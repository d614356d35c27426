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

// beyondCores is how many more tests run at a time than there are cores. A test also waits: for machines that boot in the time of the
// simulated cloud, and for controllers that look again. With one test for each core, which is Go's default, cores would be idle meanwhile.
// Other packages run beside this one, so that it is no more.
const beyondCores = 1

// Main runs the tests of a package with the built binary, beyondCores more at a time than there are cores unless -parallel says how many,
// and ends the process.
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

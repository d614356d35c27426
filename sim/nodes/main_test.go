package nodes_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// atOnce is the number of tests that run in parallel: they mostly wait for machines.
const atOnce = "8"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

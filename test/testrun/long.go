package testrun

import (
	"os"
	"strings"
	"testing"
)

// LongVariable is the environment variable that enables long tests, with any value. make test-long sets it, and so does every submission.
const LongVariable = "MUSTER_LONG"

// longPrefix begins the names of long tests: make test-long selects them by it.
const longPrefix = "TestLong"

// LongRequested reports whether long tests run.
func LongRequested() bool { return os.Getenv(LongVariable) != "" && !testing.Short() }

// IsLong reports whether t is a long test or a part of one.
func IsLong(t testing.TB) bool { return strings.HasPrefix(t.Name(), longPrefix) }

// LongOnly skips a long test unless LongRequested. It fails a test whose name does not mark it as a long one.
func LongOnly(t testing.TB) {
	t.Helper()
	switch {
	case !IsLong(t):
		t.Fatalf("want a long test named %s..., or make test-long does not find it", longPrefix)
	case testing.Short():
		t.Skip("left out with -short")
	case !LongRequested():
		t.Skipf("takes long: make test-long runs it, and %s=1 has go test run it", LongVariable)
	}
}

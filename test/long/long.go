// Package long marks the tests that go test ./... leaves out for the time that they take. make test-long runs them, and so does every
// submission.
package long

import (
	"os"
	"strings"
	"testing"
)

// Variable is the environment variable that has long tests run, with any value.
const Variable = "MUSTER_LONG"

// prefix begins the names of long tests, which make test-long finds them by.
const prefix = "TestLong"

// Asked reports whether long tests run.
func Asked() bool { return os.Getenv(Variable) != "" && !testing.Short() }

// In reports whether a test is a long one, or a part of one.
func In(t testing.TB) bool { return strings.HasPrefix(t.Name(), prefix) }

// Only leaves out a long test unless it is asked for.
func Only(t testing.TB) {
	t.Helper()
	switch {
	case !In(t):
		t.Fatalf("want a long test named %s..., or make test-long does not find it", prefix)
	case testing.Short():
		t.Skip("left out with -short")
	case !Asked():
		t.Skipf("takes long: make test-long runs it, and %s=1 has go test run it", Variable)
	}
}

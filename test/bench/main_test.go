package bench

import (
	"testing"

	"github.com/muster-project/muster/test/testrun"
)

// skipIfShort leaves out of -short what measures whole lives of pools.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures whole lives of pools: left out with -short")
	}
}

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

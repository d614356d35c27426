package bench

import (
	"testing"

	"github.com/muster-project/muster/test/garbage"
)

// skipIfShort leaves out of -short what measures whole lives of pools.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures whole lives of pools: left out with -short")
	}
}

func TestMain(m *testing.M) { garbage.Main(m, garbage.Worlds) }

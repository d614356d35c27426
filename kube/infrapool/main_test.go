package infrapool_test

import (
	"testing"

	"github.com/muster-project/muster/test/garbage"
)

func TestMain(m *testing.M) { garbage.Main(m, garbage.Worlds) }

// killStep is the distance of the moments at which a process ends, of all those at which it could: with -short most are left out.
func killStep() int {
	if testing.Short() {
		return 5
	}
	return 1
}

package infrapool_test

import (
	"testing"

	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

// killStep is the distance of the moments at which a process ends, of all those at which it could: with -short most are left out.
func killStep() int {
	if testing.Short() {
		return 5
	}
	return 1
}

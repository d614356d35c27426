package machinepool

import (
	"testing"

	"github.com/muster-project/muster/test/garbage"
)

func TestMain(m *testing.M) { garbage.Main(m, garbage.Worlds) }

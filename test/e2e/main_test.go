package e2e

import (
	"testing"

	"github.com/muster-project/muster/test/e2e/world"
)

func TestMain(m *testing.M) { world.Main(m) }

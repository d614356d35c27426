package aws_test

import (
	"testing"

	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

package explore

import (
	"testing"

	"github.com/muster-project/muster/test/explore/kinds/asg"
	"github.com/muster-project/muster/test/explore/kinds/gkenodepool"
	"github.com/muster-project/muster/test/explore/kinds/instancegroup"
	"github.com/muster-project/muster/test/explore/kinds/nodegroup"
	"github.com/muster-project/muster/test/explore/script"
)

// limits bind the manager of a scenario to what the permissions of its cloud allow.
type limits struct {
	// manager is the value for Manager of world.Options. It is nil where the simulator enforces no permissions, as that of Azure.
	manager any
	// used returns the permissions that the manager used in the scenario.
	used func() usedPermissions
}

// usedPermissions counts the uses of each permission that the manager was granted, and the denied uses of those that it was not.
type usedPermissions struct {
	allowed map[string]int
	denied  []string
}

// limitsOf returns the limits of a scenario.
func limitsOf(t *testing.T, s script.Scenario) limits {
	t.Helper()
	switch s.Kind {
	case asg.Kind.Kind, nodegroup.Kind.Kind:
		return awsLimits(t, s)
	case instancegroup.Kind.Kind, gkenodepool.Kind.Kind:
		return gcpLimits(t)
	}
	return limits{used: func() usedPermissions { return usedPermissions{} }}
}

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
	// manager is what world.Options take; nil where the simulator knows no permissions, as that of Azure.
	manager any
	// asked gives, after the scenario, what the manager asked for.
	asked func() asked
}

// asked are the permissions that a manager asked for: how often each was allowed, and those that were denied, with how often.
type asked struct {
	allowed map[string]int
	denied  []string
}

// limitsOf are the limits of a scenario.
func limitsOf(t *testing.T, s script.Scenario) limits {
	t.Helper()
	switch s.Kind {
	case asg.Kind.Kind, nodegroup.Kind.Kind:
		return awsLimits(t, s)
	case instancegroup.Kind.Kind, gkenodepool.Kind.Kind:
		return gcpLimits(t)
	}
	return limits{asked: func() asked { return asked{} }}
}

package autoscaling

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/fleet"
)

// Member is an instance's place in a group.
type Member struct {
	fleet.Machine
	Instance, Group string
	State, Health   string
	// Since is when it came into its state.
	Since     time.Time
	Protected bool
	Template  autoscaling.LaunchTemplateSpecification
	// Activity is the running activity about it.
	Activity string
	// InServiceAt is when it first came into service: grace and warm-up count from there.
	InServiceAt time.Time
	// Waits are the hooks that have not been completed yet, by name.
	Waits map[string]wait
	// Weighted is its share of the desired capacity, "" for one.
	Weighted string
	// AtRisk says why it goes as soon as another has taken its place; "" for a member that stays.
	AtRisk string
	// Refresh is the instance refresh during which it was launched.
	Refresh string
}

// wait is a lifecycle action that a client must complete.
type wait struct {
	Token         string
	Until, Global time.Time
	// Beat is the time by which a heartbeat extends it.
	Beat    time.Duration
	Default string
}

// Group is an Auto Scaling group; its instances are members, rows of their own.
type Group struct {
	// Spec holds the request, in the service's own shape, without instances, tags and suspended processes.
	Spec      autoscaling.AutoScalingGroup
	Tags      map[string]groupTag
	Hooks     map[string]autoscaling.LifecycleHook
	Suspended map[string]string
	Deleting  bool
	// Check is when the group next compares what it has with what it should have.
	Check time.Time
	// Failures counts launches refused in a row, Retry is when the next is tried.
	Failures int
	Retry    time.Time
	// Barren are the zones that had no capacity, and until when they are passed over.
	Barren map[string]time.Time
	// Cause is the sentence for the activities that come of what was last asked.
	Cause string
	// CooledAt is when the cooldown of the last scaling ends.
	CooledAt time.Time
	// Refreshing is the ID of the instance refresh that is under way, "" for none.
	Refreshing string
}

type groupTag struct {
	Value     string
	Propagate bool
}

// Name returns the name of the group.
func (g *Group) Name() string { return shapes.Str(g.Spec.AutoScalingGroupName) }

func (g *Group) suspended(process string) bool {
	_, ok := g.Suspended[process]
	return ok
}

// Activity is one scaling activity.
type Activity struct {
	Group string
	// Number orders the activities of a region.
	Number int64
	autoscaling.Activity
}

func activityKey(group string, number int64) string { return fmt.Sprintf("%s:%012d", group, number) }

// Refresh is an instance refresh.
type Refresh struct {
	Group  string
	Number int64
	autoscaling.InstanceRefresh
	// Total is the number of instances to replace.
	Total int
	// Before is the configuration to roll back to, Reverting while it does so.
	Before    autoscaling.DesiredConfiguration
	Reverting bool
	// CheckpointAt is how many checkpoints were passed, Until when the present wait ends, Progressed when it last
	// took a step.
	CheckpointAt int
	Until        time.Time
	Progressed   time.Time
	// LaunchFirst is true if a maximum of health was given: where no instance may go, one is launched before.
	LaunchFirst bool
}

// RefreshKey returns the key of a refresh of a group.
func RefreshKey(group string, number int64) string { return fmt.Sprintf("%s:%012d", group, number) }

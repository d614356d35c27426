package pool_test

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/pool"
)

// A pool wants two machines of a new template and has two of the old one. Its strategy allows one machine more than it wants, and none
// fewer. Each decision begins with what is observed: nothing is remembered between them.
func ExampleDecide() {
	now := time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	desired := pool.Desired{Replicas: 2, Strategy: &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 1}}}
	traits := pool.Traits{Group: "Auto Scaling group", Template: "launch template", RemoveBatch: 10, CanCancelRollout: true,
		ReplaceKeepsSize: true}

	older := pool.Template{Ref: "lt-1:1", Content: "v1:aaaa"}
	newer := pool.Template{Ref: "lt-1:2", Content: "v1:bbbb"}
	serving := func(id string, from pool.Template, age time.Duration) pool.Instance {
		joined := now.Add(-age)
		return pool.Instance{ID: id, State: pool.Running, Template: from, Created: joined,
			Node: &pool.Node{Name: "node-" + id, Joined: joined, Ready: true, ReadySince: joined}}
	}
	observed := pool.Observed{
		Wanted: newer, Versions: []pool.Template{newer, older},
		Group:     &pool.Group{Size: 2, Template: newer.Ref},
		Instances: []pool.Instance{serving("i-1", older, 48*time.Hour), serving("i-2", older, 24*time.Hour)},
	}
	show := func(p pool.Plan) {
		fmt.Printf("%s: %s\n", p.Step.Kind, p.Step.Cause.Message)
		for _, target := range p.Step.Targets {
			fmt.Printf("  %s: %s\n", target.ID, target.Cause.Message)
		}
	}
	show(pool.Decide(desired, observed, traits, now))

	// The group has launched a third machine, which serves: now an old one may go.
	observed.Group.Size = 3
	observed.Instances = append(observed.Instances, serving("i-3", newer, time.Hour))
	show(pool.Decide(desired, observed, traits, now))

	// Output:
	// Resize: 1 machine launched beside the 2 that the pool wants, before others are replaced
	// Drain: launched from lt-1:1, which differs from what the specification asks for
	//   i-1: launched from lt-1:1, which differs from what the specification asks for
}

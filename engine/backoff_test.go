package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// A managed cluster takes one operation at a time: of many pools that are scaled together each gets its turn, and the cluster is not idle
// for long between two of them.
func TestPoolsOfABusyClusterTakeTurns(t *testing.T) {
	const pools, operation, maxIdle = 40, 30 * time.Second, time.Minute
	busy := &cloud.Error{Kind: cloud.Conflict, Message: "the cluster is busy"}
	var all []*scene
	due := map[*scene]time.Time{}
	for k := range pools {
		s := rest(t)
		s.facts.Target.Owner.ID = fmt.Sprintf("owner-%d", k)
		s.facts.Desired.Replicas = 3
		all, due[s] = append(all, s), epoch
	}
	done, until := 0, epoch
	for done < pools {
		next := all[0]
		for _, s := range all {
			if due[s].Before(due[next]) {
				next = s
			}
		}
		now := due[next]
		if now.After(epoch.Add(pools * (operation + maxIdle))) {
			t.Fatalf("want all %d pools scaled within %s, got %d", pools, now.Sub(epoch), done)
		}
		next.facts.Now = now
		if next.driver.refusing[pool.Resize] = nil; now.Before(until) {
			next.driver.refusing[pool.Resize] = busy
		}
		out := next.pass()
		due[next] = now.Add(out.RequeueAfter)
		if out.Started && out.Plan.Step.Kind == pool.Resize {
			done, until = done+1, now.Add(operation)
			next.driver.observed.Group.Size = 3
		}
	}
}

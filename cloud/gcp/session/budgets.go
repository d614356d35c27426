package session

import (
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud/wire"
)

const (
	// global is the region of calls that belong to none.
	global = "global"
	// perMinute is the number of requests of one group of methods that Compute Engine takes from a project in a minute, in each region and for
	// what is global; wideMinute those of lists over all zones; gkeMinute how many GKE takes of all kinds.
	perMinute, wideMinute, gkeMinute = 1500, 750, 3000
	// burstShare is the share of a minute's requests that may be sent at once. Quotas are counted by the minute: what a bucket holds and what
	// flows into it within one must not be more than the quota.
	burstShare = 5
)

// category is one of the groups of methods that Compute Engine counts apart.
type category struct {
	name, calls string
	minute      int
}

// The categories of methods (rate quotas in Compute Engine's documentation). What lists the instances of a group manager, or its errors,
// counts as a change.
var (
	reads      = category{"reads", "reads", perMinute}
	lists      = category{"lists", "lists", perMinute}
	wide       = category{"wide", "lists over all zones", wideMinute}
	operations = category{"operations", "reads of operations", perMinute}
	queries    = category{"queries", "changes and lists of managed instances", perMinute}
)

// budgetsOf are the buckets of a call. The token service has none.
func budgetsOf(c wire.Call) []wire.Budget {
	switch c.Service {
	case serviceLogin:
		return nil
	case "container":
		return []wire.Budget{bucket("container/"+c.Account, "requests to GKE in project "+c.Account, "container", gkeMinute)}
	}
	is := categoryOf(c.Operation)
	where := "project " + c.Account
	if c.Region != global {
		where += " and region " + c.Region
	}
	return []wire.Budget{bucket(strings.Join([]string{"compute", c.Account, c.Region, is.name}, "/"), fmt.Sprintf("%s in %s", is.calls, where),
		"compute "+is.calls, is.minute)}
}

// bucket is a bucket for so many requests a minute. Projects may have other quotas than the default: it gives way where Google refuses.
func bucket(key, name, label string, minute int) wire.Budget {
	burst := minute / burstShare
	return wire.Budget{Key: key, Name: name, Label: label, Burst: burst, PerSecond: float64(minute-burst) / 60, Adaptive: true}
}

// categoryOf returns the category of an operation.
func categoryOf(operation string) category {
	collection, verb, _ := strings.Cut(operation, ".")
	switch {
	case verb == "aggregatedList":
		return wide
	case strings.HasSuffix(collection, "Operations") && verb == "get":
		return operations
	case verb == "get" || verb == "getFromFamily":
		return reads
	case verb == "list":
		return lists
	}
	return queries
}

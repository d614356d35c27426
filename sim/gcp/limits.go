package gcp

import (
	"maps"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Limits are the quotas of requests by name: how many are taken in a minute from a project, in each region and for what is global. A name
// that is missing is not limited.
type Limits map[string]int

// DocumentedLimits are the quotas that Google documents.
func DocumentedLimits() Limits { return maps.Clone(project.Limits) }

// window is how many requests were counted in one minute of the clock.
type window struct {
	minute time.Time
	count  int
}

// takes counts a request against a quota, and reports whether there is room for it. A quota is full again when the next minute of the clock
// begins, as Google documents it.
func (c *Cloud) takes(name, place string, now time.Time) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	limit, _ := c.Limit(name)
	if limit <= 0 {
		return true
	}
	key, minute := name+" "+place, now.Truncate(time.Minute)
	w := c.windows[key]
	if !w.minute.Equal(minute) {
		w = window{minute: minute}
	}
	w.count++
	if c.windows == nil {
		c.windows = map[string]window{}
	}
	c.windows[key] = w
	return w.count <= limit
}

// Throttle counts the request, or refuses it.
func (x *exchange) Throttle() error {
	region := x.Vars["region"]
	if zone := x.Vars["zone"]; zone != "" {
		region = project.RegionOf(zone)
	}
	if x.route.Bucket == "" || x.cloud.takes(x.route.Bucket, x.Vars["project"]+"/"+region, x.Began) {
		return nil
	}
	return x.throttled(0)
}

// Throttled is the refusal of a fault that throttles.
func (x *exchange) Throttled(f sim.Fault) error { return x.throttled(time.Duration(f.Delay)) }

// throttled is the refusal for too many requests. Compute Engine sends it with status 403, and says nothing of when it ends.
func (x *exchange) throttled(after time.Duration) *project.Error {
	if x.route.Service == "container" {
		return gkeThrottled(after)
	}
	metric := x.route.Bucket
	if metric == "" {
		metric = "Queries"
	}
	return &project.Error{
		Status: http.StatusForbidden, Reason: "rateLimitExceeded", Domain: "usageLimits", State: "PERMISSION_DENIED", RetryAfter: after,
		Message: "Quota exceeded for quota metric '" + metric + "' and limit '" + metric +
			" per minute' of service 'compute.googleapis.com' for consumer 'project_number:" +
			project.DefaultNumber + "'.",
	}
}

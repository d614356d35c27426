package gcp

import (
	"maps"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Limits are the quotas of requests by name: so many at once, so many a second. A name that is missing is not limited.
type Limits map[string]sim.Rate

// DocumentedLimits are the quotas that Google documents: so many requests a minute in a project.
func DocumentedLimits() Limits {
	out := Limits{}
	for name, perMinute := range project.Limits {
		out[name] = sim.Rate{Size: perMinute, Refill: perMinute / 60}
	}
	return out
}

// SetLimit changes one quota; a rate of size zero takes the limit away.
func (c *Cloud) SetLimit(name string, rate sim.Rate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limits = maps.Clone(c.limits)
	if c.limits == nil {
		c.limits = Limits{}
	}
	c.limits[name] = rate
}

func (c *Cloud) limit(name string) sim.Rate {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits[name]
}

// throttle takes the request's token, or refuses the request.
func (x *exchange) throttle() error {
	rate := x.cloud.limit(x.route.Bucket)
	if x.route.Bucket == "" || x.cloud.buckets.Take(x.route.Bucket+" "+x.Vars["project"], rate, 1, x.Began) {
		return nil
	}
	return x.throttled(0)
}

// throttledBy is the refusal of a fault that throttles.
func (x *exchange) throttledBy(f sim.Fault) error { return x.throttled(time.Duration(f.Delay)) }

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
		Message: "Quota exceeded for quota metric '" + metric + "' and limit '" + metric + " per minute' of service 'compute.googleapis.com' for consumer 'project_number:" +
			project.DefaultNumber + "'.",
	}
}

package azure

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// What Resource Manager itself counts, for all that a client requests of a subscription.
const (
	allReads   = "SubscriptionReads"
	allWrites  = "SubscriptionWrites"
	allDeletes = "SubscriptionDeletes"
)

// Limits are the throttling buckets by name: a category followed by "Resource" for each scale set or machine, or by "Subscription"
// for a subscription in a region, and SubscriptionReads, SubscriptionWrites and SubscriptionDeletes. A name that is missing is not limited.
type Limits map[string]core.Rate

// DocumentedLimits are the buckets that Azure documents: so many requests a minute, three times as many at once.
func DocumentedLimits() Limits {
	out := Limits{allReads: {Size: 250, Refill: 25}, allWrites: {Size: 200, Refill: 10}, allDeletes: {Size: 200, Refill: 10}}
	for name, aMinute := range compute.Limits {
		for i, scope := range []string{"Resource", "Subscription"} {
			if n := aMinute[i]; n > 0 {
				out[name+scope] = core.Rate{Size: 3 * n, Refill: n / 60}
			}
		}
	}
	for name, l := range containerservice.Limits {
		scope := "Subscription"
		if l.PerResource {
			scope = "Resource"
		}
		out[name+scope] = core.Rate{Size: l.Burst, Refill: l.PerMinute / 60}
	}
	return out
}

// throttleAll takes the tokens that Resource Manager itself wants.
func (x *exchange) throttleAll() error {
	name, header := allReads, "reads"
	switch x.route.Method {
	case http.MethodGet:
	case http.MethodDelete:
		name, header = allDeletes, "deletes"
	default:
		name, header = allWrites, "writes"
	}
	rate, _ := x.cloud.Limit(name)
	if rate.Size <= 0 {
		return nil
	}
	bucket := name + " " + strings.ToLower(x.Vars["sub"])
	if !x.cloud.buckets.Take(bucket, rate, 1, x.Began) {
		e := arm.Refuse(http.StatusTooManyRequests, "SubscriptionRequestsThrottled",
			"Number of '%s' requests for subscription '%s' exceeded. Please try again after '%d' seconds "+
				"after additional tokens are available. Refer to https://aka.ms/arm-throttling for additional information.", header, x.Vars["sub"],
			int(wait(rate).Seconds()))
		e.RetryAfter = wait(rate)
		return e
	}
	x.Header.Set("x-ms-ratelimit-remaining-subscription-"+header, strconv.Itoa(int(x.cloud.buckets.Left(bucket, rate, x.Began))))
	return nil
}

// Throttle takes the request's tokens, notes what is left of them for the answer, or refuses the request.
func (x *exchange) Throttle() error {
	if err := x.throttleAll(); err != nil {
		return err
	}
	category := x.route.Bucket
	if x.route.BucketOf != nil {
		category = x.category()
	}
	if category == "" {
		return nil
	}
	var left []string
	sub := strings.ToLower(x.Vars["sub"])
	for _, scope := range []struct{ name, of string }{
		{"Resource", strings.ToLower(x.Path)}, {"Subscription", sub + "/" + Location},
	} {
		name := category + scope.name
		rate, _ := x.cloud.Limit(name)
		if rate.Size <= 0 {
			continue
		}
		bucket := name + " " + scope.of
		if !x.cloud.buckets.Take(bucket, rate, 1, x.Began) {
			if x.route.Service == "compute" {
				x.Header.Set(remainingHeader, "Microsoft.Compute/"+name+";0")
			}
			return x.throttled(name, rate, wait(rate))
		}
		left = append(left, "Microsoft.Compute/"+name+";"+strconv.Itoa(int(x.cloud.buckets.Left(bucket, rate, x.Began))))
	}
	if len(left) > 0 && x.route.Service == "compute" {
		x.Header.Set(remainingHeader, strings.Join(left, ","))
	}
	return nil
}

const remainingHeader = "x-ms-ratelimit-remaining-resource"

// wait is until the next token comes, in whole seconds.
func wait(r core.Rate) time.Duration {
	if r.Refill <= 0 {
		return time.Minute
	}
	return max(time.Second, time.Duration(1/r.Refill*float64(time.Second)).Round(time.Second))
}

// category is the one of a route that depends on what exists.
func (x *exchange) category() string {
	x.cloud.Mu.Lock()
	defer x.cloud.Mu.Unlock()
	return x.route.BucketOf(x.cloud.Worlds[""], &x.Call)
}

// throttled is the refusal for too many requests. It says when it ends in a header, and what was counted in words that are JSON themselves.
// The service always says so; a fault may leave that out.
func (x *exchange) throttled(policy string, rate core.Rate, after time.Duration) *arm.Error {
	if x.route.Service == "containerservice" {
		return containerservice.Throttled(policy, x.Vars["sub"], x.Path, after)
	}
	e := arm.Refuse(http.StatusTooManyRequests, "OperationNotAllowed",
		"The server rejected the request because too many requests have been received for this subscription.")
	e.RetryAfter = after
	e.Details = []arm.Detail{{Code: "TooManyRequests", Target: policy, Message: document.Written(struct {
		Group    string `json:"operationGroup"`
		Start    string `json:"startTime"`
		End      string `json:"endTime"`
		Allowed  int    `json:"allowedRequestCount"`
		Measured int    `json:"measuredRequestCount"`
	}{policy, arm.Stamp(x.Began), arm.Stamp(x.Began.Add(e.RetryAfter)), int(rate.Size), int(rate.Size) + 1})}}
	return e
}

package aws

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// How long Auto Scaling takes in life.
const (
	// lifeEvaluate is from a change to the group acting on it.
	lifeEvaluate = 2 * time.Second
	// lifeRetry is the pause after a first refused launch; it doubles with each up to lifeRetryMost.
	lifeRetry, lifeRetryMost = 15 * time.Second, 5 * time.Minute
)

// Lifecycle states, as Auto Scaling names them.
const (
	memberPending         = "Pending"
	memberPendingWait     = "Pending:Wait"
	memberInService       = "InService"
	memberTerminating     = "Terminating"
	memberTerminatingWait = "Terminating:Wait"
	memberStandby         = "Standby"
)

const (
	healthy   = "Healthy"
	unhealthy = "Unhealthy"
)

// serving reports a member that counts towards the desired capacity.
func (m *member) serving() bool {
	return m.State == memberPending || m.State == memberPendingWait || m.State == memberInService
}

func (m *member) leaving() bool {
	return m.State == memberTerminating || m.State == memberTerminatingWait
}

// weight is how much of the desired capacity the member is.
func (m *member) weight() int {
	if n, err := strconv.Atoi(m.Weighted); err == nil && n > 0 {
		return n
	}
	return 1
}

// tickGroups brings all groups to the present and returns when something is due next.
func (r *realm) tickGroups() time.Time {
	var next time.Time
	for _, g := range r.groups.All() {
		next = earliest(next, r.tickGroup(g))
	}
	return next
}

func (r *realm) tickGroup(g *group) time.Time {
	var next time.Time
	for _, m := range r.membersOf(g) {
		next = earliest(next, r.tickMember(g, m))
	}
	if g.Deleting {
		if len(r.membersOf(g)) == 0 {
			r.forget(g)
		}
		return next
	}
	next = earliest(next, r.tickRefresh(g))
	next = earliest(next, r.relieve(g))
	if due(g.Check, r.now) {
		g.Check = time.Time{}
		r.groups.Touch(g.name())
		r.balance(g)
	}
	// What was launched and let go just now has a time of its own.
	for _, m := range r.membersOf(g) {
		if i := r.instances.Get(m.Instance); i != nil {
			next = earliest(next, i.Next)
		}
		for _, w := range m.Waits {
			next = earliest(next, w.Until)
		}
	}
	return earliest(next, g.Check)
}

// forget removes a group whose last instance has gone.
func (r *realm) forget(g *group) {
	for key := range r.refreshes.Under(g.name() + ":") {
		r.refreshes.Delete(key)
	}
	for key := range r.activities.Under(g.name() + ":") {
		r.activities.Delete(key)
	}
	r.groups.Delete(g.name())
}

// balance launches what is missing and lets go what is too much.
func (r *realm) balance(g *group) {
	have, want := 0, int(*g.Spec.DesiredCapacity)
	for _, m := range r.membersOf(g) {
		if m.serving() && m.AtRisk == "" {
			have += m.weight()
		}
	}
	switch {
	case have < want && !g.suspended("Launch"):
		r.launchMissing(g, have, want)
	case have > want && !g.suspended("Terminate"):
		r.dismissSurplus(g, have, want)
	case have == want:
		r.evenZones(g)
	}
}

// launchMissing launches until the group has what it wants, or a launch is refused.
func (r *realm) launchMissing(g *group, have, want int) {
	if r.now.Before(g.Retry) {
		g.Check = g.Retry
		return
	}
	cause := strings.TrimSpace(g.Cause + "  At " + moment(r.now) + " an instance was started in response to a difference between desired and actual capacity, increasing the capacity from " +
		strconv.Itoa(have) + " to " + strconv.Itoa(want) + ".")
	for have < want {
		sub := r.emptiest(g)
		m, err := r.launchMember(g, sub, cause)
		if err != nil {
			r.refused(g, sub.Zone, cause, err)
			return
		}
		have += m.weight()
	}
	g.Failures, g.Retry, g.Cause = 0, time.Time{}, ""
	r.wake(g)
}

// refused notes a launch that failed and when the next is tried: at once where another zone is left, later where none is.
func (r *realm) refused(g *group, zone, cause string, err error) {
	a := r.begin(g, "Launching a new EC2 instance.  Status Reason: "+launchMessage(err), cause)
	r.end(a, "Failed", launchMessage(err))
	g.Failures++
	if g.Barren == nil {
		g.Barren = map[string]time.Time{}
	}
	pause := min(float64(lifeRetry)*math.Pow(2, float64(g.Failures-1)), float64(lifeRetryMost))
	again := r.now.Add(r.life(time.Duration(pause)))
	g.Barren[zone] = again
	g.Retry = again
	for _, z := range g.Spec.AvailabilityZones {
		if !r.now.Before(g.Barren[z]) {
			g.Retry = r.now.Add(r.life(lifeEvaluate))
		}
	}
	g.Check = g.Retry
}

func launchMessage(err error) string {
	return errorMessage(err) + " Launching EC2 instance failed."
}

// launchMember launches one instance in the subnet, from the first choice that there is capacity for.
func (r *realm) launchMember(g *group, sub *subnet, cause string) (*member, error) {
	choices, err := r.choices(g, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range choices {
		if err = r.check(c.launch); err != nil {
			return nil, err
		}
		i, startErr := r.start(c.launch)
		if startErr != nil {
			err = couldNot(c.launch, startErr)
			continue
		}
		return r.join(g, i, c, cause), nil
	}
	return nil, err
}

// couldNot is how Auto Scaling tells of EC2's refusal.
func couldNot(l launch, err error) error {
	e := toAPI(serviceEC2, err)
	kind := "On-Demand"
	if l.spot {
		kind = "Spot"
	}
	return refuse(e.Code, "Could not launch %s Instances. %s - %s", kind, e.Code, e.Message)
}

// emptiest is the subnet to launch in next: the zone with the fewest members, among those that had capacity when last asked.
func (r *realm) emptiest(g *group) *subnet {
	count := map[string]int{}
	for _, m := range r.membersOf(g) {
		if m.serving() && m.AtRisk == "" {
			count[m.Zone]++
		}
	}
	subs := r.subnetsOf(g)
	if len(subs) == 0 {
		// Its subnets were taken from under it: the launch will say which one is missing.
		return &subnet{ID: subnetIDs(&g.Spec)[0]}
	}
	barren := func(s *subnet) int { return btoi(r.now.Before(g.Barren[s.Zone])) }
	return slices.MinFunc(subs, func(a, b *subnet) int {
		return cmp.Or(cmp.Compare(barren(a), barren(b)), cmp.Compare(count[a.Zone], count[b.Zone]),
			cmp.Compare(r.instancesIn(a.ID), r.instancesIn(b.ID)), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.ID, b.ID))
	})
}

// subnetsOf are the group's subnets that exist.
func (r *realm) subnetsOf(g *group) []*subnet {
	var out []*subnet
	for _, id := range subnetIDs(&g.Spec) {
		if s := r.subnets.Get(id); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// join makes a launched instance a member.
func (r *realm) join(g *group, i *instance, c choice, cause string) *member {
	a := r.begin(g, "Launching a new EC2 instance: "+i.ID, cause)
	m := &member{
		Instance: i.ID, Group: g.name(), Number: i.Number, State: memberPending, Health: healthy, Since: r.now, Type: i.Type, Zone: i.Zone, Spot: i.Spot,
		Protected: val(g.Spec.NewInstancesProtectedFromScaleIn), Template: c.template, Weighted: c.weighted, Activity: activityKey(g.name(), a.Number),
		Refresh: g.Refreshing,
	}
	r.members.Put(memberKey(g.name(), i.ID), m)
	return m
}

// dismissSurplus lets go as many as are too much, chosen by the group's policies; protected ones stay.
func (r *realm) dismissSurplus(g *group, have, want int) {
	for have > want {
		m := r.chooseSurplus(g)
		if m == nil || have-m.weight() < want {
			return
		}
		r.dismiss(g, m, "", "an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from "+
			strconv.Itoa(have)+" to "+strconv.Itoa(want)+".  At "+moment(r.now)+" instance "+m.Instance+" was selected for termination")
		have -= m.weight()
	}
	g.Cause = ""
}

// dismiss begins the end of a member: first its hooks, then the instance itself. request and why are sentences for the activity.
func (r *realm) dismiss(g *group, m *member, request, why string) *activity {
	if m.leaving() {
		return r.activities.Get(m.Activity)
	}
	cause := g.Cause
	if request != "" {
		cause = "At " + moment(r.now) + " " + request + "."
		if why == "" {
			why = "instance " + m.Instance + " was taken out of service in response to a user request"
		}
	}
	if cause != "" {
		cause += "  "
	}
	cause += "At " + moment(r.now) + " " + why + "."
	r.cancelLaunch(m)
	a := r.begin(g, "Terminating EC2 instance: "+m.Instance, cause)
	m.Activity, m.Since, m.AtRisk = activityKey(g.name(), a.Number), r.now, ""
	m.State, m.Waits = memberTerminating, r.waits(g, m, transitionTerminating)
	r.members.Touch(memberKey(g.name(), m.Instance))
	if len(m.Waits) > 0 {
		m.State = memberTerminatingWait
		a.StatusCode, a.Progress = "MidTerminatingLifecycleAction", ptr(int32(60))
		return a
	}
	r.kill(m)
	return a
}

// cancelLaunch ends the activity of a launch that never came to service.
func (r *realm) cancelLaunch(m *member) {
	if a := r.activities.Get(m.Activity); a != nil && a.EndTime == nil {
		r.end(a, "Cancelled", "Instance was taken out before it came into service.")
	}
}

// kill terminates the instance of a member whose hooks are done.
func (r *realm) kill(m *member) {
	m.State = memberTerminating
	r.members.Touch(memberKey(m.Group, m.Instance))
	if i := r.instances.Get(m.Instance); i != nil {
		r.stop(i, byUserCode, byUser)
	}
}

// begin starts an activity.
func (r *realm) begin(g *group, description, cause string) *activity {
	a := &activity{Group: g.name(), Number: r.number(), Activity: autoscaling.Activity{
		ActivityId: ptr(r.server.seed.UUID("activity", g.name(), r.sequence.Get("all").Last)), AutoScalingGroupName: ptr(g.name()),
		AutoScalingGroupARN: g.Spec.AutoScalingGroupARN, Description: ptr(description), Cause: ptr(cause), StartTime: stamp(r.now),
		StatusCode: "InProgress", Progress: ptr(int32(0)), Details: opt(activityDetails(g)),
	}}
	r.activities.Put(activityKey(g.name(), a.Number), a)
	r.pruneActivities(g)
	return a
}

func activityDetails(g *group) string {
	zones, subnets := g.Spec.AvailabilityZones, subnetIDs(&g.Spec)
	if len(zones) == 0 || len(subnets) == 0 {
		return ""
	}
	return `{"Subnet ID":"` + subnets[0] + `","Availability Zone":"` + zones[0] + `"}`
}

// end finishes an activity; a message says why it failed.
func (r *realm) end(a *activity, status, message string) {
	a.StatusCode, a.EndTime, a.Progress, a.StatusMessage = status, stamp(r.now), ptr(int32(100)), opt(message)
	r.activities.Touch(activityKey(a.Group, a.Number))
}

// maxActivities is how many activities of a group are kept; AWS keeps six weeks of them.
const maxActivities = 200

func (r *realm) pruneActivities(g *group) {
	var keys []string
	for key := range r.activities.Under(g.name() + ":") {
		keys = append(keys, key)
	}
	for _, key := range keys[:max(0, len(keys)-maxActivities)] {
		r.activities.Delete(key)
	}
}

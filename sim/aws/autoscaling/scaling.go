package autoscaling

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
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
	MemberPendingWait     = "Pending:Wait"
	MemberInService       = "InService"
	memberTerminating     = "Terminating"
	MemberTerminatingWait = "Terminating:Wait"
	memberStandby         = "Standby"
)

// The health of members, as Auto Scaling names it.
const (
	healthy   = "Healthy"
	Unhealthy = "Unhealthy"
)

// Tick brings all groups to the present and returns when something is due next.
func (r *Scaling) Tick() time.Time {
	var next time.Time
	for _, g := range r.Groups.Rows.All() {
		next = core.Earliest(next, r.tickGroup(g))
	}
	return next
}

func (r *Scaling) tickGroup(g *Group) time.Time {
	var next time.Time
	for _, m := range r.Members.MembersOf(g) {
		next = core.Earliest(next, r.Members.tickMember(g, m))
	}
	if g.Deleting {
		if len(r.Members.MembersOf(g)) == 0 {
			r.Groups.forget(g)
		}
		return next
	}
	next = core.Earliest(next, r.Refreshes.tickRefresh(g))
	next = core.Earliest(next, r.replaceAtRisk(g))
	if core.Due(g.Check, r.Now) {
		g.Check = time.Time{}
		r.Groups.Rows.Touch(g.Name())
		r.balance(g)
	}
	// What was launched and let go just now has a time of its own.
	for _, m := range r.Members.MembersOf(g) {
		if i := r.EC2.Instances.Rows.Get(m.Instance); i != nil {
			next = core.Earliest(next, i.Next)
		}
		for _, w := range m.Waits {
			next = core.Earliest(next, w.Until)
		}
	}
	return core.Earliest(next, g.Check)
}

// forget removes a group whose last instance has gone.
func (r *Groups) forget(g *Group) {
	for key := range r.Refreshes.Rows.Under(g.Name() + ":") {
		r.Refreshes.Rows.Delete(key)
	}
	for key := range r.Activities.Rows.Under(g.Name() + ":") {
		r.Activities.Rows.Delete(key)
	}
	r.Rows.Delete(g.Name())
}

// balance launches what is missing and lets go what is too much.
func (r *Scaling) balance(g *Group) {
	have, want := weightOf(counted(r.Members.MembersOf(g))), int(*g.Spec.DesiredCapacity)
	switch {
	case have < want && !g.suspended("Launch"):
		r.launchMissing(g, have, want)
	case have > want && !g.suspended("Terminate"):
		r.dismissSurplus(g, have, want)
	case have == want:
		r.rebalanceZones(g)
	}
}

// launchMissing launches until the group has what it wants, or a launch is refused.
func (r *Scaling) launchMissing(g *Group, have, want int) {
	if r.Now.Before(g.Retry) {
		g.Check = g.Retry
		return
	}
	cause := strings.TrimSpace(g.Cause + "  At " + moment(r.Now) +
		" an instance was started in response to a difference between desired and actual capacity, increasing the capacity from " +
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
	r.Members.WakeUp(g)
}

// refused notes a launch that failed and when the next is tried: at once where another zone is left, later where none is.
func (r *Scaling) refused(g *Group, zone, cause string, err error) {
	a := r.Activities.begin(g, "Launching a new EC2 instance.  Status Reason: "+launchMessage(err), cause)
	r.Activities.end(a, "Failed", launchMessage(err))
	g.Failures++
	if g.Barren == nil {
		g.Barren = map[string]time.Time{}
	}
	pause := min(float64(lifeRetry)*math.Pow(2, float64(g.Failures-1)), float64(lifeRetryMost))
	again := r.Now.Add(r.Life(time.Duration(pause)))
	g.Barren[zone] = again
	g.Retry = again
	for _, z := range g.Spec.AvailabilityZones {
		if !r.Now.Before(g.Barren[z]) {
			g.Retry = r.Now.Add(r.Life(lifeEvaluate))
		}
	}
	g.Check = g.Retry
}

func launchMessage(err error) string {
	return wire.ErrorMessage(err) + " Launching EC2 instance failed."
}

// launchMember launches one instance in the subnet, from the first choice that there is capacity for.
func (r *Scaling) launchMember(g *Group, sub *ec2.Subnet, cause string) (*Member, error) {
	choices, err := r.choices(g, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range choices {
		if err = r.EC2.Launcher.Check(c.launch); err != nil {
			return nil, err
		}
		i, startErr := r.EC2.Launcher.Start(c.launch)
		if startErr != nil {
			err = couldNot(c.launch, startErr)
			continue
		}
		return r.join(g, i, c, cause), nil
	}
	return nil, err
}

// couldNot returns the text with which Auto Scaling reports an error of EC2.
func couldNot(l ec2.Launch, err error) error {
	e := wire.ToAPI(wire.ServiceEC2, err)
	kind := "On-Demand"
	if l.Spot {
		kind = "Spot"
	}
	return wire.Refuse(e.Code, "Could not launch %s Instances. %s - %s", kind, e.Code, e.Message)
}

// emptiest is the subnet to launch in next: the zone with the fewest members, among those that had capacity when last asked.
func (r *Scaling) emptiest(g *Group) *ec2.Subnet {
	count := fleet.SpreadOf(counted(r.Members.MembersOf(g)))
	subs := r.Groups.SubnetsOf(g)
	if len(subs) == 0 {
		// Its subnets were taken from under it: the launch will say which one is missing.
		return &ec2.Subnet{ID: SubnetIDs(&g.Spec)[0]}
	}
	barren := func(s *ec2.Subnet) int { return btoi(r.Now.Before(g.Barren[s.Zone])) }
	return slices.MinFunc(subs, func(a, b *ec2.Subnet) int {
		return cmp.Or(cmp.Compare(barren(a), barren(b)), cmp.Compare(count[a.Zone], count[b.Zone]),
			cmp.Compare(r.EC2.Network.InstancesIn(a.ID), r.EC2.Network.InstancesIn(b.ID)), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.ID, b.ID))
	})
}

// SubnetsOf are the group's subnets that exist.
func (r *Groups) SubnetsOf(g *Group) []*ec2.Subnet {
	var out []*ec2.Subnet
	for _, id := range SubnetIDs(&g.Spec) {
		if s := r.EC2.Network.Subnets.Get(id); s != nil {
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
func (r *Scaling) join(g *Group, i *ec2.Instance, c choice, cause string) *Member {
	a := r.Activities.begin(g, "Launching a new EC2 instance: "+i.ID, cause)
	m := &Member{
		Machine: i.Machine, Instance: i.ID, Group: g.Name(), State: memberPending, Health: healthy, Since: r.Now,
		Protected: shapes.Val(g.Spec.NewInstancesProtectedFromScaleIn), Template: c.template, Weighted: c.weighted,
		Activity: activityKey(g.Name(), a.Number),
		Refresh:  g.Refreshing,
	}
	r.Members.Rows.Put(MemberKey(g.Name(), i.ID), m)
	return m
}

// dismissSurplus lets go as many as are too much, chosen by the group's policies; protected ones stay.
func (r *Scaling) dismissSurplus(g *Group, have, want int) {
	for have > want {
		m := r.chooseSurplus(g)
		if m == nil || have-m.weight() < want {
			return
		}
		r.Members.dismiss(g, m, "", "an instance was taken out of service in response to a difference between desired and actual capacity, "+
			"shrinking the capacity from "+
			strconv.Itoa(have)+" to "+strconv.Itoa(want)+".  At "+moment(r.Now)+" instance "+m.Instance+" was selected for termination")
		have -= m.weight()
	}
	g.Cause = ""
}

package autoscaling

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/fleet"
)

// Movable is a member of a group that is at rest and may even its zones.
func (r *Scaling) Movable(g *Group) *Member {
	if g.suspended("AZRebalance") || g.suspended("Launch") || g.suspended("Terminate") || g.Refreshing != "" || g.Deleting {
		return nil
	}
	for _, m := range r.Members.MembersOf(g) {
		// "Temporarily remove instances from your Auto Scaling group": the others are balanced without those in standby.
		if m.State != memberStandby && (m.State != MemberInService || m.AtRisk != "") {
			return nil
		}
	}
	return r.chooseSurplus(g)
}

// rebalanceZones does what "Rebalancing activities" describes: it launches in a zone that has two fewer than another, and lets go one of
// the other once the new one serves: first the Launch, then the termination, so that the group never serves with fewer. A zone that refuses
// is left alone for a while.
func (r *Scaling) rebalanceZones(g *Group) {
	sub, surplus := r.uneven(g)
	if sub == nil {
		return
	}
	if until := g.Barren[sub.Zone]; r.Now.Before(until) {
		g.Check = until
		return
	}
	r.MoveZone(g, surplus, sub)
}

// MoveZone launches a member in a zone and lets one of another go once it serves.
func (r *Scaling) MoveZone(g *Group, surplus *Member, sub *ec2.Subnet) {
	cause := "At " + moment(r.Now) + " instances were launched to balance instances in zones " + surplus.Zone +
		" with other zones resulting in more than desired number of instances in the group."
	if _, err := r.launchMember(g, sub, cause); err != nil {
		a := r.Activities.begin(g, "Launching a new EC2 instance.  Status Reason: "+launchMessage(err), cause)
		r.Activities.end(a, "Failed", launchMessage(err))
		if g.Barren == nil {
			g.Barren = map[string]time.Time{}
		}
		g.Barren[sub.Zone] = r.Now.Add(r.Life(lifeRetryMost))
		g.Check = g.Barren[sub.Zone]
		return
	}
	surplus.AtRisk = "an instance was taken out of service in response to a difference in the balance of Availability Zones"
	r.Members.Rows.Touch(MemberKey(g.Name(), surplus.Instance))
}

// uneven is a subnet of the zone that has the fewest and a member of the one that has the most, where they are two or more apart
// and all members serve; nil otherwise.
func (r *Scaling) uneven(g *Group) (*ec2.Subnet, *Member) {
	subs, surplus := r.Groups.SubnetsOf(g), r.Movable(g)
	if len(subs) == 0 || surplus == nil {
		return nil, nil
	}
	count := fleet.SpreadOf(counted(r.Members.MembersOf(g)))
	least := slices.MinFunc(subs, func(a, b *ec2.Subnet) int {
		return cmp.Or(cmp.Compare(count[a.Zone], count[b.Zone]), cmp.Compare(a.Zone, b.Zone))
	})
	if count[surplus.Zone]-count[least.Zone] < 2 {
		return nil, nil
	}
	return least, surplus
}

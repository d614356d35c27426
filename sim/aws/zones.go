package aws

import (
	"cmp"
	"slices"
	"time"
)

// evenZones does what "Rebalancing activities" describes: it launches in a zone that has two fewer than another, and lets go one of the other once the new one serves: first the
// launch, then the termination, so that the group never serves with fewer. A zone that refuses is left alone for a while.
func (r *realm) evenZones(g *group) {
	if g.suspended("AZRebalance") || g.suspended("Launch") || g.suspended("Terminate") || g.Refreshing != "" {
		return
	}
	sub, surplus := r.lean(g)
	if sub == nil {
		return
	}
	if until := g.Barren[sub.Zone]; r.now.Before(until) {
		g.Check = until
		return
	}
	r.moveZone(g, surplus, sub)
}

// moveZone launches a member in a zone and lets one of another go once it serves.
func (r *realm) moveZone(g *group, surplus *member, sub *subnet) {
	cause := "At " + moment(r.now) + " instances were launched to balance instances in zones " + surplus.Zone +
		" with other zones resulting in more than desired number of instances in the group."
	if _, err := r.launchMember(g, sub, cause); err != nil {
		a := r.begin(g, "Launching a new EC2 instance.  Status Reason: "+launchMessage(err), cause)
		r.end(a, "Failed", launchMessage(err))
		if g.Barren == nil {
			g.Barren = map[string]time.Time{}
		}
		g.Barren[sub.Zone] = r.now.Add(r.life(lifeRetryMost))
		g.Check = g.Barren[sub.Zone]
		return
	}
	surplus.AtRisk = "an instance was taken out of service in response to a difference in the balance of Availability Zones"
	r.members.Touch(memberKey(g.name(), surplus.Instance))
}

// lean is a subnet of the zone that has the fewest and a member of the one that has the most, where they are two or more apart
// and all members serve; nil otherwise.
func (r *realm) lean(g *group) (*subnet, *member) {
	count := map[string]int{}
	for _, m := range r.membersOf(g) {
		if m.State == memberStandby {
			// "Temporarily remove instances from your Auto Scaling group": the others are balanced without it.
			continue
		}
		if m.State != memberInService || m.AtRisk != "" {
			return nil, nil
		}
		count[m.Zone]++
	}
	subs := r.subnetsOf(g)
	surplus := r.chooseSurplus(g)
	if len(subs) == 0 || surplus == nil {
		return nil, nil
	}
	least := slices.MinFunc(subs, func(a, b *subnet) int {
		return cmp.Or(cmp.Compare(count[a.Zone], count[b.Zone]), cmp.Compare(a.Zone, b.Zone))
	})
	if count[surplus.Zone]-count[least.Zone] < 2 {
		return nil, nil
	}
	return least, surplus
}

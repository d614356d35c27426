package autoscaling

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
	"github.com/muster-project/muster/sim/fleet"
)

// choice is one way to launch a member: a type of the mix, on demand or spot.
type choice struct {
	launch   ec2.Launch
	template autoscaling.LaunchTemplateSpecification
	weighted string
}

// configuration returns the launch configuration in use: the group's own, or that of the active refresh.
func (r *Scaling) configuration(g *Group) autoscaling.DesiredConfiguration {
	own := autoscaling.DesiredConfiguration{LaunchTemplate: g.Spec.LaunchTemplate, MixedInstancesPolicy: g.Spec.MixedInstancesPolicy}
	rf := r.Refreshes.Refreshing(g)
	if rf == nil {
		return own
	}
	if rf.Reverting {
		return rf.Before
	}
	if d := rf.DesiredConfiguration; d != nil && (d.LaunchTemplate != nil || d.MixedInstancesPolicy != nil) {
		return *d
	}
	return own
}

// choices are the ways to launch the group's next member in a subnet, the preferred one first.
func (r *Scaling) choices(g *Group, subnet string) ([]choice, error) {
	c := r.configuration(g)
	if c.MixedInstancesPolicy == nil {
		one, err := r.choice(g, subnet, *c.LaunchTemplate, autoscaling.LaunchTemplateOverrides{})
		return []choice{one}, err
	}
	mix := c.MixedInstancesPolicy
	spot := r.nextIsSpot(g, shapes.Val(mix.InstancesDistribution))
	overrides := spread(mix.LaunchTemplate.Overrides)
	if len(overrides) == 0 {
		overrides = []autoscaling.LaunchTemplateOverrides{{}}
	}
	if !prioritized(shapes.Val(mix.InstancesDistribution), spot) {
		slices.SortStableFunc(overrides, func(a, b autoscaling.LaunchTemplateOverrides) int {
			return cmp.Compare(price(shapes.Str(a.InstanceType)), price(shapes.Str(b.InstanceType)))
		})
	}
	var out []choice
	for _, o := range overrides {
		spec := *mix.LaunchTemplate.LaunchTemplateSpecification
		if o.LaunchTemplateSpecification != nil {
			spec = *o.LaunchTemplateSpecification
		}
		one, err := r.choice(g, subnet, spec, o)
		if err != nil {
			return nil, err
		}
		one.launch.Spot = spot
		out = append(out, one)
	}
	return out, nil
}

// prioritized reports a mix that takes its types in the order in which they stand.
func prioritized(d autoscaling.InstancesDistribution, spot bool) bool {
	if spot {
		return shapes.Str(d.SpotAllocationStrategy) == "capacity-optimized-prioritized"
	}
	return shapes.Str(d.OnDemandAllocationStrategy) != "lowest-price"
}

// price orders types by what they cost, which in a family is by size.
func price(kind string) int {
	t := catalogue.InstanceTypes[kind]
	return t.CPUs*1000 + t.MemoryMiB/8 + t.Gpus*10000
}

// spread replaces requirements by the types that fulfil them, the cheapest first.
func spread(overrides []autoscaling.LaunchTemplateOverrides) []autoscaling.LaunchTemplateOverrides {
	var out []autoscaling.LaunchTemplateOverrides
	for _, o := range overrides {
		if o.InstanceRequirements == nil {
			out = append(out, o)
			continue
		}
		for _, kind := range fulfilling(o.InstanceRequirements) {
			one := o
			one.InstanceType = new(kind)
			out = append(out, one)
		}
	}
	return out
}

// fulfilling are the types that have what is required, as far as the catalogue knows.
func fulfilling(q *autoscaling.InstanceRequirements) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(catalogue.InstanceTypes)) {
		t := catalogue.InstanceTypes[name]
		listed := func(patterns []string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool { return wire.Glob(p, name) })
		}
		cpus, memory := shapes.Val(q.VCpuCount), shapes.Val(q.MemoryMiB)
		switch {
		case !within(t.CPUs, cpus.Min, cpus.Max) || !within(t.MemoryMiB, memory.Min, memory.Max):
		case len(q.AllowedInstanceTypes) > 0 && !listed(q.AllowedInstanceTypes), listed(q.ExcludedInstanceTypes):
		case t.Burstable && q.BurstablePerformance != "included" && q.BurstablePerformance != "required":
		case t.Gpus > 0 && q.AcceleratorCount == nil:
		default:
			out = append(out, name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(price(a), price(b)) })
	return out
}

func within(n int, low, high *int32) bool {
	return (low == nil || n >= int(*low)) && (high == nil || n <= int(*high))
}

// nextIsSpot says what the next member must be so that the distribution holds.
func (r *Scaling) nextIsSpot(g *Group, d autoscaling.InstancesDistribution) bool {
	base, above := int(shapes.Val(d.OnDemandBaseCapacity)), 100
	if d.OnDemandPercentageAboveBaseCapacity != nil {
		above = int(*d.OnDemandPercentageAboveBaseCapacity)
	}
	onDemand, all := 0, 0
	for _, m := range counted(r.Members.MembersOf(g)) {
		all += m.weight()
		onDemand += m.weight() * btoi(!m.Spot)
	}
	beyond := max(0, all+1-base)
	// The on-demand share above the base is rounded up, in favour of on-demand.
	return onDemand >= min(base, all+1)+(beyond*above+99)/100
}

// choice resolves one launch: the template's version as it stands now, what the mix overrides, and the group's tags.
func (r *Scaling) choice(g *Group, subnet string, spec autoscaling.LaunchTemplateSpecification,
	o autoscaling.LaunchTemplateOverrides) (choice, error) {
	t, err := r.EC2.Templates.FindTemplate(spec.LaunchTemplateId, nil)
	if shapes.Str(spec.LaunchTemplateId) == "" {
		t, err = r.EC2.Templates.FindTemplate(nil, spec.LaunchTemplateName)
	}
	if err != nil {
		return choice{}, err
	}
	v, err := r.EC2.Templates.VersionOf(t, shapes.Str(spec.Version))
	if err != nil {
		return choice{}, err
	}
	l := r.EC2.Launcher.LaunchFrom(&v.Data)
	l.Subnet, l.Blob, l.Group = subnet, v.Blob, g.Name()
	l.Kind = cmp.Or(shapes.Str(o.InstanceType), l.Kind, "m1.small")
	if image := shapes.Str(o.ImageId); image != "" {
		l.Image, l.Data.ImageId = image, new(image)
	}
	l.Reservation = r.reservation(g)
	number := strconv.FormatInt(v.Number, 10)
	for k, tag := range g.Tags {
		if tag.Propagate {
			l.Tags[k] = tag.Value
		}
	}
	maps.Copy(l.Tags, map[string]string{ec2.GroupTagKey: g.Name(), "aws:ec2launchtemplate:id": t.ID, "aws:ec2launchtemplate:version": number})
	return choice{
		launch: l, weighted: shapes.Str(o.WeightedCapacity),
		template: autoscaling.LaunchTemplateSpecification{LaunchTemplateId: new(t.ID), LaunchTemplateName: new(t.Name), Version: new(number)},
	}, nil
}

// reservation is the reservation of the next launch of a group.
func (r *Scaling) reservation(g *Group) string {
	last := int64(0)
	if s := r.Sequences.Get("all"); s != nil {
		last = s.Last
	}
	return "r-0" + r.Seed.Hex(16, r.Account, r.Region, "group", g.Name(), last)
}

// chooseSurplus picks whom to let go: in the zone with the most members, by the group's policies, never a protected one.
func (r *Scaling) chooseSurplus(g *Group) *Member {
	all, policies := counted(r.Members.MembersOf(g)), slices.Concat(g.Spec.TerminationPolicies, []string{"Default"})
	open := slices.DeleteFunc(slices.Clone(all), func(m *Member) bool { return m.Protected })
	for _, m := range fleet.Surplus(all, open, 1, func(stay []*Member) func(a, b *Member) int {
		zones := fleet.SpreadOf(stay)
		return func(a, b *Member) int {
			c := zones.ByMost(a.Zone, b.Zone)
			for at := 0; c == 0 && at < len(policies); at++ {
				c = r.prefer(g, policies[at], a, b)
			}
			if c == 0 {
				c = cmp.Compare(r.Lot(a), r.Lot(b))
			}
			return c
		}
	}) {
		return m
	}
	return nil
}

// Lot breaks ties by chance, the same for the same instance.
func (r *Scaling) Lot(m *Member) float64 { return r.Seed.Chance("surplus", m.Instance) }

// prefer compares two members by one policy; the smaller one goes.
func (r *Scaling) prefer(g *Group, policy string, a, b *Member) int {
	switch policy {
	case "OldestInstance":
		return cmp.Compare(a.Number, b.Number)
	case "NewestInstance":
		return cmp.Compare(b.Number, a.Number)
	case "OldestLaunchTemplate", "Default":
		return cmp.Or(cmp.Compare(btoi(r.current(g, a)), btoi(r.current(g, b))), cmp.Compare(versionNumber(a), versionNumber(b)))
	case "ClosestToNextInstanceHour":
		return cmp.Compare(r.tillHour(a), r.tillHour(b))
	}
	return 0
}

// current reports a member of the template that the group stands on.
func (r *Scaling) current(g *Group, m *Member) bool {
	return shapes.Str(m.Template.LaunchTemplateId) == shapes.Str(TemplateSpec(&g.Spec).LaunchTemplateId)
}

func versionNumber(m *Member) int {
	return shapes.Atoi(strings.TrimSpace(shapes.Str(m.Template.Version)))
}

// tillHour returns the time until the next full hour since the launch of a member.
func (r *Scaling) tillHour(m *Member) int64 {
	const hour = 3600
	return (hour - int64(r.Now.Sub(m.Since).Seconds())%hour) % hour
}

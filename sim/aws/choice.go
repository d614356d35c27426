package aws

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
)

// choice is one way to launch a member: a type of the mix, on demand or spot.
type choice struct {
	launch   launch
	template autoscaling.LaunchTemplateSpecification
	weighted string
}

// configuration is what the group launches from now: its own, or that of the refresh that is under way.
func (r *realm) configuration(g *group) autoscaling.DesiredConfiguration {
	own := autoscaling.DesiredConfiguration{LaunchTemplate: g.Spec.LaunchTemplate, MixedInstancesPolicy: g.Spec.MixedInstancesPolicy}
	rf := r.refreshing(g)
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
func (r *realm) choices(g *group, subnet string) ([]choice, error) {
	c := r.configuration(g)
	if c.MixedInstancesPolicy == nil {
		one, err := r.choice(g, subnet, *c.LaunchTemplate, autoscaling.LaunchTemplateOverrides{})
		return []choice{one}, err
	}
	mix := c.MixedInstancesPolicy
	spot := r.nextIsSpot(g, val(mix.InstancesDistribution))
	overrides := spread(mix.LaunchTemplate.Overrides)
	if len(overrides) == 0 {
		overrides = []autoscaling.LaunchTemplateOverrides{{}}
	}
	if !prioritized(val(mix.InstancesDistribution), spot) {
		slices.SortStableFunc(overrides, func(a, b autoscaling.LaunchTemplateOverrides) int {
			return cmp.Compare(price(str(a.InstanceType)), price(str(b.InstanceType)))
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
		one.launch.spot = spot
		out = append(out, one)
	}
	return out, nil
}

// prioritized reports a mix that takes its types in the order in which they stand.
func prioritized(d autoscaling.InstancesDistribution, spot bool) bool {
	if spot {
		return str(d.SpotAllocationStrategy) == "capacity-optimized-prioritized"
	}
	return str(d.OnDemandAllocationStrategy) != "lowest-price"
}

// price orders types by what they cost, which in a family is by size.
func price(kind string) int {
	t := instanceTypes[kind]
	return t.cpus*1000 + t.memoryMiB/8 + t.gpus*10000
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
			one.InstanceType = ptr(kind)
			out = append(out, one)
		}
	}
	return out
}

// fulfilling are the types that have what is required, as far as the catalogue knows.
func fulfilling(q *autoscaling.InstanceRequirements) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(instanceTypes)) {
		t := instanceTypes[name]
		listed := func(patterns []string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool { return glob(p, name) })
		}
		cpus, memory := val(q.VCpuCount), val(q.MemoryMiB)
		switch {
		case !within(t.cpus, cpus.Min, cpus.Max) || !within(t.memoryMiB, memory.Min, memory.Max):
		case len(q.AllowedInstanceTypes) > 0 && !listed(q.AllowedInstanceTypes), listed(q.ExcludedInstanceTypes):
		case t.burstable && q.BurstablePerformance != "included" && q.BurstablePerformance != "required":
		case t.gpus > 0 && q.AcceleratorCount == nil:
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
func (r *realm) nextIsSpot(g *group, d autoscaling.InstancesDistribution) bool {
	base, above := int(val(d.OnDemandBaseCapacity)), 100
	if d.OnDemandPercentageAboveBaseCapacity != nil {
		above = int(*d.OnDemandPercentageAboveBaseCapacity)
	}
	onDemand, all := 0, 0
	for _, m := range r.membersOf(g) {
		if m.serving() && m.AtRisk == "" {
			all += m.weight()
			onDemand += m.weight() * btoi(!m.Spot)
		}
	}
	beyond := max(0, all+1-base)
	// The on-demand share above the base is rounded up, in favour of on-demand.
	return onDemand >= min(base, all+1)+(beyond*above+99)/100
}

// choice resolves one launch: the template's version as it stands now, what the mix overrides, and the group's tags.
func (r *realm) choice(g *group, subnet string, spec autoscaling.LaunchTemplateSpecification, o autoscaling.LaunchTemplateOverrides) (choice, error) {
	t, err := r.findTemplate(spec.LaunchTemplateId, nil)
	if str(spec.LaunchTemplateId) == "" {
		t, err = r.findTemplate(nil, spec.LaunchTemplateName)
	}
	if err != nil {
		return choice{}, err
	}
	v, err := r.versionOf(t, str(spec.Version))
	if err != nil {
		return choice{}, err
	}
	l := r.launchFrom(&v.Data)
	l.subnet, l.blob, l.group = subnet, v.Blob, g.name()
	l.kind = cmp.Or(str(o.InstanceType), l.kind, "m1.small")
	if image := str(o.ImageId); image != "" {
		l.image, l.data.ImageId = image, ptr(image)
	}
	l.reservation = r.reservation(g)
	number := strconv.FormatInt(v.Number, 10)
	for k, tag := range g.Tags {
		if tag.Propagate {
			l.tags[k] = tag.Value
		}
	}
	maps.Copy(l.tags, map[string]string{groupTagKey: g.name(), "aws:ec2launchtemplate:id": t.ID, "aws:ec2launchtemplate:version": number})
	return choice{
		launch: l, weighted: str(o.WeightedCapacity),
		template: autoscaling.LaunchTemplateSpecification{LaunchTemplateId: ptr(t.ID), LaunchTemplateName: ptr(t.Name), Version: ptr(number)},
	}, nil
}

// reservation is the reservation of the next launch of a group.
func (r *realm) reservation(g *group) string {
	last := int64(0)
	if s := r.sequence.Get("all"); s != nil {
		last = s.Last
	}
	return "r-0" + r.server.seed.Hex(16, r.account, r.region, "group", g.name(), last)
}

// chooseSurplus picks whom to let go: in the zone with the most members, by the group's policies, never a protected one.
func (r *realm) chooseSurplus(g *group) *member {
	count := map[string]int{}
	var open []*member
	for _, m := range r.membersOf(g) {
		if !m.serving() || m.AtRisk != "" {
			continue
		}
		count[m.Zone]++
		if !m.Protected {
			open = append(open, m)
		}
	}
	if len(open) == 0 {
		return nil
	}
	most := 0
	for _, m := range open {
		most = max(most, count[m.Zone])
	}
	open = slices.DeleteFunc(open, func(m *member) bool { return count[m.Zone] < most })
	return slices.MinFunc(open, func(a, b *member) int {
		for _, p := range slices.Concat(g.Spec.TerminationPolicies, []string{"Default"}) {
			if c := r.prefer(g, p, a, b); c != 0 {
				return c
			}
		}
		return cmp.Compare(r.lot(a), r.lot(b))
	})
}

// lot breaks ties by chance, the same for the same instance.
func (r *realm) lot(m *member) float64 { return r.server.seed.Chance("surplus", m.Instance) }

// prefer compares two members by one policy; the smaller one goes.
func (r *realm) prefer(g *group, policy string, a, b *member) int {
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
func (r *realm) current(g *group, m *member) bool {
	return str(m.Template.LaunchTemplateId) == str(templateSpec(&g.Spec).LaunchTemplateId)
}

func versionNumber(m *member) int { return atoi(strings.TrimSpace(str(m.Template.Version))) }

// tillHour is how far a member is from the next full hour of its service.
func (r *realm) tillHour(m *member) int64 {
	const hour = 3600
	return (hour - int64(r.now.Sub(m.Since).Seconds())%hour) % hour
}

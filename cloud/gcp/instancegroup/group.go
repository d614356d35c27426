package instancegroup

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// Fields of a group, as messages name them.
const (
	fieldZones  = "spec.distributionPolicy.zones"
	fieldLabels = "spec.additionalLabels"
	// opportunistic is the type of an update policy by which Compute Engine replaces no instance.
	opportunistic = "OPPORTUNISTIC"
)

// updatePolicy has Compute Engine replace no instance by itself, neither for another template nor to even out zones: Muster drains each
// before it goes.
func (t target) updatePolicy() *compute.InstanceGroupManagerUpdatePolicy {
	out := &compute.InstanceGroupManagerUpdatePolicy{Type: opportunistic, MinimalAction: "REPLACE"}
	if !t.place.zonal() {
		out.InstanceRedistributionType = "NONE"
	}
	return out
}

// lifecycleOf returns the policy by which Compute Engine repairs instances.
func lifecycleOf(is *gcpv1.InstanceLifecyclePolicy) *compute.InstanceGroupManagerInstanceLifecyclePolicy {
	out := &compute.InstanceGroupManagerInstanceLifecyclePolicy{DefaultActionOnFailure: "REPAIR", ForceUpdateOnRepair: "NO"}
	if is == nil {
		return out
	}
	if is.DefaultActionOnFailure == gcpv1.ActionDoNothing {
		out.DefaultActionOnFailure = actionOnFailureNothing
	}
	if is.ForceUpdateOnRepair != nil && *is.ForceUpdateOnRepair {
		out.ForceUpdateOnRepair = "YES"
	}
	return out
}

// healing is the health check by which Compute Engine recreates instances; none if the specification names none.
func (t target) healing() []*compute.InstanceGroupManagerAutoHealingPolicy {
	is := t.pool.AutoHealing
	if is == nil {
		return nil
	}
	check := is.HealthCheck
	if !strings.Contains(check, "/") {
		check = "projects/" + t.project + "/global/healthChecks/" + check
	}
	return []*compute.InstanceGroupManagerAutoHealingPolicy{{HealthCheck: check, InitialDelaySec: int64(is.InitialDelaySec)}}
}

// shapes are the shapes of regional groups, as Compute Engine names them.
var shapes = map[gcpv1.TargetShape]string{
	"": "EVEN", gcpv1.ShapeEven: "EVEN", gcpv1.ShapeBalanced: "BALANCED", gcpv1.ShapeAny: "ANY", gcpv1.ShapeAnySingleZone: "ANY_SINGLE_ZONE",
}

// shape returns the policy by which a regional group spreads its instances.
func (t target) shape() string {
	if t.pool.DistributionPolicy == nil {
		return shapes[""]
	}
	return shapes[t.pool.DistributionPolicy.TargetShape]
}

// distribution is where a regional group has its instances; nil for a zonal one.
func (t target) distribution() *compute.DistributionPolicy {
	if t.place.zonal() {
		return nil
	}
	out := &compute.DistributionPolicy{TargetShape: t.shape()}
	for _, z := range t.place.zones {
		out.Zones = append(out.Zones, &compute.DistributionPolicyZoneConfiguration{Zone: "projects/" + t.project + "/zones/" + z})
	}
	return out
}

// create is the request that creates the group.
func (w writer) create(size int, from string) *compute.InstanceGroupManager {
	return &compute.InstanceGroupManager{
		Name: w.t.group, BaseInstanceName: template.BaseName(w.t.group), TargetSize: int64(size), ForceSendFields: []string{"TargetSize"},
		Versions:     versions(w.url(from)),
		UpdatePolicy: w.t.updatePolicy(), InstanceLifecyclePolicy: lifecycleOf(w.t.pool.InstanceLifecyclePolicy),
		AutoHealingPolicies: w.t.healing(), DistributionPolicy: w.t.distribution(),
		AllInstancesConfig: &compute.InstanceGroupManagerAllInstancesConfig{
			Properties: &compute.InstancePropertiesPatch{Labels: w.t.source().Labels()},
		},
	}
}

// versions has a group make all instances from one template: of a group with several some would be made from a template of another client,
// and be replaced again and again.
func versions(url string) []*compute.InstanceGroupManagerVersion {
	return []*compute.InstanceGroupManagerVersion{{InstanceTemplate: url}}
}

// table holds fields of a group, R being the request that changes it.
type table = fields.Table[*compute.InstanceGroupManager, *compute.InstanceGroupManager]

// rows are the fields of the group. Their places are properties of requests; those without a path are Muster's own.
func (t target) rows(want wanted) table {
	type group = compute.InstanceGroupManager
	return table{
		{Name: "updatePolicy", Put: func(r, _, _ *group) { r.UpdatePolicy = t.updatePolicy() },
			Differs: func(_, is *group) bool {
				policy, wantPolicy := cmp.Or(is.UpdatePolicy, &compute.InstanceGroupManagerUpdatePolicy{Type: opportunistic}), t.updatePolicy()
				return policy.Type != wantPolicy.Type ||
					wantPolicy.InstanceRedistributionType != "" && policy.InstanceRedistributionType != wantPolicy.InstanceRedistributionType
			}},
		{Name: "versions", Differs: func(_, is *group) bool { return len(is.Versions) > 1 },
			Put: func(r, _, is *group) { r.Versions = versions(launchesFrom(is)) }},
		{Name: "autoHealingPolicies", Place: "autoHealingPolicies", Spec: "spec.autoHealing",
			Differs: func(_, is *group) bool { return !sameHealing(is.AutoHealingPolicies, t.healing(), t.project) },
			Put: func(r, _, _ *group) {
				r.AutoHealingPolicies, r.ForceSendFields = t.healing(), append(r.ForceSendFields, "AutoHealingPolicies")
			}},
		{Name: "instanceLifecyclePolicy", Place: "instanceLifecyclePolicy", Spec: "spec.instanceLifecyclePolicy",
			Differs: func(_, is *group) bool {
				has, wanted := cmp.Or(is.InstanceLifecyclePolicy, lifecycleOf(nil)), lifecycleOf(t.pool.InstanceLifecyclePolicy)
				return has.DefaultActionOnFailure != wanted.DefaultActionOnFailure || has.ForceUpdateOnRepair != wanted.ForceUpdateOnRepair
			},
			Put: func(r, _, _ *group) { r.InstanceLifecyclePolicy = lifecycleOf(t.pool.InstanceLifecyclePolicy) }},
		{Name: "targetShape", Place: "distributionPolicy.targetShape", Spec: "spec.distributionPolicy.targetShape",
			Differs: func(_, is *group) bool {
				return is.DistributionPolicy != nil && is.DistributionPolicy.TargetShape != "" && is.DistributionPolicy.TargetShape != t.shape()
			},
			Put: func(r, _, _ *group) { r.DistributionPolicy = &compute.DistributionPolicy{TargetShape: t.shape()} }},
		// Changed together with the surge, which is a label.
		{Name: "labels", Place: "properties.labels", Spec: fieldLabels, Owned: fields.ServiceOwned{None: true},
			Doc: "changes the labels of the group and of its instances in place, beside those that others have set; disks that exist keep " +
				"theirs, and instances that exist keep a label that is removed here, as it could be of another client",
			Differs: func(_, is *group) bool {
				set, removed := want.labelChanges(labelsOf(is))
				return len(set)+len(removed) > 0
			}},
		// A group stays in its zones.
		{Name: "zones", Place: "distributionPolicy", Spec: fieldZones, Effect: fields.Fixed, Owned: fields.ServiceOwned{None: true},
			Differs: func(_, is *group) bool {
				wanted, at := t.wantedPlace(), placeOf(is)
				same := len(wanted.zones) == 0 || slices.Equal(wanted.zones, slices.Sorted(slices.Values(at.zones)))
				return len(t.zones()) > 0 && (wanted.location != at.location || !same)
			}},
	}
}

// Rows returns the documented parts of the fields of a pool, those of machines first.
func Rows() []fields.Row { return slices.Concat(template.Rows.Rows(), target{}.rows(wanted{}).Rows()) }

func sameHealing(is, want []*compute.InstanceGroupManagerAutoHealingPolicy, project string) bool {
	return slices.EqualFunc(is, want, func(a, b *compute.InstanceGroupManagerAutoHealingPolicy) bool {
		return a.InitialDelaySec == b.InitialDelaySec && session.SameResource(a.HealthCheck, b.HealthCheck, project)
	})
}

// labelChanges returns the labels that the group lacks, and the keys of those that it has beside what is wanted. Muster's own bookkeeping
// is left alone.
func (w wanted) labelChanges(is map[string]string) (set map[string]string, removed []string) {
	return fields.Changes(w.labels, is, func(key string) bool { return key != template.LabelSurge })
}

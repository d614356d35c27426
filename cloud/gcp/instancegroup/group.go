package instancegroup

import (
	"slices"
	"strings"

	"google.golang.org/api/compute/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// The fields of a group, as messages name them. The update policy and the versions are Muster's own.
const (
	fieldPolicy    = "updatePolicy"
	fieldVersions  = "versions"
	fieldHealing   = "spec.autoHealing"
	fieldLifecycle = "spec.instanceLifecyclePolicy"
	fieldShape     = "spec.distributionPolicy.targetShape"
	fieldZones     = "spec.distributionPolicy.zones"
	fieldLabels    = "spec.additionalLabels"
)

// updatePolicy has Compute Engine replace no instance by itself, neither for another template nor to even out zones: Muster drains each
// before it goes.
func (t target) updatePolicy() *compute.InstanceGroupManagerUpdatePolicy {
	out := &compute.InstanceGroupManagerUpdatePolicy{Type: "OPPORTUNISTIC", MinimalAction: "REPLACE"}
	if !t.place.zonal() {
		out.InstanceRedistributionType = "NONE"
	}
	return out
}

// lifecycle returns the policy by which Compute Engine repairs instances.
func (t target) lifecycle() *compute.InstanceGroupManagerInstanceLifecyclePolicy {
	out := &compute.InstanceGroupManagerInstanceLifecyclePolicy{DefaultActionOnFailure: "REPAIR", ForceUpdateOnRepair: "NO"}
	is := t.pool.InstanceLifecyclePolicy
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
		UpdatePolicy: w.t.updatePolicy(), InstanceLifecyclePolicy: w.t.lifecycle(), AutoHealingPolicies: w.t.healing(),
		DistributionPolicy: w.t.distribution(),
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

// drift names the fields of the group that differ from what is wanted.
func (r reader) drift(want wanted, is *compute.InstanceGroupManager) []string {
	policy, lifecycle := is.UpdatePolicy, is.InstanceLifecyclePolicy
	if policy == nil {
		policy = &compute.InstanceGroupManagerUpdatePolicy{Type: "OPPORTUNISTIC"}
	}
	if lifecycle == nil {
		lifecycle = &compute.InstanceGroupManagerInstanceLifecyclePolicy{DefaultActionOnFailure: "REPAIR", ForceUpdateOnRepair: "NO"}
	}
	wantPolicy, wantLifecycle := r.t.updatePolicy(), r.t.lifecycle()
	set, removed := want.labelChanges(labelsOf(is))
	return driverkit.Differing(
		driverkit.Field{Name: fieldPolicy, Differs: policy.Type != wantPolicy.Type ||
			wantPolicy.InstanceRedistributionType != "" && policy.InstanceRedistributionType != wantPolicy.InstanceRedistributionType},
		driverkit.Field{Name: fieldVersions, Differs: len(is.Versions) > 1},
		driverkit.Field{Name: fieldHealing, Differs: !sameHealing(is.AutoHealingPolicies, r.t.healing(), r.t.project)},
		driverkit.Field{Name: fieldLifecycle, Differs: lifecycle.DefaultActionOnFailure != wantLifecycle.DefaultActionOnFailure ||
			lifecycle.ForceUpdateOnRepair != wantLifecycle.ForceUpdateOnRepair},
		driverkit.Field{Name: fieldShape, Differs: is.DistributionPolicy != nil && is.DistributionPolicy.TargetShape != "" &&
			is.DistributionPolicy.TargetShape != r.t.shape()},
		driverkit.Field{Name: fieldLabels, Differs: len(set)+len(removed) > 0},
	)
}

func sameHealing(is, want []*compute.InstanceGroupManagerAutoHealingPolicy, project string) bool {
	return slices.EqualFunc(is, want, func(a, b *compute.InstanceGroupManagerAutoHealingPolicy) bool {
		return a.InitialDelaySec == b.InitialDelaySec && session.SameResource(a.HealthCheck, b.HealthCheck, project)
	})
}

// unchangeable names the fields of the group that can't be changed: a group stays in its zones.
func (r reader) unchangeable(is *compute.InstanceGroupManager) []string {
	wanted, at := r.t.wantedPlace(), placeOf(is)
	zones := slices.Sorted(slices.Values(at.zones))
	if wanted.location == at.location && (len(wanted.zones) == 0 || slices.Equal(wanted.zones, zones)) || len(r.t.zones()) == 0 {
		return nil
	}
	return []string{fieldZones}
}

// labelChanges returns the labels that the group lacks, and the keys of those that it has beside what is wanted. Muster's own bookkeeping
// is left alone.
func (w wanted) labelChanges(is map[string]string) (set map[string]string, removed []string) {
	return fields.Changes(w.labels, is, func(key string) bool { return key != template.LabelSurge })
}

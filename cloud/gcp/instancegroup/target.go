package instancegroup

import (
	"fmt"
	"slices"

	"google.golang.org/api/compute/v1"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*gcpv1.MachinePoolSource]

// keepLocation is the key of Target.Remembered under which the zone or region of the group is kept: the zones that the cluster offers may
// change, and a group does not move.
const keepLocation = "group-location"

// target is Target with its parts at hand.
type target struct {
	Target
	pool    *gcpv1.GCPMachinePoolSpec
	cluster gcpv1.ClusterView
	// group is the group's name, project the project that it is in.
	group, project string
	place          place
}

// place is where a group is: in a zone, or in several zones of a region.
type place struct {
	// location is the zone of a zonal group, or the region of a regional one.
	location string
	// zones are those of a regional group; none leaves them to Compute Engine.
	zones []string
}

// zonal reports whether the group is in one zone.
func (p place) zonal() bool { return session.IsZone(p.location) }

// path returns the path of a group.
func (p place) path(project, group string) string {
	scope := "regions/"
	if p.zonal() {
		scope = "zones/"
	}
	return "projects/" + project + "/" + scope + p.location + "/instanceGroupManagers/" + group
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	group, err := template.GroupName(t.Owner)
	if err != nil {
		return target{}, err
	}
	out := target{Target: t, pool: t.Spec.Pool, cluster: t.Spec.Cluster, group: group}
	if out.cluster.Region == "" {
		return target{}, cloud.Invalidf("spec.region", "the infrastructure cluster names no region")
	}
	return out, driverkit.CheckPlaces(t.GroupID,
		driverkit.Place{Object: "infrastructure cluster", Kind: "project", Field: "spec.project", Name: out.cluster.Project},
		driverkit.Place{Object: "infrastructure cluster", Kind: "region", Field: "spec.region", Name: out.cluster.Region})
}

// in is the target in the project of its session.
func (t target) in(project string) target {
	t.project = project
	return t
}

// zones are the zones that the specification asks for: its own, those of the MachinePool, or all of the cluster.
func (t target) zones() []string {
	var own []string
	if t.pool.DistributionPolicy != nil {
		own = t.pool.DistributionPolicy.Zones
	}
	for _, list := range [][]string{own, t.FailureDomains, t.cluster.FailureDomains} {
		if len(list) > 0 {
			return slices.Compact(slices.Sorted(slices.Values(list)))
		}
	}
	return nil
}

// wantedPlace is where a new group is made.
func (t target) wantedPlace() place {
	zones := t.zones()
	if len(zones) == 1 {
		return place{location: zones[0]}
	}
	return place{location: t.cluster.Region, zones: zones}
}

// knownPlace is where the group was last: by what the object names, or remembers.
func (t target) knownPlace() (place, bool) {
	named := session.ParseResource(t.GroupID)
	location := ""
	switch {
	case named.Name == t.group && named.Location() != "":
		location = named.Location()
	case t.Remembered[keepLocation] != "":
		location = t.Remembered[keepLocation]
	default:
		return place{}, false
	}
	wanted := t.wantedPlace()
	if wanted.location == location {
		return wanted, true
	}
	return place{location: location}, true
}

// groupID is the ID of the group, as spec.providerID has it.
func (t target) groupID() string { return t.place.path(t.project, t.group) }

// namedGroup returns the location and name of the group that the object names, where that is another one than its own.
func (t target) namedGroup() (session.Resource, bool) {
	named := session.ParseResource(t.GroupID)
	return named, t.GroupID != "" && named.Name != "" && named.Collection == "instanceGroupManagers" &&
		named.In(t.project).Path() != t.groupID()
}

// labels of the group, which all its instances get; nil if it has none.
func labelsOf(is *compute.InstanceGroupManager) map[string]string {
	if is == nil || is.AllInstancesConfig == nil || is.AllInstancesConfig.Properties == nil {
		return nil
	}
	return is.AllInstancesConfig.Properties.Labels
}

// claim returns what labels say about the pool.
func (t target) claim(labels map[string]string) cloud.Claim {
	return t.Claim(template.Spelling, template.In(labels))
}

// owns reports whether labels name the pool.
func (t target) owns(labels map[string]string) bool { return t.claim(labels).Owned }

// ownership returns what decides whether the group with the pool's name, or the one that the object names, may be changed.
func (t target) ownership(g groupRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: g.is != nil, Named: g.named, GroupID: t.GroupID, Former: g.former, Kind: "group",
		Group: fmt.Sprintf("managed instance group %s of %s", t.group, t.place.location), Rename: "by the annotation muster.dev/group-name",
		Account: t.cluster.Project, Path: t.group,
	}
	if g.is != nil {
		o.Claim = t.claim(labelsOf(g.is))
	}
	return o
}

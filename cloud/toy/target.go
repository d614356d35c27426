package toy

import (
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*Source]

// target is Target with the name of its pool.
type target struct {
	Target
	name string
}

func targetOf(t Target) (target, error) {
	switch {
	case t.Spec == nil:
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	case t.Spec.Cluster == "":
		return target{}, cloud.Invalidf("spec", "the control plane names no cluster yet")
	}
	return target{Target: t, name: t.Owner.ResourceName()}, driverkit.CheckPlaces(t.GroupID,
		driverkit.Place{Object: "control plane", Kind: "cluster", Field: "spec.clusterName", Name: t.Spec.Cluster})
}

// path returns the path of the pool in requests.
func (t target) path() string {
	return clusterPath(t.Spec.Cluster) + "/pools/" + url.PathEscape(t.name)
}

// poolID returns the ID of a pool in the form of spec.providerID.
func poolID(cluster, name string) string { return "toy:///clusters/" + cluster + "/pools/" + name }

// splitPoolID returns the cluster and the name in the ID of a pool; empty for the ID of anything else.
func splitPoolID(id string) (cluster, name string) {
	rest, ok := strings.CutPrefix(id, "toy:///clusters/")
	cluster, name, found := strings.Cut(rest, "/pools/")
	if !ok || !found {
		return "", ""
	}
	return cluster, name
}

// labelOf returns a pool as messages name it.
func labelOf(cluster, name string) string { return fmt.Sprintf("pool %s of cluster %s", name, cluster) }

// tag returns the value of a tag; empty without one.
func (p *poolDoc) tag(key string) string { return p.Tags[key] }

// ownership returns what decides whether the pool may be changed.
func (t target) ownership(read poolRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: read.pool != nil, Named: read.named, GroupID: t.GroupID, Former: t.former(read), Kind: "pool",
		Group: labelOf(t.Spec.Cluster, t.name), Rename: "by the annotation muster.dev/group-name", Path: t.Spec.Cluster + "/" + t.name,
	}
	if read.cluster != nil {
		o.Account = read.cluster.Account
	}
	if read.pool != nil {
		o.Claim = t.Claim(session.Spelling, read.pool.tag)
	}
	return o
}

// former returns what keeps the pool from being created: a pool of another name that could be the target's. A pass searches in what its
// first look has read.
func (t target) former(read poolRead) driverkit.FormerGroup {
	var found []driverkit.Candidate
	for _, p := range read.pools {
		if t.Search.Tagged && read.pool == nil {
			found = append(found, driverkit.Candidate{Name: p.Name, Group: labelOf(t.Spec.Cluster, p.Name), Claim: t.Claim(session.Spelling, p.tag),
				Deleting: p.State == stateDeleting})
		}
	}
	return driverkit.Former(t.Owner, found, cloud.Owner.ResourceName)
}

// The cloud's defaults of what a specification leaves out.
const (
	defaultSurge, defaultUnavailable = "1", "0"
	defaultDrainTimeout              = 1800
)

// document returns the pool that the specification asks for, without a version.
func (t target) document() *poolDoc {
	s := t.Spec.Pool
	d := &poolDoc{
		MachineType: s.MachineType, Image: s.Image, Zones: s.Zones, Labels: s.Labels, Taints: s.Taints, Tags: session.Entries(s.Tags),
		Upgrade: upgradeDoc{MaxSurge: orDefault(s.Upgrade.MaxSurge, defaultSurge),
			MaxUnavailable: orDefault(s.Upgrade.MaxUnavailable, defaultUnavailable),
			DrainTimeout:   orDefault(s.Upgrade.DrainTimeoutSeconds, defaultDrainTimeout), Soak: s.Upgrade.SoakSeconds},
	}
	maps.Copy(d.Tags, session.Spelling.Tags(t.Owner))
	if a := s.Autoscaling; a != nil {
		d.Autoscaling = autoscalingDoc{Enabled: true, Min: a.Min, Max: a.Max}
	}
	return d
}

func orDefault[T comparable](value, otherwise T) T {
	var none T
	if value == none {
		return otherwise
	}
	return value
}

// noCluster is the error of a pool whose cluster does not exist.
func (t target) noCluster() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoCluster", Message: fmt.Sprintf("cluster %s does not exist", t.Spec.Cluster)}
}

// surge returns how many nodes the cloud adds while it replaces those of a pool.
func (p *poolDoc) surge() int {
	text, percent := strings.CutSuffix(p.Upgrade.MaxSurge, "%")
	var n int
	if _, err := fmt.Sscan(text, &n); err != nil {
		return 0
	}
	return pool.IntOrPercent{Value: n, Percent: percent}.Up(p.Count)
}

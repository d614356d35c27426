package kapsule

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*scalewayv1.ManagedMachinePoolSource]

// target is Target with its parts at hand.
type target struct {
	Target
	spec    *scalewayv1.ScalewayManagedMachinePoolSpec
	cluster scalewayv1.ClusterView
	// name of the pool in Kapsule, where no other pool of the cluster can have it.
	name string
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	out := target{Target: t, spec: t.Spec.Pool, cluster: t.Spec.Cluster, name: cmp.Or(t.Owner.GroupName, t.Spec.Name)}
	if out.cluster.Name == "" || out.cluster.Region == "" || out.cluster.ProjectID == "" {
		return target{}, cloud.Invalidf("spec", "the cluster's objects name no Kapsule cluster, region and project yet")
	}
	return out, driverkit.CheckPlaces(t.GroupID,
		driverkit.Place{Object: "cluster", Kind: "project", Field: "spec.projectID", Name: out.cluster.ProjectID},
		driverkit.Place{Object: "cluster", Kind: "region", Field: "spec.region", Name: out.cluster.Region},
		driverkit.Place{Object: "control plane", Kind: "cluster", Field: "spec.clusterName", Name: out.cluster.Name})
}

// nameOf returns the name of an owner's pool.
func nameOf(o cloud.Owner) string { return cmp.Or(o.GroupName, o.Name) }

// groupID returns the ID of a pool in the form of spec.providerID. Names and not Kapsule's own IDs are in it, so that it is known before
// the pool is created.
func (t target) groupID(name string) string {
	return "scaleway:///projects/" + t.cluster.ProjectID + "/regions/" + t.cluster.Region + "/clusters/" + t.cluster.Name + "/pools/" + name
}

// namedPool returns the name of another pool of the same cluster that the object names in spec.providerID; empty for none.
func (t target) namedPool() string {
	name, ok := strings.CutPrefix(t.GroupID, t.groupID(""))
	if !ok || name == t.name {
		return ""
	}
	return name
}

// labelOf returns a pool as messages name it.
func (t target) labelOf(name string) string {
	return fmt.Sprintf("pool %s of cluster %s", name, t.cluster.Name)
}

// poolPath returns the path of a pool in requests.
func poolPath(p *k8s.Pool) string { return "/pools/" + url.PathEscape(p.ID) }

const (
	// tagDomain begins the tags of owners. Tags become labels of Nodes below k8s.scaleway.com/, in which no second slash can be.
	tagDomain = cloud.TagDomain + "_"
	// between stands between the key and the value of a tag.
	between = "="
)

// Spelling encodes the tags of owners. Every value that names an object fits.
var Spelling = cloud.Spelling{Key: func(name string) string { return tagDomain + name }}

// tagOf returns the value of a tag KEY=VALUE by its key; empty without one.
func tagOf(tags []string) func(key string) string {
	return func(key string) string {
		for _, t := range tags {
			if value, ok := strings.CutPrefix(t, key+between); ok {
				return value
			}
		}
		return ""
	}
}

// tags returns the tags that the pool should have: those of the specification, those by which the ecosystem's provider knows the pool, and
// those of its owner.
func (t target) tags() []string {
	out := slices.Clone(t.spec.AdditionalTags)
	out = append(out, scalewayv1.TagNamespace+between+t.Owner.Namespace, scalewayv1.TagPool+between+t.Owner.Name,
		scalewayv1.TagCreatedBy+between+scalewayv1.TagCreatedByValue)
	for key, value := range Spelling.Tags(t.Owner) {
		out = append(out, key+between+value)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byProvider reports whether the tags are those that the ecosystem's provider writes to the pool of the target's object.
func (t target) byProvider(tags []string) bool {
	tag := tagOf(tags)
	return tag(scalewayv1.TagNamespace) == t.Owner.Namespace && tag(scalewayv1.TagPool) == t.Owner.Name
}

// otherObject returns the tags of the ecosystem's provider that name another object than the target's; empty if there are none. No grant
// reaches such a pool, because it is that object's.
func (t target) otherObject(tags []string) string {
	var named []string
	for _, key := range []string{scalewayv1.TagNamespace, scalewayv1.TagPool} {
		if value := tagOf(tags)(key); value != "" {
			named = append(named, key+between+value)
		}
	}
	if t.byProvider(tags) {
		return ""
	}
	return strings.Join(named, ", ")
}

// ownership returns what decides whether the pool may be changed.
func (t target) ownership(read poolRead) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: read.pool != nil, Named: read.named, GroupID: t.GroupID, Former: t.former(read), Kind: "pool", Group: t.labelOf(t.name),
		Rename: "by the annotation muster.dev/group-name", Account: t.cluster.ProjectID, Path: t.cluster.Name + "/" + t.name,
	}
	if read.pool != nil {
		o.Claim = t.Claim(Spelling, tagOf(read.pool.Tags))
	}
	return o
}

// former returns what keeps the pool from being created: a pool of another name that could be the target's.
func (t target) former(read poolRead) driverkit.FormerGroup {
	var found []driverkit.Candidate
	for _, p := range read.Pools {
		if read.pool == nil && (t.Search.Tagged || t.Search.Provider) {
			found = append(found, driverkit.Candidate{
				Name: p.Name, Group: t.labelOf(p.Name), Claim: t.Claim(Spelling, tagOf(p.Tags)), Deleting: p.Status == k8s.PoolStatusDeleting,
				ByProvider: t.Search.Provider && t.byProvider(p.Tags),
			})
		}
	}
	return driverkit.Former(t.Owner, found, nameOf)
}

// noCluster is the error of a pool whose cluster does not exist.
func (t target) noCluster() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoCluster", Message: fmt.Sprintf("cluster %s does not exist in region %s of project %s",
		t.cluster.Name, t.cluster.Region, t.cluster.ProjectID)}
}

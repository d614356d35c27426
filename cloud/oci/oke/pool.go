package oke

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"time"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/session"
)

// The states of pools and nodes.
const (
	StateActive   = "ACTIVE"
	StateCreating = "CREATING"
	StateUpdating = "UPDATING"
	StateDeleting = "DELETING"
	StateDeleted  = "DELETED"
	StateInactive = "INACTIVE"
)

// IsOCID matches OCIDs in the fields of objects.
var IsOCID = regexp.MustCompile(`^ocid1\.[a-z0-9]+\.[A-Za-z0-9._-]+$`)

// restAge is the time after which a pool is read by itself that the list shows unchanged: the state of a node is not in the list. Each pool
// has some of restSpread more, so that those that were created together are not all read at the same time.
const restAge, restSpread = 15 * time.Minute, 10 * time.Minute

// rests returns the time for which a pool of an OCID is not read by itself while the list shows it unchanged.
func rests(id string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	return restAge + time.Duration(h.Sum32())*time.Millisecond%restSpread
}

// Pool is the place and the owner of a pool.
type Pool struct {
	// Kind is the pool's kind in messages, for example "node pool".
	Kind string
	// Name of the pool. Others of the cluster may have it too.
	Name string
	// Cluster is the cluster of the pool.
	Cluster *ociv1.ManagedClusterView
	// Claim compares the freeform tags of a pool with the owner.
	Claim func(tags map[string]string) cloud.Claim

	owner   cloud.Owner
	groupID string
	search  cloud.Search
}

// PoolOf returns the pool of a target whose object gives it a name, in a cluster. The error names what of the cluster's objects is missing.
func PoolOf[S any](t cloud.Target[S], kind, name string, cluster *ociv1.ManagedClusterView) (Pool, error) {
	out := Pool{Kind: kind, Name: cmp.Or(t.Owner.GroupName, name), Cluster: cluster, owner: t.Owner, groupID: ociv1.OCIDOf(t.GroupID),
		search: t.Search, Claim: func(tags map[string]string) cloud.Claim { return t.Claim(session.Spelling, session.TagOf(tags)) }}
	if cluster.ID == "" || out.Compartment() == "" {
		return out, cloud.Invalidf("spec", "the cluster's objects name no OKE cluster and compartment yet")
	}
	return out, driverkit.CheckPlaces(t.GroupID,
		driverkit.Place{Object: "infrastructure cluster", Kind: "compartment", Field: "spec.compartmentId", Name: out.Compartment(),
			Names: IsOCID},
		driverkit.Place{Object: "infrastructure cluster", Kind: "region", Field: "spec.region", Name: cluster.View.Region},
		driverkit.Place{Object: "control plane", Kind: "cluster", Field: "spec.id", Name: cluster.ID, Names: IsOCID})
}

// Compartment returns the OCID of the compartment of the cluster, in which its pools are.
func (p Pool) Compartment() string { return p.Cluster.View.CompartmentID }

// Label returns a pool as messages name it.
func (p Pool) Label(name string) string {
	return fmt.Sprintf("%s %s of cluster %s", p.Kind, name, cmp.Or(p.Cluster.ControlPlane, p.Cluster.ID))
}

// Ecosystem returns the tags by which the ecosystem's provider knows what belongs to the cluster, and those that the cluster asks for.
func (p Pool) Ecosystem() map[string]string {
	out := map[string]string{ociv1.TagCreatedBy: ociv1.TagCreatedByValue}
	if id := p.Cluster.View.ResourceIdentifier; id != "" {
		out[ociv1.TagCluster] = id
	}
	maps.Copy(out, p.Cluster.View.FreeformTags)
	return out
}

// Tags returns the freeform tags of the pool: also those of its owner.
func (p Pool) Tags() map[string]string {
	out := p.Ecosystem()
	maps.Copy(out, session.Spelling.Tags(p.owner))
	return out
}

// Defined returns the defined tags of the cluster by their namespaces; nil for none.
func (p Pool) Defined() map[string]any {
	var out map[string]any
	for namespace, entries := range p.Cluster.View.DefinedTags {
		of := map[string]any{}
		for key, v := range entries {
			of[key] = v
		}
		if out == nil {
			out = map[string]any{}
		}
		out[namespace] = of
	}
	return out
}

// byProvider reports whether the tags are those that the ecosystem's provider gives to what belongs to the cluster.
func (p Pool) byProvider(tags map[string]string) bool {
	id := p.Cluster.View.ResourceIdentifier
	return id != "" && tags[ociv1.TagCluster] == id
}

// Listed is a pool in a list, or read by itself, as far as both have it in common.
type Listed struct {
	ID, Name, Cluster, State string
	Tags                     map[string]string
}

// ListedOf returns a pool in the form of lists from the members of OKE's documents.
func ListedOf(id, name, cluster, state *string, tags map[string]string) Listed {
	return Listed{ID: text(id), Name: text(name), Cluster: text(cluster), State: text(state), Tags: tags}
}

// own returns the index of the pool in a list; -1 if it is not there. Of several with its name it is the owner's, and of these the one that
// the object names, or else the first; one that is being deleted comes last.
func (p Pool) own(all []Listed) int {
	best, rank := -1, -1
	for i, one := range all {
		if one.Name != p.Name || one.Cluster != p.Cluster.ID || one.State == StateDeleted {
			continue
		}
		r := 0
		for n, yes := range []bool{one.ID == p.groupID, p.Claim(one.Tags).SameID(), one.State != StateDeleting} {
			if yes {
				r += 1 << n
			}
		}
		if r > rank || r == rank && one.ID < all[best].ID {
			best, rank = i, r
		}
	}
	return best
}

// ofCluster returns those of a list that exist in the cluster.
func (p Pool) ofCluster(all []Listed) (out []Listed) {
	for _, one := range all {
		if one.Cluster == p.Cluster.ID && one.State != StateDeleted {
			out = append(out, one)
		}
	}
	return out
}

// namedIn looks for the pool that the object names, if that is another than its own.
func (p Pool) namedIn(all []Listed) driverkit.NamedGroup {
	out := driverkit.NamedGroup{ID: p.groupID}
	for _, one := range all {
		if p.groupID == "" || one.ID != p.groupID {
			continue
		}
		if claim := p.Claim(one.Tags); !claim.Owned {
			out.Conflict = driverkit.NamedConflict(p.Label(one.Name), one.Name, claim)
		}
	}
	return out
}

// ownership returns what decides whether the pool may be changed. tags are its own, others are the pools of the cluster and named is the
// one that the object names, where the pool does not exist.
func (p Pool) ownership(exists bool, tags map[string]string, others []Listed, named driverkit.NamedGroup) driverkit.Ownership {
	o := driverkit.Ownership{
		Exists: exists, Named: named, GroupID: p.groupID, Kind: p.Kind, Group: p.Label(p.Name),
		Rename: "by the annotation muster.dev/group-name", Account: p.Compartment(), Path: p.Cluster.ID + "/" + p.Name,
	}
	if exists {
		o.Claim = p.Claim(tags)
	} else {
		o.Former = p.former(others)
	}
	return o
}

// nameOf returns the name of an owner's pool.
func nameOf(o cloud.Owner) string { return cmp.Or(o.GroupName, o.Name) }

// former returns what keeps the pool from being created: one of another name that could be the owner's.
func (p Pool) former(others []Listed) driverkit.FormerGroup {
	var found []driverkit.Candidate
	for _, one := range others {
		if p.search.Tagged || p.search.Provider {
			found = append(found, driverkit.Candidate{Name: one.Name, Group: p.Label(one.Name), Claim: p.Claim(one.Tags),
				Deleting: one.State == StateDeleting, ByProvider: p.search.Provider && p.byProvider(one.Tags) && one.Name == p.owner.Name})
		}
	}
	return driverkit.Former(p.owner, found, nameOf)
}

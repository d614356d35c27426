package instancegroup

import (
	"context"
	"fmt"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/template"
)

// former looks for groups of other names that could be the pool's, if one is about to be created: by the labels of the pool, and by the
// name that the ecosystem's provider gives its group, which no field of the object names.
func (r *groupReader) former(ctx context.Context) error {
	if r.memory.group.is != nil || !r.t.Search.Tagged {
		return nil
	}
	list, err := r.c.AllManagers(ctx, driverkit.SearchAge(r.t.Search, r.now))
	if err != nil {
		return err
	}
	var found []driverkit.Candidate
	wanted := r.t.wantedPlace()
	for _, is := range list {
		at := placeOf(is)
		c := driverkit.Candidate{Name: is.Name, Group: fmt.Sprintf("managed instance group %s of %s", is.Name, at.location),
			Claim: r.t.claim(labelsOf(is)), Deleting: allDeleted(is)}
		if at.location != wanted.location {
			c.Elsewhere = fmt.Sprintf("have the specification ask for %s, where it is", at.location)
		}
		c.ByProvider = r.t.Search.Provider && at.zonal() && c.Elsewhere == "" && is.Name == r.t.cluster.ClusterName+"-"+r.t.Owner.Name
		found = append(found, c)
	}
	r.memory.group.former = driverkit.Former(r.t.Owner, found, func(o cloud.Owner) string {
		name, _ := template.GroupName(o) // An owner without a name for a group has none of its own.
		return name
	})
	return nil
}

// allDeleted reports whether the group deletes all its instances and keeps its size, as one does that is being deleted itself.
func allDeleted(is *compute.InstanceGroupManager) bool {
	return is.TargetSize > 0 && is.CurrentActions != nil && is.CurrentActions.Deleting >= is.TargetSize
}

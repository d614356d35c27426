package groups

import (
	"context"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/gcp/session"
)

// Writer changes the groups of one node pool. Its requests have no IDs: each does the same however often it is carried out, and Compute
// Engine would take one that is alike within the hour for the earlier request, and do nothing.
type Writer struct{ Session *session.Session }

// Resize asks a group for a number of machines.
func (w Writer) Resize(ctx context.Context, g Group, machines int) error {
	c := w.Session
	_, err := c.Compute.InstanceGroupManagers.Resize(c.Project, g.Zone, g.Name, int64(machines)).Context(ctx).Do()
	return session.Vanished(c.Refusal(err))
}

// Delete deletes machines of a group, which lowers its size by their number. One that has gone meanwhile, or is being deleted, is left out:
// it is no reason to keep the others.
func (w Writer) Delete(ctx context.Context, g Group, machines []Instance) error {
	c, r := w.Session, &compute.InstanceGroupManagersDeleteInstancesRequest{SkipInstancesOnValidationError: true}
	for _, m := range machines {
		r.Instances = append(r.Instances, "zones/"+g.Zone+"/instances/"+m.Name)
	}
	op, err := c.Compute.InstanceGroupManagers.DeleteInstances(c.Project, g.Zone, g.Name, r).Context(ctx).Do()
	if err != nil {
		return session.Vanished(c.Refusal(err))
	}
	if failed := session.Failed(op); failed != nil {
		return failed
	}
	return nil
}

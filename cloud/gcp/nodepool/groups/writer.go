package groups

import (
	"context"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/gcp/session"
)

// Writer changes the groups of one node pool.
type Writer struct {
	Session *session.Session
	// Owner is the ID of the owner, by which requests are told apart.
	Owner string
}

// Resize asks a group for a number of machines. The request has no ID: it does the same however often it is carried out, and Compute Engine
// would take one for a size that the group has had within the hour for the earlier request, and do nothing.
func (w Writer) Resize(ctx context.Context, g Group, machines int) error {
	c := w.Session
	_, err := c.Compute.InstanceGroupManagers.Resize(c.Project, g.Zone, g.Name, int64(machines)).Context(ctx).Do()
	return session.Vanished(c.Refusal(err))
}

// Delete deletes machines of a group, which lowers its size by their number. One that has gone meanwhile is no reason to keep the others.
func (w Writer) Delete(ctx context.Context, g Group, machines []Machine) error {
	var urls, keys []string
	for _, m := range machines {
		urls = append(urls, "zones/"+g.Zone+"/instances/"+m.Name)
		keys = append(keys, m.Key())
	}
	c, r := w.Session, &compute.InstanceGroupManagersDeleteInstancesRequest{Instances: urls, SkipInstancesOnValidationError: true}
	op, err := session.Once(func(id string) (*compute.Operation, error) {
		return c.Compute.InstanceGroupManagers.DeleteInstances(c.Project, g.Zone, g.Name, r).RequestId(id).Context(ctx).Do()
	}, append([]string{w.Owner, "deleteInstances", g.Zone, g.Name}, keys...)...)
	if err != nil {
		return session.Vanished(c.Refusal(err))
	}
	if failed := session.Failed(op); failed != nil {
		return failed
	}
	return nil
}

package groups

import (
	"context"
	"strings"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
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
	id := w.requestID("deleteInstances", g, keys...)
	c, r := w.Session, &compute.InstanceGroupManagersDeleteInstancesRequest{Instances: urls, SkipInstancesOnValidationError: true}
	_, err := c.Compute.InstanceGroupManagers.DeleteInstances(c.Project, g.Zone, g.Name, r).RequestId(id).Context(ctx).Do()
	return session.Vanished(c.Refusal(err))
}

// uuidLength is that of the hex digits of a UUID.
const uuidLength = 32

// requestID returns the ID by which Compute Engine knows a request that it has had already: of the owner, the group, and what is asked of it.
func (w Writer) requestID(call string, g Group, parts ...string) string {
	text := strings.Join(append([]string{w.Owner, call, g.Zone, g.Name}, parts...), "\n")
	d := cloud.Digest([]byte(text), uuidLength)
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:]
}

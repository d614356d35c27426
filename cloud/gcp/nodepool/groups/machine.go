package groups

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// keyTemplate is the key of an instance's metadata in which the instance template stands that it was made from.
const keyTemplate = "instance-template"

// Instance is one member of an instance group.
type Instance struct {
	// Name is that of the machine and of its Node; it outlives the machine where the group makes it again. UID is Compute Engine's ID of the
	// machine, empty while there is none.
	Name, UID, Zone string
	// Template is the instance template that it was made from, by its path within the project; empty where that is not known.
	Template string
	Created  time.Time
	// Failure is why the group's last attempt to make it, or to change it, failed; nil if it did not.
	Failure *cloud.Error
	// action is the group's current action on it, empty for none, and status the machine's.
	action, status string
}

// ID returns Compute Engine's ID of the machine; while there is none, its name.
func (m Instance) ID() string { return cmp.Or(m.UID, m.Name) }

// Key identifies the machine among all that ever had its name.
func (m Instance) Key() string { return m.Name + "/" + m.UID }

// managedMachine is a machine as its group lists it.
func managedMachine(zone string, is *compute.ManagedInstance) Instance {
	m := Instance{Name: cmp.Or(is.Name, session.LastName(is.Instance)), Zone: zone, action: is.CurrentAction, status: is.InstanceStatus}
	if is.Id != 0 {
		m.UID = strconv.FormatUint(is.Id, 10)
	}
	if is.Version != nil {
		m.Template = session.ParseResource(is.Version.InstanceTemplate).Within()
	}
	if at := is.LastAttempt; at != nil && at.Errors != nil && len(at.Errors.Errors) > 0 {
		m.Failure = session.ErrorOf(at.Errors.Errors[0].Code, at.Errors.Errors[0].Message)
	}
	return m
}

// instanceMachine is a machine from a list of all instances, which shows nothing of its group.
func instanceMachine(zone string, is *compute.Instance, skew time.Duration) Instance {
	m := Instance{Name: is.Name, UID: strconv.FormatUint(is.Id, 10), Zone: zone, status: is.Status, action: actionNone}
	if at, err := time.Parse(time.RFC3339, is.CreationTimestamp); err == nil {
		m.Created = at.Add(-skew)
	}
	if is.Metadata != nil {
		for _, item := range is.Metadata.Items {
			if item.Key == keyTemplate && item.Value != nil {
				m.Template = session.ParseResource(*item.Value).Within()
			}
		}
	}
	return m
}

// The actions of instance groups that code depends on.
const (
	actionNone       = "NONE"
	actionRefreshing = "REFRESHING"
	actionRestarting = "RESTARTING"
)

// goes are the actions on a machine that is on its way out, comes those on one that is being made, and stopped the states of one that does
// not run.
var (
	goes    = []string{"DELETING", "ABANDONING"}
	comes   = []string{"CREATING", "CREATING_WITHOUT_RETRIES", "RECREATING"}
	stopped = []string{"STOPPING", "PENDING_STOP", "STOPPED", "TERMINATED", "SUSPENDING", "SUSPENDED", "DEPROVISIONING"}
)

// State returns the machine's state.
func (m Instance) State() pool.InstanceState {
	switch {
	case slices.Contains(goes, m.action):
		return pool.Terminating
	case slices.Contains(comes, m.action):
		return pool.Pending
	case m.status == "RUNNING":
		return pool.Running
	case slices.Contains(stopped, m.status):
		return pool.Failed
	}
	return pool.Pending
}

// ProviderID returns what the machine's Node carries in spec.providerID.
func (m Instance) ProviderID(project string) string {
	return "gce://" + project + "/" + m.Zone + "/" + m.Name
}

// Instance returns the machine in pool's words, in a project.
func (m Instance) Instance(project string, t pool.Template) pool.Instance {
	i := pool.Instance{
		ID: m.ID(), ProviderID: m.ProviderID(project), Zone: m.Zone, Template: t, State: m.State(), CloudState: m.action,
		Created: m.Created, Updating: m.action == actionRefreshing || m.action == actionRestarting,
	}
	if m.action == "" || m.action == actionNone {
		i.CloudState = m.status
	}
	if i.State == pool.Failed {
		i.Stopped = m.status
	}
	return i
}

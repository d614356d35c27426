package compute

import (
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Actions of managed instances, as Compute Engine names them.
const (
	actionNone       = "NONE"
	actionCreating   = "CREATING"
	actionRecreating = "RECREATING"
	actionDeleting   = "DELETING"
	actionAbandoning = "ABANDONING"
	actionRestarting = "RESTARTING"
	actionRefreshing = "REFRESHING"
	actionVerifying  = "VERIFYING"
)

// allActions are the actions that a group counts, by their names in currentActions.
var allActions = map[string]string{
	actionAbandoning: "abandoning", actionCreating: "creating", "CREATING_WITHOUT_RETRIES": "creatingWithoutRetries",
	actionDeleting: "deleting",
	actionNone:     "none", actionRecreating: "recreating", actionRefreshing: "refreshing", actionRestarting: "restarting",
	"RESUMING": "resuming",
	"STARTING": "starting", "STOPPING": "stopping", "SUSPENDING": "suspending", actionVerifying: "verifying",
}

// States of instances.
const (
	stateProvisioning = "PROVISIONING"
	stateStaging      = "STAGING"
	stateRunning      = "RUNNING"
	stateStopping     = "STOPPING"
	stateTerminated   = "TERMINATED"
)

// template is an instance template.
type template struct {
	Project, Name, Description string
	// Region is where alone it can be used; empty for a global one.
	Region  string
	ID      uint64
	Created time.Time
	// Content is where its properties are kept.
	Content string
}

func (t *template) path() string { return TemplatePath(t.Project, t.Region, t.Name) }

// TemplatePath returns the path of an instance template: of a global one without a region.
func TemplatePath(id, region, name string) string {
	if region != "" {
		return project.Regional(id, region, "instanceTemplates", name)
	}
	return project.Global(id, "instanceTemplates", name)
}

// version is a template that a group creates instances from. Size is how many, nil for all others.
type version struct {
	Name, Template string
	Size           document.Object
}

// manager is a managed instance group.
type manager struct {
	Project, Name string
	// Zone is set for a zonal group, Region for a regional one.
	Zone, Region string
	ID           uint64
	Created      time.Time
	// Doc is what clients set: policies, the base name, the description. Size, versions and the overriding configuration have fields.
	Doc      document.Object
	Target   int
	Versions []version
	// Config is allInstancesConfig.properties, Revision when it was last changed; the zero time is never.
	Config   document.Object
	Revision time.Time
	// Changes counts changes, for the fingerprint.
	Changes int
	// Next is the number of the next instance.
	Next int64
	// Deletion is the operation that deletes the group, "" for none.
	Deletion string
	// NextLook is when the group looks after its instances again.
	NextLook time.Time
	// Errors are the last errors of actions on instances, the newest last.
	Errors []actionError
}

// actionError is an error of an action on an instance, as listErrors shows it.
type actionError struct {
	At                         time.Time
	Instance, Action, Template string
	Failure                    project.Failure
}

func (g *manager) regional() bool { return g.Region != "" }

func (g *manager) path() string { return managerPath(g.Project, g.Zone, g.Region, g.Name) }

// scope returns zones/z or regions/r.
func (g *manager) scope() string {
	if g.regional() {
		return "regions/" + g.Region
	}
	return "zones/" + g.Zone
}

func managerPath(id, zone, region, name string) string {
	if region != "" {
		return project.Regional(id, region, "instanceGroupManagers", name)
	}
	return project.Zonal(id, zone, "instanceGroupManagers", name)
}

// instance is an instance of a group, or one that a group has abandoned.
type instance struct {
	fleet.Machine
	fleet.Disruptions
	// Group is the path of its group, "" for none.
	Group         string
	Project, Name string
	// ID is the resource's ID, 0 while the instance does not exist.
	ID      uint64
	Created time.Time
	// Template is the path of the template that it is or will be created from, Version the name of the version; Content holds the properties
	// that it has.
	Template, Version, Content string
	// Overrides is allInstancesConfig as it was applied to the instance, Revision when that was set.
	Overrides document.Object
	Revision  time.Time
	// Labels are those that were set on the instance alone, nil for none.
	Labels map[string]string
	// Relabel are those that it is about to have, RelabelAt when.
	Relabel   map[string]string
	RelabelAt time.Time
	Action    string
	State     string
	Address   string
	// Next is when the current state or attempt ends, Retries how many attempts to create it failed.
	Next    time.Time
	Retries int
	// Renew is true if the instance gets the group's current template when it is created again.
	Renew bool
	// Failures are what went wrong in the last attempt.
	Failures []project.Failure
	// Unhealthy is true while the health check fails; Running is since when it runs.
	Unhealthy bool
	Running   time.Time
}

func (m *instance) path() string { return project.Zonal(m.Project, m.Zone, "instances", m.Name) }

func (m *instance) key() string { return m.Group + "|" + m.path() }

func (m *instance) exists() bool { return m.ID != 0 }

// leaving reports whether the instance is on its way out of the group.
func (m *instance) leaving() bool { return m.Action == actionDeleting || m.Action == actionAbandoning }

// powered reports whether what is inside the instance runs.
func (m *instance) powered() bool { return m.State == stateRunning }

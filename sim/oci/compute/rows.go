package compute

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/oci/rest"
)

// configuration is an instance configuration. Only its tags and its name ever change.
type configuration struct {
	ID string
	// Doc has what clients wrote.
	Doc      document.Object
	Created  time.Time
	Revision int64
}

// launch returns how instances of a configuration are launched, nil if it does not tell.
func (c *configuration) launch() document.Object {
	if options := document.Objects(c.Doc, "instanceDetails.options"); len(options) > 0 {
		return document.Under(options[0], "launchDetails")
	}
	return document.Under(c.Doc, "instanceDetails.launchDetails")
}

// The states of instances, and of pools where those have them.
const (
	provisioning = "PROVISIONING"
	starting     = "STARTING"
	running      = "RUNNING"
	scaling      = "SCALING"
	stopping     = "STOPPING"
	stopped      = "STOPPED"
	terminating  = "TERMINATING"
	terminated   = "TERMINATED"
)

// pool is an instance pool.
type pool struct {
	ID string
	// Doc has what clients wrote but the size.
	Doc  document.Object
	Size int
	// Type is INSTANCE, or GMC for one that another service manages.
	Type string
	// State is the state of the pool, Since when it began.
	State    string
	Since    time.Time
	Created  time.Time
	Revision int64
	// Launched counts the instances that it has launched.
	Launched int64
	// Halted is when the instances were first seen stopped while the pool was not.
	Halted time.Time
	// Retry is when a launch is tried again that has failed.
	Retry time.Time
	// Work is the work request of the launches that go on, "" for none.
	Work string
	// Autoscaled is true once the cloud's own autoscaler has set the size.
	Autoscaled bool
}

// text returns a member of the document of a pool.
func (p *pool) text(member string) string { return document.Text(p.Doc, member) }

// etag returns the etag of a pool.
func (p *pool) etag() string { return rest.Etag(p.ID, p.Revision) }

// placements returns where the instances of a pool can be.
func (p *pool) placements() []document.Object {
	return document.Objects(p.Doc, "placementConfigurations")
}

// domains returns the availability domains of a pool, in the order of its placements.
func (p *pool) domains() []string {
	var out []string
	for _, one := range p.placements() {
		out = append(out, document.Text(one, "availabilityDomain"))
	}
	return out
}

// hook returns how long a pool waits before it terminates an instance, and whether it does.
func (p *pool) hook() (timeout time.Duration, waits bool) {
	action := document.Under(p.Doc, "lifecycleManagement.lifecycleActions.preTermination")
	seconds, _ := document.Number(action, "timeout")
	return time.Duration(seconds) * time.Second, document.Truth(action, "isEnabled")
}

// The phases of an instance in its pool.
const (
	attaching = "ATTACHING"
	active    = "ACTIVE"
	detaching = "DETACHING"
	awaiting  = "TERMINATION_AWAIT"
	proceeds  = "TERMINATION_PROCEED"
)

// instance is an instance of a pool, or one that was detached from its pool.
type instance struct {
	fleet.Machine
	fleet.Disruptions
	// ID is its OCID, Pool that of its pool or "". Name is the displayed name, Host that of the operating system.
	ID, Pool, Name, Host, Address string
	// Compartment and FaultDomain are where it is, Configuration is the OCID of what it was launched from, Launch the key of its content.
	Compartment, FaultDomain, Configuration, Launch string
	Tags                                            map[string]string
	Created                                         time.Time
	// State is the state of the machine and Next when it changes. Phase is the one in its pool and PhaseAt when that changes.
	State, Phase  string
	Next, PhaseAt time.Time
	// Booted is when it began to run, zero while it does not. Held is when its pool began to wait before it terminates it, Taken when the
	// cloud takes it back.
	Booted, Held, Taken time.Time
	// Work is the work request by which it leaves its pool, "" for none.
	Work string
}

// leaving reports whether an instance is on its way out of its pool or has ended.
func (m *instance) leaving() bool {
	return m.State == terminating || m.State == terminated || slices.Contains([]string{detaching, awaiting, proceeds}, m.Phase)
}

// moves reports whether an instance is on its way to run, or out of its pool.
func (m *instance) moves() bool {
	return m.State != terminated && m.leaving() || m.State == provisioning || m.State == starting || m.Phase == attaching
}

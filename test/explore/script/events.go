package script

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/apifault"
)

// Event is one thing that happens.
type Event struct {
	At   time.Duration
	What What
	// Pool is the place of the pool that it happens to: 0 is the first one, others are those of Beside.
	Pool int
	// N and M are parameters whose meaning depends on the kind of event.
	N, M int
	// Then is the event between two calls of a pass.
	Then What
	// Fault is the rule of fault events in the cloud, API that of faults of an API server.
	Fault sim.Fault
	API   apifault.Fault
}

func (e Event) String() string {
	switch e.What {
	case CloudFault:
		if e.Fault.Kind == sim.Ignore {
			return fmt.Sprintf("fault %s %s:%s %s", e.Fault.Kind, e.Fault.Service, e.Fault.Action, e.Fault.Field)
		}
		return fmt.Sprintf("fault %s %s:%s skip=%d times=%d chance=%.2f %s %s", e.Fault.Kind, e.Fault.Service, e.Fault.Action,
			e.Fault.Skip, e.Fault.Times, e.Fault.Probability, e.Fault.Code, time.Duration(e.Fault.Delay))
	case ServerFault:
		return fmt.Sprintf("api fault %s", e.API)
	case Amid:
		return fmt.Sprintf("pool%s: amid %d %d: %s", Suffix(e.Pool), e.N, e.M, e.Then)
	}
	if e.Pool > 0 {
		return fmt.Sprintf("pool%s: %s %d %d", Suffix(e.Pool), e.What, e.N, e.M)
	}
	return fmt.Sprintf("%s %d %d", e.What, e.N, e.M)
}

// What is a kind of event.
type What string

// The requests of users, and of programs on their behalf.
const (
	Replicas  What = "edit replicas"
	Bounds    What = "edit bounds"
	Template  What = "edit template"
	GroupEdit What = "edit group"
	Token     What = "rotate token"
	External  What = "toggle external"
	Pause     What = "pause"
	Unpause   What = "unpause"
	// HoldCluster pauses the Cluster, FreeCluster lets it go on. Unwell has a MachineHealthCheck find a Machine unhealthy.
	HoldCluster What = "pause cluster"
	FreeCluster What = "unpause cluster"
	Unwell      What = "machine health check"
	Mark        What = "mark node"
	Delete      What = "delete pool"
	// Apply has a user apply the objects of a pool later than those of the first one, by way of a Claim.
	Apply     What = "apply pool"
	Nudge     What = "nudge"
	Bootstrap What = "bootstrap ready"
	// Upgrade brings a managed pool to the next minor version of Kubernetes, its control plane before it.
	Upgrade What = "upgrade"
	// Keep asks for another number of versions of the launch template that are kept.
	Keep What = "edit versions to keep"
	// Strategy sets, changes or removes spec.strategy. BadTemplate asks for machines that never join, Back for those that the
	// pool began with. Hold and GoOn hold a rollout and let it go on; RestartNow asks for a replacement of all, RestartOver
	// takes that back.
	Strategy    What = "edit strategy"
	BadTemplate What = "edit template to a bad one"
	Back        What = "edit template back"
	Hold        What = "hold rollout"
	GoOn        What = "go on with rollout"
	RestartNow  What = "restart now"
	RestartOver What = "restart over"
	// Cordon has a user cordon a node, Uncordon take back all cordons of users. LoseOwner drops the owner references of an
	// infrastructure machine, as a restore does.
	Cordon    What = "a user cordons a node"
	Uncordon  What = "a user uncordons nodes"
	LoseOwner What = "an owner is lost"
	// Restored is a restore of the management cluster from a backup.
	Restored What = "a backup is restored"
	// Reapplied applies the objects of the pool from Git to another management cluster. TakenBack runs the command that restores the pool's
	// ownership of its group.
	Reapplied What = "the objects are applied again from Git"
	TakenBack What = "the group is taken back"
	// Copied applies the infrastructure object, with its annotations, in another namespace.
	Copied What = "a copy is applied"
	// Adopt asks to adopt the group that another provider has made.
	Adopt What = "adopt"
	// Waver scales the pool in by a node that a user has cordoned and marked, and has the user change their mind during its drain.
	Waver What = "a user gives up a scale-in"
	// DropMachine deletes a Machine of the pool, DropInfraMachine the object of the infrastructure that it stands on.
	DropMachine      What = "delete a Machine"
	DropInfraMachine What = "delete an infrastructure machine"
	// Autoscaler sets the group's size in the cloud, where an autoscaler owns the size.
	Autoscaler What = "autoscaler"
)

// The out-of-band changes of the cloud. Kinds have additional ones.
const (
	HandTerminate    What = "hand terminates"
	HandFail         What = "hand fails"
	HandResize       What = "hand resizes"
	HandTags         What = "hand retags"
	HandDisown       What = "hand disowns"
	HandOwn          What = "hand owns"
	HandDropGroup    What = "hand deletes group"
	HandDropTemplate What = "hand deletes template"
	HandBounds       What = "hand sets bounds"
	// HandDropVersion deletes a version of the launch template, HandDefault makes another one the default.
	HandDropVersion What = "hand deletes a version"
	HandDefault     What = "hand sets the default version"
	// HandHeal reverts the specific fault of a kind.
	HandHeal What = "hand heals"
	// HandForeign makes what belongs to another owner, HandDropForeign deletes it.
	HandForeign     What = "hand makes foreign"
	HandDropForeign What = "hand deletes foreign"
	// HandInterrupt gives a spot machine notice; HandUnhealthy marks one as unhealthy.
	HandInterrupt What = "spot interruption"
	HandUnhealthy What = "hand marks unhealthy"
)

// The faults.
const (
	// CloudFault puts a fault of the cloud into force, Calm takes all out.
	CloudFault What = "fault"
	Calm       What = "calm"
	// ServerFault is one of an API server.
	ServerFault What = "api fault"
	// ServersCalm takes those of the API servers alone out of force.
	ServersCalm What = "api servers calm"
	// Restart ends the manager between two passes and starts it again; Crash ends it right before or after its next
	// effect but N.
	Restart What = "restart"
	// Upgraded replaces the manager by one of a newer version, which finds what an older one has stored.
	Upgraded What = "manager upgraded"
	Crash    What = "crash"
	// Lag lets the manager's caches stand still for N passes or a while; Deaf loses its watch events.
	Lag  What = "lag"
	Deaf What = "deaf"
	// Expire lets the watches of the manager expire: its caches stand still for a while, and then it lists everything again.
	Expire What = "watches expire"
	// Rival starts a second manager, as when a lease was lost and its holder does not know it yet. Meet lets the other
	// manager run a pass, or a user edit, in the middle of the next pass, right before its next effect but N.
	Rival What = "rival"
	Meet  What = "meet"
	// Amid runs Then in the middle of a pass, after N calls of the kind that M selects (Calls) and right before the next one.
	Amid What = "amid"
	// Away takes the workload cluster out of reach, Block lets its budgets keep every pod, Unready turns every other
	// node not Ready, each for a while.
	Away    What = "workload away"
	Block   What = "budget blocks"
	Unready What = "nodes not ready"
)

// Further events between two calls: a pass of the other controller of the pool, and one of another manager.
const (
	OtherPass    What = "pass of the other controller"
	OtherManager What = "pass of another manager"
)

// Calls selects the calls that an event of Amid counts.
type Calls int

// The calls: writes, to the cloud and to API servers; those to the cloud; all, reads of caches among them.
const (
	Writes Calls = iota
	CloudCalls
	AllCalls
)

// Claim selects how the objects of a pool refer to the group of the first pool.
type Claim int

// ClaimByID sets spec.providerID, ClaimByAdoption requests adoption, ClaimByBoth does both.
const (
	NoClaim Claim = iota
	ClaimByID
	ClaimByAdoption
	ClaimByBoth
)

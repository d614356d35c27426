package nodepool

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// visibleWithin is the time after a write during which a read may still show a node pool or a group as it was before.
const visibleWithin = 10 * time.Second

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	read poolRead
	// tolerance decides whether the pool is observed without a read that failed.
	tolerance driverkit.Tolerance
	// groups are the instance groups that were read last, which a write makes stale.
	groups []groups.Group
	// created are when machines were made.
	created groups.Creations
	// made is when GKE accepted the creation of the node pool.
	made time.Time
	// requestedSize is the last requested number of machines.
	requestedSize cache.RequestedSize
	last          lastOperation
	// rested is the size of the node pool when GKE was last at rest with it; zero where that is not known.
	rested int
	// settled is the last operation that is known to have ended well.
	settled string
	// byTemplate holds the configurations of the machines that existed when Muster changed the node pool, by their template.
	byTemplate map[string]configuration
	// looked are the templates of the groups for which the operations were last read, to know whether older machines are left behind.
	looked []string
}

// lastOperation is the last operation that Muster began on the node pool, or that it found running. It is used to look up the text of a
// failure and the target of a rollout, which GKE does not show for every upgrade.
type lastOperation struct {
	operation pool.Operation
	begun     time.Time
	// origin is the client that began it, leadsTo the target version of an upgrade that another process began; zero if unknown. originKnown is
	// true once GKE has reported them.
	origin      origin
	leadsTo     upgrade.Version
	originKnown bool
	// from and to are the configurations of a rollout that Muster began; zero for other operations.
	from, to configuration
	// inPlace is true if Muster began it for a change that replaces no nodes. GKE calls it an upgrade of nodes all the same.
	inPlace bool
	// aborting is true if it runs and was cancelled.
	aborting bool
	// ran is when a read of it last showed that it runs; zero if none has.
	ran time.Time
	// ended is when it was first observed not to run any more; zero while it runs.
	ended time.Time
	// outcome is its result; nil while that is not known.
	outcome *outcome
}

// rolls reports whether the operation is a rollout that Muster began.
func (l lastOperation) rolls() bool { return l.to.version.Known() || len(l.to.rolls) > 0 }

// mayRoll reports whether the operation is a rollout that Muster began, or an upgrade of nodes of which it is not known what it changes.
func (l lastOperation) mayRoll() bool {
	return l.rolls() || l.operation.Type == typeUpgrade && !l.inPlace
}

// cancelling reports whether the rollout was cancelled a moment ago and GKE has not reported its end yet.
func (l lastOperation) cancelling(now time.Time) bool {
	return l.aborting && !l.inPlace && l.outcome == nil && l.operation.Token != "" && now.Sub(l.begun) < visibleWithin
}

// goesOn reports whether the operation is a rollout that Muster began and that ran a moment ago.
func (l lastOperation) goesOn(now time.Time) bool {
	lately := now.Sub(l.begun) < visibleWithin || now.Sub(l.ran) < visibleWithin
	return l.rolls() && l.outcome == nil && l.operation.Token != "" && lately
}

// unfinished reports whether the operation was cancelled or has failed.
func (l lastOperation) unfinished() bool {
	return l.outcome != nil && (l.outcome.cancelled || l.outcome.failed != nil)
}

// busy returns what GKE is at work on. A read of the node pool that is behind shows one at rest for a moment, whose new machines would
// count as too many.
func (m *memory) busy(now time.Time) *pool.Cause {
	if is := m.read.busy(); is != nil || !m.last.goesOn(now) {
		return is
	}
	return &pool.Cause{Reason: statusReconciling, Message: "GKE is at work on the node pool: it began a rollout a moment ago"}
}

// took takes over a read.
func (m *memory) took(read poolRead) {
	m.read, m.groups, m.made = read, read.groups, time.Time{}
	if read.pool.Status == statusRunning && blueGreen(read.pool) == nil {
		m.rested = read.size()
	}
	maps.DeleteFunc(m.byTemplate, func(name string, _ configuration) bool { return !slices.Contains(read.templates(), name) })
}

// rememberMachines remembers what machines have, before a rollout begins or the node pool is changed. Templates never change.
func (m *memory) rememberMachines(w desired, machines []groups.Instance) {
	if m.byTemplate == nil {
		m.byTemplate = map[string]configuration{}
	}
	for _, one := range machines {
		if _, known := m.byTemplate[one.Template]; known || one.Template == "" {
			continue
		}
		if is := w.configurationOf(one, m.read); is.known() {
			m.byTemplate[one.Template] = is
		}
	}
}

// keepSize is the key of Target.Remembered under which the size at rest is kept while GKE replaces nodes.
const keepSize = "size-at-rest"

// restoreSize takes over the size at rest that the object remembers, where this process has not seen GKE at rest.
func (m *memory) restoreSize(remembered map[string]string) {
	if n, err := strconv.Atoi(remembered[keepSize]); err == nil && m.rested == 0 {
		m.rested = n
	}
}

// size returns the number of machines that the node pool keeps. While GKE replaces nodes its groups have the surge too: the size is then
// the one that it had before, or what it was created with where that can be.
func (m *memory) size(rolling bool) int {
	now := m.read.size()
	if !rolling || blueGreen(m.read.pool) != nil {
		return now
	}
	size, maxSurge := m.rested, surge(m.read.pool, now)
	if size == 0 {
		size = int(m.read.pool.InitialNodeCount) * len(m.read.groups)
	}
	if size > 0 && size <= now && now-size <= maxSurge {
		return size
	}
	return now
}

// began remembers an operation.
func (m *memory) began(l lastOperation) { m.last = l }

// restoreOperation takes over the operation that the object remembers, unless a later one is known, or that one has ended well.
func (m *memory) restoreOperation(kept []pool.Operation, now time.Time) {
	if m.last.operation.Token == "" && len(kept) > 0 && kept[len(kept)-1].Token != m.settled {
		m.last = lastOperation{operation: kept[len(kept)-1], begun: now.Add(-visibleWithin)}
	}
}

// ended notes how the last operation ended. One that ended well is forgotten; after a rollout all machines are as the node pool is.
func (m *memory) ended(o *outcome, now time.Time) {
	m.last.outcome, m.last.ended = o, now
	if !m.last.unfinished() {
		if m.last.rolls() {
			m.byTemplate = nil
		}
		m.settled, m.last = m.last.operation.Token, lastOperation{}
	}
}

package agentpool

import (
	"context"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// apiVersion is the version of AKS's API that requests are made in for an AzureManagedMachinePool.
	apiVersion = "2025-08-01"
	// vmsVersion is the first one that knows the scale profiles of agent pools of type VirtualMachines.
	vmsVersion = "2025-08-01"
	// resizeVersion is the first one in which the size of the machines of an agent pool can be changed; versions are ordered by their dates.
	resizeVersion = "2026-03-01"
	// visibleWithin is the time after a write within which a read may still return the agent pool's previous state.
	visibleWithin = 10 * time.Second
)

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// touch marks shared reads of the managed cluster as out of date.
	touch func()
	read  clusterRead
	// tolerance decides whether the pool is observed without a read that failed.
	tolerance driverkit.Tolerance
	// machines are those that were read last, which a write does not discard.
	machines machinesRead
	// scaleSet is the name of the scale set behind the agent pool.
	scaleSet string
	// setMade is when that of an agent pool without an owner tag was created; zero while that is unknown.
	setMade time.Time
	// made is when AKS accepted the creation of the agent pool.
	made time.Time
	// removal is the last one; a zero one has no machines.
	removal removal
	excess  excess
	last    lastOperation
	resize  resizeRefusal
}

// machinesRead are the machines of an agent pool, and when they were read.
type machinesRead struct {
	at    time.Time
	found []machine
}

// deletingPeriod is the time for which the machines of a pool that is being deleted are not read again.
const deletingPeriod = 5 * time.Minute

// holds reports whether the last read of the machines is still used for a pool that is being deleted. Its nodes show whether they are
// drained. The agent pool is deleted only after an exact read, and afterwards no decision depends on its machines. Azure allows all pools
// of a subscription some hundred such reads a minute: hundreds of pools that wait for their deletion would leave none for the others.
func (m machinesRead) holds(t target, is *agentPool, now time.Time) bool {
	return t.Deleting && t.Cache.MaxAge > 0 && !m.at.IsZero() && (is.deleting() || now.Sub(m.at) < deletingPeriod)
}

// readMachines reads the machines of an agent pool.
func (m *memory) readMachines(ctx context.Context, list machineReader, is *agentPool) error {
	found, err := list.read(ctx, is, &m.scaleSet)
	if err == nil {
		m.machines = machinesRead{at: list.now, found: found}
	}
	return err
}

// excess tracks the time during which reads have shown more machines than the count includes although AKS does nothing to the agent pool.
// A list of machines may be older than the count, and show machines that AKS has just deleted.
type excess struct{ since, seen time.Time }

// note records whether a read shows more machines than the count.
func (e *excess) note(is bool, now time.Time) {
	switch {
	case !is:
		*e = excess{}
	case e.since.IsZero():
		*e = excess{since: now, seen: now}
	default:
		e.seen = now
	}
}

// lasts reports whether the excess has lasted longer than a stale list could explain.
func (e excess) lasts() bool { return e.seen.Sub(e.since) >= visibleWithin }

// lastOperation is the last operation that Muster began on the agent pool, used to look up the text of a failure.
type lastOperation struct {
	operation pool.Operation
	begun     time.Time
	// failed is when the agent pool was first observed to have failed; zero while it has not.
	failed time.Time
	// cause is the failure that AKS reports; nil while it is unknown. polled is true once AKS has returned the outcome or a permanent error.
	cause  *pool.Cause
	polled bool
}

// restore sets the last operation from the object's status if this process began none.
func (l *lastOperation) restore(remembered []pool.Operation) {
	if l.operation.Token == "" && len(remembered) > 0 {
		l.operation = remembered[len(remembered)-1]
	}
}

// byOthers reports whether another client began the operation that runs on the agent pool. AKS runs one at a time: if Muster's last one has
// ended, it is another one's. If Muster's last one is unknown, also because AKS permanently denies the read, the operation counts as
// Muster's if the object requests it (requested). The error is the reason why that is unknown at the moment.
func (l *lastOperation) byOthers(ctx context.Context, c *session.Session, now time.Time, requested bool) (bool, error) {
	if l.operation.Token == "" {
		return !requested, nil
	}
	switch outcome, err := c.Poll(ctx, l.operation.Token, now); {
	case err == nil:
		return outcome.Done, nil
	case driverkit.Transient(err):
		return false, err
	}
	return !requested, nil
}

// touched discards the last reads. It is called before a write, whatever its result.
func (m *memory) touched() {
	m.touch()
	m.read = clusterRead{}
}

// began remembers an operation.
func (m *memory) began(operation pool.Operation, now time.Time) {
	m.last = lastOperation{operation: operation, begun: now}
}

// note takes over what a read shows of the last operation. One that ended well is forgotten, unless the read may be older.
func (m *memory) note(is *agentPool, now time.Time) {
	switch {
	case is.gaveUp():
		if m.last.failed.IsZero() {
			m.last.failed = now
		}
	case strings.EqualFold(is.state(), stateSucceeded) && now.Sub(m.last.begun) >= visibleWithin:
		m.last = lastOperation{}
	}
	m.removal.note(is, now)
}

// staying counts the machines that are not on their way out.
func (m *memory) staying(members []machine) (n int) {
	for _, one := range members {
		if !m.removal.left()[one.name] && one.state() != pool.Terminating {
			n++
		}
	}
	return n
}

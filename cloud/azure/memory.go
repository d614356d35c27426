package azure

import (
	"time"

	"github.com/muster-project/muster/cloud/azure/roleassignment"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// visibleWithin is the time after a write within which a read may still return the scale set's previous state: some reads of Azure are
	// eventually consistent.
	visibleWithin = 10 * time.Second
	// slowPeriod is the time for which a read of the protection of a Flexible scale set's machines is reused: usually only Muster changes it.
	slowPeriod = 2 * time.Hour
	// refusedPeriod is the time for which a denied read is not repeated, so that passes in quick succession send one request.
	refusedPeriod = 10 * time.Second
	// issuesPeriod is the time for which the issues of a failed scale set are reused.
	issuesPeriod = 10 * time.Minute
)

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// touch marks shared reads of the scale set as out of date.
	touch func()
	set   setRead
	// pages is the number of pages of the last list of a Uniform scale set's machines.
	pages      int
	protection protection
	extended   extended
	role       roleassignment.Memory
	issues     issuesRead
	operations operations
	// removed are the removals of machines that Azure has accepted.
	removed driverkit.Removals
	// surgeRemoval is a removal that the surge tag does not count yet.
	surgeRemoval *driverkit.SurgeRemoval
	// made is when Azure accepted the creation of the scale set.
	made time.Time
}

// issuesRead is why the scale set failed, for its version with this ETag.
type issuesRead struct {
	issues []pool.Cause
	etag   string
	at     time.Time
}

// forgetSet remembers that a read that began at a moment found no scale set. It returns an error if the read may be older than the
// creation.
func (m *memory) forgetSet(at, now time.Time, name string) error {
	if err := driverkit.NotYetShown("scale set "+name, m.made, now, visibleWithin); err != nil {
		return err
	}
	m.set = setRead{at: at}
	m.protection.of, m.protection.refused, m.extended = nil, driverkit.Refusal{}, nil
	m.operations.end()
	return nil
}

// touched discards the last reads. It is called before a write, whatever its result.
func (m *memory) touched() {
	m.touch()
	m.set, m.issues = setRead{}, issuesRead{}
}

// removing remembers that Azure accepted the removal of machines.
func (m *memory) removing(chosen []machine, now time.Time) {
	for _, c := range chosen {
		m.removed.Accept(c.uid, now, visibleWithin)
	}
}

// seen returns the machines of a list that began at a moment, with those that were removed as terminating.
func (m *memory) seen(machines []machine, listed time.Time) []machine {
	there := map[string]bool{}
	for k := range machines {
		is := &machines[k]
		there[is.uid] = true
		if is.assumed = m.removed.Assumed(is.uid, is.state() == pool.Terminating, listed); is.assumed {
			is.provisioning = stateDeleting
		}
	}
	m.removed.Listed(there, listed)
	return machines
}

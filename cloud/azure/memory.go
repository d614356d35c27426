package azure

import (
	"maps"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// visibleWithin is how long a read may still show a scale set as it was before a write: some of Azure's reads are eventually
	// consistent.
	visibleWithin = 10 * time.Second
	// slowPeriod is how long what only Muster changes as a rule is taken as read: the protection of the machines of a Flexible
	// scale set, role assignments.
	slowPeriod = time.Hour
	// refusedPeriod is how long a read that was denied is not tried again: passes that follow one another closely ask once.
	refusedPeriod = 10 * time.Second
	// wordsPeriod is how long the words on a scale set that has failed are taken as read.
	wordsPeriod = 10 * time.Minute
)

// memory are the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// mu is held for a whole pass: passes of one pool do not overlap.
	mu sync.Mutex
	// touch makes what the process has read of the scale set for all pools out of date.
	touch func()
	set   setRead
	// pages is how many pages the last list of a Uniform scale set's machines had.
	pages int
	// shielded are the machines of a Flexible scale set that are protected, by ID, as they were read at a moment; nil after a
	// change by Muster.
	shielded   map[string]bool
	shieldedAt time.Time
	// shieldsRefused is Azure's refusal to list them, at the moment shieldedAt; shielded is nil then.
	shieldsRefused *pool.Cause
	// extended are the extensions that machines of a Flexible scale set were last given, by the machine's ID, as a hash.
	extended map[string]string
	role     roleRead
	words    wordsRead
	// operations are those that we have begun and whose end was not seen, the last of them at the moment begun.
	operations []pool.Operation
	begun      time.Time
	// adopted is true if what the object remembers of operations was looked at.
	adopted bool
	// removed are the machines whose removal Azure has accepted, by UID, with the time.
	removed map[string]time.Time
	// surge is a removal that is not written down yet.
	surge *surgeRemoved
	// made is when Azure said that it makes the scale set.
	made time.Time
	// growFailed and deleteFailed are when it was first seen that Azure gave up bringing machines, or deleting the scale set; zero
	// when it did not.
	growFailed, deleteFailed time.Time
	// deleting is true if the last operation that Muster has begun is the scale set's deletion.
	deleting bool
}

// setRead is the scale set with its machines as they were read; nil within means that there was none.
type setRead struct {
	is       *armcompute.VirtualMachineScaleSet
	machines []machine
	// guests are virtual machines that a user has attached to the scale set. Azure counts them with its machines; Muster does not.
	guests []machine
	// created is when the scale set was made, by our clock.
	created time.Time
	// at and machinesAt are when the reads of the scale set and of its machines began, skew is how far Azure's clock was ahead.
	at, machinesAt time.Time
	skew           time.Duration
	named          driverkit.NamedGroup
}

// wordsRead is why the scale set failed, of the version of it with this ETag.
type wordsRead struct {
	issues []pool.Cause
	etag   string
	at     time.Time
}

// asRead reports whether the scale set need not be read again.
func (m *memory) asRead(now time.Time, maxAge time.Duration) bool {
	return !m.set.at.IsZero() && maxAge > 0 && now.Sub(m.set.oldest()) <= maxAge
}

// shieldsDue reports whether to list which machines of a Flexible scale set are protected.
func (m *memory) shieldsDue(now time.Time) bool {
	age := now.Sub(m.shieldedAt)
	if m.shieldsRefused != nil {
		return age >= refusedPeriod
	}
	return m.shielded == nil || age >= slowPeriod
}

// touched is called before a write: whatever comes of it, the last reads are worth nothing.
func (m *memory) touched() {
	m.touch()
	m.set, m.words = setRead{}, wordsRead{}
}

// removing notes that Azure has accepted the removal of machines.
func (m *memory) removing(chosen []machine, now time.Time) {
	if m.removed == nil {
		m.removed = map[string]time.Time{}
	}
	for _, c := range chosen {
		if c.uid != "" {
			m.removed[c.uid] = now
		}
	}
}

// seen returns machines, as a list that began at a moment shows them, as they are to be taken: a list may be older than an accepted
// removal, and one that shows a removed machine as before must not make it go, and be counted, a second time.
func (m *memory) seen(machines []machine, listed time.Time) []machine {
	maps.DeleteFunc(m.removed, func(_ string, at time.Time) bool { return listed.Sub(at) >= visibleWithin })
	for k := range machines {
		if _, ok := m.removed[machines[k].uid]; ok && machines[k].state() != pool.Terminating {
			machines[k].provisioning = stateDeleting
		}
	}
	return machines
}

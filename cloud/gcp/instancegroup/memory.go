package instancegroup

import (
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

const (
	// visibleWithin is the time after a write during which a read may still show a group as it was before.
	visibleWithin = 10 * time.Second
	// templatesFor is the time for which a list of the pool's templates is good if nothing shows that they have changed.
	templatesFor = 6 * time.Hour
)

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// touch marks shared reads of the group as out of date.
	touch     func()
	group     groupRead
	templates templates
	// details are the instances' own, by their IDs. Labels change only while the group says so.
	details map[uint64]detail
	// relabels are changes of instances' labels that no read has shown yet, by the instances' IDs.
	relabels map[uint64]relabelling
	// revision is the change of the group's labels after which they were read last.
	revision string
	// unread is why a read failed that an observation can do without; nil if none did.
	unread    error
	tolerance driverkit.Tolerance
	// made is when Compute Engine accepted the creation of the group, deleted its deletion.
	made, deleted time.Time
	operation     operation
	// removal is a removal that the label of the surge does not count yet.
	removal *driverkit.SurgeRemoval
	// removed are the removals of instances that Compute Engine has accepted.
	removed driverkit.Removals
	// wrote is when templates were created or deleted last: a list read soon after may be older.
	wrote time.Time
}

// groupRead is the group with its instances as it was read; is is nil if it did not exist.
type groupRead struct {
	is        *compute.InstanceGroupManager
	instances []instance
	at        time.Time
	skew      time.Duration
	named     driverkit.NamedGroup
	former    driverkit.FormerGroup
}

// staying returns the number of instances of the group that stay, by its own count or by their list: one of the two may be older.
func (g groupRead) staying() int {
	listed, counted := 0, 0
	for _, i := range g.instances {
		if i.state() != pool.Terminating {
			listed++
		}
	}
	if a := g.is.CurrentActions; a != nil {
		counted = int(a.None + a.Creating + a.CreatingWithoutRetries + a.Refreshing + a.Restarting + a.Resuming + a.Starting + a.Stopping +
			a.Suspending + a.Verifying)
	}
	return max(listed, counted)
}

// detail holds the fields that only the instance itself shows, not its group.
type detail struct {
	created time.Time
	labels  map[string]string
	// fingerprint stands for the labels: who sets some on this condition overwrites none that another client has set meanwhile.
	fingerprint string
}

// touched discards the last reads of the group. It is called before a write, whatever its result.
func (m *memory) touched() {
	m.touch()
	m.group = groupRead{}
}

// forget discards everything that was read, after a conflict.
func (m *memory) forget() {
	m.touched()
	m.templates = templates{}
}

// behind returns an error if a read shows the group as it was before a removal of a moment ago: beside a list of the instances from after
// it, what has used the surge up would be taken for a size that another client wants. Where that client has raised the size since, the read
// is believed later.
func (m *memory) behind(now time.Time, name string) error {
	is := m.group.is
	if m.removal.Shown(labelsOf(is)[template.LabelSurge], int(is.TargetSize)) || !m.removed.Lately(now) {
		return nil
	}
	m.touched()
	return &cloud.Error{Kind: cloud.Conflict, Code: "RemovalNotShown",
		Message: "managed instance group " + name + " is not shown without the instances yet that were removed a moment ago"}
}

// removing remembers that Compute Engine accepted the removal of instances.
func (m *memory) removing(list []instance, now time.Time) {
	for _, i := range list {
		m.removed.Accept(i.uid(), now, visibleWithin)
	}
}

// assume marks the instances of a list that were removed, and that it shows as before.
func (m *memory) assume(list []instance, listed time.Time) {
	there := map[string]bool{}
	for k := range list {
		i := &list[k]
		there[i.uid()] = true
		i.assumed = m.removed.Assumed(i.uid(), i.state() == pool.Terminating, listed)
	}
	m.removed.Listed(there, listed)
}

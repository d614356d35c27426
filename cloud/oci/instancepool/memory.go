package instancepool

import (
	"time"

	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
)

const (
	// visibleWithin bounds the time by which a read is behind a write.
	visibleWithin = 10 * time.Second
	// detailsAge is the maximum age of what only a pool itself shows (placement, hook) and of its instances while its list shows no change.
	detailsAge = time.Hour
	// eventAge is the maximum age of the instances for a look that an event asks for.
	eventAge = time.Minute
	// configurationsAge is the maximum age of the list of instance configurations while nothing shows that they have changed.
	configurationsAge = 6 * time.Hour
)

// memory holds the last reads of one pool. Losing it costs a few reads.
type memory struct {
	read           poolRead
	configurations configurations
	// known is the OCID of the pool that was created or seen last, wrote is when it was written last, created when OCI accepted its creation.
	known          string
	wrote, created time.Time
	// last is the OCID of the pool that was known before it was deleted, ended are those of former pools that OCI still shows. They tell the
	// creation of another pool from theirs.
	last  string
	ended []string
	// size is the one that was requested last, removals are the instances whose removal was accepted: reads may be behind both.
	size     cache.RequestedSize
	removals driverkit.Removals
	// removal is a removal that the record of the surge does not count yet.
	removal *driverkit.SurgeRemoval
	tokens  retryTokens
	holds   holds
	// closed is the OCID of the pool if OCI has refused to change it in its present state.
	closed string
	// failures are the errors of launches, as work requests report them.
	failures failures
	// unread is the refusal of a read that an observation can do without.
	unread    error
	tolerance driverkit.Tolerance
}

// poolRead is a pool as it was read. It must not be changed.
type poolRead struct {
	// at is when the pool was read, alone or in a list. skew is the time by which the cloud's clock is ahead.
	at   time.Time
	skew time.Duration
	// is is nil if there is no pool. What only the pool itself shows is from detailed, with its revision etag; zero if it was only listed.
	is       *core.InstancePool
	etag     *string
	detailed time.Time
	// members are the instances of the pool, as they were read at membersAt.
	members   []member
	membersAt time.Time
	named     driverkit.NamedGroup
	former    driverkit.FormerGroup
}

// forget drops the last reads of the pool.
func (r *pass) forget() {
	r.c.TouchInstancePools(r.t.cluster.CompartmentID)
	r.memory.read = poolRead{}
	r.memory.configurations.at = time.Time{}
}

// touched notes a write, whatever comes of it.
func (r *pass) touched() {
	r.c.TouchInstancePools(r.t.cluster.CompartmentID)
	r.memory.read, r.memory.wrote = poolRead{}, r.now
}

package instancepool

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// member is an instance of the pool, as its list shows it.
type member struct {
	id, domain, faultDomain, configuration string
	// word is the state in OCI's word, in capital letters.
	word    string
	created time.Time
	state   pool.InstanceState
	// assumed is true if its removal was accepted and is not shown yet.
	assumed bool
}

// staying reports whether the instance counts for the size.
func (m member) staying() bool { return m.state != pool.Terminating }

// pageSize is the largest page of Core Services.
const pageSize = "100"

// complete adds what only the pool itself shows, and its instances, as far as what is known of them is out of date.
func (r finder) complete(ctx context.Context, maxAge time.Duration, read poolRead) (poolRead, error) {
	last := r.p.memory.read
	known := last.is != nil && value(last.is.Id) == value(read.is.Id)
	if known && read.detailed.IsZero() {
		read = r.withDetails(read, last)
	}
	if read.detailed.IsZero() {
		by, err := r.p.get(ctx, value(read.is.Id))
		switch {
		case session.NotFound(err), err == nil && by.is == nil:
			return read, r.orDeleted(ctx, err, value(read.is.Id))
		case err != nil:
			return read, err
		}
		read.is, read.etag, read.detailed = by.is, by.etag, by.detailed
	}
	if known && maxAge > 0 && r.atRest(last, read) {
		read.members, read.membersAt = last.members, last.membersAt
		return read, nil
	}
	return read, r.readMembers(ctx, &read)
}

// orDeleted returns the refusal of a read of a pool that was listed, as a conflict if a new list does not have the pool.
func (r finder) orDeleted(ctx context.Context, refused error, ocid string) error {
	list, _, err := r.p.c.InstancePools(ctx, r.p.t.cluster.CompartmentID, 0)
	if err != nil {
		return err
	}
	if refused != nil && slices.ContainsFunc(list.Items, func(p core.InstancePoolSummary) bool { return value(p.Id) == ocid && exists(p) }) {
		return refused
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: "GroupChanged", Message: r.p.t.labelOf(r.p.t.name) + " was deleted while it was read"}
}

// sameSettings reports whether a listed pool has the settings of one that was read before: neither its size nor its state is a setting.
func sameSettings(last, is *core.InstancePool) bool {
	return value(last.DisplayName) == value(is.DisplayName) && value(last.InstanceConfigurationId) == value(is.InstanceConfigurationId) &&
		maps.Equal(last.FreeformTags, is.FreeformTags) && reflect.DeepEqual(last.DefinedTags, is.DefinedTags) &&
		reflect.DeepEqual(last.OverridePolicy, is.OverridePolicy)
}

// withDetails returns a listed pool with what only the pool itself has shown, as far as that is not out of date.
func (r finder) withDetails(read, last poolRead) poolRead {
	if r.p.now.Sub(last.detailed) >= detailsAge || !sameSettings(last.is, read.is) {
		return read
	}
	is := *read.is
	is.PlacementConfigurations, is.LifecycleManagement, is.LoadBalancers = last.is.PlacementConfigurations, last.is.LifecycleManagement,
		last.is.LoadBalancers
	is.InstanceDisplayNameFormatter, is.InstanceHostnameFormatter = last.is.InstanceDisplayNameFormatter, last.is.InstanceHostnameFormatter
	read.is, read.etag, read.detailed = &is, last.etag, last.detailed
	return read
}

// atRest reports whether the instances of the last read are still those of the pool: nothing happened to them then, and the list shows no
// change since.
func (r finder) atRest(last, read poolRead) bool {
	age := r.p.now.Sub(last.membersAt)
	switch {
	case last.membersAt.IsZero() || age >= detailsAge || r.p.t.Cache.ByEvent && age >= eventAge || r.p.memory.removals.Len() > 0:
		return false
	case last.membersAt.Sub(r.p.memory.wrote) < visibleWithin:
		return false // the list may have been behind the write
	case value(read.is.LifecycleState) != stateRunning || value(last.is.LifecycleState) != stateRunning:
		return false
	case value(read.is.Size) != len(last.members) || value(read.is.CurrentSize) != len(last.members):
		return false
	}
	return !slices.ContainsFunc(last.members, func(m member) bool { return m.state != pool.Running })
}

// readMembers reads the instances of the pool.
func (r finder) readMembers(ctx context.Context, read *poolRead) error {
	list, headers, err := session.ReadAll(ctx, func(i core.InstanceSummary) *string { return i.Id },
		func(ctx context.Context, at *string) (*rest.Response[[]core.InstanceSummary], error) {
			return r.p.c.Core.ListInstancePoolInstances(ctx, core.ListInstancePoolInstancesRequest{
				InstancePoolId: read.is.Id, CompartmentId: &r.p.t.cluster.CompartmentID, Limit: new(pageSize), Page: at})
		})
	if err != nil {
		return err
	}
	if headers.Date != nil {
		read.skew = r.p.c.Skew(headers)
	}
	for _, i := range list {
		if m := memberOf(i, read.skew); m.word != stateTerminated {
			read.members = append(read.members, m)
		}
	}
	if err := holder(r).readHolds(ctx, read.is, read.members); err != nil {
		return err
	}
	has := map[string]bool{}
	for k := range read.members {
		m := &read.members[k]
		has[m.id] = true
		if m.assumed = r.p.memory.removals.Assumed(m.id, !m.staying(), r.p.now); m.assumed {
			m.state = pool.Terminating
		}
	}
	r.p.memory.removals.Listed(has, r.p.now)
	read.membersAt = r.p.now
	return nil
}

// memberOf returns a listed instance. Times are by Muster's clock.
func memberOf(i core.InstanceSummary, skew time.Duration) member {
	m := member{id: value(i.Id), domain: value(i.AvailabilityDomain), faultDomain: value(i.FaultDomain),
		configuration: value(i.InstanceConfigurationId), word: wordOf(value(i.State)), created: timeOf(i.TimeCreated, skew)}
	m.state = stateOf(m.word)
	return m
}

// wordOf returns a state in one spelling: the list has it as a text of any form, such as Running or RUNNING.
func wordOf(state string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.TrimSpace(state)))
}

// timeOf returns a moment of the cloud's clock by Muster's; zero if there is none.
func timeOf(text *string, skew time.Duration) time.Time {
	at, err := time.Parse(time.RFC3339, value(text))
	if err != nil {
		return time.Time{} // without a time it counts as the youngest
	}
	return at.Add(-skew)
}

// states are the states of instances by OCI's words (Swagger of Core Services, Instance.lifecycleState). An instance that is moved to
// another host, imaged or about to stop runs.
var states = map[string]pool.InstanceState{
	"PROVISIONING": pool.Pending, "STARTING": pool.Pending, "ATTACHING": pool.Pending, "LAUNCHING": pool.Pending,
	"RUNNING": pool.Running, "MOVING": pool.Running, "CREATING_IMAGE": pool.Running,
	"STOPPING": pool.Running, stateStopped: pool.Failed,
	stateTerminating: pool.Terminating, stateTerminated: pool.Terminating, "DETACHING": pool.Terminating,
}

// stateOf returns the state of an instance. A word that is not known is not taken for a reason to remove one, except that OCI begins those
// of instances which go with TERMINAT.
func stateOf(word string) pool.InstanceState {
	if state, known := states[word]; known {
		return state
	}
	if strings.HasPrefix(word, "TERMINAT") {
		return pool.Terminating
	}
	return pool.Running
}

// staying returns the number of instances that are not being terminated.
func (p poolRead) staying() (n int) {
	for _, m := range p.members {
		if m.staying() {
			n++
		}
	}
	return n
}

package agentpool

import (
	"context"
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// observe reads what is out of date, and returns the observation.
func (r reader) observe(ctx context.Context) (pool.Observed, error) {
	if err := r.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := r.memory.read
	if own := r.t.ownership(read); own.Conflict() != nil {
		return own.Observed(r.unowned(), r.t.Remembered), nil
	}
	want, failed := r.desired()
	out := pool.Observed{
		ResolvedLookups: r.t.Remembered, Cache: pool.CacheStatus{Fresh: read.fresh(r.now), GroupFresh: read.fresh(r.now), Shared: true},
	}
	if failed == nil {
		failed = r.observeCapacity(ctx, want, &out)
	}
	if failed == nil && read.cluster == nil && !r.t.Deleting {
		failed = r.t.noCluster()
	}
	exists := read.pool != nil && !r.goesWithCluster()
	if err := driverkit.ObserveWanted(&out, want.next.template(), failed, exists); err != nil || !exists {
		return out, err
	}
	r.observePool(ctx, want, &out)
	return out, nil
}

// unowned returns the agent pool that has the pool's name and lacks its owner tag; nil if there is none.
func (r reader) unowned() *pool.Unowned {
	read := r.memory.read
	out := r.t.ownership(read).Unowned(r.t.name)
	if out != nil {
		out.Resources, out.CreatedWithCluster, out.Busy = []string{out.Group}, read.createdWithCluster, r.busy()
		if read.cluster != nil {
			out.OtherCluster = model.OtherCluster(read.cluster.tags, r.t.Owner.Cluster)
			out.OfCluster = model.OfCluster(read.cluster.tags, r.t.Owner.Cluster)
		}
	}
	return out
}

// goesWithCluster reports whether the agent pool is the last System pool of a managed cluster that is being deleted: AKS deletes it with
// the managed cluster and not before, and the managed cluster's object waits for the objects of its pools.
func (r reader) goesWithCluster() bool {
	read := r.memory.read
	return r.t.Deleting && r.t.cluster.Deleting && read.pool.text(body.Mode) == modeSystem && read.cluster.systemPools == 1
}

// observePool puts the agent pool and its machines into the observation.
func (r reader) observePool(ctx context.Context, want desired, out *pool.Observed) {
	read := r.memory.read
	cause := r.failure(ctx)
	out.Versions = driverkit.Configurations(want.next.template(), want.launched.template(), want.next.version.Known())
	out.Group = r.group(want)
	out.TaggedFor = r.t.Claim(model.Spelling, read.pool.tag).TaggedFor
	members, kept := read.members()
	out.Instances = read.instances(members, want.launched, r.memory.removal.left(), r.t.field(body.NodeImage))
	for _, m := range kept {
		out.ExternalStandby = append(out.ExternalStandby, providerID(m.id))
	}
	out.ProviderRollout = r.rollout(want, cause)
	if out.ProviderRollout.Runs() {
		r.whoBegan(ctx, want, out)
	}
	if cause != nil {
		out.Issues = append(out.Issues, *cause)
	}
	if want.caveat != nil {
		out.Caveats = append(out.Caveats, *want.caveat)
	}
	out.Issues = append(out.Issues, r.versionIssues(want)...)
	if r.memory.last.operation.Token != "" {
		out.Operations = []pool.Operation{r.memory.last.operation}
	}
}

// whoBegan notes whether another client began the rollout that runs. Where that can't be read now, it counts as one that Muster does not
// recognize, which is not aborted.
func (r reader) whoBegan(ctx context.Context, want desired, out *pool.Observed) {
	roll := out.ProviderRollout
	r.memory.last.restore(r.t.Operations)
	others, err := r.memory.last.byOthers(ctx, r.c, r.now, asksFor(want, roll))
	if roll.ByOthers = others; err != nil {
		roll.Template.Content = ""
		out.Issues = append(out.Issues, driverkit.CauseOf(err))
	}
}

// group returns the agent pool as package pool describes groups.
func (r reader) group(want desired) *pool.Group {
	read := r.memory.read
	is, launched := read.pool, want.launched.template()
	g := &pool.Group{
		ID: r.t.groupID(), Size: is.count(), Template: launched.Ref, Content: launched.Content, State: is.state(), Image: is.text(body.NodeImage),
		Deleting: is.deleting(), Busy: r.busy(), ProviderRolloutSurge: is.surge(),
	}
	if is.autoscaled() {
		// AKS has bounds only while its autoscaler is on.
		g.Min, g.Max = is.number(body.MinCount), is.number(body.MaxCount)
	}
	if !g.Deleting {
		g.Drift, g.Unchangeable = want.drift, want.unchangeable
	}
	if want.modePending {
		g.Deferred = &pool.Cause{Reason: "ModePending",
			Message: fmt.Sprintf("%s becomes %s once the agent pool has a machine: AKS keeps at least "+
				"one in a System pool", r.t.field(body.Mode), modeSystem)}
	}
	if strings.EqualFold(is.text(body.Mode), modeSystem) {
		g.Least = 1
	}
	members, _ := read.members()
	g.KeepsExcess = r.memory.excess.lasts()
	if is.gaveUp() && len(members) < is.count() && !is.autoscaled() {
		g.ScaleUpFailedAt, g.Size = r.memory.last.failed, len(members)
		g.UnfulfilledCapacity = is.count() - g.Size
	}
	return g
}

// busy returns what AKS does to the agent pool or its cluster while it takes no other write.
func (r reader) busy() *pool.Cause {
	read := r.memory.read
	if state := read.pool.state(); !terminal(state) {
		return &pool.Cause{Reason: state, Message: fmt.Sprintf("AKS is at work on the agent pool: %s", state)}
	}
	if read.cluster != nil && !terminal(read.cluster.state) {
		return &pool.Cause{Reason: "ManagedClusterBusy", Message: fmt.Sprintf("AKS is at work on managed cluster %s: %s", r.t.cluster.Name,
			read.cluster.state)}
	}
	if read.pool.stopped() && !r.t.Deleting {
		return &pool.Cause{Reason: "Stopped", Message: "the agent pool is stopped: start it to have it changed"}
	}
	return nil
}

// terminal reports whether no operation runs in a provisioning state.
func terminal(state string) bool {
	switch {
	case state == "", strings.EqualFold(state, stateSucceeded), strings.EqualFold(state, stateFailed), strings.EqualFold(state, stateCanceled):
		return true
	}
	return false
}

// failure returns why the last operation on the agent pool failed, in AKS's words where Muster began it. They are read once.
func (r reader) failure(ctx context.Context) *pool.Cause {
	is, last := r.memory.read.pool, &r.memory.last
	if !is.gaveUp() {
		return nil
	}
	last.restore(r.t.Operations)
	if !last.polled && last.operation.Token != "" {
		outcome, err := r.c.Poll(ctx, last.operation.Token, r.now)
		last.polled = err == nil && outcome.Done || err != nil && !driverkit.Transient(err)
		if err == nil && outcome.Failed != nil {
			last.cause = new(driverkit.FailureOf(outcome.Failed))
		}
	}
	if last.cause != nil {
		return last.cause
	}
	return &pool.Cause{
		Reason: "AgentPool" + is.state(), Message: fmt.Sprintf("the last operation on agent pool %s ended as %s, and AKS does not say why",
			r.t.name, is.state()),
	}
}

// versionIssues are those of the version: what it waits for, and one that is newer than the wanted one.
func (r reader) versionIssues(want desired) []pool.Cause {
	var out []pool.Cause
	if want.upgrade.Path.WaitsForControlPlane {
		out = append(out, pool.Cause{Reason: pool.ControlPlaneUpgradePending, Message: "nodes run " + want.upgrade.Path.String()})
	}
	if requested, current := reported(r.t.KubernetesVersion), want.launched.version; want.ahead {
		out = append(out, pool.Cause{Reason: "NewerVersion", Message: fmt.Sprintf(
			"the agent pool runs Kubernetes %s, %s asks for %s: AKS takes no agent pool back, and the newer version is kept", current, fieldVersion,
			requested)})
	}
	return out
}

// asksFor reports whether the object may have asked for a rollout: it leads to another configuration than the wanted one, as an earlier
// specification may have asked for, or to the wanted one while machines lack that.
func asksFor(w desired, roll *pool.ProviderRollout) bool {
	return !roll.Template.Same(w.next.template()) || !w.ahead && roll.Percent < allPercent
}

// rolloutStates are the provisioning states in which AKS replaces nodes.
var rolloutStates = []string{"Upgrading", "UpgradingNodeImageVersion", "ReconcilingClusterUpgrade"}

// rollout returns the replacement of nodes that runs, or that ended and left machines of another configuration. AKS keeps no record of one
// that ended well.
func (r reader) rollout(want desired, failure *pool.Cause) *pool.ProviderRollout {
	is := r.memory.read.pool
	to := want.launched.renewed() // whatever AKS replaces machines for, the new ones have its newest node image
	out := &pool.ProviderRollout{ID: to.template().Ref, Template: to.template(), Percent: r.memory.read.percent(to)}
	state := is.state()
	for _, rolls := range rolloutStates {
		if strings.EqualFold(state, rolls) {
			out.State = pool.ProviderRolloutRunning
			return out
		}
	}
	out.Percent = r.memory.read.percent(want.launched)
	switch {
	case strings.EqualFold(state, "Canceling"):
		out.State = pool.ProviderRolloutCancelling
	case !is.gaveUp() || out.Percent == allPercent:
		return nil
	case strings.EqualFold(state, stateCanceled):
		out.State, out.Ended = pool.ProviderRolloutCancelled, r.memory.last.failed
	default:
		out.State, out.Ended, out.Failures = pool.ProviderRolloutFailed, r.memory.last.failed, 1
		if failure != nil {
			out.Reason = failure.Message
		}
	}
	return out
}

const allPercent = 100

// percent returns the share of machines that have the configuration of the agent pool.
func (r clusterRead) percent(launched configuration) int {
	members, _ := r.members()
	if len(members) == 0 {
		return allPercent
	}
	n := 0
	for _, m := range members {
		if r.configurationOf(m, launched).template().Same(launched.template()) {
			n++
		}
	}
	return allPercent * n / len(members)
}

package agentpool

import (
	"context"
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// observe reads what is out of date, and returns the observation.
func (p *pass) observe(ctx context.Context) (pool.Observed, error) {
	if err := p.read(ctx); err != nil {
		return pool.Observed{}, err
	}
	read := p.memory.read
	if foreign := p.t.ownership(read).Conflict(); foreign != nil {
		return pool.Observed{OwnershipConflict: foreign, Unowned: p.unowned(), ResolvedLookups: p.t.Remembered}, nil
	}
	w, failed := p.want()
	out := pool.Observed{
		ResolvedLookups: p.t.Remembered, Fresh: read.fresh(p.now), GroupFresh: read.fresh(p.now), Shared: true,
	}
	if failed == nil {
		out.Capacity, failed = p.capacity(ctx, w)
	}
	if failed == nil && read.cluster == nil && !p.t.Deleting {
		failed = p.t.noCluster()
	}
	if failed == nil {
		out.Wanted = w.next.template()
		out.Wanted.Ref = ""
	}
	if read.pool == nil || p.goesWithCluster() {
		if failed != nil {
			return out, &cloud.SpecUnsatisfiableError{Err: failed}
		}
		out.Versions = []pool.Template{w.next.template()}
		return out, nil
	}
	if failed != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(failed))
	}
	p.observePool(ctx, w, &out)
	return out, nil
}

// unowned returns the agent pool that has the pool's name and lacks its owner tag; nil if there is none.
func (p *pass) unowned() *pool.Unowned {
	read := p.memory.read
	out := p.t.ownership(read).Unowned(p.t.name)
	if out != nil {
		out.Resources, out.CreatedWithCluster, out.Busy = []string{out.Group}, read.createdWithCluster, p.busy()
	}
	return out
}

// goesWithCluster reports whether the agent pool is the last System pool of a managed cluster that is being deleted: AKS deletes it with
// the managed cluster and not before, and the managed cluster's object waits for the objects of its pools.
func (p *pass) goesWithCluster() bool {
	read := p.memory.read
	return p.t.Deleting && p.t.cluster.Deleting && read.pool.text(body.Mode) == modeSystem && read.cluster.systemPools == 1
}

// observePool puts the agent pool and its machines into the observation.
func (p *pass) observePool(ctx context.Context, w wanted, out *pool.Observed) {
	read := p.memory.read
	cause := p.failure(ctx)
	out.Versions = driverkit.Configurations(w.next.template(), w.launched.template(), w.next.version.minor != 0)
	out.Group = p.group(w)
	out.TaggedFor = cloud.TaggedFor(func(name string) string { return read.pool.tag(model.OwnTag(name)) })
	members, kept := read.members()
	out.Instances = read.instances(members, w.launched, p.memory.removal.left(), p.t.field(body.NodeImage))
	for _, m := range kept {
		out.ExternalStandby = append(out.ExternalStandby, providerID(m.id))
	}
	out.ProviderRollout = p.rollout(w, cause)
	if out.ProviderRollout.Runs() {
		p.memory.last.recall(p.t.Operations)
		out.ProviderRollout.ByOthers = p.memory.last.byOthers(ctx, p.c, p.now, asksFor(w, out.ProviderRollout))
	}
	if cause != nil {
		out.Issues = append(out.Issues, *cause)
	}
	out.Issues = append(out.Issues, p.versionIssues(w)...)
	if p.memory.last.operation.Token != "" {
		out.Operations = []pool.Operation{p.memory.last.operation}
	}
}

// group returns the agent pool as package pool describes groups.
func (p *pass) group(w wanted) *pool.Group {
	read := p.memory.read
	is, launched := read.pool, w.launched.template()
	g := &pool.Group{
		ID: p.t.groupID(), Size: is.count(), Template: launched.Ref, Content: launched.Content, State: is.state(), Image: is.text(body.NodeImage),
		Deleting: is.deleting(), Busy: p.busy(), ProviderRolloutSurge: is.surge(),
	}
	if is.autoscaled() {
		// AKS has bounds only while its autoscaler is on.
		g.Min, g.Max = is.number(body.MinCount), is.number(body.MaxCount)
	}
	if !g.Deleting {
		g.Drift, g.Unchangeable = w.drift, w.unchangeable
	}
	if w.modePending {
		g.Deferred = &pool.Cause{Reason: "ModePending",
			Message: fmt.Sprintf("%s becomes %s once the agent pool has a machine: AKS keeps at least "+
				"one in a System pool", p.t.field(body.Mode), modeSystem)}
	}
	if strings.EqualFold(is.text(body.Mode), modeSystem) {
		g.Least = 1
	}
	members, _ := read.members()
	g.KeepsExcess = p.memory.excess.lasts()
	if is.gaveUp() && len(members) < is.count() && !is.autoscaled() {
		g.ScaleUpFailedAt, g.Size = p.memory.last.failed, len(members)
		g.UnfulfilledCapacity = is.count() - g.Size
	}
	return g
}

// busy returns what AKS does to the agent pool or its cluster while it takes no other write.
func (p *pass) busy() *pool.Cause {
	read := p.memory.read
	if state := read.pool.state(); !terminal(state) {
		return &pool.Cause{Reason: state, Message: fmt.Sprintf("AKS is at work on the agent pool: %s", state)}
	}
	if read.cluster != nil && !terminal(read.cluster.state) {
		return &pool.Cause{Reason: "ManagedClusterBusy", Message: fmt.Sprintf("AKS is at work on managed cluster %s: %s", p.t.cluster.Name,
			read.cluster.state)}
	}
	if read.pool.stopped() && !p.t.Deleting {
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
func (p *pass) failure(ctx context.Context) *pool.Cause {
	is, last := p.memory.read.pool, &p.memory.last
	if !is.gaveUp() {
		return nil
	}
	last.recall(p.t.Operations)
	if !last.asked && last.operation.Token != "" {
		outcome, err := p.c.Poll(ctx, last.operation.Token, p.now)
		last.asked = err == nil && outcome.Done || err != nil && !driverkit.Transient(err)
		if err == nil && outcome.Failed != nil {
			last.cause = new(driverkit.FailureOf(outcome.Failed))
		}
	}
	if last.cause != nil {
		return last.cause
	}
	return &pool.Cause{
		Reason: "AgentPool" + is.state(), Message: fmt.Sprintf("the last operation on agent pool %s ended as %s, and AKS does not say why",
			p.t.name, is.state()),
	}
}

// versionIssues are those of the version: what it waits for, and one that is newer than the wanted one.
func (p *pass) versionIssues(w wanted) []pool.Cause {
	var out []pool.Cause
	if w.course.path.WaitsForControlPlane {
		out = append(out, pool.Cause{Reason: pool.ControlPlaneUpgradePending, Message: "nodes run " + w.course.path.String()})
	}
	if asked, current := reported(p.t.KubernetesVersion), w.launched.version; w.ahead {
		out = append(out, pool.Cause{Reason: "NewerVersion", Message: fmt.Sprintf(
			"the agent pool runs Kubernetes %s, %s asks for %s: AKS takes no agent pool back, and the newer version is kept", current, fieldVersion,
			asked)})
	}
	return out
}

// asksFor reports whether the object may have asked for a rollout: it leads to another configuration than the wanted one, as an earlier
// specification may have asked for, or to the wanted one while machines lack that.
func asksFor(w wanted, roll *pool.ProviderRollout) bool {
	return !roll.Template.Same(w.next.template()) || !w.ahead && roll.Percent < allPercent
}

// rolloutStates are the provisioning states in which AKS replaces nodes.
var rolloutStates = []string{"Upgrading", "UpgradingNodeImageVersion", "ReconcilingClusterUpgrade"}

// rollout returns the replacement of nodes that runs, or that ended and left machines of another configuration. AKS keeps no record of one
// that ended well.
func (p *pass) rollout(w wanted, failure *pool.Cause) *pool.ProviderRollout {
	is := p.memory.read.pool
	to := w.launched.renewed() // whatever AKS replaces machines for, the new ones have its newest node image
	r := &pool.ProviderRollout{ID: to.template().Ref, Template: to.template(), Percent: p.memory.read.percent(to)}
	state := is.state()
	for _, rolls := range rolloutStates {
		if strings.EqualFold(state, rolls) {
			r.State = pool.ProviderRolloutRunning
			return r
		}
	}
	r.Percent = p.memory.read.percent(w.launched)
	switch {
	case strings.EqualFold(state, "Canceling"):
		r.State = pool.ProviderRolloutCancelling
	case !is.gaveUp() || r.Percent == allPercent:
		return nil
	case strings.EqualFold(state, stateCanceled):
		r.State, r.Ended = pool.ProviderRolloutCancelled, p.memory.last.failed
	default:
		r.State, r.Ended, r.Failures = pool.ProviderRolloutFailed, p.memory.last.failed, 1
		if failure != nil {
			r.Reason = failure.Message
		}
	}
	return r
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

package agentpool

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*pass]{
	pool.Adopt:                 func(p *pass, ctx context.Context, _ pool.Step) error { return p.adopt(ctx) },
	pool.CreateGroup:           (*pass).createGroup,
	pool.UpdateGroup:           func(p *pass, ctx context.Context, _ pool.Step) error { return p.updateGroup(ctx) },
	pool.Resize:                (*pass).resize,
	pool.Remove:                (*pass).remove,
	pool.StartProviderRollout:  func(p *pass, ctx context.Context, _ pool.Step) error { return p.startRollout(ctx) },
	pool.CancelProviderRollout: (*pass).cancelRollout,
	pool.DeleteGroup:           func(p *pass, ctx context.Context, _ pool.Step) error { return p.deleteGroup(ctx) },
}

// start begins the step.
func (p *pass) start(ctx context.Context, s pool.Step) error {
	run, err := steps.Step(s.Kind, "an agent pool")
	if err != nil {
		return err
	}
	if p.memory.read.at.IsZero() {
		if err := p.readAgain(ctx); err != nil {
			return err
		}
	}
	if err := p.t.ownership(p.memory.read).Permits(s.Kind, pool.Adopt); err != nil {
		return err
	}
	return p.t.withField(run(p, ctx, s))
}

// there returns the agent pool, or a conflict if it does not exist.
func (p *pass) there() (*agentPool, error) {
	return driverkit.Existing(p.memory.read.pool, "agent pool "+p.t.name)
}

// put sends the agent pool's properties, under a condition on the version of it that was read.
func (p *pass) put(ctx context.Context, properties body.Properties, r session.ResourceRequest) error {
	r.Operation, r.Method, r.Path = "AgentPools.CreateOrUpdate", http.MethodPut, p.t.poolID()
	is := p.memory.read.pool
	resizes := is != nil && len(body.Diff(body.Properties{body.VMSize: properties[body.VMSize]}, is.properties)) > 0
	r.APIVersion = p.t.version(body.OfVMs(properties), resizes)
	r.Body = map[string]any{"properties": body.Sent(properties)}
	return p.send(ctx, r)
}

// send sends a request that changes the agent pool, and remembers the operation as a hint.
func (p *pass) send(ctx context.Context, r session.ResourceRequest) error {
	p.memory.touched()
	reply, err := p.c.Resource(ctx, r)
	if err == nil && reply.Token != "" {
		p.memory.began(pool.Operation{Type: r.Method, Resource: p.t.poolID(), Token: reply.Token}, p.now)
	}
	return err
}

// unchanged returns a conflict if the agent pool is not as it was read, for requests for which AKS takes no condition on its version. A
// pass that a rate budget has held back may rest on an older read: the agent pool may be another owner's by now.
func (t target) unchanged(ctx context.Context, c *session.Session, read *agentPool) error {
	if t.MaxAge <= 0 {
		return nil
	}
	all, _, err := c.ManagedCluster(ctx, t.clusterID(), 0)
	if err != nil {
		return err
	}
	if is := poolOf(all, t.name); is == nil || is.etag() != read.etag() {
		return &cloud.Error{Kind: cloud.Conflict, Code: codePrecondition,
			Message: fmt.Sprintf("agent pool %s has changed since it was read", t.name)}
	}
	return nil
}

// change brings the agent pool to the wanted properties among those of the given effects, and keeps everything else as it is.
func (p *pass) change(ctx context.Context, effects ...body.Effect) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	w, err := p.want()
	if err != nil {
		return err
	}
	wanted := body.Properties{}
	for name, value := range w.properties {
		if slices.Contains(effects, body.EffectOf(name)) && name != body.Count {
			wanted[name] = value
		}
	}
	resumes := slices.Contains(effects, body.Rolls) && p.memory.read.percent(w.launched) < allPercent
	if len(body.Diff(wanted, is.properties)) == 0 && !is.gaveUp() && !resumes {
		return nil
	}
	if body.Bracket(wanted, is.count()); wanted[body.Count] != nil {
		wanted[body.VMSize] = is.properties[body.VMSize] // AKS changes it alone: the next pass asks for it
	}
	return p.put(ctx, body.Merge(wanted, is.properties), session.ResourceRequest{IfMatch: is.etag()})
}

func (p *pass) updateGroup(ctx context.Context) error { return p.change(ctx, body.InPlace) }

// startRollout has AKS replace the machines that have another version or size, or an older node image than may be. A rollout that failed or
// was aborted is resumed by the same request, whatever AKS has done to the agent pool since.
func (p *pass) startRollout(ctx context.Context) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	w, err := p.want()
	if err != nil {
		return err
	}
	if p.memory.read.lacksImageAlone(w) {
		if err := p.t.checkImage(ctx, p.c, w.image); err != nil {
			return err
		}
		if err := p.t.unchanged(ctx, p.c, is); err != nil {
			return err
		}
		return p.send(ctx, session.ResourceRequest{
			Operation: "AgentPools.UpgradeNodeImageVersion", Method: http.MethodPost, Path: p.t.poolID() + "/upgradeNodeImageVersion",
			APIVersion: apiVersion,
		})
	}
	return p.change(ctx, body.InPlace, body.Rolls)
}

// cancelRollout has AKS abort the rollout that the step names, if it runs.
func (p *pass) cancelRollout(ctx context.Context, s pool.Step) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	w, err := p.want()
	if err != nil {
		return err
	}
	if roll := p.rollout(w, nil); !roll.Runs() || !slices.Contains(s.Refs, roll.ID) {
		return nil
	}
	if err := p.t.unchanged(ctx, p.c, is); err != nil {
		return err
	}
	return p.send(ctx, session.ResourceRequest{
		Operation: "AgentPools.AbortLatestOperation", Method: http.MethodPost, Path: p.t.poolID() + "/abort", APIVersion: apiVersion,
	})
}

// createGroup creates the agent pool, unless its name is taken.
func (p *pass) createGroup(ctx context.Context, s pool.Step) error {
	w, err := p.want()
	if err != nil {
		return err
	}
	if p.memory.read.cluster == nil {
		return p.t.noCluster()
	}
	if p.memory.read.pool != nil {
		return nil // it is the pool's own: an earlier request has created it
	}
	properties := body.Merge(w.properties, nil)
	properties[body.Count] = float64(s.Size)
	err = p.put(ctx, properties, session.ResourceRequest{IfNoneMatch: "*"})
	if cloud.CodeOf(err) == codePrecondition {
		return driverkit.Confirm(err, p.readAgain(ctx), func() bool {
			is := p.memory.read.pool
			return is != nil && p.t.ownership(p.memory.read).Owned && is.state() != stateDeleting
		})
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.made = p.now
	}
	return err
}

// codePrecondition is Azure's code of a resource that changed since it was read, or that exists already.
const codePrecondition = "PreconditionFailed"

// resize requests a number of machines, never fewer than exist.
func (p *pass) resize(ctx context.Context, s pool.Step) error {
	is, err := p.there()
	if err != nil {
		return err
	}
	if members, _ := p.memory.read.members(); s.Size < len(members) {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"agent pool %s has %d machines and was to be asked for %d: AKS would choose which go", p.t.name, len(members), s.Size)}
	}
	return p.put(ctx, body.Merge(body.Properties{body.Count: float64(s.Size)}, is.properties), session.ResourceRequest{IfMatch: is.etag()})
}

// remove deletes exactly the given machines. AKS lowers the count by their number.
func (p *pass) remove(ctx context.Context, s pool.Step) error {
	if _, err := p.there(); err != nil {
		return err
	}
	members, _ := p.memory.read.members()
	count := p.memory.read.pool.count() // a write discards what was read
	var names []string
	for _, target := range s.Targets {
		if slices.ContainsFunc(members, func(m machine) bool { return m.name == target.ID && m.state() != pool.Terminating }) {
			names = append(names, target.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	err := session.Vanished(p.send(ctx, session.ResourceRequest{
		Operation: "AgentPools.DeleteMachines", Method: http.MethodPost, Path: p.t.poolID() + "/deleteMachines", APIVersion: apiVersion,
		Body: map[string]any{"machineNames": names},
	}))
	if cloud.KindOf(err) == cloud.Invalid && strings.Contains(err.Error(), "not found") {
		// Its machines were read: one of them has gone since.
		err = cloud.AsConflict(err)
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.removal = p.memory.removal.next(names, count, p.now)
	}
	return err
}

// adopt writes the owner tags to the agent pool, and that its other tags are those that the specification names where they are. It changes
// nothing else.
func (p *pass) adopt(ctx context.Context) error {
	is := p.memory.read.pool
	if is != nil && p.t.ownership(p.memory.read).Owned {
		return nil
	}
	if err := p.t.ownership(p.memory.read).Adoptable(p.unowned()); err != nil {
		return err
	}
	tags := map[string]any{}
	for name, value := range p.t.Owner.Tags("_") {
		tags[name] = value
	}
	// What can't be translated is told by the next look, and adopted all the same.
	if w, err := p.want(); err == nil {
		w.takeOverTags(is, tags)
	}
	return p.put(ctx, body.Merge(body.Properties{body.Tags: tags}, is.properties), session.ResourceRequest{IfMatch: is.etag()})
}

// deleteGroup deletes the agent pool with its machines.
func (p *pass) deleteGroup(ctx context.Context) error {
	if p.memory.read.pool == nil || p.memory.read.pool.deleting() {
		return nil
	}
	p.memory.made = time.Time{}
	err := p.send(ctx, session.ResourceRequest{Operation: "AgentPools.Delete", Method: http.MethodDelete, Path: p.t.poolID(),
		APIVersion: apiVersion})
	if session.Absent(err) {
		return nil
	}
	return err
}

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

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct{ reader }

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[*writer]{
	pool.Adopt:                 (*writer).adopt,
	pool.CreateGroup:           (*writer).createGroup,
	pool.UpdateGroup:           (*writer).updateGroup,
	pool.Resize:                (*writer).resize,
	pool.Remove:                (*writer).remove,
	pool.StartProviderRollout:  (*writer).startRollout,
	pool.CancelProviderRollout: (*writer).cancelRollout,
	pool.DeleteGroup:           (*writer).deleteGroup,
}

// start begins the step.
func (w *writer) start(ctx context.Context, s pool.Step) error {
	run, err := steps.Step(s.Kind, "an agent pool")
	if err != nil {
		return err
	}
	if w.memory.read.at.IsZero() {
		if err := w.readAgain(ctx); err != nil {
			return err
		}
	}
	if err := w.t.ownership(w.memory.read).Permits(s.Kind, pool.Adopt); err != nil {
		return err
	}
	return w.t.withField(run(w, ctx, s))
}

// there returns the agent pool, or a conflict if it does not exist.
func (w *writer) there() (*agentPool, error) {
	return driverkit.Existing(w.memory.read.pool, "agent pool "+w.t.name)
}

// put sends the agent pool's properties, under a condition on the version of it that was read.
func (w *writer) put(ctx context.Context, properties body.Properties, r session.ResourceRequest) error {
	r.Operation, r.Method, r.Path = "AgentPools.CreateOrUpdate", http.MethodPut, w.t.poolID()
	is := w.memory.read.pool
	resizes := is != nil && len(body.Differing(body.Properties{body.VMSize: properties[body.VMSize]}, is.properties)) > 0
	r.APIVersion = w.t.version(body.OfVMs(properties), resizes)
	r.Body = map[string]any{"properties": body.Sent(properties)}
	return w.send(ctx, r)
}

// send sends a request that changes the agent pool, and remembers the operation as a hint.
func (w *writer) send(ctx context.Context, r session.ResourceRequest) error {
	w.memory.touched()
	reply, err := w.c.Resource(ctx, r)
	if err == nil && reply.Token != "" {
		w.memory.began(pool.Operation{Type: r.Method, Resource: w.t.poolID(), Token: reply.Token}, w.now)
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
func (w *writer) change(ctx context.Context, effects ...body.Effect) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.want()
	if err != nil {
		return err
	}
	wanted := body.Properties{}
	for name, value := range want.properties {
		if slices.Contains(effects, body.EffectOf(name)) && name != body.Count {
			wanted[name] = value
		}
	}
	resumes := slices.Contains(effects, body.Rolls) && w.memory.read.percent(want.launched) < allPercent
	if len(body.Differing(wanted, is.properties)) == 0 && !is.gaveUp() && !resumes {
		return nil
	}
	if body.Bracket(wanted, is.count()); wanted[body.Count] != nil {
		wanted[body.VMSize] = is.properties[body.VMSize] // AKS changes it alone: the next pass asks for it
	}
	return w.put(ctx, body.Merge(wanted, is.properties), session.ResourceRequest{IfMatch: is.etag()})
}

func (w *writer) updateGroup(ctx context.Context, _ pool.Step) error {
	return w.change(ctx, body.InPlace)
}

// startRollout has AKS replace the machines that have another version or size, or an older node image than may be. A rollout that failed or
// was aborted is resumed by the same request, whatever AKS has done to the agent pool since.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.want()
	if err != nil {
		return err
	}
	if w.memory.read.lacksImageAlone(want) {
		if err := w.t.checkImage(ctx, w.c, want.image); err != nil {
			return err
		}
		if err := w.t.unchanged(ctx, w.c, is); err != nil {
			return err
		}
		return w.send(ctx, session.ResourceRequest{
			Operation: "AgentPools.UpgradeNodeImageVersion", Method: http.MethodPost, Path: w.t.poolID() + "/upgradeNodeImageVersion",
			APIVersion: apiVersion,
		})
	}
	return w.change(ctx, body.InPlace, body.Rolls)
}

// cancelRollout has AKS abort the rollout that the step names, if it runs.
func (w *writer) cancelRollout(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.want()
	if err != nil {
		return err
	}
	if roll := w.rollout(want, nil); !roll.Runs() || !slices.Contains(s.Refs, roll.ID) {
		return nil
	}
	if err := w.t.unchanged(ctx, w.c, is); err != nil {
		return err
	}
	return w.send(ctx, session.ResourceRequest{
		Operation: "AgentPools.AbortLatestOperation", Method: http.MethodPost, Path: w.t.poolID() + "/abort", APIVersion: apiVersion,
	})
}

// createGroup creates the agent pool, unless its name is taken.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.want()
	if err != nil {
		return err
	}
	if w.memory.read.cluster == nil {
		return w.t.noCluster()
	}
	if w.memory.read.pool != nil {
		return nil // it is the pool's own: an earlier request has created it
	}
	properties := body.Merge(want.properties, nil)
	properties[body.Count] = float64(s.Size)
	err = w.put(ctx, properties, session.ResourceRequest{IfNoneMatch: "*"})
	if cloud.CodeOf(err) == codePrecondition {
		return driverkit.Confirm(err, w.readAgain(ctx), func() bool {
			is := w.memory.read.pool
			return is != nil && w.t.ownership(w.memory.read).Owned && is.state() != stateDeleting
		})
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made = w.now
	}
	return err
}

// codePrecondition is Azure's code of a resource that changed since it was read, or that exists already.
const codePrecondition = "PreconditionFailed"

// resize requests a number of machines, never fewer than exist.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	if members, _ := w.memory.read.members(); s.Size < len(members) {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"agent pool %s has %d machines and was to be asked for %d: AKS would choose which go", w.t.name, len(members), s.Size)}
	}
	return w.put(ctx, body.Merge(body.Properties{body.Count: float64(s.Size)}, is.properties), session.ResourceRequest{IfMatch: is.etag()})
}

// remove deletes exactly the given machines. AKS lowers the count by their number.
func (w *writer) remove(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	members, _ := w.memory.read.members()
	count := w.memory.read.pool.count() // a write discards what was read
	var names []string
	for _, target := range s.Targets {
		if slices.ContainsFunc(members, func(m machine) bool { return m.name == target.ID && m.state() != pool.Terminating }) {
			names = append(names, target.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	err := session.Vanished(w.send(ctx, session.ResourceRequest{
		Operation: "AgentPools.DeleteMachines", Method: http.MethodPost, Path: w.t.poolID() + "/deleteMachines", APIVersion: apiVersion,
		Body: map[string]any{"machineNames": names},
	}))
	if cloud.KindOf(err) == cloud.Invalid && strings.Contains(err.Error(), "not found") {
		// Its machines were read: one of them has gone since.
		err = cloud.AsConflict(err)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.removal = w.memory.removal.next(names, count, w.now)
	}
	return err
}

// adopt writes the owner tags to the agent pool, and that its other tags are those that the specification names where they are. It changes
// nothing else.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	is := w.memory.read.pool
	if is != nil && w.t.ownership(w.memory.read).Owned {
		return nil
	}
	if err := w.t.ownership(w.memory.read).Adoptable(w.unowned()); err != nil {
		return err
	}
	tags := map[string]any{}
	for name, value := range w.t.Owner.Tags("_") {
		tags[name] = value
	}
	// What can't be translated is told by the next look, and adopted all the same.
	if want, err := w.want(); err == nil {
		want.takeOverTags(is, tags)
	}
	return w.put(ctx, body.Merge(body.Properties{body.Tags: tags}, is.properties), session.ResourceRequest{IfMatch: is.etag()})
}

// deleteGroup deletes the agent pool with its machines.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if w.memory.read.pool == nil || w.memory.read.pool.deleting() {
		return nil
	}
	w.memory.made = time.Time{}
	err := w.send(ctx, session.ResourceRequest{Operation: "AgentPools.Delete", Method: http.MethodDelete, Path: w.t.poolID(),
		APIVersion: apiVersion})
	if session.Absent(err) {
		return nil
	}
	return err
}

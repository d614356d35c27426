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
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct {
	*pass
	reader reader
}

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

// look reads the pool, unless it was read.
func (w *writer) look(ctx context.Context, _ pool.Step) error {
	if !w.memory.read.at.IsZero() {
		return nil
	}
	return w.reader.readAgain(ctx)
}

// there returns the agent pool, or a conflict if it does not exist.
func (w *writer) there() (*agentPool, error) {
	return driverkit.Existing(w.memory.read.pool, "agent pool "+w.t.name)
}

// put sends the agent pool's properties, for an agent pool that is as it was read. AKS checks that itself where it shows an eTag.
func (w *writer) put(ctx context.Context, properties body.Properties) error {
	r := session.ResourceRequest{Operation: "AgentPools.CreateOrUpdate", Method: http.MethodPut, Path: w.t.poolID()}
	is := w.memory.read.pool
	if is == nil {
		r.IfNoneMatch = "*"
	} else {
		r.IfMatch = is.etag()
	}
	if r.IfMatch == "" {
		if err := w.unchanged(ctx); err != nil {
			return err
		}
	}
	resizes := is != nil && len(body.Differing(body.Properties{body.VMSize: properties[body.VMSize]}, is.properties)) > 0
	r.APIVersion = w.t.version(body.OfVMs(properties), resizes)
	r.Body = map[string]any{"properties": body.Sent(properties)}
	err := w.send(ctx, r)
	if resizes && !body.OfVMs(properties) {
		w.noteResize(properties[body.VMSize], err)
	}
	return err
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

// justRead bounds the age of the exact read on which a request rests for which AKS checks no condition: a pass looks and then
// writes. To read once more in each pass would use up the rate budget of reads of a managed cluster that is busy for minutes, and no
// request would be sent.
const justRead = 2 * time.Second

// unchanged reads the agent pool before a request for which AKS checks no condition on its version, unless it was read right before, and
// returns a conflict if it is not as it was read: another client may have resized it, or it may be another owner's by now.
func (w *writer) unchanged(ctx context.Context) error {
	if w.t.Cache.MaxAge <= 0 && w.now.Sub(w.memory.read.at) < justRead {
		return nil
	}
	all, _, err := w.c.ManagedCluster(ctx, w.t.clusterID(), 0)
	if err != nil {
		return err
	}
	if !w.memory.read.pool.same(poolOf(all, w.t.name)) {
		return &cloud.Error{Kind: cloud.Conflict, Code: codePrecondition,
			Message: fmt.Sprintf("agent pool %s has changed since it was read", w.t.name)}
	}
	return nil
}

// change brings the agent pool to the wanted properties among those of the given effects, and keeps everything else as it is.
func (w *writer) change(ctx context.Context, effects ...fields.Effect) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	properties := body.Properties{}
	for name, value := range want.properties {
		if slices.Contains(effects, body.Fields.Of(name).Effect) && name != body.Count {
			properties[name] = value
		}
	}
	if len(body.Differing(properties, is.properties)) == 0 && !is.gaveUp() {
		return nil
	}
	if body.Bracket(properties, is.count()); properties[body.Count] != nil {
		properties[body.VMSize] = is.properties[body.VMSize] // AKS changes it alone: the next pass asks for it
	}
	return w.put(ctx, body.Merge(properties, is.properties))
}

func (w *writer) updateGroup(ctx context.Context, _ pool.Step) error {
	return w.change(ctx, fields.InPlace)
}

// startRollout has AKS replace the machines that have another version or size, or an older node image than may be. A rollout that failed or
// was aborted is requested again. AKS may take that for a request that changes nothing, and it may have done something else to the agent
// pool since: machines that are left behind when its last operation has ended well are replaced by an upgrade of the node image.
func (w *writer) startRollout(ctx context.Context, _ pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	image := w.memory.read.lacksImageAlone(want)
	if image {
		if err := w.t.checkImage(ctx, w.c, want.image); err != nil {
			return err
		}
	}
	if image || w.memory.read.leavesBehind(want) {
		if err := w.unchanged(ctx); err != nil {
			return err
		}
		return w.send(ctx, session.ResourceRequest{
			Operation: "AgentPools.UpgradeNodeImageVersion", Method: http.MethodPost, Path: w.t.poolID() + "/upgradeNodeImageVersion",
			APIVersion: apiVersion,
		})
	}
	return w.change(ctx, fields.InPlace, fields.Rolls)
}

// cancelRollout has AKS abort the rollout that the step names, if it runs.
func (w *writer) cancelRollout(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	want, err := w.reader.desired()
	if err != nil {
		return err
	}
	if roll := w.reader.rollout(want, nil); !roll.Runs() || !slices.Contains(s.Refs, roll.ID) {
		return nil
	}
	if err := w.unchanged(ctx); err != nil {
		return err
	}
	return w.send(ctx, session.ResourceRequest{
		Operation: "AgentPools.AbortLatestOperation", Method: http.MethodPost, Path: w.t.poolID() + "/abort", APIVersion: apiVersion,
	})
}

// createGroup creates the agent pool, unless its name is taken.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.reader.desired()
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
	err = w.put(ctx, properties)
	if cloud.CodeOf(err) == codePrecondition {
		return driverkit.Confirm(err, w.reader.readAgain(ctx), func() bool {
			is := w.memory.read.pool
			return is != nil && w.t.ownership(w.memory.read).Claim.Owned && is.state() != stateDeleting
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
	return w.put(ctx, body.Merge(body.Properties{body.Count: float64(s.Size)}, is.properties))
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
	if is != nil && w.t.ownership(w.memory.read).Claim.Owned {
		return nil
	}
	if err := w.t.ownership(w.memory.read).Adoptable(w.reader.unowned()); err != nil {
		return err
	}
	tags := map[string]any{}
	for name, value := range model.Spelling.Tags(w.t.Owner) {
		tags[name] = value
	}
	// An error of the translation is reported by the next observation, and does not prevent the adoption.
	if want, err := w.reader.desired(); err == nil {
		want.takeOverTags(is, tags)
	}
	return w.put(ctx, body.Merge(body.Properties{body.Tags: tags}, is.properties))
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

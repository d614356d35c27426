package instancepool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool, after it was read.
type writer struct{ p *pass }

// steps maps each step to the method that begins it. There is none for a rollout: Muster replaces the instances.
var steps = driverkit.Steps[*writer]{
	pool.Adopt: (*writer).adopt,
	pool.PutTemplate: func(w *writer, ctx context.Context, s pool.Step) error {
		return configurator(*w).putConfiguration(ctx, s)
	},
	pool.CreateGroup:    (*writer).createGroup,
	pool.UpdateGroup:    (*writer).updateGroup,
	pool.Resize:         (*writer).resize,
	pool.Remove:         func(w *writer, ctx context.Context, s pool.Step) error { return w.detach(ctx, s, true) },
	pool.Replace:        func(w *writer, ctx context.Context, s pool.Step) error { return w.detach(ctx, s, false) },
	pool.Release:        (*writer).release,
	pool.PruneTemplates: func(w *writer, ctx context.Context, s pool.Step) error { return configurator(*w).prune(ctx, s) },
	pool.DeleteGroup:    (*writer).deleteGroup,
	pool.DeleteTemplates: func(w *writer, ctx context.Context, s pool.Step) error {
		return configurator(*w).deleteConfigurations(ctx, s)
	},
}

// look reads the pool unless it was read.
func (w *writer) look(ctx context.Context, _ pool.Step) error {
	if !w.p.memory.read.at.IsZero() {
		return nil
	}
	return finder(*w).readAgain(ctx, w.p.t.Cache.MaxAge)
}

// there returns the pool, or a conflict if it does not exist.
func (w *writer) there() (*core.InstancePool, error) {
	return driverkit.Existing(w.p.memory.read.is, w.p.t.labelOf(w.p.t.name))
}

// createGroup creates the pool, unless an earlier request has: the retry token makes OCI answer with the one that exists then. The token
// does not depend on the content, which may have changed since.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	if err := finder(*w).readAgain(ctx, 0); err != nil { // OCI takes several pools of a name
		return err
	}
	own := w.p.t.ownership(w.p.memory.read)
	if own.Exists || own.Conflict() != nil {
		return driverkit.Owned(own.Conflict())
	}
	places, err := w.p.t.places()
	if err != nil {
		return err
	}
	in := w.p.t.cluster.CompartmentID
	key, token := w.p.memory.tokens.of(w.p.now, append([]string{"pool", w.p.t.Owner.ID, w.p.t.name, in, w.p.t.named(), w.p.memory.last},
		w.p.memory.ended...)...)
	request := &core.CreateInstancePoolDetails{
		CompartmentId: &in, DisplayName: &w.p.t.name, InstanceConfigurationId: &s.Template, Size: &s.Size,
		PlacementConfigurations: created(places), LifecycleManagement: lifecycle(),
		FreeformTags: launch.Tags(&w.p.t.cluster, w.p.t.Owner), DefinedTags: launch.DefinedTags(&w.p.t.cluster),
	}
	w.p.touched()
	answer, err := w.p.c.Core.CreateInstancePool(ctx, core.CreateInstancePoolRequest{OpcRetryToken: token, Body: request})
	w.p.memory.tokens.note(key, w.p.now, err)
	if driverkit.MayHaveHappened(err) {
		w.p.memory.created = w.p.now
	}
	if err == nil {
		w.p.memory.known = value(answer.Body.Id)
	}
	return w.orGone(ctx, err, s.Template)
}

// orGone returns the refusal of a request that names a configuration as a conflict if that does not exist any more. Any other 404 is a
// denial.
func (w *writer) orGone(ctx context.Context, err error, configuration string) error {
	if !session.NotFound(err) || configuration == "" {
		return err
	}
	if failed := configurator(*w).listConfigurations(ctx, 0); failed != nil {
		return err
	}
	_, own, _ := w.p.memory.configurations.find(configuration)
	return driverkit.VanishedAs(err, !own)
}

// orVanished returns the refusal of a request about the pool as a conflict if the pool does not exist any more. Any other 404 is a denial.
func (w *writer) orVanished(ctx context.Context, err error) error {
	if !session.NotFound(err) {
		return err
	}
	if failed := finder(*w).readAgain(ctx, 0); failed != nil {
		return err
	}
	return driverkit.VanishedAs(err, w.p.memory.read.is == nil)
}

// update changes the pool as it was read: OCI refuses if it has changed since. Whatever comes of it, the read is out of date.
func (w *writer) update(ctx context.Context, change func(body *core.UpdateInstancePoolDetails)) error {
	read := w.p.memory.read
	if read.detailed.IsZero() || read.etag == nil {
		by, err := w.p.get(ctx, value(read.is.Id))
		if err != nil {
			return w.orVanished(ctx, err)
		}
		if read.is, read.etag = by.is, by.etag; by.is == nil {
			return &cloud.Error{Kind: cloud.Conflict, Code: "GroupGone", Message: w.p.t.labelOf(w.p.t.name) + " was deleted"}
		}
	}
	body := whole(read.is)
	change(body)
	w.p.touched()
	_, err := w.p.c.Core.UpdateInstancePool(ctx, core.UpdateInstancePoolRequest{InstancePoolId: read.is.Id, IfMatch: read.etag, Body: body})
	if cloud.CodeOf(err) == session.CodeIncorrectState {
		w.p.memory.closed = value(read.is.Id)
	}
	return w.orVanished(ctx, err)
}

// adopt writes the owner tags, and changes nothing else. A configuration can't be given any: it stays the one that the pool launches from
// until another is wanted.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	own := w.p.t.ownership(w.p.memory.read)
	if w.p.memory.read.is != nil && own.Claim.Owned {
		return nil
	}
	if err := own.Adoptable(observer(*w).unowned()); err != nil {
		return err
	}
	return w.update(ctx, func(body *core.UpdateInstancePoolDetails) {
		maps.Copy(body.FreeformTags, session.Spelling.Tags(w.p.t.Owner))
	})
}

// updateGroup repairs the fields that the step names, records the surge, and points the pool at the configuration that the step names. It
// never changes the size.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := observer(*w).desire(ctx)
	if err != nil && slices.Contains(s.Fields, fieldPlacement) {
		return err
	}
	surge, repaired := w.p.surge(), rows.Repairing(s.Fields)
	records := records(surge, s.Planned)
	points := s.Template != "" && s.Template != value(is.InstanceConfigurationId)
	if len(repaired) == 0 && !points && !records {
		return nil
	}
	err = w.update(ctx, func(body *core.UpdateInstancePoolDetails) {
		repaired.Put(body, want.settings, settings{is: is})
		if points {
			body.InstanceConfigurationId = &s.Template
		}
		if records {
			putSurge(body, surge, s.Planned)
		}
	})
	if err == nil && records {
		w.p.memory.removal = nil
	}
	return w.orGone(ctx, err, s.Template)
}

// resize sets the size, never below the number of instances: OCI would choose which go. The surge is recorded in the same request.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	if s.Size < value(is.Size) {
		if _, err = w.exactly(ctx); err != nil {
			return err
		}
	}
	if n := w.p.memory.read.staying(); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "InstancesWouldGo", Message: fmt.Sprintf(
			"%s has %d instances and was to get the size %d: OCI would choose which go", w.p.t.labelOf(w.p.t.name), n, s.Size)}
	}
	err = w.update(ctx, func(body *core.UpdateInstancePoolDetails) {
		body.Size = &s.Size
		putSurge(body, driverkit.Surge{Recorded: pool.PlannedSurge{Surge: s.Surge, Size: s.Size}, Size: s.Size}, pool.PlannedSurge{})
	})
	w.p.memory.size.Note(s.Size, w.p.now, err)
	if err == nil {
		w.p.memory.removal = nil
	}
	return err
}

// deleteGroup terminates the pool with its instances, as it was read.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	is := w.p.memory.read.is
	if is == nil || value(is.LifecycleState) == stateTerminating {
		return nil
	}
	w.p.memory.created = time.Time{}
	w.p.touched()
	_, err := w.p.c.Core.TerminateInstancePool(ctx, core.TerminateInstancePoolRequest{InstancePoolId: is.Id})
	if err = w.orVanished(ctx, err); cloud.KindOf(err) == cloud.Conflict && w.p.memory.read.is == nil && !w.p.memory.read.at.IsZero() {
		return nil
	}
	return err
}

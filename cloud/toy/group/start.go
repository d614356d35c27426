package group

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one group, after it was read.
type writer struct{ reader }

// steps maps each step to the method that begins it. There is none for a rollout: Muster removes and replaces the machines.
var steps = driverkit.Steps[*writer]{
	pool.PutTemplate:     (*writer).putTemplate,
	pool.CreateGroup:     (*writer).createGroup,
	pool.Adopt:           (*writer).adopt,
	pool.UpdateGroup:     (*writer).updateGroup,
	pool.Resize:          (*writer).resize,
	pool.Remove:          func(w *writer, ctx context.Context, s pool.Step) error { return w.deleteMachines(ctx, s, false) },
	pool.Replace:         func(w *writer, ctx context.Context, s pool.Step) error { return w.deleteMachines(ctx, s, true) },
	pool.PruneTemplates:  func(w *writer, ctx context.Context, s pool.Step) error { return w.deleteNamed(ctx, s.Refs) },
	pool.DeleteGroup:     (*writer).deleteGroup,
	pool.DeleteTemplates: (*writer).deleteTemplates,
}

// look reads the group unless it was read.
func (w *writer) look(ctx context.Context, _ pool.Step) error {
	if !w.memory.read.at.IsZero() {
		return nil
	}
	return w.read(ctx)
}

// send sends a request about the group, on the condition of the revision that was read. Whatever comes of it, the read is out of date.
func (w *writer) send(ctx context.Context, operation, method, path string, content any) error {
	r := session.Request{Operation: operation, Method: method, Path: path, Body: content}
	if is := w.memory.read.is; is != nil {
		r.Revision = is.Revision
	}
	w.forget()
	_, err := w.c.Do(ctx, r, &struct{}{})
	return driverkit.VanishedAs(err, session.Table.IsAbsent(err))
}

// there returns the group, or a conflict if it does not exist.
func (w *writer) there() (*groupDoc, error) {
	return driverkit.Existing(w.memory.read.is, "group "+w.t.name)
}

// putTemplate creates the wanted template. One of its name that exists is as it is wanted, if it is the pool's own: the name follows from
// what is in it.
func (w *writer) putTemplate(ctx context.Context, _ pool.Step) error {
	want, err := w.t.desire()
	switch {
	case err != nil:
		return err
	case w.t.Bootstrap.Empty():
		return &cloud.Error{Kind: cloud.Conflict, Code: "NoBootstrapData", Message: "there is no bootstrap data yet for machines to boot with"}
	}
	if err := driverkit.Owned(want.foreign(w.t, w.memory.read)); err != nil {
		return err
	}
	content := session.Body{"name": want.made.Ref, "machineType": want.template.MachineType, "version": want.template.Version,
		"tags": want.template.Tags, "userData": w.t.Bootstrap.Data()}
	if want.template.Image != "" {
		content["image"] = want.template.Image
	}
	err = w.send(ctx, "CreateTemplate", http.MethodPost, "/v1/templates", content)
	if cloud.CodeOf(err) != session.CodeExists {
		return err
	}
	return driverkit.Confirm(err, w.read(ctx), func() bool {
		is := w.memory.read.template(want.made.Ref)
		return is != nil && w.t.Claim(session.Spelling, is.tag).Owned
	})
}

// createGroup creates the group, unless an earlier request has.
func (w *writer) createGroup(ctx context.Context, s pool.Step) error {
	want, err := w.t.desire()
	if err != nil || w.memory.read.is != nil {
		return err
	}
	content := session.Body{"name": w.t.name, "count": s.Size, "template": s.Template, "tags": want.Tags}
	if len(want.Zones) > 0 {
		content["zones"] = want.Zones
	}
	err = w.send(ctx, "CreateGroup", http.MethodPost, "/v1/groups", content)
	if cloud.CodeOf(err) == session.CodeExists {
		return driverkit.Confirm(err, w.read(ctx), func() bool {
			read := w.memory.read
			return read.is != nil && w.t.ownership(read).Claim.Owned && read.is.State != stateDeleting
		})
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.created = w.now
	}
	return err
}

// updateGroup changes the fields that the step names, and has the group launch from the template that it names.
func (w *writer) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, _ := w.t.desire() // what is changed in place depends on no version
	has, content := shape{is, want.template}, session.Body{}
	for _, f := range rows.Differing(want.shape, has, fields.InPlace) {
		if slices.Contains(s.Fields, f.Spec) {
			f.Put(content, want.shape, has)
		}
	}
	if s.Template != "" && s.Template != is.Template {
		content["template"] = s.Template
	}
	if len(content) == 0 {
		return nil
	}
	return w.send(ctx, "UpdateGroup", http.MethodPatch, w.t.path(), content)
}

// resize sets the size, which is never below the number of machines: the cloud would choose those that go.
func (w *writer) resize(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	if n := len(w.staying(nil)); s.Size < n {
		return &cloud.Error{Kind: cloud.Conflict, Code: "MachinesWouldGo", Message: fmt.Sprintf(
			"group %s has %d machines and was to get the size %d: the cloud would choose which go", w.t.name, n, s.Size)}
	}
	return w.send(ctx, "UpdateGroup", http.MethodPatch, w.t.path(), session.Body{"count": s.Size})
}

// staying returns the IDs of the machines that are not being deleted, among those that are named if any are.
func (w *writer) staying(named []pool.InstanceRef) []string {
	var ids []string
	for _, m := range w.memory.read.members {
		of := func(i pool.InstanceRef) bool { return i.ID == m.ID }
		if m.instanceState() != pool.Terminating && (named == nil || slices.ContainsFunc(named, of)) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// deleteMachines deletes exactly the machines of the step, in a request that lowers the size by their number or has others launched.
func (w *writer) deleteMachines(ctx context.Context, s pool.Step, replace bool) error {
	if _, err := w.there(); err != nil {
		return err
	}
	chosen := w.staying(s.Targets)
	if len(s.Targets) == 0 || len(chosen) == 0 {
		return nil
	}
	return w.send(ctx, "DeleteMachines", http.MethodPost, w.t.path()+"/delete-machines", session.Body{"machines": chosen, "replace": replace})
}

// adopt writes the owner tags, and changes nothing else.
func (w *writer) adopt(ctx context.Context, _ pool.Step) error {
	is, own := w.memory.read.is, w.t.ownership(w.memory.read)
	if is != nil && own.Claim.Owned {
		return nil
	}
	if err := own.Adoptable(w.unowned()); err != nil {
		return err
	}
	tags := session.Entries(is.Tags)
	maps.Copy(tags, session.Spelling.Tags(w.t.Owner))
	return w.send(ctx, "UpdateGroup", http.MethodPatch, w.t.path(), session.Body{"tags": tags})
}

// deleteGroup deletes the group with its machines.
func (w *writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if is := w.memory.read.is; is == nil || is.State == stateDeleting {
		return nil
	}
	w.memory.created = time.Time{}
	return w.send(ctx, "DeleteGroup", http.MethodDelete, w.t.path(), nil)
}

// deleteTemplates deletes all templates of the pool, and of no other.
func (w *writer) deleteTemplates(ctx context.Context, _ pool.Step) error {
	var names []string
	for _, t := range w.own() {
		names = append(names, t.Name)
	}
	if want, err := w.t.desire(); err == nil && len(names) == 0 {
		return driverkit.Owned(w.t.ownership(w.memory.read).ConflictWith(want.foreign(w.t, w.memory.read)))
	}
	return w.deleteNamed(ctx, names)
}

// deleteNamed deletes those of some templates that are the pool's. One that is in use meanwhile stays until it is not.
func (w *writer) deleteNamed(ctx context.Context, names []string) error {
	own := w.own()
	for _, name := range names {
		if !slices.ContainsFunc(own, func(t *templateDoc) bool { return t.Name == name }) {
			continue
		}
		w.forget()
		_, err := w.c.Do(ctx, session.Request{Operation: "DeleteTemplate", Method: http.MethodDelete,
			Path: "/v1/templates/" + url.PathEscape(name)}, &struct{}{})
		if err != nil && !session.Table.IsAbsent(err) {
			return err
		}
	}
	return nil
}

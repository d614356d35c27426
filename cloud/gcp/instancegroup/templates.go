package instancegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// templates are the instance templates that a pool knows. A template never changes; it can only be deleted.
type templates struct {
	// at is when those of the pool were listed.
	at time.Time
	// own are those with the pool's owner label, newest first.
	own []template.Existing
	// foreign are the names of those that are called as the pool's and lack its owner label.
	foreign []string
	// others are those of others, by their names, that the group or its instances are of. What is gone has no content.
	others map[string]template.Existing
	// unread are the names of those in use whose last read failed. They exist, and may be as the wanted one.
	unread []string
}

// templateReader reads the templates of the pool, and those of others that are in use.
type templateReader struct{ translator }

// readTemplates lists the pool's templates when they may have changed, and reads those of others that are in use.
func (r templateReader) readTemplates(ctx context.Context) error {
	m := &r.memory.templates
	maxAge := r.t.Cache.MaxAge
	fresh := r.memory.group.is == nil && maxAge <= 0 || maxAge == cloud.NoSharedCache || m.at.Sub(r.memory.wrote) < visibleWithin
	if m.at.IsZero() || r.now.Sub(m.at) >= templatesFor || fresh && m.at.Before(r.now) {
		if err := r.listTemplates(ctx); err != nil {
			return err
		}
	}
	r.memory.templates.unread = nil
	for _, url := range r.inUse() {
		if err := r.readOther(ctx, url); err != nil {
			return err
		}
	}
	return nil
}

// inUse are the URLs of the templates that the group and its instances are of. Of a group that is to be adopted it is the group's alone,
// whose labels name the cluster that the group belongs to.
func (r templateReader) inUse() []string {
	is := r.memory.group.is
	if is == nil || !r.t.owns(labelsOf(is)) && !r.t.Adopt {
		return nil
	}
	urls := []string{launchesFrom(is)}
	if r.t.owns(labelsOf(is)) {
		for _, i := range r.memory.group.instances {
			urls = append(urls, i.template)
		}
	}
	slices.Sort(urls)
	return slices.DeleteFunc(slices.Compact(urls), func(url string) bool { return url == "" })
}

// launchesFrom is the URL of the template that the group makes new instances from.
func launchesFrom(is *compute.InstanceGroupManager) string {
	if len(is.Versions) > 0 {
		// Of several versions the one without a size of its own makes all others.
		for _, v := range is.Versions {
			if v.TargetSize == nil || v.TargetSize.Fixed == 0 && v.TargetSize.Percent == 0 {
				return v.InstanceTemplate
			}
		}
		return is.Versions[len(is.Versions)-1].InstanceTemplate
	}
	return is.InstanceTemplate
}

// listTemplates lists the pool's templates: their names begin as the group's.
func (r templateReader) listTemplates(ctx context.Context) error {
	var found []*compute.InstanceTemplate
	filter := fmt.Sprintf("name eq %q", template.Prefix(r.t.group)+".*")
	_, err := r.c.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		page, err := r.c.Compute.InstanceTemplates.List(r.t.project).Filter(filter).PageToken(token).Context(ctx).Do()
		if err != nil {
			return "", err
		}
		found = append(found, page.Items...)
		return page.NextPageToken, nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b *compute.InstanceTemplate) int {
		return cmp.Or(byAge(timeOf(b.CreationTimestamp), timeOf(a.CreationTimestamp)), cmp.Compare(b.Id, a.Id))
	})
	r.memory.templates = templates{at: r.now, others: map[string]template.Existing{}}
	for _, is := range found {
		if read := template.Read(is, r.t.project); template.Spelling.Claim(r.t.Owner, template.In(read.Labels)).Owned {
			r.memory.templates.own = append(r.memory.templates.own, read)
		} else {
			r.memory.templates.foreign = append(r.memory.templates.foreign, read.Ref)
		}
	}
	return nil
}

func timeOf(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text) // What has no time is the youngest.
	return at
}

// readOther reads a template that the pool has not made. One whose read fails is unread, and is read again by the next pass.
func (r templateReader) readOther(ctx context.Context, url string) error {
	m := &r.memory.templates
	name := r.ref(url)
	if _, known := m.find(name); known {
		return nil
	}
	at := session.ParseResource(url).In(r.t.project)
	read := template.Existing{Template: pool.Template{Ref: name}}
	is, err := r.getTemplate(ctx, at)
	switch err = r.c.Refusal(err); {
	case err == nil:
		read = template.Read(is, r.t.project)
		read.Ref = name
	case !session.Absent(err):
		m.unread = append(m.unread, name)
		return r.tolerate(err)
	}
	read.UserManaged = true
	m.others[name] = read
	return nil
}

// getTemplate asks for a template: a global one, or one of a region.
func (r templateReader) getTemplate(ctx context.Context, at session.Resource) (*compute.InstanceTemplate, error) {
	if region := at.Location(); region != "" {
		return r.c.Compute.RegionInstanceTemplates.Get(at.Project, region, at.Name).Context(ctx).Do()
	}
	return r.c.Compute.InstanceTemplates.Get(at.Project, at.Name).Context(ctx).Do()
}

// ref returns the reference of a template: its name, or its path if it is not a global one of the project.
func (r templateReader) ref(url string) string {
	at := session.ParseResource(url).In(r.t.project)
	if at.Project == r.t.project && at.Scope == "global" {
		return at.Name
	}
	return at.Path()
}

// url returns the URL of a template in requests.
func (r templateReader) url(ref string) string {
	if session.ParseResource(ref).Name != "" {
		return ref
	}
	return "projects/" + r.t.project + "/global/instanceTemplates/" + ref
}

// find returns the template of a name.
func (m *templates) find(name string) (template.Existing, bool) {
	for _, t := range m.own {
		if t.Ref == name {
			return t, true
		}
	}
	t, ok := m.others[name]
	return t, ok
}

// of returns the template behind a URL, as it compares with the wanted one.
func (r templateReader) of(url string, want wanted) pool.Template {
	name := r.ref(url)
	if name == "" {
		return pool.Template{}
	}
	found, ok := r.memory.templates.find(name)
	if !ok {
		return pool.Template{Ref: name}
	}
	return found.Against(want.template)
}

// versions returns the templates that exist, the wanted one first and then the newest. Those that could not be read are among them without
// content: what nothing is known of is no reason to replace a machine.
func (r templateReader) versions(want wanted) []pool.Template {
	var out []pool.Template
	for _, t := range r.memory.templates.own {
		if t.Ref == want.template.Name {
			out = slices.Insert(out, 0, t.Template)
		} else {
			out = append(out, t.Template)
		}
	}
	for _, url := range r.inUse() {
		if t, ok := r.memory.templates.others[r.ref(url)]; ok && t.Known() {
			out = append(out, t.Against(want.template))
		}
	}
	for _, name := range r.memory.templates.unread {
		out = append(out, pool.Template{Ref: name, UserManaged: true})
	}
	return out
}

// putTemplate creates the wanted template. One of its name that exists is the pool's own, if it has its label: the name follows from what
// is in it.
func (w writer) putTemplate(ctx context.Context, _ pool.Step) error {
	want, err := w.wantTemplate(ctx)
	if err != nil {
		return err
	}
	if w.t.Bootstrap.Empty() {
		return noData()
	}
	if w.memory.templates.at.IsZero() {
		if err := w.listTemplates(ctx); err != nil {
			return err
		}
	}
	if foreign := w.foreign(want); foreign != nil {
		return driverkit.Owned(foreign)
	}
	w.memory.templates, w.memory.wrote = templates{}, w.now
	_, err = w.c.Compute.InstanceTemplates.Insert(w.t.project, &compute.InstanceTemplate{
		Name: want.template.Name, Description: fmt.Sprintf("Machine pool %s of cluster %s.", w.t.Owner.Name, w.t.Owner.Cluster),
		Properties: want.template.Properties,
	}).Context(ctx).Do()
	if err = w.c.Refusal(err); !session.Exists(err) {
		return err
	}
	is, readErr := w.c.Compute.InstanceTemplates.Get(w.t.project, want.template.Name).Context(ctx).Do()
	// A read may be behind: a template that exists and is not shown is to be looked for again.
	return driverkit.Confirm(driverkit.Owned(w.foreignTemplate(want.template.Name)), session.Vanished(w.c.Refusal(readErr)), func() bool {
		return is.Properties != nil && template.Spelling.Claim(w.t.Owner, template.In(is.Properties.Labels)).Owned
	})
}

// foreignTemplate is the cause of a template that has the name of the pool's and is not its own.
func (r templateReader) foreignTemplate(name string) *pool.Cause {
	return &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: fmt.Sprintf(
		"instance template %s exists and is not this pool's: its labels are missing or another's. It is left alone. Delete it", name)}
}

// foreign returns the conflict with a template that has the name of the wanted one and is not the pool's; nil if there is none.
func (r templateReader) foreign(want wanted) *pool.Cause {
	if !slices.Contains(r.memory.templates.foreign, want.template.Name) {
		return nil
	}
	return r.foreignTemplate(want.template.Name)
}

// noData returns the error of a template without bootstrap data: machines could not boot from it.
func noData() error {
	return &cloud.Error{Kind: cloud.Conflict, Code: "NoBootstrapData", Message: "there is no bootstrap data yet for machines to boot with"}
}

// prune deletes templates of the pool. One that is in use meanwhile stays until it is not.
func (w writer) prune(ctx context.Context, s pool.Step) error {
	if w.memory.templates.at.IsZero() {
		if err := w.listTemplates(ctx); err != nil {
			return err
		}
	}
	return w.deleteNamed(ctx, s.Refs)
}

// deleteTemplates deletes all templates of the pool, and of no other.
func (w writer) deleteTemplates(ctx context.Context, _ pool.Step) error {
	if err := w.listTemplates(ctx); err != nil {
		return err
	}
	var names []string
	for _, t := range w.memory.templates.own {
		names = append(names, t.Ref)
	}
	if len(names) == 0 {
		return driverkit.Owned(w.conflict(ctx))
	}
	return w.deleteNamed(ctx, names)
}

func (w writer) deleteNamed(ctx context.Context, names []string) error {
	own := w.memory.templates.own
	w.memory.templates, w.memory.wrote = templates{}, w.now
	for _, name := range names {
		if !slices.ContainsFunc(own, func(t template.Existing) bool { return t.Ref == name }) {
			continue
		}
		_, err := w.c.Compute.InstanceTemplates.Delete(w.t.project, name).Context(ctx).Do()
		if err = w.c.Refusal(err); err != nil && !session.Absent(err) {
			return err
		}
	}
	return nil
}

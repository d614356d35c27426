package instancepool

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// configurations are the instance configurations that a pool knows. One never changes; it can only be deleted.
type configurations struct {
	// at is when those of the compartment were listed, begun since when the lists may be behind a write: the first list, or a write whose
	// outcome is not known.
	at, begun time.Time
	// own are those with the pool's owner tags, newest first.
	own []launch.Existing
	// read are those that were read by themselves, by OCID. One that does not exist has no content.
	read map[string]launch.Existing
	// deleted are those of the pool's own whose deletion was accepted and is not seen yet, with the time.
	deleted map[string]time.Time
	// unread are the OCIDs of those in use whose last read failed. They exist, and may be as the desired one.
	unread []string
}

// find returns the configuration of an OCID, with its values if it was read by itself.
func (c *configurations) find(ocid string) (is launch.Existing, own, known bool) {
	for _, one := range c.own {
		if one.Ref == ocid {
			if read, has := c.read[ocid]; has && read.Known() {
				return read, true, true
			}
			return one, true, true
		}
	}
	is, known = c.read[ocid]
	return is, false, known
}

// configurator reads, creates and deletes the instance configurations of the pool.
type configurator struct{ p *pass }

// readConfigurations lists the configurations of the compartment when they may have changed, and reads those in use that the list does not
// tell about.
func (r configurator) readConfigurations(ctx context.Context, want launch.Template) error {
	if r.configurationsDue() {
		if err := r.listConfigurations(ctx, r.p.t.Cache.MaxAge); err != nil {
			return err
		}
	}
	if err := r.readDeleted(ctx); err != nil {
		return err
	}
	r.p.memory.configurations.unread = nil
	for _, ocid := range r.inUse() {
		if err := r.readConfiguration(ctx, ocid, want); err != nil {
			return err
		}
	}
	return nil
}

// configurationsDue reports whether the configurations are listed again.
func (r configurator) configurationsDue() bool {
	c, maxAge := r.p.memory.configurations, r.p.t.Cache.MaxAge
	behind := c.at.Sub(c.begun) < visibleWithin && r.p.now.Sub(c.begun) >= visibleWithin
	if c.at.IsZero() || behind || r.p.now.Sub(c.at) >= configurationsAge {
		return true
	}
	fresh := r.p.memory.read.is == nil && maxAge <= 0 || maxAge == cloud.NoSharedCache
	return fresh && c.at.Before(r.p.now)
}

// inUse returns the OCIDs of the configurations of the pool and its instances. Of a pool that is to be adopted it is that of the pool
// alone.
func (r configurator) inUse() []string {
	is := r.p.memory.read.is
	if is == nil || !r.p.t.claim(is.FreeformTags).Owned && !r.p.t.Adopt {
		return nil
	}
	list := []string{value(is.InstanceConfigurationId)}
	for _, m := range r.p.memory.read.members {
		list = append(list, m.configuration)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(ocid string) bool { return ocid == "" })
}

// listConfigurations lists the configurations of the compartment, and keeps those of the pool.
func (r configurator) listConfigurations(ctx context.Context, maxAge time.Duration) error {
	list, at, err := r.p.c.InstanceConfigurations(ctx, r.p.t.cluster.CompartmentID, maxAge)
	if err != nil {
		return err
	}
	c := &r.p.memory.configurations
	if c.begun.IsZero() {
		c.begun = at
	}
	c.at, c.own = at, nil
	for _, is := range list.Items {
		if r.p.t.claim(is.FreeformTags).Owned && is.FreeformTags[launch.TagTemplate] != "" {
			c.own = append(c.own, launch.Listed(is))
		}
	}
	sortNewest(c.own)
	if c.read == nil {
		c.read, c.deleted = map[string]launch.Existing{}, map[string]time.Time{}
	}
	return nil
}

// readDeleted reads the configurations whose deletion was accepted: one that can't be read is gone, because its deletion was allowed.
func (r configurator) readDeleted(ctx context.Context) error {
	c := &r.p.memory.configurations
	for ocid, at := range c.deleted {
		_, err := r.p.c.Core.GetInstanceConfiguration(ctx, core.GetInstanceConfigurationRequest{InstanceConfigurationId: &ocid})
		switch {
		case session.NotFound(err):
			c.own = slices.DeleteFunc(slices.Clone(c.own), func(is launch.Existing) bool { return is.Ref == ocid })
			delete(c.read, ocid)
			delete(c.deleted, ocid)
		case err != nil:
			return r.p.tolerate(err)
		case r.p.now.Sub(at) >= visibleWithin:
			delete(c.deleted, ocid) // the deletion was ignored
		}
	}
	return nil
}

// sortNewest sorts configurations of which the newest come first. Those of one moment are ordered by OCID.
func sortNewest(list []launch.Existing) {
	slices.SortFunc(list, func(a, b launch.Existing) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.Ref, b.Ref)) })
}

// readConfiguration reads a configuration by itself: one that another tool has made, and one of the pool's own from which an instance was
// launched and that differs from the desired one, for messages. One whose read fails is unread, and is read again by the next pass.
func (r configurator) readConfiguration(ctx context.Context, ocid string, want launch.Template) error {
	c := &r.p.memory.configurations
	is, own, known := c.find(ocid)
	if known && (is.Known() || !own || is.Same(want.Template) || want.Content == "") {
		return nil
	}
	answer, err := r.p.c.Core.GetInstanceConfiguration(ctx, core.GetInstanceConfigurationRequest{InstanceConfigurationId: &ocid})
	switch {
	case err == nil:
		r.keep(ocid, &answer.Body, own)
	case own:
		return r.p.tolerate(err)
	case session.NotFound(err):
		// It was deleted, or may not be read: nothing is known of it.
		c.read[ocid] = launch.Existing{Template: pool.Template{Ref: ocid}}
	default:
		c.unread = append(c.unread, ocid)
		return r.p.tolerate(err)
	}
	return nil
}

// keep keeps a configuration that was read by itself; listed is true if the list has it as the pool's own.
func (r configurator) keep(ocid string, is *core.InstanceConfiguration, listed bool) {
	c := &r.p.memory.configurations
	c.read[ocid] = launch.Read(is)
	if !listed && r.p.t.claim(is.FreeformTags).Owned && c.read[ocid].Content != "" {
		c.own = append(slices.Clone(c.own), c.read[ocid]) // the list was behind
		sortNewest(c.own)
	}
}

// tolerate keeps the failure of a read that an observation can do without, and returns the error unless the observation goes on.
func (r *pass) tolerate(err error) error {
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil {
		return failed
	}
	r.memory.unread = cmp.Or(r.memory.unread, err)
	return nil
}

// templateOf returns the template of an OCID, compared with the desired one.
func (r configurator) templateOf(ocid string, want launch.Template) pool.Template {
	is, own, known := r.p.memory.configurations.find(ocid)
	switch {
	case ocid == "":
		return pool.Template{}
	case own:
		return r.p.memory.configurations.template(is)
	case known:
		return is.Against(want)
	}
	return pool.Template{Ref: ocid, UserManaged: true}
}

// template returns the template of one of the pool's own.
func (c *configurations) template(is launch.Existing) pool.Template {
	out := is.Template
	_, out.Deleting = c.deleted[is.Ref]
	return out
}

// versions returns the templates that exist, the desired one first and then the newest.
func (r configurator) versions(want launch.Template) []pool.Template {
	var out []pool.Template
	for _, is := range r.p.memory.configurations.own {
		if is.Content == want.Content && is.Data == want.Data && want.Content != "" {
			out = slices.Insert(out, 0, r.p.memory.configurations.template(is))
		} else {
			out = append(out, r.p.memory.configurations.template(is))
		}
	}
	for _, ocid := range r.inUse() {
		is, own, known := r.p.memory.configurations.find(ocid)
		switch {
		case own:
		case known && is.Known():
			out = append(out, is.Against(want))
		case slices.Contains(r.p.memory.configurations.unread, ocid):
			out = append(out, pool.Template{Ref: ocid, UserManaged: true})
		}
	}
	return out
}

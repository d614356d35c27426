package instancepool

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/launch"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// putConfiguration creates the desired configuration, unless it exists.
func (w configurator) putConfiguration(ctx context.Context, s pool.Step) error {
	want, err := w.p.t.source().Build()
	if err != nil {
		return err
	}
	if w.p.t.Bootstrap.Empty() {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NoBootstrapData", Message: "there is no bootstrap data yet for machines to boot with"}
	}
	if w.p.memory.configurations.at.IsZero() {
		if err := w.listConfigurations(ctx, 0); err != nil {
			return err
		}
	}
	if w.hasConfiguration(want) {
		return nil
	}
	err = w.createConfiguration(ctx, want, s.Base, "")
	if cloud.CodeOf(err) != session.CodeInvalidatedRetryToken {
		return err
	}
	// What was created with the token was deleted since. A list from now tells whether it was created again.
	if err := w.listConfigurations(ctx, 0); err != nil {
		return err
	}
	if w.hasConfiguration(want) {
		return nil
	}
	return w.createConfiguration(ctx, want, s.Base, w.p.now.UTC().Format(time.RFC3339))
}

// hasConfiguration reports whether the desired configuration exists.
func (w configurator) hasConfiguration(want launch.Template) bool {
	return slices.ContainsFunc(w.p.memory.configurations.own, func(is launch.Existing) bool {
		return is.Content == want.Content && is.Data == want.Data
	})
}

// createConfiguration creates the desired configuration. The retry token is a function of the owner, of what is in it, of the newest one
// before it, and of the time at which another attempt was begun that no earlier one was to prevent; empty for none.
func (w configurator) createConfiguration(ctx context.Context, want launch.Template, base, again string) error {
	c := &w.p.memory.configurations
	listed := c.begun
	c.at, c.begun = time.Time{}, w.p.now
	token := retryToken("configuration", w.p.t.Owner.ID, want.Name, base, again)
	w.p.c.TouchInstanceConfigurations(w.p.t.cluster.CompartmentID)
	answer, err := w.p.c.Core.CreateInstanceConfiguration(ctx,
		core.CreateInstanceConfigurationRequest{OpcRetryToken: token, Body: want.Request()})
	w.p.c.TouchInstanceConfigurations(w.p.t.cluster.CompartmentID)
	if err != nil {
		return err
	}
	is := launch.Read(&answer.Body)
	if is.Ref == "" || is.Content != want.Content {
		return nil // the next look lists it
	}
	c.own = append(slices.Clone(c.own), is)
	sortNewest(c.own)
	c.at, c.begun = w.p.now, listed
	return nil
}

// prune deletes configurations of the pool that nothing uses.
func (w configurator) prune(ctx context.Context, s pool.Step) error {
	if w.p.memory.configurations.at.IsZero() {
		if err := w.listConfigurations(ctx, 0); err != nil {
			return err
		}
	}
	return w.deleteNamed(ctx, s.Refs)
}

// deleteConfigurations deletes all configurations of the pool.
func (w configurator) deleteConfigurations(ctx context.Context, _ pool.Step) error {
	if err := w.listConfigurations(ctx, 0); err != nil {
		return err
	}
	var list []string
	for _, is := range w.p.memory.configurations.own {
		list = append(list, is.Ref)
	}
	if len(list) == 0 {
		return driverkit.Owned(w.p.t.ownership(w.p.memory.read).Conflict())
	}
	return w.deleteNamed(ctx, list)
}

// deleteNamed deletes those of some configurations that are the pool's own and that no pool launches from, nor any of its instances was
// launched from: an instance that was launched from one that is gone can't be compared any more.
func (w configurator) deleteNamed(ctx context.Context, list []string) error {
	all, _, err := w.p.c.InstancePools(ctx, w.p.t.cluster.CompartmentID, w.p.t.Cache.MaxAge)
	if err != nil {
		return err
	}
	used := w.inUse()
	for _, p := range all.Items {
		if exists(p) && value(p.LifecycleState) != stateTerminating {
			used = append(used, value(p.InstanceConfigurationId))
		}
	}
	for _, ocid := range list {
		_, own, _ := w.p.memory.configurations.find(ocid)
		switch {
		case !own:
			continue
		case slices.Contains(used, ocid):
			return &cloud.Error{Kind: cloud.Conflict, Code: "InstanceConfigurationInUse", Message: "instance configuration " + ocid +
				" is used by an instance pool: it is deleted once nothing uses it"}
		}
		if err := w.deleteConfiguration(ctx, ocid); err != nil {
			return err
		}
	}
	return nil
}

// deleteConfiguration deletes one configuration. A 404 is a denial unless a new list does not have it.
func (w configurator) deleteConfiguration(ctx context.Context, ocid string) error {
	w.p.c.TouchInstanceConfigurations(w.p.t.cluster.CompartmentID)
	_, err := w.p.c.Core.DeleteInstanceConfiguration(ctx, core.DeleteInstanceConfigurationRequest{InstanceConfigurationId: &ocid})
	w.p.c.TouchInstanceConfigurations(w.p.t.cluster.CompartmentID)
	if session.NotFound(err) {
		if failed := w.listConfigurations(ctx, 0); failed != nil {
			return failed
		}
		if _, own, _ := w.p.memory.configurations.find(ocid); !own {
			return nil
		}
	}
	c := &w.p.memory.configurations
	if err != nil {
		c.at, c.begun = time.Time{}, w.p.now
		return driverkit.VanishedAs(err, cloud.CodeOf(err) == session.CodeConflict) // a pool uses it
	}
	c.deleted[ocid] = w.p.now
	return nil
}

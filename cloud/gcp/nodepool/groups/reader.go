package groups

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud/gcp/session"
)

// Reader reads the groups of one node pool.
type Reader struct {
	Session *session.Session
	// MaxAge is as in cloud.Target.
	MaxAge time.Duration
	// Created are when machines were made, as far as it was read before.
	Created *Creations
	// Tolerate keeps the failure of a read that can be done without and returns nil, or returns the error after which all is read again.
	Tolerate func(error) error
}

// Read reads the groups of URLs with their machines, ordered by zone.
func (r Reader) Read(ctx context.Context, urls []string) ([]Group, error) {
	var places []session.Place
	for _, url := range urls {
		if at := session.ParseResource(url); at.Name != "" {
			places = append(places, session.Place{Location: at.Location(), Name: at.Name})
		}
	}
	managers, err := r.Session.Managers(ctx, places, r.MaxAge)
	if err != nil {
		return nil, err
	}
	out := make([]Group, 0, len(places))
	for i, at := range places {
		g, err := r.group(ctx, at, managers[i])
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Group) int { return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Name, b.Name)) })
	return out, nil
}

// group reads the machines of one group. Those of one that is stable may be listed together with those of other pools; one that is not
// shows only in its own list what it does, and so does every one to a pass that wants to see everything as it is.
func (r Reader) group(ctx context.Context, at session.Place, manager session.Manager) (Group, error) {
	g := Group{Zone: at.Location, Name: at.Name}
	if manager.Is == nil {
		return g, nil
	}
	g.Target, g.Template = int(manager.Is.TargetSize), templateOf(manager.Is)
	stable := manager.Is.Status != nil && manager.Is.Status.IsStable
	if stable && g.Target == 0 {
		return g, nil
	}
	members, err := r.members(ctx, g, stable)
	if err != nil {
		return g, err
	}
	r.take(&g, members, manager.Skew)
	return g, r.date(ctx, &g, manager)
}

// members reads the machines of a group. A list of all machines of the project that shows another number than the group keeps is older than
// the group, or leaves some out.
func (r Reader) members(ctx context.Context, g Group, stable bool) (session.Members, error) {
	if stable && r.MaxAge > 0 {
		members, _, err := r.Session.Members(ctx, g.Zone, g.Name, r.MaxAge)
		if err != nil || len(members.Managed)+len(members.Instances) == g.Target {
			return members, err
		}
	}
	managed, err := r.Session.ManagedInstances(ctx, g.Zone, g.Name)
	if session.Absent(err) {
		err = nil
	}
	return session.Members{Managed: managed}, err
}

// take takes over the members of a group.
func (r Reader) take(g *Group, members session.Members, skew time.Duration) {
	for _, is := range members.Managed {
		g.Machines = append(g.Machines, managedMachine(g.Zone, is))
	}
	for _, is := range members.Instances {
		m := instanceMachine(g.Zone, is, skew)
		r.Created.note(m.UID, m.Created)
		g.Machines = append(g.Machines, m)
	}
}

// date fills in when machines were made, which their group does not tell: the machines are listed themselves if one of them is not known.
func (r Reader) date(ctx context.Context, g *Group, manager session.Manager) error {
	if !r.Created.date(g.Machines) {
		return nil
	}
	c := r.Session
	_, err := c.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		list := c.Compute.Instances.List(c.Project, g.Zone).Filter("name:" + manager.Is.BaseInstanceName + "-*").PageToken(token)
		page, err := list.Context(ctx).Do()
		if err != nil {
			return "", err
		}
		for _, is := range page.Items {
			m := instanceMachine(g.Zone, is, manager.Skew)
			r.Created.note(m.UID, m.Created)
		}
		return page.NextPageToken, nil
	})
	r.Created.date(g.Machines)
	return r.Tolerate(err)
}

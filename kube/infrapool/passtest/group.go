package passtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/pool"
)

// Group is a managed group in memory, which is as a step requests it as soon as the step is started. A driver of a test embeds it.
type Group struct {
	// Made is the group without its size, as the cloud creates it.
	Made pool.Group
	// Template is that of all instances. Their IDs are ID and a number, their provider IDs ProviderID and that.
	Template       pool.Template
	ID, ProviderID string
	Now            func() time.Time

	// Shown is the group that exists; nil without one.
	Shown     *pool.Group
	Instances []pool.Instance
	// Steps are the kinds of the steps that were started.
	Steps []string
}

// Observed returns what a driver observes of the group, read anew.
func (g *Group) Observed(wanted pool.Template) pool.Observed {
	o := pool.Observed{Wanted: wanted, Versions: []pool.Template{g.Template}, Cache: pool.CacheStatus{Fresh: true, GroupFresh: true}}
	if g.Shown != nil {
		shown := *g.Shown
		o.Group, o.Instances = &shown, slices.Clone(g.Instances)
	}
	return o
}

// Begin starts a step. It returns an error for one that resizes, creates or deletes no group.
func (g *Group) Begin(step pool.Step) error {
	switch step.Kind {
	case pool.CreateGroup, pool.Resize:
		g.Resize(step.Size)
	case pool.DeleteGroup:
		g.Shown, g.Instances = nil, nil
	default:
		return fmt.Errorf("no driver starts %s", step.Kind)
	}
	g.Steps = append(g.Steps, string(step.Kind))
	return nil
}

// Resize gives the group as many instances, and creates it where there is none.
func (g *Group) Resize(size int) {
	if g.Shown == nil {
		made := g.Made
		made.Template, made.Content = g.Template.Ref, g.Template.Content
		g.Shown = &made
	}
	g.Shown.Size = size
	for len(g.Instances) < size {
		id := fmt.Sprintf("%s%d", g.ID, len(g.Instances))
		g.Instances = append(g.Instances, pool.Instance{ID: id, ProviderID: g.ProviderID + id, UID: id, State: pool.Running,
			Template: g.Template, Created: g.Now()})
	}
	g.Instances = g.Instances[:size]
}

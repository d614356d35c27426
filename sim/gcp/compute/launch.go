package compute

import (
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// nameLetters are what the random part of an instance's name is made of, nameLength how long it is.
const (
	nameLetters = "0123456789bcdfghjklmnpqrstvwxz"
	nameLength  = 4
)

// add adds an instance to a group, to be created.
func (w *life) add(g *manager) *instance {
	m := &instance{Group: g.path(), Project: g.Project, Action: actionCreating, Next: w.Now.Add(w.Life(lifeAccept))}
	m.Number = g.Next
	g.Next++
	w.managers.Touch(g.path())
	m.Zone = w.placement.order(g)[0]
	m.Name = w.freeName(g, m)
	w.renew(g, m)
	w.instances.Put(m.key(), m)
	return m
}

// freeName returns a name that no instance of the group's zones has.
func (w *life) freeName(g *manager, m *instance) string {
	base := document.Text(g.Doc, "baseInstanceName")
	for try := 0; ; try++ {
		name := base + "-"
		for k := range nameLength {
			name += string(nameLetters[int(w.Seed.Chance("name", g.ID, m.Number, try, k)*float64(len(nameLetters)))])
		}
		if w.instances.Get(g.path()+"|"+project.Zonal(g.Project, m.Zone, "instances", name)) == nil {
			return name
		}
	}
}

// renew points an instance at the template that the group has for it: the one of the version that lacks most.
func (w *life) renew(g *manager, m *instance) {
	counts := map[string]int{}
	for _, o := range w.staying(g) {
		if o != m {
			counts[o.Template]++
		}
	}
	v := g.Versions[len(g.Versions)-1]
	for i, one := range g.Versions {
		if one.Size != nil && counts[one.Template] < g.calculated(i) {
			v = one
			break
		}
		if one.Size == nil {
			v = one
		}
	}
	m.Template, m.Version, m.Renew = v.Template, v.Name, false
	if t := w.templates.Get(v.Template); t != nil {
		m.Content = t.Content
	}
	p := w.properties(m.Content)
	m.Type = project.LastOf(document.Text(p, "machineType"))
	m.Spot = document.Truth(p, "scheduling.preemptible") || document.Text(p, "scheduling.provisioningModel") == "SPOT"
}

// attempt creates an instance, or notes why it can't be created: the group then tries again later.
func (w *life) attempt(m *instance) {
	g := w.groupOf(m)
	if g == nil {
		return
	}
	if m.Renew || m.Action == actionCreating {
		w.renew(g, m)
	}
	faults, failure := w.placement.place(g, m)
	if failure != nil {
		w.failed(g, m, *failure)
		return
	}
	m.ID, m.Created, m.Address, m.State = w.NewID(), w.Now, w.Address(), stateProvisioning
	m.Failures, m.Retries = nil, 0
	m.Overrides, m.Revision = document.Copied(g.Config), g.Revision
	m.Next = w.Now.Add(w.Life(lifeProvision))
	m.Disrupt(faults, m.Spot, w.Now)
	m.NeverBoots = m.NeverBoots || !m.ImpairedAt.IsZero()
}

// failed notes a failure in the instance and in the errors of its group.
func (w *life) failed(g *manager, m *instance, f project.Failure) {
	m.Failures = []project.Failure{f}
	m.Next = w.Now.Add(w.Life(lifeRetry << min(m.Retries, retryLimit)))
	m.Retries++
	g.Errors = append(g.Errors, actionError{At: w.Now, Instance: m.path(), Action: m.Action, Template: m.Template, Failure: f})
	g.Errors = g.Errors[max(0, len(g.Errors)-errorsKept):]
	w.managers.Touch(g.path())
}

// errorsKept limits the errors that are kept of a group.
const errorsKept = 100

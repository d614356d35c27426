package azure

import (
	"cmp"
	"slices"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/pool"
)

// instances are the scale set's machines, in the order in which they were made. Those of which it is not known yet are the youngest.
func (p *pass) instances(want wanted) []pool.Instance {
	var list []pool.Instance
	for _, m := range p.memory.set.machines {
		is := m.made(want.against)
		if p.spoiled(m, want) {
			is.Behind = nil
		}
		list = append(list, pool.Instance{
			ID:                 m.id,
			ProviderID:         p.providerID(m.id, m.flexible != nil),
			UID:                m.uid,
			Zone:               m.zone,
			Template:           pool.Template{Ref: model.Ref(is.Content, is.Data), Content: is.Content, Data: is.Data},
			State:              m.state(),
			CloudState:         m.provisioning,
			Stopped:            m.stopped(),
			Created:            m.created,
			TemplateDiff:       is.Differs,
			InPlaceDrift:       is.Behind,
			ScaleInUnprotected: !m.shielded && !m.shieldUnknown,
			ScaleInProtected:   m.shielded,
		})
	}
	slices.SortFunc(list, func(a, b pool.Instance) int {
		if a.Created.IsZero() != b.Created.IsZero() {
			return cmp.Compare(b.Created.Unix(), a.Created.Unix())
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// spoiled reports whether a machine has failed with the extensions that it was given: its tags, which are written once it has them, say
// that it still lacks them.
func (p *pass) spoiled(m machine, want wanted) bool {
	return m.state() == pool.Failed && want.model != nil && p.memory.extended[m.id] == want.model.Extensions()
}

// made is what the machine was made from: as it can be seen beside what is wanted, else as its tags say.
func (m machine) made(against *model.Comparison) model.Instance {
	switch {
	case against == nil:
		return model.Instance{Content: model.Tag(m.tags, model.TagContent), Data: model.Tag(m.tags, model.TagData)}
	case m.uniform != nil:
		return against.Uniform(*m.uniform)
	default:
		return against.Flexible(*m.flexible)
	}
}

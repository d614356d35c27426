package model

import (
	"slices"

	"github.com/muster-project/muster/cloud/fields"
)

// Onto is the model as it can be put on the pool's existing scale set: what Azure refuses to change there stays as it is, so that
// everything else of the specification is done all the same. It also gives the object's fields that stay behind.
func (m *Model) Onto(cur Current) (*Model, []string) {
	want := m.current()
	staying := setRows.Differing(want, &cur, fields.Fixed)
	names := machineRows.Changed(machineRows.Describe(want), machineRows.Describe(&cur), fields.Fixed)
	paths := append(machineRows.SpecsOf(names), staying.Specs()...)
	slices.Sort(paths)
	// Everything else that can't be changed is no part of the content, and is sent with no change.
	staying = slices.DeleteFunc(staying, func(f fields.Field[*Current, struct{}]) bool { return f.Copy == nil })
	return m.with(staying, &cur), slices.Compact(paths)
}

// current is the model as if it were a scale set that exists.
func (m *Model) current() *Current {
	c := Read(m.Set)
	c.namedImage = m.namedImage
	return &c
}

// with is the model with some fields as the scale set has them, and the content that follows from it.
func (m *Model) with(staying table, cur *Current) *Model {
	if len(staying) == 0 {
		return m
	}
	set, properties, profile := m.Set, *m.Set.Properties, *m.Set.Properties.VirtualMachineProfile
	storage, disk := *profile.StorageProfile, *profile.StorageProfile.OSDisk
	storage.OSDisk, profile.StorageProfile, properties.VirtualMachineProfile, set.Properties = &disk, &storage, &profile, &properties
	to := &Current{Set: set}
	for _, f := range staying {
		f.Copy(to, cur)
	}
	out := *m
	out.Set = to.Set
	content, err := out.content()
	if err != nil {
		return m
	}
	out.Content = content
	out.Set.Tags = cloned(m.Set.Tags)
	out.Set.Tags[TagContent] = &content
	return &out
}

func cloned(tags map[string]*string) map[string]*string {
	out := make(map[string]*string, len(tags))
	for name, value := range tags {
		out[name] = value
	}
	return out
}

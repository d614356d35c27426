package model

// Onto is the model as it can be put on a scale set of ours that exists: what Azure refuses to change there stays as it is, so that
// everything else of the specification is done all the same. It also gives the object's fields that stay behind.
func (m *Model) Onto(cur Current) (*Model, []string) {
	fields := m.fixed(cur)
	is := deref(deref(cur.Set.Properties).VirtualMachineProfile)
	if is.StorageProfile == nil || confidential(seenOf(cur.Set)) == confidential(seenOf(m.Set)) {
		return m, fields
	}
	// Everything else that can't be changed is no part of the content, and is sent with no change. This is part of both.
	out, properties, profile := *m, *m.Set.Properties, *m.Set.Properties.VirtualMachineProfile
	profile.SecurityProfile = is.SecurityProfile
	properties.VirtualMachineProfile = &profile
	out.Set.Properties = &properties
	content, err := out.content()
	if err != nil {
		return m, fields
	}
	out.Content = content
	out.Set.Tags = cloned(m.Set.Tags)
	out.Set.Tags[TagContent] = &content
	return &out, fields
}

func cloned(tags map[string]*string) map[string]*string {
	out := make(map[string]*string, len(tags))
	for name, value := range tags {
		out[name] = value
	}
	return out
}

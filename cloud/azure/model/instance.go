package model

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
)

// Instance is one machine as it is compared with its scale set and with what is wanted.
type Instance struct {
	// Content and Data of what it was made from; Content begins with seen: where nobody knows.
	Content, Data string
	// Differs names the object's fields in which it differs from the wanted model, as far as that can be seen.
	Differs []string
	// Behind names what is wanted otherwise and it could take up from its scale set while it exists.
	Behind []string
}

// Uniform compares one machine of a Uniform scale set.
func (c Comparison) Uniform(vm armcompute.VirtualMachineScaleSetVM) Instance {
	latest := deref(vm.Properties).LatestModelApplied
	return c.instance(vm.Tags, func() seen { return seenOfUniform(vm) }, latest == nil || *latest)
}

// Flexible compares one machine of a Flexible scale set.
func (c Comparison) Flexible(vm armcompute.VirtualMachine) Instance {
	return c.instance(vm.Tags, func() seen { return seenOfFlexible(vm) }, true)
}

// instance goes by the tag that a machine took from its scale set when it was made. What is seen is compared where it has none, where
// Azure says that it has not taken up the model though the tag says that it was made from it (somebody tagged all machines alike), and
// where somebody has changed the scale set beside its tag: bootstrap data and what is changed in place leave nothing to see.
func (c Comparison) instance(tags map[string]*string, look func() seen, latest bool) Instance {
	out := Instance{Content: Tag(tags, TagContent), Data: Tag(tags, TagData)}
	trusted := latest && c.State.Content == c.cur.Content
	switch {
	case out.Content == "":
		out.Content = c.made(look(), c.State.Content, c.is)
	case out.Content == c.model.Content && !trusted:
		out.Content = c.made(look(), c.model.Content, c.wanted)
	case out.Content == c.cur.Content && !trusted:
		out.Content = c.made(look(), c.State.Content, c.is)
	}
	if out.Content != c.model.Content {
		is := look()
		out.Differs = fieldsOf(withoutFixed(append(is.against(c.wanted), is.more(c.wanted)...)))
	}
	if out.Content == c.State.Content {
		out.Behind = behind(Tag(tags, TagInPlace), c.model.InPlace)
	}
	return out
}

// made is the content of what a machine looks like, or that of what it is seen to be.
func (c Comparison) made(is seen, content string, like seen) string {
	if len(judged(is.against(like))) > 0 {
		return is.content()
	}
	return content
}

// behind compares the hashes of what is changed in place. A machine that has none says nothing about it.
func behind(is, of string) []string {
	if is == "" || of == "" || is == of {
		return nil
	}
	var fields []string
	extensions, tags := cutInPlace(is)
	wantedExtensions, wantedTags := cutInPlace(of)
	if tags != wantedTags {
		fields = append(fields, FieldTags)
	}
	if extensions != wantedExtensions {
		fields = append(fields, FieldExtensions)
	}
	return fields
}

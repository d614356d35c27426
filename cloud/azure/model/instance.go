package model

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
)

// Instance is one machine as it is compared with its scale set and with what is wanted.
type Instance struct {
	// Content and Data of what it was made from; Content begins with seen: where it is unknown.
	Content, Data string
	// Differs names the object's fields in which it differs from the wanted model, as far as that can be seen.
	Differs []string
	// InPlaceDrift names what is wanted otherwise and it could take up from its scale set while it exists.
	InPlaceDrift []string
}

// Uniform compares one machine of a Uniform scale set.
func (c Comparison) Uniform(vm armcompute.VirtualMachineScaleSetVM) Instance {
	is := deref(vm.Properties)
	azure := reported(is.LatestModelApplied)
	return c.instance(c.launched(vm.Tags, is.TimeCreated, azure), vm.Tags, vm.Resources, func() *Current { return uniformMachine(vm) }, azure)
}

// Flexible compares one machine of a Flexible scale set.
func (c Comparison) Flexible(vm armcompute.VirtualMachine) Instance {
	return c.instance(Tag(vm.Tags, TagContent), vm.Tags, vm.Resources, func() *Current { return flexibleMachine(vm) }, unreported)
}

// report is whether Azure reports that a machine has the model of its scale set.
type report int

const (
	// unreported is that of machines of Flexible scale sets: Azure says nothing of them.
	unreported report = iota
	reportedLatest
	reportedBehind
)

// reported returns what Azure reports of a machine of a Uniform scale set.
func reported(latest *bool) report {
	if latest != nil && !*latest {
		return reportedBehind
	}
	return reportedLatest
}

// instance goes by the content that a machine was launched from. What is seen is compared where that is unknown, where it is that of the
// model and Azure does not report that the machine has it (a user tagged all machines alike, or Azure took the tags of a change and not the
// change), and where a client has changed the scale set beside its tag: bootstrap data and what is changed in place leave nothing to see.
func (c Comparison) instance(launched string, tags map[string]*string, extensions []*armcompute.VirtualMachineExtension,
	machine func() *Current, azure report) Instance {
	out := Instance{Content: launched, Data: Tag(tags, TagData)}
	look := func() fields.Description { return machineRows.Describe(machine()) }
	trusted := azure != reportedBehind && c.State.Content == c.cur.Content
	switch {
	case out.Content == "":
		out.Content = made(look(), c.State.Content, c.is)
	case out.Content == c.model.Content && (!trusted || azure == unreported):
		out.Content = made(look(), c.model.Content, c.wanted)
	case out.Content == c.cur.Content && !trusted:
		out.Content = made(look(), c.State.Content, c.is)
	}
	if out.Content != c.model.Content {
		out.Differs = c.differing(look(), out.Content)
	}
	if out.Content == c.State.Content {
		if c.tagsBehind(tags) {
			out.InPlaceDrift = append(out.InPlaceDrift, FieldTags)
		}
		if c.extensionsBehind(tags, extensions, azure) {
			out.InPlaceDrift = append(out.InPlaceDrift, FieldExtensions)
		}
	}
	return out
}

// differing returns the object's fields in which a machine of the content differs from the wanted model. A field that the machine lacks is
// named only if nothing else differs.
func (c Comparison) differing(is fields.Description, content string) []string {
	names := rolling(is, machineRows.Completed(c.wanted))
	if len(names) == 0 {
		names = rolling(machineRows.Completed(is), c.wanted)
	}
	paths := machineRows.SpecsOf(names)
	if cloud.OtherBootstrap(content, c.model.Content) {
		paths = append(paths, fieldBootstrap)
	}
	return paths
}

// made is the content of what a machine looks like, or that of what it is seen to be.
func made(is fields.Description, content string, like fields.Description) string {
	if len(judged(rolling(is, like))) > 0 {
		return seenContent(is)
	}
	return content
}

// tagsBehind goes by the tags themselves as well as by their hash: a machine that was made while a user had changed a tag on the
// scale set has the hash of what was wanted beside the value.
func (c Comparison) tagsBehind(is map[string]*string) bool {
	_, of := cutInPlace(Tag(is, TagInPlace))
	_, wanted := cutInPlace(c.model.InPlace)
	return of != "" && of != wanted || tagsDiffer(c.model.Set.Tags, is)
}

// extensionsBehind goes by the hash where it is the machine's own. Where a machine has none, and where Azure reports that it has not taken
// up the model though nothing that it carries tells it from its scale set (its tags may be those of its scale set, whatever it was given),
// what it shows of its extensions is compared. Older bootstrap data is a reason not to have the model that says nothing about extensions.
// Once it is given the model a machine has both the tag and the model, so that this ends.
func (c Comparison) extensionsBehind(tags map[string]*string, shown []*armcompute.VirtualMachineExtension, azure report) bool {
	hash := Tag(tags, TagInPlace)
	of, _ := cutInPlace(hash)
	wanted, _ := cutInPlace(c.model.InPlace)
	if of != "" && of != wanted {
		return true
	}
	own := azure != reportedBehind || !c.tagsOfNow(tags)
	return (of == "" || !own) && !c.model.hasExtensions(shown)
}

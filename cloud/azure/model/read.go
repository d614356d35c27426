package model

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
)

// Current is a scale set as Azure shows it.
type Current struct {
	Set armcompute.VirtualMachineScaleSet
	// Owner is the owner ID of the scale set, empty when it has none.
	Owner string
	// Content, InPlace and Data are what the scale set's tags say that its model was made of.
	Content, InPlace, Data string

	// history of the contents that the model had before.
	history history
	// namedImage is true for a model whose specification names the image.
	namedImage bool
}

// Read takes from a scale set what it says about itself.
func Read(set armcompute.VirtualMachineScaleSet) Current {
	return Current{
		Set: set, Owner: Tag(set.Tags, TagOwner), Content: Tag(set.Tags, TagContent), InPlace: Tag(set.Tags, TagInPlace),
		Data: Tag(set.Tags, TagData), history: readHistory(Tag(set.Tags, TagHistory)),
	}
}

// unmarked reports whether no tag says what the model was made of: another tool made the scale set.
func (c Current) unmarked() bool { return c.Content == "" && c.InPlace == "" && c.Data == "" }

// Capacity is how many machines the scale set is asked to keep.
func (c Current) Capacity() int {
	return int(deref(deref(c.Set.SKU).Capacity))
}

// properties returns the properties of the scale set; those that Azure leaves out are nil.
func (c Current) properties() armcompute.VirtualMachineScaleSetProperties {
	return deref(c.Set.Properties)
}

// profile returns what the scale set's machines are made of.
func (c Current) profile() armcompute.VirtualMachineScaleSetVMProfile {
	return deref(c.properties().VirtualMachineProfile)
}

// State of the scale set: how it is compared with what is wanted.
type State struct {
	// Content of what the scale set launches. It is the content of the tag as long as no client has changed the scale set beside it.
	Content string
	// Differs names the object's fields in which the model differs from the wanted one, as far as that can be seen.
	Differs []string
	// Changes are the same with values, for people: "vmSize Standard_D2s_v3 -> Standard_D4s_v3".
	Changes []string
	// Drift names what Azure changes in place: tags, extensions, further zones.
	Drift []string
}

// Comparison of a model with the pool's existing scale set, and with its machines.
type Comparison struct {
	// State of the scale set itself.
	State State

	model *Model
	cur   Current
	// is and wanted are what both show. What Azure fills in, leaves out, or spells in another letter case makes no difference between them.
	is, wanted fields.Description
}

// Against compares the model with the pool's scale set.
func (m *Model) Against(cur Current) Comparison {
	want := m.current()
	c := Comparison{model: m, cur: cur, is: machineRows.Describe(&cur), wanted: machineRows.Describe(want)}
	c.State = State{Content: cur.Content, Drift: setRows.Differing(want, &cur, fields.InPlace).Specs()}
	// Defaults matter for people alone: a scale set that does not show a value may have been given more by Azure than was asked for.
	is, wanted := machineRows.Completed(c.is), machineRows.Completed(c.wanted)
	names := rolling(is, wanted)
	switch {
	case cur.unmarked() && len(judged(names)) == 0:
		// Another tool made it, and it is what is wanted as far as that can be seen.
		c.State.Content = m.Content
		return c
	case cur.Content == "", cur.Content == m.Content && len(judged(rolling(c.is, c.wanted))) > 0:
		c.State.Content = seenContent(c.is)
	case cur.Content == m.Content:
		return c
	}
	c.State.Differs, c.State.Changes = machineRows.SpecsOf(names), changes(is, wanted, names)
	if cloud.OtherBootstrap(cur.Content, m.Content) {
		c.State.Differs, c.State.Changes = append(c.State.Differs, fieldBootstrap), append(c.State.Changes, "another bootstrap configuration")
	}
	return c
}

// numbered names data disks by the numbers that they have, for people.
func numbered(luns string) string {
	if luns == "" {
		return ""
	}
	return "LUN " + strings.ReplaceAll(luns, " ", ", ")
}

// changes are lines for people, without what a value must not be shown for: its length.
func changes(is, wanted fields.Description, names []string) []string {
	const most = 64
	short := func(text string) string {
		if text == "" {
			return "none"
		}
		if len(text) > most {
			return "..." + text[len(text)-most:]
		}
		return text
	}
	var lines []string
	for _, name := range names {
		before, after := is[name], wanted[name]
		if name == "dataDisks" {
			before, after = numbered(before), numbered(after)
		}
		field := strings.TrimPrefix(strings.TrimPrefix(machineRows.Whole(name).Spec, fieldTemplate+"."), "spec.")
		lines = append(lines, field+" "+short(before)+" -> "+short(after))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// zones of a scale set, each once and in order.
func (c Current) zones() []string { return zones(values(c.Set.Zones)) }

// contains reports whether all of some words are in a list.
func contains(list, some []string) bool {
	return !slices.ContainsFunc(some, func(word string) bool { return !slices.Contains(list, word) })
}

// extensionsDrift goes by the hash, for protected settings are never shown, and by what the scale set shows: the hash is a tag, and Azure
// may take the tags of a request and ignore its extensions.
func extensionsDrift(want, is *Current) bool {
	was, _ := cutInPlace(is.InPlace)
	wanted, _ := cutInPlace(want.InPlace)
	return was != wanted || !slices.EqualFunc(is.extensions(), want.extensions(), shown.same)
}

// extensions returns what a scale set shows of its extensions, by name.
func (c Current) extensions() []shown {
	var list []shown
	for _, e := range deref(c.profile().ExtensionProfile).Extensions {
		list = append(list, shownOf(e))
	}
	slices.SortFunc(list, func(a, b shown) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return list
}

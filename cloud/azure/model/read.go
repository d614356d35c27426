package model

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
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
	if c.Set.SKU == nil {
		return 0
	}
	return int(ptr.Deref(c.Set.SKU.Capacity, 0))
}

// properties returns the properties of the scale set; those that Azure leaves out are nil.
func (c Current) properties() armcompute.VirtualMachineScaleSetProperties {
	return ptr.Deref(c.Set.Properties, armcompute.VirtualMachineScaleSetProperties{})
}

// profile returns what the scale set's machines are made of.
func (c Current) profile() armcompute.VirtualMachineScaleSetVMProfile {
	return ptr.Deref(c.properties().VirtualMachineProfile, armcompute.VirtualMachineScaleSetVMProfile{})
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

	model      *Model
	cur        Current
	is, wanted seen
}

// Against compares the model with the pool's scale set.
func (m *Model) Against(cur Current) Comparison {
	c := Comparison{model: m, cur: cur, is: seenOf(cur.Set), wanted: seenOf(m.Set)}
	c.State = State{Content: cur.Content, Drift: m.drift(cur)}
	names := withoutFixed(c.is.against(c.wanted))
	switch {
	case cur.unmarked() && len(judged(slices.Concat(names, withoutFixed(c.is.more(c.wanted)), withoutFixed(c.is.fewer(c.wanted))))) == 0:
		// Another tool made it, and it is what is wanted as far as that can be seen.
		c.State.Content = m.Content
		return c
	case cur.Content == "", cur.Content == m.Content && len(judged(names)) > 0:
		c.State.Content = c.is.content()
	case cur.Content == m.Content:
		return c
	}
	names = append(names, withoutFixed(c.is.more(c.wanted))...)
	names = append(names, withoutFixed(c.is.fewer(c.wanted))...)
	c.State.Differs, c.State.Changes = fieldsOf(names), changes(c.is, c.wanted, names)
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
func changes(is, wanted seen, names []string) []string {
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
		if _, asked := wanted[name]; !asked {
			after = plain[name]
		}
		if _, there := is[name]; !there {
			before = plain[name]
		}
		if name == "dataDisks" {
			before, after = numbered(before), numbered(after)
		}
		field := fieldsOf([]string{name})
		if len(field) == 0 {
			continue
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(field[0], fieldTemplate+"."), "spec.")+" "+short(before)+" -> "+short(after))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// drift names what can be changed on a scale set that exists and on its machines.
func (m *Model) drift(cur Current) []string {
	is, wanted := cur.zones(), values(m.Set.Zones)
	policy := cur.properties().UpgradePolicy
	return driverkit.Differing(
		driverkit.Field{Name: FieldTags, Differs: m.tagsDrift(cur.Set.Tags)},
		driverkit.Field{Name: FieldExtensions, Differs: m.extensionsDrift(cur)},
		driverkit.Field{Name: fieldZones, Differs: contains(wanted, is) && !contains(is, wanted)},
		driverkit.Field{Name: fieldPolicy, Differs: policy != nil && policy.Mode != nil && *policy.Mode != armcompute.UpgradeModeManual},
	)
}

// zones of a scale set, each once and in order.
func (c Current) zones() []string { return zones(values(c.Set.Zones)) }

// contains reports whether all of some words are in a list.
func contains(list, some []string) bool {
	return !slices.ContainsFunc(some, func(word string) bool { return !slices.Contains(list, word) })
}

// extensionsDrift goes by the hash, for protected settings are never shown, and by what the scale set shows: the hash is a tag, and Azure
// may take the tags of a request and ignore its extensions.
func (m *Model) extensionsDrift(cur Current) bool {
	was, _ := cutInPlace(cur.InPlace)
	wanted, _ := cutInPlace(m.InPlace)
	return was != wanted || !slices.EqualFunc(extensionsOf(cur.Set), extensionsOf(m.Set), shown.same)
}

// extensionsOf is what a scale set shows of its extensions, by name.
func extensionsOf(set armcompute.VirtualMachineScaleSet) []shown {
	var list []shown
	if p := (Current{Set: set}).profile().ExtensionProfile; p != nil {
		for _, e := range p.Extensions {
			list = append(list, shownOf(e))
		}
	}
	slices.SortFunc(list, func(a, b shown) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return list
}

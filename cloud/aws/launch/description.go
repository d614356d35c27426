package launch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/muster-project/muster/cloud"
)

const (
	// descriptionMost is the maximum length of a version's description in EC2.
	descriptionMost = 255
	// valueMost keeps one value from taking the room of all others.
	valueMost = 48
)

// about says for people what changes with a version that is made now, against the newest that exists, and why. It is kept as the
// version's description, depends on nothing but what is wanted and what was observed, and names no user data.
func (p Pass) about(want Want) string {
	is := parts{}
	words := "first version"
	if len(p.Memory.versions) > 0 {
		newest := p.Memory.versions[0]
		switch {
		case newest.Content == "" || newest.parts == nil:
			words = "in the place of a version that is not ours"
		case newest.Same(want.Template) && newest.Data == want.Template.Data:
			return "made again"
		case newest.Same(want.Template):
			return "other bootstrap data"
		case cloud.OtherBootstrap(newest.Content, want.Template.Content):
			return "another bootstrap configuration"
		default:
			is, words = newest.parts, ""
		}
	}
	changes := p.changes(is, partsOf(*want.data), want.RootDevice)
	if len(changes) == 0 {
		return cmp.Or(words, "changed")
	}
	if words != "" {
		words += ": "
	}
	return words + strings.Join(changes, ", ")
}

// changes are the fields that differ with their values, by their names within the template.
func (p Pass) changes(is, want parts, rootDevice string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(union(is, want))) {
		if is[name].digest == want[name].digest {
			continue
		}
		field := strings.TrimPrefix(strings.TrimPrefix(fieldOfPart(name, p.Source.Spec, rootDevice), Field), ".")
		if field == "" {
			field = lowerFirst(name)
		}
		for _, leaf := range slices.Sorted(maps.Keys(union(is[name].leaves, want[name].leaves))) {
			before, after := is[name].leaves[leaf], want[name].leaves[leaf]
			if before != after {
				lines = append(lines, change(field+leaf, before, after))
			}
		}
		if last := len(lines) - 1; name == "ImageId" && last >= 0 && p.Source.Spec.AMI.ID == nil && p.Source.KubernetesVersion != "" {
			lines[last] += " (for Kubernetes " + p.Source.KubernetesVersion + ")"
		}
	}
	return lines
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return all
}

// change is one field's change; one that was not said before, or is not said any more, shows the one value that there is.
func change(field, before, after string) string {
	switch {
	case before == "":
		return field + " " + shortened(after, valueMost)
	case after == "":
		return "no " + field
	}
	return fmt.Sprintf("%s %s -> %s", field, shortened(before, valueMost), shortened(after, valueMost))
}

// shortened cuts a text at a character's end.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "..."
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// leavesOf are the values within a part, by their paths, as a person reads them.
func leavesOf(path string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			leavesOf(path+leafName(name), item, into)
		}
	case []any:
		words := make([]string, 0, len(v))
		for k, item := range v {
			if _, nested := item.(map[string]any); nested {
				leavesOf(fmt.Sprintf("%s[%d]", path, k), item, into)
				continue
			}
			words = append(words, fmt.Sprint(item))
		}
		if len(words) > 0 {
			into[path] = strings.Join(words, " ")
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}

// leafNames are the specification's names where they are not the service's.
var leafNames = map[string]string{
	"Ebs": "", "DeviceName": "", "VolumeSize": ".size", "VolumeType": ".type", "KmsKeyId": ".encryptionKey",
	"HttpProtocolIpv6":          ".httpProtocolIpv6",
	"CapacityReservationTarget": "", "CapacityReservationId": "", "CapacityReservationPreference": ".preference",
	"SpotOptions": "",
}

func leafName(name string) string {
	if known, ok := leafNames[name]; ok {
		return known
	}
	return "." + lowerFirst(name)
}

func lowerFirst(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// readable is a description's words without what EC2 would refuse in them, and within the room that is left.
func readable(words string, room int) string {
	words = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, words)
	return shortened(strings.Join(strings.Fields(words), " "), room)
}

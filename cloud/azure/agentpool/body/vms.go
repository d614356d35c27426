package body

import (
	"maps"
	"strings"

	"github.com/muster-project/muster/cloud"
)

// TypeVMs is the type of agent pools whose machines are virtual machines by themselves, not those of a scale set.
const TypeVMs = "VirtualMachines"

// The properties in which agent pools of that type have the sizes of their machines, and how many there are of each.
const (
	vmsProfile = "virtualMachinesProfile"
	vmsStatus  = "virtualMachineNodesStatus"
	scale      = "scale"
	manual     = "manual"
	size       = "size"
)

// sizeSeparator is between the sizes of an agent pool that has several.
const sizeSeparator = ","

// OfVMs reports whether the machines of an agent pool are virtual machines by themselves.
func OfVMs(p Properties) bool {
	is, _ := p[Type].(string)
	return strings.EqualFold(is, TypeVMs)
}

// Flat returns the properties of an agent pool with its size and count where those of scale sets have them, so that both types are compared
// and changed alike. Several sizes become one text, which equals none.
func Flat(p Properties) Properties {
	list := manualProfiles(p)
	if !OfVMs(p) || len(list) == 0 {
		return p
	}
	out := Properties(maps.Clone(map[string]any(p)))
	if sizes := sizesOf(list); sizes != "" {
		out[VMSize] = sizes
	}
	if n, named := countOf(list); named {
		out[Count] = n
	}
	return out
}

// Sent returns flat properties as AKS takes them. A scale profile that has their size and count already is kept.
func Sent(p Properties) Properties {
	if !OfVMs(p) {
		return p
	}
	out := Properties(maps.Clone(map[string]any(p)))
	text, _ := p[VMSize].(string)
	count, _ := p[Count].(float64)
	list := manualProfiles(p)
	has, _ := countOf(list)
	switch {
	case strings.EqualFold(text, sizesOf(list)) && count == has:
	case len(list) > 1 && strings.EqualFold(text, sizesOf(list)):
		first := maps.Clone(list[0])
		n, _ := first[Count].(float64)
		first[Count] = max(0, n+count-has)
		list[0] = first
	default:
		list = []map[string]any{{size: text, Count: count}}
	}
	profiles := make([]any, 0, len(list))
	for _, profile := range list {
		profiles = append(profiles, profile)
	}
	out[vmsProfile] = map[string]any{scale: map[string]any{manual: profiles}}
	for _, name := range []string{VMSize, Count, EnableAutoScaling, MinCount, MaxCount} {
		delete(out, name)
	}
	return out
}

// flatSpec is Flat for what a specification asks for, whose field a property comes from. Muster brings a pool to one size, and leaves no
// choice among several to AKS.
func (p Properties) flatSpec(field func(property string) string) (Properties, error) {
	profile, _ := object(p[vmsProfile])
	scaling, _ := object(profile[scale])
	list := manualProfiles(p)
	named, _ := p[VMSize].(string)
	on, _ := p[EnableAutoScaling].(bool)
	switch {
	case !OfVMs(p):
		return p, nil
	case len(list) > 1:
		return nil, cloud.Invalidf(field(vmsProfile), "found %s, must have one size: Muster brings all machines of a pool to one", sizesOf(list))
	case scaling["autoscale"] != nil || on:
		return nil, cloud.Invalidf(field(EnableAutoScaling),
			"AKS's autoscaler sizes no agent pool of type %s under Muster: use another autoscaler", TypeVMs)
	case len(list) == 1 && named != "" && sizesOf(list) != "" && !strings.EqualFold(named, sizesOf(list)):
		return nil, cloud.Invalidf(field(vmsProfile), "found size %s, must be %s, which %s is", sizesOf(list), named, VMSize)
	}
	out := Properties(maps.Clone(map[string]any(Flat(p))))
	delete(out, vmsProfile)
	delete(out, EnableAutoScaling)
	return out, nil
}

// manualProfiles returns the profiles of an agent pool that is scaled by hand, one for each size.
func manualProfiles(p Properties) []map[string]any {
	profile, _ := object(p[vmsProfile])
	scaling, _ := object(profile[scale])
	items, _ := scaling[manual].([]any)
	var out []map[string]any
	for _, item := range items {
		if one, ok := object(item); ok {
			out = append(out, one)
		}
	}
	return out
}

// sizesOf returns the sizes of profiles.
func sizesOf(list []map[string]any) string {
	sizes := make([]string, 0, len(list))
	for _, profile := range list {
		text, _ := profile[size].(string)
		sizes = append(sizes, text)
	}
	return strings.Join(sizes, sizeSeparator)
}

// countOf returns how many machines profiles have together; named is false where none says.
func countOf(list []map[string]any) (n float64, named bool) {
	for _, profile := range list {
		if count, ok := profile[Count].(float64); ok {
			n, named = n+count, true
		}
	}
	return n, named
}

// Running returns the number of running machines of an agent pool of that type; known is false if AKS does not report it.
func Running(p Properties) (n int, known bool) {
	list, known := p[vmsStatus].([]any)
	for _, item := range list {
		one, _ := object(item)
		count, _ := one[Count].(float64)
		n += int(count)
	}
	return n, known
}

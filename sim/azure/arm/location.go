package arm

import (
	"slices"
	"strings"
)

// Location is a region, with how many zones it has.
type Location struct {
	Name, Shown string
	Zones       int
}

// Locations are all regions.
var Locations = []Location{
	{"australiaeast", "Australia East", 3}, {"canadacentral", "Canada Central", 3}, {"centralus", "Central US", 3}, {"eastus", "East US", 3},
	{"eastus2", "East US 2", 3}, {"germanywestcentral", "Germany West Central", 3}, {"northcentralus", "North Central US", 0},
	{"northeurope", "North Europe", 3},
	{"southcentralus", "South Central US", 3}, {"swedencentral", "Sweden Central", 3}, {"uksouth", "UK South", 3},
	{"westeurope", "West Europe", 3},
	{"westus", "West US", 0}, {"westus2", "West US 2", 3}, {"westus3", "West US 3", 3},
}

var zoneNames = []string{"1", "2", "3"}

// ZoneNames returns the zones that a location can have.
func ZoneNames() []string { return slices.Clone(zoneNames) }

// ZoneNames returns the availability zones of the location; none where there are none.
func (l *Location) ZoneNames() []string { return slices.Clone(zoneNames[:l.Zones]) }

// LocationOf finds a location by its name, nil for an unknown one.
func LocationOf(name string) *Location {
	for i := range Locations {
		if SameLocation(Locations[i].Name, name) {
			return &Locations[i]
		}
	}
	return nil
}

// LocationNames returns the names of all locations.
func LocationNames() []string {
	var out []string
	for _, l := range Locations {
		out = append(out, l.Name)
	}
	return out
}

// SameLocation compares names of locations as ARM does: West US 2 is westus2.
func SameLocation(a, b string) bool {
	normalized := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	return normalized(a) == normalized(b)
}

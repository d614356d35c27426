package project

import "strings"

// The project that exists from the start, by its ID and its number.
const (
	DefaultID     = "simulated-project"
	DefaultNumber = "123456789012"
)

// Region is a region with its zones, by their full names.
type Region struct {
	Name  string
	Zones []string
}

// Regions are the regions that exist.
var Regions = []Region{
	{"europe-west1", []string{"europe-west1-b", "europe-west1-c", "europe-west1-d"}},
	{"us-central1", []string{"us-central1-a", "us-central1-b", "us-central1-c", "us-central1-f"}},
}

// FindRegion returns the region of a name, nil for none.
func FindRegion(name string) *Region {
	for i := range Regions {
		if Regions[i].Name == name {
			return &Regions[i]
		}
	}
	return nil
}

// RegionOf returns the name of the region of a zone that exists, "" for one that does not.
func RegionOf(zone string) string {
	for _, r := range Regions {
		for _, z := range r.Zones {
			if z == zone {
				return r.Name
			}
		}
	}
	return ""
}

// Zones returns all zones in the order of their names.
func Zones() []string {
	var out []string
	for _, r := range Regions {
		out = append(out, r.Zones...)
	}
	return out
}

// CheckLocation refuses a zone or region of a path that does not exist, or can't be reached.
func (w *Core) CheckLocation(x *Call) error {
	if w.Outages.Get(x.Scope()) != nil {
		return Unreachable(x.Scope())
	}
	project := "projects/" + x.Vars["project"]
	if zone := x.Vars["zone"]; zone != "" && RegionOf(zone) == "" {
		if !strings.Contains(zone, "-") {
			return Invalid("zone", zone, "Unknown zone.")
		}
		return NotFound(project + "/zones/" + zone)
	}
	if region := x.Vars["region"]; region != "" && FindRegion(region) == nil {
		return NotFound(project + "/regions/" + region)
	}
	return nil
}

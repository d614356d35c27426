package session

import (
	"regexp"
	"strings"
)

// Resource holds the parts of the URL of a resource. Google returns full URLs with the API version of the request, and accepts paths:
// two texts name one resource if their Resources are equal.
type Resource struct {
	// Project is empty where the text names none.
	Project string
	// Scope is "global", "zones/us-central1-a" or "regions/us-central1".
	Scope string
	// Collection and Name: "instanceTemplates", "mp-0".
	Collection, Name string
}

// ParseResource reads a URL, a path from the project or a path from the scope on. The zero Resource names none.
func ParseResource(text string) Resource {
	var r Resource
	rest := strings.Trim(text, "/")
	if at := strings.Index("/"+rest, "/projects/"); at >= 0 {
		rest = rest[at+len("projects/"):]
		r.Project, rest, _ = strings.Cut(rest, "/")
	} else if strings.Contains(rest, "://") {
		return Resource{}
	}
	parts := strings.Split(rest, "/")
	switch {
	case len(parts) == 3 && parts[0] == global:
		r.Scope, parts = global, parts[1:]
	case len(parts) == 4 && (parts[0] == "zones" || parts[0] == "regions"):
		r.Scope, parts = parts[0]+"/"+parts[1], parts[2:]
	case len(parts) == 2 && (parts[0] == "zones" || parts[0] == "regions"):
		// A zone or a region itself.
	default:
		return Resource{}
	}
	r.Collection, r.Name = parts[0], parts[1]
	return r
}

// In returns the resource in a project, if its text names none.
func (r Resource) In(project string) Resource {
	if r.Project == "" && r.Name != "" {
		r.Project = project
	}
	return r
}

// Path returns the path from the project on; empty for the zero Resource.
func (r Resource) Path() string {
	if r.Name == "" {
		return ""
	}
	parts := []string{r.Scope, r.Collection, r.Name}
	if r.Scope == "" {
		parts = parts[1:]
	}
	if r.Project != "" {
		parts = append([]string{"projects", r.Project}, parts...)
	}
	return strings.Join(parts, "/")
}

// Within returns the path within the project: "regions/us-central1/instanceTemplates/mp-0".
func (r Resource) Within() string {
	r.Project = ""
	return r.Path()
}

// Location returns the zone or region of the resource, empty where it is global.
func (r Resource) Location() string {
	_, location, _ := strings.Cut(r.Scope, "/")
	return location
}

// SameResource reports whether two texts name one resource, where those without a project are in the given one.
func SameResource(a, b, project string) bool {
	return a == b || ParseResource(a).In(project) == ParseResource(b).In(project) && ParseResource(a).Name != ""
}

// LastName returns the last element of a URL.
func LastName(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }

// zone is the name of a zone: us-central1-a, or us-central1-ai1a of one for accelerators.
var zone = regexp.MustCompile(`^[a-z]+-[a-z]+\d+-[a-z][a-z0-9]*$`)

// IsZone reports whether a location is a zone; all others are regions.
func IsZone(location string) bool { return zone.MatchString(location) }

// RegionOf returns the region of a location.
func RegionOf(location string) string {
	if IsZone(location) {
		return location[:strings.LastIndexByte(location, '-')]
	}
	return location
}

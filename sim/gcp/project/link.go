package project

import (
	"regexp"
	"strings"
)

// root begins the links to the resources of Compute Engine, whatever address it was reached by.
const root = "https://www.googleapis.com/compute/"

// Link returns the URL of a resource of Compute Engine by its path, in the version of the API that the request is written in.
func (x *Call) Link(path string) string {
	version := x.Vars["version"]
	if version == "" {
		version = Versions[0]
	}
	return root + version + "/" + path
}

// linkPrefix begins a URL at an address of Google's, or at that of the simulator itself.
var linkPrefix = regexp.MustCompile(
	`^https?://(([a-z0-9-]+\.)*googleapis\.com|localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?/(compute/)?(v1|beta|alpha)/`)

var imagePath = regexp.MustCompile(`^projects/[^/]+/global/images/(family/)?[^/]+$`)

// IsImage reports whether a URL can be that of an image or of a family of images.
func IsImage(link, project string) bool { return imagePath.MatchString(PathOf(link, project)) }

// PathOf returns the path of a resource, projects/p/global/networks/n, by any way to write its URL: in full, from projects on, or within
// the project.
func PathOf(link, project string) string {
	link = linkPrefix.ReplaceAllString(link, "")
	if link == "" || strings.HasPrefix(link, "projects/") {
		return link
	}
	return "projects/" + project + "/" + strings.TrimPrefix(link, "/")
}

// LastOf returns what follows the last slash.
func LastOf(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// Global returns the path of a resource of the whole project.
func Global(project, kind, name string) string {
	return "projects/" + project + "/global/" + kind + "/" + name
}

// Zonal returns the path of a resource of a zone.
func Zonal(project, zone, kind, name string) string {
	return "projects/" + project + "/zones/" + zone + "/" + kind + "/" + name
}

// Regional returns the path of a resource of a region.
func Regional(project, region, kind, name string) string {
	return "projects/" + project + "/regions/" + region + "/" + kind + "/" + name
}

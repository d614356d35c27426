package template

import (
	"strings"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
)

const (
	fieldVersion = "spec.template.spec.version"
	// familyPrefix begins the name of the family of images for a Kubernetes version, as the ecosystem's provider has it.
	familyPrefix = "capi-ubuntu-1804-k8s-"
)

// Image is the image of machines as a specification names it: the path of an image, or that of a family.
type Image struct {
	Path, Family string
	// Field is the field that names it.
	Field string
}

// ImageOf returns what the specification asks for. Without an image and a family it is the family for the Kubernetes version in the
// project.
func ImageOf(s *gcpv1.GCPMachinePoolSpec, kubernetes, project string) (Image, error) {
	switch {
	case s.Image != nil && *s.Image != "":
		return named(*s.Image, project, "spec.image"), nil
	case s.ImageFamily != nil && *s.ImageFamily != "":
		out := named(*s.ImageFamily, project, "spec.imageFamily")
		if out.Family == "" {
			// The name of a family alone.
			out.Family, out.Path = "projects/"+project+"/global/images/family/"+lastOf(*s.ImageFamily), ""
		}
		return out, nil
	}
	parts := strings.Split(kubernetes, ".")
	if len(parts) < 2 {
		return Image{}, cloud.Invalidf(fieldVersion,
			"there is no Kubernetes version to find the image by: set it, or name the image in spec.image or spec.imageFamily of the GCPMachinePool")
	}
	return Image{Family: "projects/" + project + "/global/images/family/" + familyPrefix + parts[0] + "-" + parts[1], Field: fieldVersion}, nil
}

// named reads the path or the URL of an image or of a family; a name alone is that of an image in the project.
func named(text, project, field string) Image {
	if family, ok := familyPath(text, project); ok {
		return Image{Family: family, Field: field}
	}
	if !strings.Contains(text, "/") {
		text = "projects/" + project + "/global/images/" + text
	}
	return Image{Path: imagePath(text, project), Field: field}
}

// familyPath returns the path of a family that a text names.
func familyPath(text, project string) (string, bool) {
	before, name, ok := strings.Cut(text, "global/images/family/")
	if !ok || name == "" || strings.Contains(name, "/") {
		return "", false
	}
	if at := strings.LastIndex("/"+before, "/projects/"); at >= 0 {
		project = strings.Trim(before[at+len("projects/"):], "/")
	}
	return "projects/" + project + "/global/images/family/" + name, true
}

// SplitFamily returns the project and the name of a family's path.
func SplitFamily(path string) (project, name string) {
	rest := strings.TrimPrefix(path, "projects/")
	project, rest, _ = strings.Cut(rest, "/")
	return project, lastOf(rest)
}

func lastOf(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }

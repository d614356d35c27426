package catalogue

import (
	"regexp"
	"strings"
)

// imageOf matches the OCIDs of the images of Cluster API that a region has, one for each version of Kubernetes and each architecture.
var imageOf = regexp.MustCompile(`^ocid1\.image\.oc1\.[a-z]+\.aaaaaaaacapiubuntu2404(arm64|amd64)v(\d+)x(\d+)x(\d+)$`)

// Image returns the OCID of the image of Cluster API for a version of Kubernetes and an architecture as Go names it.
func Image(region, version, arch string) string {
	version = strings.ReplaceAll(strings.TrimPrefix(version, "v"), ".", "x")
	return "ocid1.image.oc1." + region + ".aaaaaaaacapiubuntu2404" + arch + "v" + version
}

// ParseImage returns the version of Kubernetes in the image of an OCID, and whether it is for Arm processors. known is false if it is not
// an image of Cluster API.
func ParseImage(ocid string) (version string, arm, known bool) {
	m := imageOf.FindStringSubmatch(ocid)
	if m == nil {
		return "", false, false
	}
	return m[2] + "." + m[3] + "." + m[4], m[1] == "arm64", true
}

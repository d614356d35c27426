package eks

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/catalogue"
)

const (
	amiCustom = "CUSTOM"
	// lastAL2 is the last minor version that Amazon Linux 2 was built for.
	lastAL2 = 32
)

// checkRelease refuses an image that EKS does not have.
func checkRelease(amiType, version, release string) error {
	switch {
	case strings.HasPrefix(amiType, "AL2_") && MinorOf(version) > lastAL2:
		return badParameter("AMI Type %s is only supported for kubernetes versions 1.%d or earlier", amiType, lastAL2)
	case !slices.Contains(catalogue.ReleasesOf(MinorOf(version)), release):
		return badParameter("Requested release version %s is not valid for kubernetes version %s.", release, version)
	}
	return nil
}

// eksImage is the ID of the image of a type and a release.
func (r *Nodegroups) eksImage(amiType, version, release string) string {
	return catalogue.ImageID(r.Region, catalogue.EksImageName(amiType, MinorOf(version), release))
}

package nodepool

import (
	"fmt"
	"regexp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool/upgrade"
)

// fieldVersion is the core object's field that names the version of Kubernetes.
const fieldVersion = fields.Version

// distribution is GKE's name in the versions that it builds.
const distribution = "gke"

// versionOf parses a version as GKE has it (1.34.1-gke.1829001), with or without the leading v, a patch and a build; unknown for the empty
// text, and beside an error.
func versionOf(field, version string) (upgrade.Version, error) {
	if version == "" {
		return upgrade.Version{}, nil
	}
	out, ok := upgrade.Parse(version)
	if !ok || out.Distribution != "" && out.Distribution != distribution {
		return upgrade.Version{}, cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.34.1 or v1.34.1-gke.1829001", version)
	}
	return out, nil
}

// image is the name of an image of GKE's nodes: gke-1341-gke1829001-cos-121-18867-90-97-c-pre is one of 1.34.1-gke.1829001. Minor versions
// have two digits.
var image = regexp.MustCompile(`^gke-1(\d\d)(\d+)-gke(\d+)-`)

// builtFor returns the version that an image was built for; unknown where its name does not tell.
func builtFor(name string) upgrade.Version {
	found := image.FindStringSubmatch(name)
	if found == nil {
		return upgrade.Version{}
	}
	return reported(fmt.Sprintf("1.%s.%s-gke.%s", found[1], found[2], found[3]))
}

// reported returns a version that GKE or the MachinePool tells; unknown where it is none.
func reported(version string) upgrade.Version {
	out, _ := versionOf("", version)
	return out
}

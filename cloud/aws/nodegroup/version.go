package nodegroup

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// fieldVersion is the core object's field that names the version of Kubernetes.
const fieldVersion = fields.Version

// minorOf is the minor version of a Kubernetes 1 version, with or without the leading v and a patch; 0 for the empty word.
func minorOf(field, version string) (int, error) {
	if version == "" {
		return 0, nil
	}
	minor, err := launch.MinorOf(field, version)
	if err == nil && minor <= 0 {
		return 0, launch.InvalidVersion(field, version)
	}
	return minor, err
}

// eksVersion is a minor version as EKS writes it.
func eksVersion(minor int) string { return fmt.Sprintf("1.%d", minor) }

// runs is what EKS itself decides of the machines of a node group, beside the launch template: the version of Kubernetes and
// the release of its image. What the specification does not ask for is left out, so that it makes nothing stale.
type runs struct {
	// minor is 0 and release empty where the specification says nothing, or where its own image decides.
	minor   int
	release string
}

// course is what the next step of a node group leads to, and where that is on the path to the wanted version.
type course struct {
	next runs
	path pool.UpgradePath
}

// asked is what the specification asks for of the version and the release.
type asked struct {
	// minor is 0 when no version is named, release empty when no release is.
	minor   int
	release string
	// image is true if the launch template names an image: neither version nor release are EKS's matter then.
	image bool
	// controlPlane is the minor version of the control plane, 0 when it is not known.
	controlPlane int
}

// courseOf returns the course of a node group that runs a minor version, 0 for a group that does not exist yet.
func courseOf(a asked, is int) (course, error) {
	if a.image {
		return course{}, nil
	}
	c := course{path: pool.UpgradePathOf(is, a.minor, a.controlPlane)}
	switch {
	case a.minor == 0:
		c.next.release = a.release
		return c, nil
	case is == 0:
		return c, c.create(a)
	case c.path.Downgrade:
		return c, cloud.Invalidf(fieldVersion,
			"the node group runs Kubernetes %s, and EKS takes no node group back to %s: ask for %s or later, or make another pool",
			eksVersion(is), eksVersion(a.minor), eksVersion(is))
	}
	if c.next.minor = c.path.Next; c.next.minor == a.minor {
		c.next.release = a.release
	}
	return c, nil
}

// create is the version of a new group, for which EKS takes no other than the control plane's.
func (c *course) create(a asked) error {
	switch {
	case a.controlPlane == 0 || a.controlPlane == a.minor:
	case a.minor > a.controlPlane:
		return cloud.Invalidf(fieldVersion, "a node group can't run Kubernetes %s before the control plane, which runs %s: it is made once "+
			"that is upgraded",
			eksVersion(a.minor), eksVersion(a.controlPlane))
	default:
		return cloud.Invalidf(fieldVersion, "EKS makes new node groups of the control plane's version %s alone: ask for that in place of %s",
			eksVersion(a.controlPlane), eksVersion(a.minor))
	}
	c.next = runs{minor: a.minor, release: a.release}
	return nil
}

// of reduces what a group runs to what the next step is about, so that both can be compared.
func (r runs) of(next runs) runs {
	if next.minor == 0 {
		r.minor = 0
	}
	if next.release == "" {
		r.release = ""
	}
	return r
}

const (
	// algorithm and contentLength are those of launch templates' contents. A new algorithm is added beside this, never in its
	// place.
	algorithm     = "v1"
	contentLength = 16
)

// compose is the content of machines: that of the launch template, and what EKS runs on it. Where EKS has no part in it, it is the
// template's own; without a template it is EKS's alone. A template of unknown content makes machines of unknown content.
func compose(template string, given bool, r runs) string {
	if !given && (template == "" || r == runs{}) {
		return template
	}
	text, _ := json.Marshal([]string{template, strconv.Itoa(r.minor), r.release})
	return algorithm + ":" + cloud.Digest(text, contentLength)
}

// givenPrefix begins the names of EKS's own versions, in the place of launch templates.
const givenPrefix = "eks:"

// givenRef names a version and a release of EKS's own: "eks:1.31/1.31.2-20250103".
func givenRef(minor int, release string) string {
	ref := givenPrefix + "default"
	if minor != 0 {
		ref = givenPrefix + eksVersion(minor)
	}
	if release != "" {
		ref += "/" + release
	}
	return ref
}

// parseGiven takes a name of EKS's own version apart.
func parseGiven(ref string) (r runs, err error) {
	rest, ok := strings.CutPrefix(ref, givenPrefix)
	if !ok {
		return runs{}, fmt.Errorf("template %q: want EKS's own version, as in eks:1.31", ref)
	}
	version, release, _ := strings.Cut(rest, "/")
	if version != "default" {
		if r.minor, err = minorOf(fieldVersion, version); err != nil {
			return runs{}, fmt.Errorf("template %q: %w", ref, err)
		}
	}
	r.release = release
	return r, nil
}

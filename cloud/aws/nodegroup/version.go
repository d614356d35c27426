package nodegroup

import (
	"fmt"

	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool/upgrade"
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

// chooseVersion adds to what the specification asks for its version and release, and what the next step leads to.
func (s *state) chooseVersion() error {
	a := versionRequest{release: ptr.Deref(s.t.pool.AMIVersion, ""), image: s.ownImage()}
	var err error
	if a.minor, err = minorOf(fieldVersion, s.t.KubernetesVersion); err != nil {
		return err
	}
	if t := s.t.pool.AMIType; t != nil && *t != awsv1.AMITypeCustom && s.m.template.BringsImage() {
		return cloud.Invalidf(fieldImages, "the version that %s.existing names has an image of its own: take the field out", fieldTemplate)
	}
	// A control plane whose version can't be read is EKS's to compare with.
	a.controlPlane, _ = minorOf("", s.t.cluster.ControlPlaneVersion)
	s.want.request = a
	s.want.step, err = stepOf(a, s.running().minor)
	return err
}

// ownImage reports whether nodes boot an image of the launch template's, one that was brought included: EKS takes neither version nor
// release nor family of images then.
func (s *state) ownImage() bool {
	return s.t.pool.OwnImage() || s.m.template.BringsImage()
}

// runs holds the part of machines that EKS chooses in addition to the launch template: the version of Kubernetes and the release of its
// image. Values that the specification does not name are left out, so that they make nothing stale.
type runs struct {
	// minor is 0 and release empty where the specification says nothing, or where its own image decides.
	minor   int
	release string
}

// running returns what the node group runs according to EKS; zero if there is none.
func (s *state) running() runs {
	if s.is == nil {
		return runs{}
	}
	minor, _ := minorOf("", ptr.Deref(s.is.Version, ""))
	return runs{minor: minor, release: ptr.Deref(s.is.ReleaseVersion, "")}
}

// upgradeStep holds the target of the next upgrade of a node group, and its place on the path to the requested version.
type upgradeStep struct {
	next runs
	path upgrade.Path
}

// versionRequest holds the version and the release that the specification names.
type versionRequest struct {
	// minor is 0 when no version is named, release empty when no release is.
	minor   int
	release string
	// image is true if the launch template names an image: neither version nor release are EKS's matter then.
	image bool
	// controlPlane is the minor version of the control plane, 0 when it is not known.
	controlPlane int
}

// stepOf returns the next step of a node group that runs a minor version, 0 for a group that does not exist yet.
func stepOf(a versionRequest, is int) (upgradeStep, error) {
	if a.image {
		return upgradeStep{}, nil
	}
	c := upgradeStep{path: upgrade.PathOf(is, a.minor, a.controlPlane)}
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
func (c *upgradeStep) create(a versionRequest) error {
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

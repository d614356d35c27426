package nodepool

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// fieldVersion is the core object's field that names the version of Kubernetes.
const fieldVersion = "MachinePool spec.template.spec.version"

// open is the part of a version that is left to GKE, which takes its newest.
const open = -1

// release is a version of Kubernetes 1 as GKE has it (1.34.1-gke.1829001): its minor, its patch and GKE's build.
type release struct{ minor, patch, build int }

// releaseOf parses a version, with or without the leading v, a patch and a build; zero for the empty text, and beside an error.
func releaseOf(field, version string) (release, error) {
	if version == "" {
		return release{}, nil
	}
	out, err := parse(strings.TrimPrefix(version, "v"))
	if err != nil {
		return release{}, cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.34.1 or v1.34.1-gke.1829001", version)
	}
	return out, nil
}

func parse(version string) (release, error) {
	out := release{patch: open, build: open}
	numbers, build, built := strings.Cut(version, "-gke.")
	parts := strings.Split(numbers, ".")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "1" || built && len(parts) < 3 {
		return release{}, strconv.ErrSyntax
	}
	texts := parts[1:]
	if built {
		texts = append(texts, build)
	}
	for i, part := range []*int{&out.minor, &out.patch, &out.build}[:len(texts)] {
		n, err := strconv.ParseUint(texts[i], 10, 31)
		if err != nil {
			return release{}, err
		}
		*part = int(n)
	}
	if out.minor == 0 {
		return release{}, strconv.ErrRange
	}
	return out, nil
}

// image is the name of an image of GKE's nodes: gke-1341-gke1829001-cos-121-18867-90-97-c-pre is one of 1.34.1-gke.1829001. Minor versions
// have two digits.
var image = regexp.MustCompile(`^gke-1(\d\d)(\d+)-gke(\d+)-`)

// builtFor returns the version that an image was built for; zero where its name does not tell.
func builtFor(name string) release {
	found := image.FindStringSubmatch(name)
	if found == nil {
		return release{}
	}
	return reported(fmt.Sprintf("1.%s.%s-gke.%s", found[1], found[2], found[3]))
}

// reported returns a version that GKE or the MachinePool tells; zero where it is none.
func reported(version string) release {
	out, _ := releaseOf("", version)
	return out
}

// String returns the version as GKE takes it: 1.34.1-gke.1829001, or a beginning of it where the rest is GKE's to choose.
func (r release) String() string {
	switch {
	case r.minor == 0:
		return ""
	case r.patch == open:
		return fmt.Sprintf("1.%d", r.minor)
	case r.build == open:
		return fmt.Sprintf("1.%d.%d", r.minor, r.patch)
	}
	return fmt.Sprintf("1.%d.%d-gke.%d", r.minor, r.patch, r.build)
}

// compare compares versions as far as both say: it is zero for a version and one that leaves parts of it open.
func (r release) compare(o release) int {
	if by := cmp.Compare(r.minor, o.minor); by != 0 || r.patch == open || o.patch == open {
		return by
	}
	if by := cmp.Compare(r.patch, o.patch); by != 0 || r.build == open || o.build == open {
		return by
	}
	return cmp.Compare(r.build, o.build)
}

// course is the version that the next step leads to.
type course struct {
	next release
	path pool.UpgradePath
}

// courseOf returns the course from the version that a node pool runs, zero if it does not exist yet, to the wanted one. GKE takes one minor
// version at a time, and none above the control plane. A version that an automatic upgrade has brought is kept: the wanted one is behind.
func courseOf(current, wanted, controlPlane release) course {
	switch {
	case wanted.minor == 0:
		return course{next: current}
	case current.minor == 0:
		return course{next: wanted}
	case wanted.compare(current) <= 0:
		return course{next: current}
	}
	c := course{path: pool.UpgradePathOf(current.minor, wanted.minor, controlPlane.minor)}
	switch {
	case c.path.WaitsForControlPlane:
		c.next = current
	case c.path.Next == wanted.minor && controlPlane.minor == wanted.minor && controlPlane.compare(wanted) < 0:
		c.path.WaitsForControlPlane, c.next = true, current
	case c.path.Next == wanted.minor:
		c.next = wanted
	case c.path.Next == controlPlane.minor:
		// The newest patch of this minor version may be above the control plane's.
		c.next = controlPlane
	default:
		c.next = release{minor: c.path.Next, patch: open, build: open}
	}
	return c
}

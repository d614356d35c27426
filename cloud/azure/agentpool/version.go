package agentpool

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/pool"
)

// fieldVersion is the core object's field that names the version of Kubernetes.
const fieldVersion = "MachinePool spec.template.spec.version"

// fieldReplicas is the MachinePool's field that the count comes from.
const fieldReplicas = "MachinePool spec.replicas"

// release is a version of Kubernetes 1: its minor and its patch. A patch of -1 is any: AKS takes its newest.
type release struct{ minor, patch int }

// releaseOf parses a version, with or without the leading v and a patch; zero for the empty text, and beside an error.
func releaseOf(field, version string) (release, error) {
	if version == "" {
		return release{}, nil
	}
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) >= 2 && parts[0] == "1" {
		out := release{patch: -1}
		minor, err := strconv.Atoi(parts[1])
		if len(parts) == 3 && err == nil {
			patch, _, _ := strings.Cut(parts[2], "-")
			out.patch, err = strconv.Atoi(patch)
		}
		if out.minor = minor; err == nil && minor > 0 {
			return out, nil
		}
	}
	return release{}, cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.36.3", version)
}

// reported returns a version that AKS or the MachinePool tells; zero where it is none.
func reported(version string) release {
	out, _ := releaseOf("", version)
	return out
}

// version returns the version that the agent pool was asked for.
func (a *agentPool) version() release { return reported(a.text(body.OrchestratorVersion)) }

// String returns the version as AKS writes it: 1.31.2, or 1.31 where the patch is AKS's to choose.
func (r release) String() string {
	if r.patch < 0 {
		return fmt.Sprintf("1.%d", r.minor)
	}
	return fmt.Sprintf("1.%d.%d", r.minor, r.patch)
}

// below reports whether a version is older than another one, as far as both say.
func (r release) below(o release) bool {
	return r.minor < o.minor || r.minor == o.minor && r.patch >= 0 && o.patch >= 0 && r.patch < o.patch
}

// satisfies reports whether a version is the other one, or one that it leaves open.
func (r release) satisfies(o release) bool {
	return r.minor == o.minor && (o.patch < 0 || r.patch < 0 || r.patch == o.patch)
}

// course is the version that the next step leads to.
type course struct {
	next release
	path pool.UpgradePath
}

// courseOf returns the course from the version that an agent pool runs, zero if it does not exist yet, to the wanted one. AKS takes one
// minor version at a time, and none above the control plane. A version that an automatic upgrade has brought is kept: the wanted one is
// behind, and AKS takes none back.
func courseOf(current, wanted, controlPlane release) course {
	switch {
	case wanted.minor == 0:
		return course{next: current}
	case current.minor == 0:
		return course{next: wanted}
	case wanted.below(current) || current.satisfies(wanted):
		return course{next: current}
	}
	c := course{path: pool.UpgradePathOf(current.minor, wanted.minor, controlPlane.minor)}
	switch {
	case c.path.Next == wanted.minor && controlPlane.below(wanted) && controlPlane.minor == wanted.minor:
		c.path.WaitsForControlPlane, c.next = true, current
	case c.path.Next == wanted.minor:
		c.next = wanted
	case c.path.Next == current.minor:
		c.next = current
	default:
		c.next = release{minor: c.path.Next, patch: -1}
	}
	return c
}

const (
	// algorithm and contentLength are those of contents. A new algorithm is added beside this, never in its place.
	algorithm     = "v1"
	contentLength = 16
	// refPrefix begins the names of configurations.
	refPrefix = "aks:"
)

// configuration is what AKS replaces machines for: the version of Kubernetes, the properties whose change rolls, and the node image.
type configuration struct {
	version release
	// rolls are the values of those properties, as the specification asks for them.
	rolls map[string]any
	// outdated is the node image, where that is older than oldest, the oldest one that machines may have.
	outdated, oldest nodeImage
}

// on returns the configuration on a node image; one that is unknown is right.
func (c configuration) on(image nodeImage) configuration {
	c.outdated = ""
	if image.before(c.oldest) {
		c.outdated = image
	}
	return c
}

// renewed returns the configuration on a node image that is new enough.
func (c configuration) renewed() configuration { return c.on("") }

// template returns the configuration as a template. It exists without Muster: AKS makes machines of any configuration that it is asked for.
func (c configuration) template() pool.Template {
	parts := []any{c.version.minor, c.version.patch, c.rolls}
	size, _ := c.rolls[body.VMSize].(string)
	ref := refPrefix + c.version.String() + "/" + size
	if c.outdated != "" {
		parts, ref = append(parts, c.outdated), ref+"/"+string(c.outdated)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		// What was decoded from JSON can be encoded.
		return pool.Template{}
	}
	content := algorithm + ":" + cloud.Digest(text, contentLength)
	return pool.Template{Ref: ref, Content: content, UserManaged: true, ByCloud: true}
}

package agentpool

import (
	"encoding/json"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// fieldVersion is the core object's field that names the version of Kubernetes.
const fieldVersion = fields.Version

// versionOf parses a version, with or without the leading v and a patch, and what a distribution adds to that; unknown for the empty text,
// and beside an error.
func versionOf(field, version string) (upgrade.Version, error) {
	if version == "" {
		return upgrade.Version{}, nil
	}
	numbers, _, _ := strings.Cut(version, "-")
	out, ok := upgrade.Parse(numbers)
	if !ok {
		return upgrade.Version{}, cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.36.3", version)
	}
	return out, nil
}

// reported returns a version that AKS or the MachinePool tells; unknown where it is none.
func reported(version string) upgrade.Version {
	out, _ := versionOf("", version)
	return out
}

// version returns the requested version of the agent pool.
func (a *agentPool) version() upgrade.Version { return reported(a.text(body.OrchestratorVersion)) }

const (
	// algorithm and contentLength are those of contents. A new algorithm is added to this one and never replaces it.
	algorithm     = "v1"
	contentLength = 16
	// refPrefix begins the names of configurations.
	refPrefix = "aks:"
)

// configuration holds the parts whose change replaces machines: the Kubernetes version, the properties that roll, and the node image.
type configuration struct {
	version upgrade.Version
	// rolls holds the specified values of those properties.
	rolls map[string]any
	// outdated is the node image if it is older than oldest, the oldest one that machines may have; otherwise it is empty.
	outdated, oldest nodeImage
}

// on returns the configuration on a node image. An unknown image counts as up to date.
func (c configuration) on(image nodeImage) configuration {
	c.outdated = ""
	if image.before(c.oldest) {
		c.outdated = image
	}
	return c
}

// renewed returns the configuration on a node image that is new enough.
func (c configuration) renewed() configuration { return c.on("") }

// template returns the configuration as a template. It always exists: AKS creates machines from any requested configuration.
func (c configuration) template() pool.Template {
	parts := []any{c.version.Minor, c.version.Patch, c.rolls}
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

package agentpool

import (
	"encoding/json"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/pool"
)

// fieldVersion is the core object's field that names the version of Kubernetes.
const fieldVersion = fields.Version

// versionOf parses a version, with or without the leading v and a patch, and what a distribution adds to that; unknown for the empty text,
// and beside an error.
func versionOf(field, version string) (pool.Version, error) {
	if version == "" {
		return pool.Version{}, nil
	}
	numbers, _, _ := strings.Cut(version, "-")
	out, ok := pool.ParseVersion(numbers)
	if !ok {
		return pool.Version{}, cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.36.3", version)
	}
	return out, nil
}

// reported returns a version that AKS or the MachinePool tells; unknown where it is none.
func reported(version string) pool.Version {
	out, _ := versionOf("", version)
	return out
}

// version returns the version that the agent pool was asked for.
func (a *agentPool) version() pool.Version { return reported(a.text(body.OrchestratorVersion)) }

const (
	// algorithm and contentLength are those of contents. A new algorithm is added beside this, never in its place.
	algorithm     = "v1"
	contentLength = 16
	// refPrefix begins the names of configurations.
	refPrefix = "aks:"
)

// configuration is what AKS replaces machines for: the version of Kubernetes, the properties whose change rolls, and the node image.
type configuration struct {
	version pool.Version
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

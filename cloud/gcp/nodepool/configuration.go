package nodepool

import (
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

const (
	// algorithm and contentLength are those of contents. A new algorithm is added to this one and never replaces it.
	algorithm     = "v1"
	contentLength = 16
	// refPrefix begins the names of configurations, and refLength is the number of digits of the content that end them.
	refPrefix = "gke:"
	refLength = 6
)

// partsOfTemplates are the parts of a configuration that the template of a machine tells.
var partsOfTemplates = []string{request.MachineType, request.DiskType, request.DiskSize}

// configuration holds the values for which GKE replaces machines: the version of Kubernetes and the parts of the node pool that roll.
type configuration struct {
	version upgrade.Version
	// rolls are the values of those parts, as far as the specification names them.
	rolls map[string]any
	// machineType is that of the machines, for people.
	machineType string
}

// template returns the configuration as a template. It always exists: GKE creates machines from any requested configuration.
func (c configuration) template() pool.Template {
	text, err := json.Marshal([]any{c.version.Minor, c.version.Patch, c.version.Build, c.rolls})
	if err != nil {
		// What is made of texts and numbers can be encoded.
		return pool.Template{}
	}
	content := algorithm + ":" + cloud.Digest(text, contentLength)
	return pool.Template{
		Ref: refPrefix + c.version.String() + "/" + c.machineType + "/" + cloud.Digest(text, refLength), Content: content, UserManaged: true,
		ByCloud: true,
	}
}

// known reports whether anything is known of the configuration.
func (c configuration) known() bool { return c.version.Known() || len(c.rolls) > 0 }

// configurationOf returns the configuration that a machine was made with, as far as its template tells. Versions that are the wanted one,
// or that of the node pool, as far as both say, count as these.
func (w desired) configurationOf(m groups.Instance, read poolRead) configuration {
	is, ok := read.facts[m.Template]
	if !ok {
		return read.withoutFacts(w, m)
	}
	out := configuration{version: w.launched.version, rolls: maps.Clone(w.launched.rolls), machineType: is.MachineType}
	if built := builtFor(is.Image); built.Known() {
		out.version = w.canonical(built)
	}
	for part, value := range map[string]any{request.MachineType: fields.Text(is.MachineType),
		request.DiskType: fields.Text(is.DiskType), request.DiskSize: fields.Number(is.DiskSizeGb)} {
		if _, named := out.rolls[part]; named && value != nil {
			out.rolls[part] = value
		}
	}
	return w.unseen(m, read, out)
}

// withoutFacts returns the configuration of a machine whose template can't be read: what is remembered of it, or that of the node pool. It
// is zero where another one is possible.
func (r poolRead) withoutFacts(w desired, m groups.Instance) configuration {
	known, remembered := w.byTemplate[m.Template]
	switch {
	case remembered:
		return known.named(w.launched)
	case w.status == statusReconciling, m.Template != "" && len(r.facts) > 0, r.isBlue(m):
		return configuration{}
	}
	return w.launched
}

// named returns the configuration with the parts that another one names, whose values stand for those that it lacks.
func (c configuration) named(by configuration) configuration {
	out := configuration{version: c.version, rolls: maps.Clone(by.rolls), machineType: c.machineType}
	for part := range out.rolls {
		if value, named := c.rolls[part]; named {
			out.rolls[part] = value
		}
	}
	return out
}

// unseen fills in the parts that no template tells (the image's type, kernel settings). Of templates that had machines when Muster changed
// the node pool they are remembered. Otherwise, until a rollout of these that Muster began has ended well, a machine from another template
// than its group has now is an older one, and so is one that a blue-green upgrade leaves. What older machines have is not known of an
// upgrade that Muster did not begin or does not remember, if it is a blue-green one or has not ended well.
func (w desired) unseen(m groups.Instance, read poolRead, c configuration) configuration {
	of := w.last.to
	known, remembered := w.byTemplate[m.Template]
	switch {
	case remembered:
		of = known
	case read.lost(w, m):
		of = c.unknown()
	case !w.last.rolls():
		return c
	case read.older(m):
		of = w.last.from
	}
	for part := range c.rolls {
		if value, named := of.rolls[part]; named && !slices.Contains(partsOfTemplates, part) {
			c.rolls[part] = value
		}
	}
	return c
}

// lost reports whether the hidden parts of a machine's configuration are unknown.
func (r poolRead) lost(w desired, m groups.Instance) bool {
	_, remembered := w.byTemplate[m.Template]
	return !remembered && !w.last.rolls() && r.older(m) && (blueGreen(r.pool) != nil || w.last.unfinished())
}

// older reports whether a machine was made before the upgrade that is under way or was the last one.
func (r poolRead) older(m groups.Instance) bool {
	if info := blueGreen(r.pool); info != nil {
		return r.isBlue(m) != (info.Phase == phaseRollback)
	}
	return r.outdated(m)
}

// unknown returns the configuration without the parts that no template tells.
func (c configuration) unknown() configuration {
	out := configuration{version: c.version, rolls: maps.Clone(c.rolls), machineType: c.machineType}
	for part := range out.rolls {
		if !slices.Contains(partsOfTemplates, part) {
			out.rolls[part] = nil
		}
	}
	return out
}

// hasHiddenParts reports whether some parts of the configuration are not part of the instance template.
func (c configuration) hasHiddenParts() bool {
	for part := range c.rolls {
		if !slices.Contains(partsOfTemplates, part) {
			return true
		}
	}
	return false
}

// outdated reports whether a machine was made from another template than its group has now.
func (r poolRead) outdated(m groups.Instance) bool {
	return slices.ContainsFunc(r.groups, func(g groups.Group) bool { return g.Outdates(m) })
}

// canonical returns the version by which one counts: the wanted one, or that of the node pool, where it is the same as far as both say.
func (w desired) canonical(v upgrade.Version) upgrade.Version {
	for _, known := range []upgrade.Version{w.next.version, w.launched.version} {
		if known.Known() && v.Compare(known) == 0 {
			return known
		}
	}
	return v
}

// machineTypeOf returns the machine type of a node pool.
func machineTypeOf(n *container.NodePool) string {
	if n == nil || n.Config == nil {
		return ""
	}
	return n.Config.MachineType
}

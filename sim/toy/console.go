package toy

import (
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// ClusterName is the key of the cluster on which the out-of-band actions work.
const ClusterName = "managed"

// Theirs returns a pool as another tool creates it, without nodes.
func Theirs(version, machineType string, tags map[string]string) managed.Spec {
	return Settings{Version: version, MachineType: machineType, Image: defaultImage, Zones: Zones(), Tags: tags,
		Upgrade: Upgrade{MaxSurge: "1", MaxUnavailable: "0", DrainTimeout: 1800}}.spec()
}

// Ignorable returns rules that each ignore one thing that clients can set, without end.
func Ignorable() []sim.Fault {
	return slices.Concat(core.Ignoring("toy", "DeleteNodes", ""), core.Ignoring("toy", "DeletePool", ""),
		core.Ignoring("toy", "UpdatePool", "", "count", "version", "machineType", "image", "labels", "taints", "tags", "autoscaling", "upgrade"))
}

// Capabilities describes the cloud for callers that do not know which one it is.
func (c *Cloud) Capabilities() sim.Capabilities {
	return sim.Capabilities{
		Snapshot:   c.Console.Snapshot,
		OutOfBand:  c.Console.Actions(ClusterName, Theirs("1.34.2", "small", nil)),
		Denied:     sim.Fault{Code: "Forbidden", Message: "The token does not allow this request.", Status: http.StatusForbidden},
		NoCapacity: "There are no machines of type",
		Groups:     sim.GroupBehavior{BusyAfterChange: true, Bootstraps: true},
		Ignorable:  Ignorable(),
	}
}

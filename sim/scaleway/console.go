package scaleway

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// ClusterName is the cluster on which the out-of-band actions work where they name none.
const ClusterName = "managed"

// NoCapacity is part of the message for a machine that there is no capacity for.
const NoCapacity = "There are no machines of type"

// Access is a cluster as its owner makes it, with what the service does not tell: how the API server is reached.
type Access struct {
	// Region is the default region, Version that of the control plane and Type kapsule where they are empty.
	Region  string `json:"region,omitempty"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Type    string `json:"type,omitempty"`
	// Server is the URL of the API server, CA the certificates by which it is trusted, in PEM, Token the bootstrap token of its nodes.
	Server string `json:"server,omitempty"`
	CA     []byte `json:"ca,omitempty"`
	Token  string `json:"token,omitempty"`
}

// PutCluster creates a cluster by its name in a region, or brings it to another version, where it is not busy. Without a version it changes
// only the access of a cluster that exists. It returns the cluster as clients see it.
func (c *Cloud) PutCluster(want Access) (shown document.Object, err error) {
	err = c.by(func(w *region) error {
		is := w.clusterNamed(want.Region, want.Name)
		switch {
		case is == nil && want.Version == "":
			return missing("cluster", want.Name)
		case is == nil:
			is = &managed.Cluster{Key: w.Seed.UUID("cluster", w.NextNumber("cluster")), Name: want.Name, Version: want.Version,
				Doc: clusterDefaults()}
			is.Doc["region"], is.Doc["type"], is.Doc["cni"] = cmp.Or(want.Region, Region), cmp.Or(want.Type, "kapsule"), "cilium"
			is.Doc["project_id"], is.Doc["organization_id"] = ProjectID, ProjectID
			w.service.CreateCluster(is)
		case want.Version != "" && want.Version != is.Goal && settled(w, is) == nil:
			if err := upgrade(w, is, want.Version, false); err != nil {
				return err
			}
		}
		is.Server, is.CA, is.Token = want.Server, want.CA, want.Token
		w.service.Clusters.Touch(is.Key)
		shown = w.showCluster(is)
		return nil
	})
	return shown, err
}

// DropCluster begins to delete a cluster, and reports whether it is gone.
func (c *Cloud) DropCluster(place, name string) (gone bool, err error) {
	err = c.by(func(w *region) error {
		is := w.clusterNamed(place, name)
		if gone = is == nil; !gone && is.State != managed.Deleting {
			w.service.DeleteCluster(is)
		}
		return nil
	})
	return gone, err
}

// clusterNamed returns the cluster of a name in a region, of an empty region in any; nil if there is none.
func (w *region) clusterNamed(place, name string) *managed.Cluster {
	for _, c := range w.service.Clusters.All() {
		if (c.Name == name || c.Key == name) && (place == "" || clusterText(c, "region") == place) {
			return c
		}
	}
	return nil
}

// Lock locks a pool of a cluster, or the cluster where the pool is empty, as Scaleway does with accounts that it has closed. It opens them
// again where locked is false.
func (c *Cloud) Lock(cluster, pool string, locked bool) error {
	return c.by(func(w *region) error {
		is := w.clusterNamed("", cluster)
		switch {
		case is == nil:
			return missing("cluster", cluster)
		case pool == "":
			is.Doc["locked"] = locked
			w.service.Clusters.Touch(is.Key)
			return nil
		}
		p := w.service.Pools.Get(is.Key + "/" + pool)
		if p == nil {
			return missing("pool", pool)
		}
		p.Doc["locked"] = locked
		w.service.Pools.Touch(p.Key())
		return nil
	})
}

// CreatePool creates a pool as another tool does.
func (c *Cloud) CreatePool(cluster, name string, spec Theirs) error {
	return c.by(func(w *region) error {
		is := w.clusterNamed("", cluster)
		if is == nil {
			return missing("cluster", cluster)
		}
		size := uint32(max(0, spec.Size))
		body := poolBody{Name: name, NodeType: cmp.Or(spec.NodeType, "pro2_xxs"), Size: &size, Tags: &spec.Tags, Zone: spec.Zone,
			Labels: orEmpty(&spec.Labels)}
		if err := addPool(w, is, body); err != nil {
			return err
		}
		p := w.service.Pools.Get(is.Key + "/" + name)
		p.Autoscaled, p.Min, p.Max = spec.Max > 0, spec.Min, cmp.Or(spec.Max, p.Max)
		p.Version = cmp.Or(spec.Version, p.Version)
		return nil
	})
}

// Theirs is a pool as another tool creates it. A Max of zero is no autoscaling.
type Theirs struct {
	NodeType, Zone, Version string
	Size, Min, Max          int
	Tags                    []string
	Labels                  map[string]string
}

// actions returns the actions of the console on pools, whose clusters are named by their names.
func (c *Cloud) actions() sim.OutOfBandActions {
	out := c.Console.Actions("", managed.Spec{})
	for action, do := range out {
		if do == nil {
			continue
		}
		out[action] = func(on sim.Resource) error {
			_ = c.by(func(w *region) error {
				if is := w.clusterNamed("", cmp.Or(on.Cluster, ClusterName)); is != nil {
					on.Cluster = is.Key
				}
				return nil
			})
			return do(on)
		}
	}
	out[sim.CreateGroup] = func(on sim.Resource) error { return c.CreatePool(cmp.Or(on.Cluster, ClusterName), on.Name, Theirs{}) }
	out[sim.CancelRollout], out[sim.FailRollout] = nil, nil
	return out
}

// Snapshot returns what the cloud holds now. The ID of a group is that of the pool.
func (c *Cloud) Snapshot() sim.Snapshot {
	ids := map[string]string{}
	// An error to write shows with the next request.
	_ = c.by(func(w *region) error {
		for key, p := range w.service.Pools.All() {
			ids[key] = idOf(p)
		}
		return nil
	})
	out := c.Console.Snapshot()
	for i := range out.Groups {
		out.Groups[i].ID = ids[out.Groups[i].ID]
	}
	return out
}

// Ignorable returns rules that each ignore one thing that clients can set, without end.
func Ignorable() []sim.Fault {
	return slices.Concat(core.Ignoring(Service, "DeleteNode", ""), core.Ignoring(Service, "DeletePool", ""),
		core.Ignoring(Service, "UpgradePool", ""), core.Ignoring(Service, "SetPoolLabels", ""), core.Ignoring(Service, "SetPoolTaints", ""),
		core.Ignoring(Service, "SetPoolStartupTaints", ""), core.Ignoring(Service, "UpdatePool", "", "size", "tags", "autoscaling", "min_size",
			"max_size", "autohealing", "kubelet_args", "upgrade_policy", "security_group_id"))
}

// Capabilities describes the cloud for callers that do not know which one it is.
func (c *Cloud) Capabilities() sim.Capabilities {
	return sim.Capabilities{
		Snapshot:   c.Snapshot,
		OutOfBand:  c.actions(),
		Denied:     sim.Fault{Code: "permissions_denied", Message: "insufficient permissions", Status: http.StatusForbidden},
		NoCapacity: NoCapacity,
		Groups:     sim.GroupBehavior{Bootstraps: true},
		Ignorable:  Ignorable(),
	}
}

// admin serves what the owner sees over HTTP. Beside what every simulator has: PUT clusters creates or changes a cluster, DELETE
// clusters/{region}/{project}/{name} deletes one, POST pools/{cluster}/{pool}/{action} locks or unlocks a pool.
func (c *Cloud) admin() http.Handler {
	mux := core.OwnersMux(c.Base, func() any { return c.Snapshot() }, c.actions())
	core.Clusters(mux, "clusters", c.PutCluster,
		func(region, _, name string) (bool, error) { return c.DropCluster(region, name) },
		func(w http.ResponseWriter, err error) { http.Error(w, fmt.Sprint(err), toError(err).Status) })
	lock := func(locked bool) func(string, struct{}) error {
		return func(pool string, _ struct{}) error {
			cluster, name, _ := strings.Cut(pool, "/")
			return c.Lock(cluster, name, locked)
		}
	}
	core.PoolActions(mux, "pools", map[string]func(string, struct{}) error{"lock": lock(true), "unlock": lock(false)})
	return mux
}

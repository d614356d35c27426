package oci

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
	"github.com/muster-project/muster/sim/oci/containerengine"
	"github.com/muster-project/muster/sim/oci/rest"
)

// ClusterName is the cluster on which the out-of-band actions work where they name none.
const ClusterName = "managed"

// NoCapacity is part of the message for a machine that there is no capacity for.
const NoCapacity = "Out of host capacity"

// Access is a cluster as its owner makes it, with what the service does not tell: how the API server is reached.
type Access struct {
	Name string `json:"name"`
	// Compartment is Compartment, Version that of the control plane and Type ENHANCED_CLUSTER where they are empty.
	Compartment string `json:"compartmentId,omitempty"`
	Version     string `json:"version,omitempty"`
	Type        string `json:"type,omitempty"`
	// Server is the URL of the API server, CA the certificates by which it is trusted, in PEM, Token the bootstrap token of its nodes.
	Server string `json:"server,omitempty"`
	CA     []byte `json:"ca,omitempty"`
	Token  string `json:"token,omitempty"`
}

// PutCluster creates a cluster by its name, or brings it to another version, where it is not busy. Without a version it changes only the
// access of a cluster that exists. It returns the cluster as clients see it.
func (c *Cloud) PutCluster(want Access) (shown document.Object, err error) {
	err = c.by(func(w *region) error {
		service := w.engine.Managed
		is := w.clusterNamed(want.Name)
		switch {
		case is == nil && want.Version == "":
			return rest.NotFound()
		case is == nil:
			is = &managed.Cluster{Key: w.engine.OCID("cluster", w.NextNumber("cluster")), Name: want.Name, Version: want.Version,
				Doc: document.Object{"compartmentId": cmp.Or(want.Compartment, Compartment), "type": cmp.Or(want.Type, "ENHANCED_CLUSTER"),
					"freeformTags": document.Object{}, "definedTags": document.Object{}}}
			service.CreateCluster(is)
		case want.Version != "" && want.Version != is.Goal && service.Busy(is, nil) == nil:
			service.ChangeCluster(is, want.Version)
		}
		is.Server, is.CA, is.Token = want.Server, want.CA, want.Token
		service.Clusters.Touch(is.Key)
		shown = w.engine.ShowCluster(is)
		return nil
	})
	return shown, err
}

// DropCluster begins to delete a cluster, and reports whether it is gone.
func (c *Cloud) DropCluster(name string) (gone bool, err error) {
	err = c.by(func(w *region) error {
		is := w.clusterNamed(name)
		if gone = is == nil; !gone && is.State != managed.Deleting {
			w.engine.Managed.DeleteCluster(is)
		}
		return nil
	})
	return gone, err
}

// clusterNamed returns the cluster of a name or an OCID, nil if there is none.
func (w *region) clusterNamed(name string) *managed.Cluster {
	for _, c := range w.engine.Managed.Clusters.All() {
		if c.Name == name || c.Key == name {
			return c
		}
	}
	return nil
}

// poolNamed returns the pool of a name or an OCID in a cluster, nil if there is none.
func (w *region) poolNamed(cluster, name string) *managed.Pool {
	c := w.clusterNamed(cluster)
	if c == nil {
		return nil
	}
	for _, p := range w.engine.Managed.PoolsOf(c) {
		if p.Name == name || containerengine.NameOf(p) == name {
			return p
		}
	}
	return nil
}

// CreatePool creates a node pool as another tool does, with all that OKE asks for.
func (c *Cloud) CreatePool(cluster, name string, size int, tags map[string]string) error {
	return c.CreatePoolWith(cluster, name, size, tags, nil)
}

// CreatePoolWith is CreatePool with what a document has of the node pool.
func (c *Cloud) CreatePoolWith(cluster, name string, size int, tags map[string]string, with document.Object) error {
	return c.by(func(w *region) error {
		is := w.clusterNamed(cluster)
		if is == nil {
			return rest.NotFound()
		}
		return w.engine.CreatePool(is, name, size, tags, with)
	})
}

// actions returns the actions of the console on pools, which are named by their names.
func actions(c *Cloud) sim.OutOfBandActions {
	out := c.Console.Actions("", managed.Spec{})
	for action, do := range out {
		if do == nil {
			continue
		}
		out[action] = func(on sim.Resource) error {
			_ = c.by(func(w *region) error {
				if p := w.poolNamed(cmp.Or(on.Cluster, ClusterName), on.Name); p != nil {
					on.Cluster, on.Name = p.Cluster, p.Name
				}
				return nil
			})
			return do(on)
		}
	}
	out[sim.CreateGroup] = func(on sim.Resource) error { return c.CreatePool(cmp.Or(on.Cluster, ClusterName), on.Name, 0, nil) }
	out[sim.SetBounds], out[sim.Autoscale] = nil, nil
	return out
}

// Snapshot returns what the cloud holds now: node pools, instance pools and instance configurations. The ID of a group is the OCID of the
// pool, its name the user's. Nodes of OKE are named by their addresses.
func (c *Cloud) Snapshot() sim.Snapshot {
	names, labels, failing, groups := map[string]string{}, map[string]map[string]string{}, map[string]bool{}, sim.Snapshot{}
	// An error to write shows with the next request.
	_ = c.by(func(w *region) error {
		for _, p := range w.engine.Managed.Pools.All() {
			names[p.Name], labels[p.Name] = containerengine.NameOf(p), containerengine.LabelsOf(p)
		}
		for _, i := range w.engine.Managed.Instances.Rows.All() {
			names[i.ID], failing[i.ID] = i.Address, containerengine.Failing(w.engine, i)
		}
		groups = w.compute.Snapshot()
		return nil
	})
	out := c.Console.Snapshot()
	for i := range out.Groups {
		g := &out.Groups[i]
		g.ID, g.Name, g.Labels = g.Name, names[g.Name], labels[g.Name]
		for k := range g.Members {
			m := &g.Members[k]
			m.Name, m.Ref, m.Failed = names[m.ID], m.ID, m.Failed || failing[m.ID]
		}
	}
	for i := range out.Instances {
		out.Instances[i].Group = names[out.Instances[i].Group]
	}
	out.Groups, out.Instances = append(out.Groups, groups.Groups...), append(out.Instances, groups.Instances...)
	out.Templates = groups.Templates
	return out
}

// Ignorable returns rules that each ignore one thing that clients can set, without end.
func Ignorable() []sim.Fault {
	const service = containerengine.Name
	return slices.Concat(core.Ignoring(service, "DeleteNode", ""), core.Ignoring(service, "DeleteNodePool", ""),
		core.Ignoring(service, "DeleteVirtualNodePool", ""), core.Ignoring(service, "UpdateVirtualNodePool", "", "size", "taints",
			"podConfiguration", "initialVirtualNodeLabels", "freeformTags", "placementConfigurations"),
		core.Ignoring(service, "UpdateNodePool", "", "nodeConfigDetails.size", "kubernetesVersion", "nodeShape", "nodeSourceDetails",
			"initialNodeLabels", "freeformTags", "nodeEvictionNodePoolSettings", "nodePoolCyclingDetails"))
}

// Capabilities describes the cloud for callers that do not know which one it is.
func (c *Cloud) Capabilities() sim.Capabilities {
	return sim.Capabilities{
		Snapshot:   c.Snapshot,
		OutOfBand:  actions(c),
		Denied:     sim.Fault{Code: "NotAuthorizedOrNotFound", Message: rest.NotFound().Message, Status: http.StatusNotFound},
		NoCapacity: NoCapacity,
		Groups:     sim.GroupBehavior{BusyAfterChange: true, Bootstraps: true, HidesCreationTimes: true},
		Ignorable:  Ignorable(),
	}
}

// admin serves what the owner sees over HTTP. Beside what every simulator has: PUT clusters creates or changes a cluster, DELETE
// clusters/{region}/{compartment}/{name} deletes one, POST pools/{cluster}/{pool}/fail ends what runs on a node pool with a failure, POST
// machines/{id}/{action} acts on an instance of an instance pool, PUT configurations and limits take what PointAt and SetLimit take.
func admin(c *Cloud) http.Handler {
	mux := core.OwnersMux(c.Base, func() any { return c.Snapshot() }, groupActions(c).WithPools(actions(c)))
	core.Actions(mux, "machines", machineActions(c))
	core.Put(mux, "configurations", http.StatusConflict, c.PointAt)
	core.Put(mux, "limits", http.StatusBadRequest, c.SetLimit)
	core.Clusters(mux, "clusters", c.PutCluster, func(_, _, name string) (bool, error) { return c.DropCluster(name) },
		func(w http.ResponseWriter, err error) { http.Error(w, fmt.Sprint(err), rest.ToError(err).Status) })
	core.PoolActions(mux, "pools", map[string]func(string, managed.Failure) error{"fail": func(pool string, f managed.Failure) error {
		cluster, name, _ := strings.Cut(pool, "/")
		var key string
		err := c.by(func(w *region) error {
			p := w.poolNamed(cluster, name)
			if p == nil {
				return rest.NotFound()
			}
			key = p.Key()
			return nil
		})
		if err != nil {
			return err
		}
		return c.Console.Fail(key, &f)
	}})
	return mux
}

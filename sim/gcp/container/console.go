package container

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// Console makes changes out of band, as a user or GKE itself would: without requests, tokens and faults. Node pools are named as
// "cluster/pool".
type Console struct {
	by func(func(*Service) error) error
}

// NewConsole returns a console whose actions are run by the function.
func NewConsole(by func(func(*Service) error) error) Console { return Console{by} }

// DesiredCluster is a cluster that another provider requests.
type DesiredCluster struct {
	Project  string `json:"project"`
	Location string `json:"location"`
	Name     string `json:"name"`
	// Body is the description of the cluster. Its node pools matter when it is created; there need be none.
	Body document.Object `json:"body"`
	// Access describes the access to the cluster's API server.
	Access Access `json:"access"`
}

// PutCluster creates a cluster, or upgrades its control plane to the desired version, and returns the result. While another operation runs,
// an upgrade is rejected with GKE's error.
func (k Console) PutCluster(want DesiredCluster) (Inspected, error) {
	var out Inspected
	err := k.by(func(w *Service) error {
		c, err := w.provision(want)
		if err == nil {
			out = w.inspectCluster(c)
		}
		return err
	})
	return out, err
}

// provision brings a cluster to what is wanted.
func (w *Service) provision(want DesiredCluster) (*Cluster, error) {
	body := document.Copied(want.Body)
	if body == nil {
		body = document.Object{}
	}
	c := w.rows.clusters.Get(clusterKey(want.Project, want.Location, want.Name))
	if c == nil {
		body["name"] = want.Name
		made, err := w.clusters.make(want.Project, want.Location, body, document.Objects(body, "nodePools"))
		if err != nil {
			return nil, err
		}
		w.give(made, want.Access)
		w.clusters.begin(made)
		return made, nil
	}
	w.give(c, want.Access)
	version := document.Text(body, "initialClusterVersion")
	if version == "" || c.Op != "" || c.Master == version || strings.HasPrefix(c.Master, version+"-") ||
		strings.HasPrefix(c.Master, version+".") {
		return c, nil
	}
	_, err := w.clusters.upgrade(c, version)
	return c, err
}

// give makes known how the API server of a cluster is reached.
func (w *Service) give(c *Cluster, a Access) {
	if c.Access.Endpoint == a.Endpoint && bytes.Equal(c.Access.CA, a.CA) && c.Access.Token == a.Token {
		return
	}
	c.Access = a
	w.rows.clusters.Touch(c.key())
}

// PutAccess makes known how the API server of a cluster is reached.
func (k Console) PutAccess(cluster string, a Access) error {
	return k.onCluster(cluster, func(w *Service, c *Cluster) error {
		w.give(c, a)
		return nil
	})
}

// DeleteCluster begins to delete a cluster with its node pools. It reports whether the cluster is gone.
func (k Console) DeleteCluster(id, location, name string) (gone bool, err error) {
	err = k.by(func(w *Service) error {
		c := w.rows.clusters.Get(clusterKey(id, location, name))
		gone = c == nil
		if gone || c.Status == stopping {
			return nil
		}
		if err := open(w.core, c); err != nil {
			return err
		}
		w.clusters.remove(c)
		return nil
	})
	return gone, err
}

// UpgradeMaster upgrades the control plane of a cluster.
func (k Console) UpgradeMaster(cluster, version string) error {
	return k.onCluster(cluster, func(w *Service, c *Cluster) error {
		_, err := w.clusters.upgrade(c, version)
		return err
	})
}

// UpgradePool upgrades the nodes of a node pool to a version; with an empty one GKE does it by itself, to that of the control plane.
func (k Console) UpgradePool(pool, version string) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		op, err := w.nodePools.renew(c, p, document.Object{"nodeVersion": version})
		if err == nil {
			op.Automatic = version == ""
		}
		return err
	})
}

// UpdatePool changes a node pool as a request of nodePools.update would.
func (k Console) UpdatePool(pool string, update document.Object) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		_, err := w.nodePools.renew(c, p, update)
		return err
	})
}

// ResizePool gives each zone of a node pool a number of nodes.
func (k Console) ResizePool(pool string, nodes int) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		_, err := w.nodePools.resize(c, p, nodes)
		return err
	})
}

// CreatePool creates a node pool with so many machines of a type in each zone.
func (k Console) CreatePool(pool, machineType string, nodes int) error {
	cluster, name, _ := strings.Cut(pool, "/")
	return k.onCluster(cluster, func(w *Service, c *Cluster) error {
		_, err := w.nodePools.add(c, document.Object{"name": name, "initialNodeCount": float64(nodes),
			"config": document.Object{"machineType": machineType}})
		return err
	})
}

// DeletePool deletes a node pool.
func (k Console) DeletePool(pool string) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		_, err := w.nodePools.remove(c, p)
		return err
	})
}

// Autoscale lets GKE's autoscaler bring a node pool that it scales to a number of nodes. It resizes the groups, without an operation.
func (k Console) Autoscale(pool string, nodes int) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		minNodes, maxNodes := p.bounds()
		switch {
		case !p.autoscaled():
			return fmt.Errorf("node pool %s is not scaled by the autoscaler", p.Name)
		case p.Op != "":
			return fmt.Errorf("the autoscaler leaves node pool %s alone while an operation runs", p.Name)
		case nodes < minNodes || nodes > maxNodes:
			return fmt.Errorf("node pool %s may have %d to %d nodes, not %d", p.Name, minNodes, maxNodes, nodes)
		}
		for i, g := range p.Groups {
			share := nodes / len(p.Groups)
			if i < nodes%len(p.Groups) {
				share++
			}
			w.groups.resize(groupPath(c, g), share)
		}
		return nil
	})
}

// bounds returns the minimum and maximum number of nodes for the autoscaler.
func (p *Pool) bounds() (minNodes, maxNodes int) {
	a := document.Under(p.Doc, "autoscaling")
	if total := number(a, "totalMaxNodeCount"); total > 0 {
		return number(a, "totalMinNodeCount"), total
	}
	return number(a, "minNodeCount") * len(p.zones()), number(a, "maxNodeCount") * len(p.zones())
}

// Repair lets GKE repair a node: it is drained and created again under its name.
func (k Console) Repair(pool, node string) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		if !document.Truth(p.Doc, "management.autoRepair") {
			return fmt.Errorf("automatic repairs of node pool %s are off", p.Name)
		}
		if err := openPool(w.core, c, p); err != nil {
			return err
		}
		for _, m := range w.groups.machinesOf(c, p) {
			if m.Key != node {
				continue
			}
			w.life.begin(c, p, "AUTO_REPAIR_NODES")
			p.Repair = node
			w.rolls.keepSizes(c, p)
			w.nodes.Leave(p.Leaving, m)
			return nil
		}
		return fmt.Errorf("node pool %s has no node %s", p.Name, node)
	})
}

// FailPool lets the operation that runs on a node pool fail with a condition of GKE.
func (k Console) FailPool(pool, code, message string) error {
	return k.onPool(pool, func(w *Service, c *Cluster, p *Pool) error {
		if p.Op == "" {
			return fmt.Errorf("node pool %s has no operation that can fail", p.Name)
		}
		if p.Roll != nil && p.Roll.Blue == nil {
			p.Roll = nil
		}
		w.life.finish(c, p, []Condition{{Code: code, Canonical: "RESOURCE_EXHAUSTED", Message: message}})
		return nil
	})
}

func (k Console) onCluster(name string, f func(*Service, *Cluster) error) error {
	return k.by(func(w *Service) error {
		for _, c := range w.rows.clusters.All() {
			if c.Name == name {
				return f(w, c)
			}
		}
		return fmt.Errorf("there is no cluster %s", name)
	})
}

func (k Console) onPool(name string, f func(*Service, *Cluster, *Pool) error) error {
	cluster, pool, _ := strings.Cut(name, "/")
	return k.onCluster(cluster, func(w *Service, c *Cluster) error {
		if p := w.rows.pools.Get(poolKey(c.key(), pool)); p != nil {
			return f(w, c, p)
		}
		return fmt.Errorf("there is no node pool %s", name)
	})
}

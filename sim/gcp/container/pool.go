package container

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/container/nodeconfig"
	"github.com/muster-project/muster/sim/gcp/container/versions"
	"github.com/muster-project/muster/sim/gcp/project"
)

func (w *nodePools) get(x *project.Call) (*project.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.pool(c, p)), nil
}

func (w *nodePools) list(x *project.Call) (*project.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	d := document.Object{}
	var all []any
	for _, p := range w.rows.poolsOf(c) {
		all = append(all, w.views.pool(c, p))
	}
	put(d, "nodePools", all)
	return project.OK(d), nil
}

// create creates a node pool.
func (w *nodePools) create(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "CreateNodePoolRequest")
	if err != nil {
		return nil, err
	}
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	d := document.Under(body, "nodePool")
	if d == nil {
		return nil, badRequest("Node_pool is required.")
	}
	op, err := w.add(c, d)
	if err != nil {
		return nil, err
	}
	return w.views.begun(op), nil
}

// add begins to create a node pool in a cluster at rest.
func (w *nodePools) add(c *Cluster, d document.Object) (*operation, error) {
	p, err := w.make(c, d)
	if err != nil {
		return nil, err
	}
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	w.rows.pools.Put(p.key(), p)
	op := w.life.begin(c, p, "CREATE_NODE_POOL")
	p.Status = provisioning
	return op, nil
}

// make checks a new node pool. It is not kept.
func (w *nodePools) make(c *Cluster, d document.Object) (*Pool, error) {
	name := document.Text(d, "name")
	if w.rows.pools.Get(poolKey(c.key(), name)) != nil {
		return nil, alreadyExists(c.path() + "/nodePools/" + name)
	}
	version, refusal := versions.Node(document.Text(d, "version"), c.Master)
	nodeconfig.Defaults(d, c.shared())
	for _, check := range []func() string{
		func() string { return refusal },
		func() string { return nodeconfig.Check(d, c.shared()) },
		func() string {
			return versions.CheckNodes(version, c.Master, document.Truth(d, "management.autoUpgrade"))
		},
		func() string { return checkMachines(d) },
	} {
		if refusal := check(); refusal != "" {
			return nil, badRequest(refusal)
		}
	}
	delete(d, "version")
	p := &Pool{
		Cluster: c.key(), Name: name, Number: w.core.NextNumber("gke-pool"), Doc: d, Current: version, Wanted: version,
		Size: number(d, "initialNodeCount"), Generation: 1, Last: 1, Revision: 1,
	}
	w.zones(c, p)
	return p, nil
}

// zones adds groups for the zones of a node pool that have none. They get as many nodes as the pool was given last for a zone.
func (w *nodePools) zones(c *Cluster, p *Pool) {
	for _, zone := range p.zones() {
		if !slices.ContainsFunc(p.Groups, func(g *group) bool { return g.Zone == zone }) {
			size := p.Size
			p.Groups = append(p.Groups, &group{Zone: zone, Name: w.models.groupName(c, p, zone), Want: &size})
		}
	}
}

// checkMachines refuses machine types and zones that Compute Engine does not have.
func checkMachines(d document.Object) string {
	machine := document.Text(d, "config.machineType")
	for _, zone := range document.Texts(d, "locations") {
		if project.RegionOf(zone) == "" {
			return fmt.Sprintf("Location %q does not exist.", zone)
		}
		if catalogue.FindMachineType(machine) == nil {
			return fmt.Sprintf("Machine type with name %q does not exist in zone %q.", machine, zone)
		}
	}
	return ""
}

// drop deletes a node pool.
func (w *nodePools) drop(x *project.Call) (*project.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	op, err := w.remove(c, p)
	if err != nil {
		return nil, err
	}
	return w.views.begun(op), nil
}

// remove begins to delete a node pool of a cluster at rest.
func (w *nodePools) remove(c *Cluster, p *Pool) (*operation, error) {
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	op := w.life.begin(c, p, "DELETE_NODE_POOL")
	p.Status = stopping
	return op, nil
}

// setSize gives each zone of a node pool a number of nodes.
func (w *nodePools) setSize(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "SetNodePoolSizeRequest")
	if err != nil {
		return nil, err
	}
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	op, err := w.resize(c, p, number(body, "nodeCount"))
	if err != nil {
		return nil, err
	}
	return w.views.begun(op), nil
}

// resize begins to give each zone of a node pool a number of nodes.
func (w *nodePools) resize(c *Cluster, p *Pool, nodes int) (*operation, error) {
	if err := badRequest(nodeconfig.CheckSize(nodes)); err != nil {
		return nil, err
	}
	if err := openPool(w.core, c, p); err != nil {
		return nil, err
	}
	op := w.life.begin(c, p, "SET_NODE_POOL_SIZE")
	p.Size = nodes
	if !w.core.Switches.On(KeepsInitialSize) {
		p.Doc["initialNodeCount"] = float64(nodes)
		if nodes == 0 {
			delete(p.Doc, "initialNodeCount")
		}
	}
	for _, g := range p.Groups {
		g.Want = &nodes
	}
	return op, nil
}

// setAutoscaling replaces the settings of a node pool's autoscaler.
func (w *nodePools) setAutoscaling(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "SetNodePoolAutoscalingRequest")
	if err != nil {
		return nil, err
	}
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	requested := document.Under(body, "autoscaling")
	if err := badRequest(nodeconfig.CheckAutoscaling(requested)); err != nil {
		return nil, err
	}
	if err := openPool(w.core, c, p); err != nil {
		return nil, err
	}
	op := w.life.begin(c, p, "UPDATE_CLUSTER")
	nodeconfig.SetAutoscaling(p.Doc, requested)
	return w.views.begun(op), nil
}

// setManagement sets automatic repairs and upgrades of nodes. Other operations may run at the same time.
func (w *nodePools) setManagement(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "SetNodePoolManagementRequest")
	if err != nil {
		return nil, err
	}
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	requested := document.Under(body, "management")
	if requested == nil {
		requested = document.Object{}
	}
	if err := badRequest(nodeconfig.CheckManagement(requested, c.shared().Channel)); err != nil {
		return nil, err
	}
	p.Doc["management"] = requested
	w.rows.touchPool(p)
	return w.views.begun(w.life.beside(c, p, "SET_NODE_POOL_MANAGEMENT")), nil
}

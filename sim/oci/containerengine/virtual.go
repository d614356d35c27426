package containerengine

import (
	"slices"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/rest"
)

// virtual reports whether a pool is one of virtual nodes.
func virtual(p *managed.Pool) bool { return p.Doc["podConfiguration"] != nil }

// labelsMember returns the member that has the labels of the nodes of a pool.
func labelsMember(p *managed.Pool) string {
	if virtual(p) {
		return "initialVirtualNodeLabels"
	}
	return "initialNodeLabels"
}

// taintsOf returns the taints with which virtual nodes register.
func taintsOf(p *managed.Pool) (out []sim.Taint) {
	for _, t := range document.Objects(p.Doc, "taints") {
		out = append(out, sim.Taint{Key: document.Text(t, "key"), Value: document.Text(t, "value"), Effect: document.Text(t, "effect")})
	}
	return out
}

// virtualSpec returns the specification of a virtual node pool that a document describes, or why there is none. Its version is that of the
// cluster.
func (s *Service) virtualSpec(c *managed.Cluster, doc document.Object) (managed.Spec, error) {
	delete(doc, "kubernetesVersion")
	size, _ := document.Number(doc, "size")
	spec := managed.Spec{Version: c.Version, Type: document.Text(doc, "podConfiguration.shape"), Count: size, Doc: doc,
		Drain: drain(mostDrain, false), Surge: "1", Missing: "0"}
	switch {
	case document.Text(c.Doc, "type") != "ENHANCED_CLUSTER":
		return spec, rest.Invalid("Virtual node pools are supported for enhanced clusters only.")
	case !slices.Contains(podShapes, spec.Type):
		return spec, rest.Invalid("Invalid podConfiguration.shape: Pod shape %s is unavailable.", spec.Type)
	}
	for _, check := range []func(*managed.Cluster, *managed.Spec) error{s.checkPlacement, checkCycling} {
		if err := check(c, &spec); err != nil {
			return spec, err
		}
	}
	for _, placement := range placements(doc) {
		spec.Zones = append(spec.Zones, document.Text(placement, "availabilityDomain"))
	}
	spec.Image = hashOf(doc)
	return spec, nil
}

func createVirtualNodePool(s *Service, x *rest.Exchange) (rest.Reply, error) {
	body, err := x.Read(types(), "CreateVirtualNodePoolDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	c, err := clusterOf(s, x, body)
	if err != nil {
		return rest.Reply{}, err
	}
	return s.create(c, body, "virtualnodepool", "displayName", s.virtualSpec)
}

func updateVirtualNodePool(s *Service, x *rest.Exchange, c *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	body, err := x.Read(types(), "UpdateVirtualNodePoolDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	return s.update(x, c, p, body, s.virtualSpec, "Vnp")
}

func deleteVirtualNodePool(s *Service, x *rest.Exchange, c *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	return s.remove(x, c, p, "Vnp")
}

// showVirtual returns a virtual node pool, with more members than clients see.
func showVirtual(s *Service, p *managed.Pool) document.Object {
	out := s.showPool(p)
	out["size"] = p.Count
	return out
}

func getVirtualNodePool(s *Service, _ *rest.Exchange, _ *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	return rest.Shown(rest.Only(types(), "VirtualNodePool", showVirtual(s, p)), etag(p)), nil
}

func listVirtualNodePools(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var all []document.Object
	for _, p := range s.Managed.Pools.All() {
		if virtual(p) {
			all = append(all, showVirtual(s, p))
		}
	}
	all = append(all, deleted(s, true)...)
	return x.List(s.State, byName("VirtualNodePoolSummary", "displayName",
		map[string]string{"name": "displayName", "lifecycleState": "lifecycleState", "clusterId": "clusterId"}), all)
}

// showVirtualNode returns a virtual node, with more members than clients see.
func showVirtualNode(s *Service, p *managed.Pool, i *managed.Instance) document.Object {
	out := showNode(s, p, i)
	out["displayName"], out["virtualNodePoolId"] = i.Name, p.Name
	if state := document.Text(out, "lifecycleState"); state == "FAILING" || state == "INACTIVE" {
		out["lifecycleState"] = "FAILED"
	}
	if failure := document.Text(out, "nodeError.message"); failure != "" {
		out["virtualNodeError"] = failure
	}
	return out
}

func listVirtualNodes(s *Service, x *rest.Exchange, _ *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	var all []document.Object
	for _, i := range s.Managed.Instances.Of(p.Key()) {
		all = append(all, showVirtualNode(s, p, i))
	}
	return x.Page(s.State, byName("VirtualNodeSummary", "displayName", map[string]string{"name": "displayName"}), all)
}

func getVirtualNode(s *Service, x *rest.Exchange, _ *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	for _, i := range s.Managed.Instances.Of(p.Key()) {
		if i.ID == x.Vars["virtualNodeId"] {
			return rest.Shown(rest.Only(types(), "VirtualNode", showVirtualNode(s, p, i)), ""), nil
		}
	}
	return rest.Reply{}, rest.NotFound()
}

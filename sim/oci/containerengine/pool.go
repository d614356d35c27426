package containerengine

import (
	"errors"
	"slices"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/rest"
)

// onPool finds the node pool of a request, or the virtual one.
func onPool(param string, run func(*Service, *rest.Exchange, *managed.Cluster, *managed.Pool) (rest.Reply, error),
) func(*Service, *rest.Exchange) (rest.Reply, error) {
	return func(s *Service, x *rest.Exchange) (rest.Reply, error) {
		for _, p := range s.Managed.Pools.All() {
			if p.Name == x.Vars[param] && virtual(p) == (param == "virtualNodePoolId") {
				return run(s, x, s.Managed.Clusters.Get(p.Cluster), p)
			}
		}
		if row := s.gone.Get(x.Vars[param]); row != nil && x.Request.Method == "GET" {
			return rest.Shown(rest.Only(types(), row.shape(), row.Doc), ""), nil
		}
		return rest.Reply{}, rest.NotFound()
	}
}

// etag returns the etag of a pool.
func etag(p *managed.Pool) string { return rest.Etag(p.Name, p.Revision) }

// open refuses a change of a pool in a state that allows none.
func (s *Service) open(c *managed.Cluster, p *managed.Pool) error {
	kind := "Nodepool"
	if virtual(p) {
		kind = "Virtual node pool"
	}
	switch {
	case c.State == managed.Deleting || c.State == managed.Creating:
		return rest.IncorrectState("Cluster %s is in the state %s.", c.Key, clusterStates[c.State])
	case p.State == managed.Deleting, p.Op != "" && (p.State == managed.Creating || p.State == managed.Upgrading || s.Switches.On(BusyPools)):
		return rest.IncorrectState("%s %s is in the state %s.", kind, p.Name, s.poolState(p))
	}
	return nil
}

func createNodePool(s *Service, x *rest.Exchange) (rest.Reply, error) {
	body, err := x.Read(types(), "CreateNodePoolDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	c, err := clusterOf(s, x, body)
	if err != nil {
		return rest.Reply{}, err
	}
	return s.create(c, body, "nodepool", "name", s.specOf)
}

// clusterOf returns the cluster that the body of a request names, in which pools can be created.
func clusterOf(s *Service, x *rest.Exchange, body document.Object) (*managed.Cluster, error) {
	if _, err := x.Compartment(document.Text(body, "compartmentId")); err != nil {
		return nil, err
	}
	c := s.Managed.Clusters.Get(document.Text(body, "clusterId"))
	switch {
	case c == nil:
		return nil, rest.NotFound()
	case c.State == managed.Deleting || c.State == managed.Creating:
		return nil, rest.IncorrectState("Cluster %s is in the state %s.", c.Key, clusterStates[c.State])
	}
	delete(body, "clusterId")
	return c, nil
}

// create creates a pool that the body of a request describes.
func (s *Service) create(c *managed.Cluster, body document.Object, kind, name string,
	specOf func(*managed.Cluster, document.Object) (managed.Spec, error),
) (rest.Reply, error) {
	spec, err := specOf(c, body)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := room(s, c, nil, spec.Count); err != nil {
		return rest.Reply{}, err
	}
	if s.Switches.On(UniqueNames) && slices.ContainsFunc(s.Managed.PoolsOf(c), func(p *managed.Pool) bool {
		return NameOf(p) == document.Text(body, name)
	}) {
		return rest.Reply{}, rest.Conflict("A node pool with the name %s exists in the cluster.", document.Text(body, name))
	}
	p := &managed.Pool{Name: s.OCID(kind, s.NextNumber("pool")), Spec: spec}
	return s.accepted(s.Managed.CreatePool(c, p), nil), nil
}

// CreatePool creates a node pool in a cluster as another tool does: of the newest image, and with what a document has of it.
func (s *Service) CreatePool(c *managed.Cluster, name string, size int, tags map[string]string, with document.Object) error {
	placements := []any{}
	for _, domain := range s.options.Domains {
		placements = append(placements, document.Object{"availabilityDomain": domain, "subnetId": s.OCID("subnet", domain)})
	}
	doc := document.Object{
		"name": name, "compartmentId": c.Doc["compartmentId"], "nodeShape": "VM.Standard.E4.Flex", "freeformTags": document.OfStrings(tags),
		"nodeSourceDetails": document.Object{"sourceType": "IMAGE", "imageId": newest(s, c.Version, false)},
		"nodeConfigDetails": document.Object{"size": size, "placementConfigs": placements},
	}
	spec, err := s.specOf(c, merged(doc, with))
	if err == nil {
		s.Managed.CreatePool(c, &managed.Pool{Name: s.OCID("nodepool", s.NextNumber("pool")), Spec: spec})
	}
	return err
}

func updateNodePool(s *Service, x *rest.Exchange, c *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	body, err := x.Read(types(), "UpdateNodePoolDetails")
	if err != nil {
		return rest.Reply{}, err
	}
	return s.update(x, c, p, body, s.specOf, "")
}

// update changes a pool by the body of a request.
func (s *Service) update(x *rest.Exchange, c *managed.Cluster, p *managed.Pool, body document.Object,
	specOf func(*managed.Cluster, document.Object) (managed.Spec, error), suffix string,
) (rest.Reply, error) {
	if err := errors.Join(x.Match(etag(p)), s.open(c, p)); err != nil {
		return rest.Reply{}, err
	}
	asked := cycles(body)
	next, err := specOf(c, changed(s, p, body, asked))
	if err != nil {
		return rest.Reply{}, err
	}
	if next.Drain, err = override(x, next.Drain, suffix); err != nil {
		return rest.Reply{}, err
	}
	if err := room(s, c, p, next.Count); err != nil {
		return rest.Reply{}, err
	}
	if asked && !slices.Equal(p.Zones, next.Zones) {
		return rest.Reply{}, rest.Conflict("Cannot perform nodepool cycling and nodepool Placement Configuration change simultaneously.")
	}
	before, doing := p.Spec, managed.Updating
	switch {
	case cycles(next.Doc) && (asked || !s.Switches.On(CyclesOnRequest)) && stale(s, p, next):
		doing = managed.Upgrading
	case next.Count != p.Count:
		doing = managed.Scaling
	}
	op := s.Managed.ChangePoolBy(c, p, next, doing)
	leaveDomains(s, p)
	return s.accepted(op, &before), nil
}

// changed returns the document of a pool with what the body of a request changes of it. What it does not name stays, also the size and the
// version.
func changed(s *Service, p *managed.Pool, body document.Object, cycled bool) document.Object {
	doc, size := merged(p.Doc, body), "nodeConfigDetails.size"
	document.Preset(doc, "kubernetesVersion", p.Version)
	if virtual(p) {
		size = "size"
	}
	if document.Dig(body, size) == nil {
		document.Place(doc, size, float64(p.Count))
	}
	if cycled && s.Switches.On(CyclesAll) {
		doc["generation"] = float64(p.Revision)
	}
	return doc
}

// leaveDomains begins to delete the nodes of a pool that are in no availability domain of its placement.
func leaveDomains(s *Service, p *managed.Pool) {
	for _, m := range s.Managed.Instances.Living(p) {
		if i := s.Managed.Instances.Rows.Get(m.Key); !slices.Contains(p.Zones, i.Zone) && p.Leaving[m.Key] == nil {
			s.Managed.Nodes.Leave(p.Leaving, m)
		}
	}
}

func deleteNodePool(s *Service, x *rest.Exchange, c *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	return s.remove(x, c, p, "")
}

// remove deletes a pool.
func (s *Service) remove(x *rest.Exchange, c *managed.Cluster, p *managed.Pool, suffix string) (rest.Reply, error) {
	if err := x.Match(etag(p)); err != nil {
		return rest.Reply{}, err
	}
	if p.State == managed.Deleting {
		return rest.Reply{}, rest.IncorrectState("Nodepool %s is in the state DELETING.", p.Name)
	}
	how, err := override(x, p.Drain, suffix)
	if err != nil {
		return rest.Reply{}, err
	}
	p.Drain = how
	return s.accepted(s.Managed.DeletePool(c, p), nil), nil
}

func getNodePool(s *Service, _ *rest.Exchange, _ *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	return rest.Shown(rest.Only(types(), "NodePool", s.showPool(p)), etag(p)), nil
}

func listNodePools(s *Service, x *rest.Exchange) (rest.Reply, error) {
	var all []document.Object
	for _, p := range s.Managed.Pools.All() {
		if !virtual(p) {
			all = append(all, s.showPool(p))
		}
	}
	all = append(all, deleted(s, false)...)
	return x.List(s.State, byName("NodePoolSummary", "name",
		map[string]string{"name": "name", "lifecycleState": "lifecycleState", "clusterId": "clusterId"}), all)
}

// deleteNode drains a node and deletes its machine. The size of its pool falls by one, or another node takes its place.
func deleteNode(s *Service, x *rest.Exchange, c *managed.Cluster, p *managed.Pool) (rest.Reply, error) {
	if err := x.Match(etag(p)); err != nil {
		return rest.Reply{}, err
	}
	all := s.Managed.Instances.Of(p.Key())
	at := slices.IndexFunc(all, func(i *managed.Instance) bool { return i.ID == x.Vars["nodeId"] })
	if at < 0 {
		return rest.Reply{}, rest.NotFound()
	}
	fewer, err := x.Truth("isDecrementSize", true)
	if err != nil {
		return rest.Reply{}, err
	}
	how, err := override(x, p.Drain, "")
	if err != nil {
		return rest.Reply{}, err
	}
	if all[at].Deleting || p.Leaving[all[at].Key] != nil && p.Op != "" {
		return rest.Reply{}, rest.Conflict("Node %s is being deleted.", all[at].ID)
	}
	if err := s.open(c, p); err != nil {
		return rest.Reply{}, err
	}
	before := p.Spec
	op := s.Managed.DeleteMachines(c, p, !fewer, all[at])
	p.Leaving[all[at].Key].How = &how
	return s.accepted(op, &before), nil
}

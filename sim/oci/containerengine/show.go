package containerengine

import (
	"maps"
	"strconv"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/rest"
)

// registerTimeout is the message for nodes that did not join in time.
const registerTimeout = " nodes(s) register timeout. First, confirm that network prerequisites have been met."

// worded returns a failure in the service's words: the code, the message and the status of the request that failed.
func worded(f *managed.Failure) (code, message, status string) {
	switch f.Code {
	case "OutOfCapacity":
		return "InternalError", "Out of host capacity.", "500"
	case "NodesNotReady":
		return "RegisterTimeout", f.Message, "504"
	}
	return f.Code, f.Message, "400"
}

// poolState returns the state of a pool.
func (s *Service) poolState(p *managed.Pool) string {
	switch p.State {
	case managed.Creating:
		if s.Switches.On(ActiveEarly) && !s.Now.Before(p.Created.Add(s.Life(lifeAccept))) {
			return "ACTIVE"
		}
		return "CREATING"
	case managed.Deleting:
		return "DELETING"
	case managed.Running:
		return "ACTIVE"
	case managed.Failed:
		if last := managed.LastOperation(s.Managed, p); last != nil && last.Doing == managed.Creating && s.Switches.On(FailsPools) {
			return "FAILED"
		}
		return "NEEDS_ATTENTION"
	}
	return "UPDATING"
}

// showPool returns a pool with its nodes, with more members than clients see.
func (s *Service) showPool(p *managed.Pool) document.Object {
	out := document.Copied(p.Doc)
	if !s.Switches.On(OmitsDefaults) {
		document.Preset(out, "nodeEvictionNodePoolSettings.evictionGraceDuration", "PT60M")
		document.Preset(out, "nodeEvictionNodePoolSettings.isForceDeleteAfterGraceDuration", false)
		document.Preset(out, "freeformTags", document.Object{})
		document.Preset(out, "definedTags", document.Object{})
		document.Preset(out, "initialNodeLabels", []any{})
	}
	document.Place(out, "nodeConfigDetails.size", float64(p.Count))
	maps.Copy(out, document.Object{
		"id": p.Name, "clusterId": p.Cluster, "kubernetesVersion": "v" + p.Version, "lifecycleState": s.poolState(p),
		"timeCreated": rest.Stamp(p.Created), "timeUpdated": rest.Stamp(p.Updated), "nodes": showNodes(s, p),
	})
	if is, known := imageByID(s, imageOf(p)); known {
		out["nodeSource"] = document.Object{"sourceType": "IMAGE", "imageId": is.id, "sourceName": is.name}
		out["nodeImageId"], out["nodeImageName"] = is.id, is.name
	}
	if p.Failure != nil {
		_, out["lifecycleDetails"], _ = worded(counted(s, p))
	}
	return out
}

// counted returns the failure of a pool, with the number of its nodes that did not join.
func counted(s *Service, p *managed.Pool) *managed.Failure {
	f := *p.Failure
	if f.Code == "NodesNotReady" {
		late := 0
		for _, i := range s.Managed.Instances.Of(p.Key()) {
			if !i.Deleting && !joined(s, i) {
				late++
			}
		}
		f.Message = strconv.Itoa(late) + registerTimeout
	}
	return &f
}

// nodeState returns the state of a node.
func nodeState(s *Service, p *managed.Pool, i *managed.Instance) string {
	switch {
	case i.Deleting:
		return "DELETING"
	case p.Leaving[i.Key] != nil && p.InPlace && p.State == managed.Upgrading, i.Rebuilt:
		return "UPDATING"
	case p.Leaving[i.Key] != nil:
		return "DELETING"
	case i.Stopped:
		return "INACTIVE"
	case joined(s, i):
		return "ACTIVE"
	case p.State == managed.Failed && !s.Switches.On(HidesNodeErrors):
		return "FAILING"
	}
	return "CREATING"
}

// Failing reports whether a node is one that OKE has given up.
func Failing(s *Service, i *managed.Instance) bool {
	p := s.Managed.Pools.Get(i.Pool)
	return p != nil && !virtual(p) && nodeState(s, p, i) == "FAILING"
}

// showNodes returns the nodes of a pool. Those for which there is no machine have no ID.
func showNodes(s *Service, p *managed.Pool) []any {
	out, staying := []any{}, 0
	for _, i := range s.Managed.Instances.Of(p.Key()) {
		if !i.Deleting && p.Leaving[i.Key] == nil {
			staying++
		}
		out = append(out, rest.Only(types(), "Node", showNode(s, p, i)))
	}
	if p.Lacking == nil || p.State == managed.Deleting {
		return out
	}
	for ; staying < p.Count; staying++ {
		node := document.Object{"nodePoolId": p.Name, "lifecycleState": "CREATING", "kubernetesVersion": "v" + p.Version}
		if !s.Switches.On(HidesNodeErrors) {
			node["lifecycleState"], node["nodeError"] = "FAILING", nodeError(p.Lacking)
		}
		out = append(out, node)
	}
	return out
}

// nodeError returns a failure as nodes show it.
func nodeError(f *managed.Failure) document.Object {
	code, message, status := worded(f)
	return document.Object{"code": code, "message": message, "status": status}
}

func showNode(s *Service, p *managed.Pool, i *managed.Instance) document.Object {
	state := nodeState(s, p, i)
	out := document.Object{
		"id": i.ID, "name": i.Name, "nodePoolId": p.Name, "availabilityDomain": i.Zone, "faultDomain": faultDomain(p, i),
		"kubernetesVersion": "v" + i.Version, "lifecycleState": state, "privateIp": i.Address, "timeCreated": rest.Stamp(i.Created),
		"freeformTags": document.Object{}, "definedTags": document.Object{},
	}
	if row := s.nodes.Get(i.Key); row != nil {
		out["freeformTags"] = document.OfStrings(row.Tags)
	}
	for _, placement := range placements(p.Doc) {
		if document.Text(placement, "availabilityDomain") == i.Zone {
			out["subnetId"] = placement["subnetId"]
		}
	}
	if state == "FAILING" {
		out["nodeError"] = nodeError(counted(s, p))
	}
	return out
}

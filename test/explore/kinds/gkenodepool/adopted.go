package gkenodepool

import (
	"net/http"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

// forAnother returns the ID of the node pool that the ecosystem's provider makes, of what the pool asks for at first, once the cluster
// runs. That provider names no node pool in its objects: the user does, so that no other is created before it is adopted.
func (h *outOfBand) forAnother() string { return poolID(world.InfraKey.Name) }

// createForAnother has GKE create that node pool. Every zone gets as many machines.
func (h *outOfBand) createForAnother() {
	p := h.pool
	s := p.World.Scenario
	var zones []any
	for _, z := range gcp.Zones[:own(s).Zones] {
		zones = append(zones, z)
	}
	pool := document.Object{
		"name": world.InfraKey.Name, "initialNodeCount": s.Replicas / len(zones), "locations": zones,
		"version": p.plane.Version(),
		"config": document.Object{
			"machineType": gcp.MachineType, "labels": document.Object{"tier": "a"}, "shieldedInstanceConfig": document.Object{},
			"resourceLabels": document.Object{"capg-cluster-" + world.ClusterName: "owned", "team": "a"},
		},
	}
	if s.External {
		pool["autoscaling"] = document.Object{"enabled": true, "totalMinNodeCount": s.Least, "totalMaxNodeCount": s.Most}
	}
	if err := p.ask(http.MethodPost, clusterPath+"/nodePools", document.Object{"nodePool": pool}, &struct{}{}); err != nil {
		p.World.Trace("hand", "failed: %v", err)
	}
}

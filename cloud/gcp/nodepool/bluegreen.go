package nodepool

import (
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/pool"
)

// blueGreen returns what GKE tells of a blue-green upgrade; nil where none is under way.
func blueGreen(n *container.NodePool) *container.BlueGreenInfo {
	if n == nil || n.UpdateInfo == nil {
		return nil
	}
	return n.UpdateInfo.BlueGreenInfo
}

// greenVersion returns the version that a blue-green upgrade leads to; zero without one.
func greenVersion(n *container.NodePool) release {
	if info := blueGreen(n); info != nil {
		return reported(info.GreenPoolVersion)
	}
	return release{}
}

// phases are the states of a rollout in the phases of a blue-green upgrade; it runs in all others.
var phases = map[string]pool.ProviderRolloutState{
	"NODE_POOL_SOAKING": pool.ProviderRolloutBaking, "ROLLBACK_STARTED": pool.ProviderRolloutReverting,
}

// phase returns the state of a rollout that runs, and how far a blue-green upgrade is, in GKE's word; empty without one.
func phase(is *container.NodePool) (pool.ProviderRolloutState, string) {
	info := blueGreen(is)
	if info == nil || info.Phase == "" {
		return pool.ProviderRolloutRunning, ""
	}
	reason := "blue-green upgrade in phase " + info.Phase
	if state, ok := phases[info.Phase]; ok {
		return state, reason
	}
	return pool.ProviderRolloutRunning, reason
}

// members divides the machines: those that count, and others. A blue-green upgrade that was cancelled leaves two machines for each that is
// wanted: those count that go when it is resumed or taken back, and the others serve meanwhile.
func (w wanted) members(read poolRead) (counted, others []groups.Machine) {
	info := blueGreen(read.pool)
	if info == nil || w.status == statusReconciling {
		return read.machines(), nil
	}
	blue := groups.Machines(groups.Among(read.groups, info.BlueInstanceGroupUrls))
	green := groups.Machines(groups.Among(read.groups, info.GreenInstanceGroupUrls))
	stale := slices.ContainsFunc(green, func(m groups.Machine) bool { return !w.templateOf(m, read).Same(w.next.template()) })
	if stale {
		return green, blue
	}
	return blue, green
}

package nodepool

import (
	"context"
	"slices"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool/upgrade"
)

// origin is the client that began an operation.
type origin int

const (
	// byUnknown is an operation whose origin is unknown.
	byUnknown origin = iota
	// byMuster is one that this process began, byRequest one that a client began, maybe Muster before it was restarted.
	byMuster
	byRequest
	// byGKE is an automatic upgrade.
	byGKE
)

// sameStart is the maximum time between the beginnings of an operation and of its upgrade.
const sameStart = 5 * time.Minute

// findOrigin asks GKE who began an upgrade that this process has not begun, and which version it leads to: an automatic upgrade is an
// operation of the same type as any other. An answer that can't be had leaves it unknown; a call that failed for the moment is repeated
// by the next pass.
func (r *reader) findOrigin(ctx context.Context, op *container.Operation) {
	last := &r.memory.last
	if last.origin != byUnknown || last.originKnown || op.OperationType != typeUpgrade {
		return
	}
	info, err := r.c.Container.Projects.Locations.Clusters.NodePools.FetchNodePoolUpgradeInfo(r.path()).Context(ctx).Do()
	if err = r.c.Refusal(err); err != nil {
		last.originKnown = !driverkit.Transient(err)
		return
	}
	last.originKnown = true
	is := upgradeOf(info, op)
	if is == nil {
		return
	}
	last.leadsTo = reported(is.TargetVersion)
	switch began := func(o *container.UpgradeDetails) bool { return o.StartType == automatic && (o == is || resumes(is, o)) }; {
	case slices.ContainsFunc(info.UpgradeDetails, began):
		last.origin = byGKE
	case is.StartType == "MANUAL":
		last.origin = byRequest
	}
}

// automatic is the type of an upgrade that GKE began by itself.
const automatic = "AUTOMATIC"

// resumes reports whether an upgrade goes on with another one, which has not replaced all nodes.
func resumes(is, other *container.UpgradeDetails) bool {
	return other.State != "SUCCEEDED" && other.InitialVersion == is.InitialVersion && other.TargetVersion == is.TargetVersion
}

// upgradeOf returns the upgrade that an operation is; nil where none began with it.
func upgradeOf(info *container.NodePoolUpgradeInfo, op *container.Operation) *container.UpgradeDetails {
	var found *container.UpgradeDetails
	closest := sameStart
	began, err := time.Parse(time.RFC3339, op.StartTime)
	if err != nil {
		return nil
	}
	for _, one := range info.UpgradeDetails {
		if at, err := time.Parse(time.RFC3339, one.StartTime); err == nil && at.Sub(began).Abs() < closest {
			found, closest = one, at.Sub(began).Abs()
		}
	}
	return found
}

// byService reports whether an upgrade to a version is GKE's own: it is neither cancelled nor rolled back. One of which nothing tells who
// began it counts as such if it leads to a newer version than the node pool has: Muster would keep that too.
func (w desired) byService(to upgrade.Version) bool {
	switch w.last.origin {
	case byGKE:
		return true
	case byUnknown:
		return to.Compare(w.launched.version) > 0
	}
	return false
}

// kept returns the configuration with the wanted version where it has a newer one that an upgrade of GKE's own has brought: that is no
// reason to replace a machine.
func (w desired) kept(c configuration) configuration {
	if w.next.version.Known() && !w.reverts && c.version.Compare(w.next.version) > 0 && w.byService(c.version) {
		c.version = w.next.version
	}
	return c
}

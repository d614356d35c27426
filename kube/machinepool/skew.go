package machinepool

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/skew"
)

// afterSkew is the time until an unsupported version is compared again: a change of the control plane wakes no pool.
const afterSkew = time.Minute

// blocksControlPlane returns why the control plane can't take its next minor version before Nodes of the pool are replaced; empty if it
// can. The caller looks again after afterSkew.
func (f facts) blocksControlPlane(version string) string {
	versions := make([]string, 0, len(f.nodes.Found))
	for _, node := range f.nodes.Found {
		versions = append(versions, node.Status.NodeInfo.KubeletVersion)
	}
	slices.Sort(versions)
	return skew.Blocks(versions, version, f.controlPlane)
}

// compareVersion reports a version that the control plane does not support. Admission rejects it unless the user overrides that by
// annotation; but pools may be older than the webhook, and control planes are restored from backups.
func (r gatherer) compareVersion(ctx context.Context, g *gathering) control.Result {
	ref, version := g.facts.cluster.Spec.ControlPlaneRef, g.pool.Spec.Template.Spec.Version
	if !ref.IsDefined() || version == "" {
		return control.Continue()
	}
	controlPlane, err := skew.Read(ctx, r.objects.Get, r.client, g.facts.cluster)
	if errors.Is(err, access.ErrForbidden) {
		// Only admission compares a control plane that the manager may not watch.
		return control.Continue()
	}
	if err != nil {
		return control.Failed(err)
	}
	g.facts.controlPlane = controlPlane
	found := skew.Between(version, controlPlane)
	if found == nil {
		return control.Continue()
	}
	g.facts.status.VersionSkew = "spec.template.spec.version: " + found.String()
	return control.RequeueAfter(afterSkew)
}

package machinepool

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/skew"
)

// afterSkew is the time until an unsupported version is compared again: a change of the control plane wakes no pool.
const afterSkew = time.Minute

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
	found := skew.Between(version, controlPlane)
	if found == nil {
		return control.Continue()
	}
	g.facts.status.VersionSkew = "spec.template.spec.version: " + found.String()
	return control.RequeueAfter(afterSkew)
}

package machinepool

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/skew"
	"github.com/muster-project/muster/kube/steps"
)

// afterSkew is the time until an unsupported version is compared again: a change of the control plane wakes no pool.
const afterSkew = time.Minute

// compareVersion reports a version that the control plane does not support. Admission rejects it unless the user overrides that by
// annotation; but pools may be older than the webhook, and control planes are restored from backups.
func (r *Reconciler) compareVersion(ctx context.Context, p *pass) steps.Result {
	ref, version := p.cluster.Spec.ControlPlaneRef, p.pool.Spec.Template.Spec.Version
	if !ref.IsDefined() || version == "" {
		return steps.Continue()
	}
	controlPlane, err := skew.Read(ctx, r.objects().Get, r.Client, p.cluster)
	if errors.Is(err, access.ErrForbidden) {
		// Only admission compares a control plane that the manager may not watch.
		return steps.Continue()
	}
	if err != nil {
		return steps.Failed(err)
	}
	found := skew.Between(version, controlPlane)
	if found == nil {
		return steps.Continue()
	}
	p.facts.VersionSkew = "spec.template.spec.version: " + found.String()
	return steps.RequeueAfter(afterSkew)
}

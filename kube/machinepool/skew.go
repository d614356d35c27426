package machinepool

import (
	"context"
	"errors"
	"time"

	"github.com/muster-project/muster/kube/access"
	"github.com/muster-project/muster/kube/skew"
)

// afterSkew is when to look again at a version that the control plane can't serve: nothing wakes a pool when the control plane
// is changed.
const afterSkew = time.Minute

// compareVersion tells of a version that the control plane can't serve. Admission refuses it, unless somebody insists; but
// pools were there before, and control planes are restored from backups.
func (r *Reconciler) compareVersion(ctx context.Context, p *pass) result {
	ref, version := p.cluster.Spec.ControlPlaneRef, p.pool.Spec.Template.Spec.Version
	if !ref.IsDefined() || version == "" {
		return goOn()
	}
	is, err := skew.Read(ctx, r.fetch, r.Client, p.cluster)
	if errors.Is(err, access.ErrForbidden) {
		// Admission alone compares a control plane that the manager may not watch.
		return goOn()
	}
	if err != nil {
		return failed(err)
	}
	found := skew.Between(version, is)
	if found == nil {
		return goOn()
	}
	p.facts.Skew = "spec.template.spec.version: " + found.String()
	return again(afterSkew)
}

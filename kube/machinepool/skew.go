package machinepool

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/kube/skew"
)

// afterSkew is when to look again at a version that the control plane can't serve: nothing wakes a pool when the control plane
// is changed.
const afterSkew = time.Minute

// readGroups are the groups of which the controllers may read every kind (config/rbac). A cache never fills with a kind that may not
// be read, and who asks it for one waits for ever: control planes of other groups are compared by admission alone.
var readGroups = []string{"controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"}

// compareVersion tells of a version that the control plane can't serve. Admission refuses it, unless somebody insists; but
// pools were there before, and control planes are restored from backups.
func (r *Reconciler) compareVersion(ctx context.Context, p *pass) result {
	ref, version := p.cluster.Spec.ControlPlaneRef, p.pool.Spec.Template.Spec.Version
	if !ref.IsDefined() || version == "" || !slices.Contains(readGroups, ref.APIGroup) {
		return goOn()
	}
	is, err := skew.Read(ctx, r.fetch, r.Client, p.cluster)
	if err != nil {
		return failed(err)
	}
	found := skew.Of(version, is)
	if found == nil {
		return goOn()
	}
	p.facts.Skew = "spec.template.spec.version: " + found.String()
	return again(afterSkew)
}

package machinepool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
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
	gvk, err := contract.GVK(ctx, r.Client, ref.GroupKind())
	switch {
	case errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion):
		return goOn()
	case err != nil:
		return failed(err)
	}
	o, err := r.fetch(ctx, gvk, client.ObjectKey{Namespace: p.pool.Namespace, Name: ref.Name})
	switch {
	case apierrors.IsNotFound(err):
		return goOn()
	case err != nil:
		return failed(fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err))
	}
	found := skew.Of(version, skew.ControlPlane{Kind: ref.Kind, Name: ref.Name, Version: text(o, "spec", "version")})
	if found == nil {
		return goOn()
	}
	p.facts.Skew = "spec.template.spec.version: " + found.String()
	return again(afterSkew)
}

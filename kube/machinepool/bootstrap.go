package machinepool

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// followBootstrap takes over the bootstrap object and copies the name of its data secret. A pool that was bootstrapped
// once stays so while a new configuration is prepared: its machines go on with the data that they have.
func (r *Reconciler) followBootstrap(ctx context.Context, p *pass) result {
	bootstrap := &p.pool.Spec.Template.Spec.Bootstrap
	source := &p.facts.Bootstrap
	if !bootstrap.ConfigRef.IsDefined() {
		if bootstrap.DataSecretName == nil {
			p.facts.Refusal = &status.Cause{Reason: status.BootstrapMissingReason,
				Message: "spec.template.spec.bootstrap sets neither configRef nor dataSecretName"}
			return goOn()
		}
		source.Done, source.Once = true, true
		return goOn()
	}
	outcome := r.readBootstrap(ctx, p)
	o := p.bootstrap.object
	if o == nil {
		return outcome
	}
	outcome = outcome.join(r.takeOver(ctx, p, o, source))
	if source.Problem != "" || !source.Done || !o.GetDeletionTimestamp().IsZero() {
		return outcome
	}
	name := text(o, "status", "dataSecretName")
	if name == "" {
		source.Problem = source.String() + " reports its data secret as created, but status.dataSecretName is empty"
		return outcome
	}
	if bootstrap.DataSecretName == nil || *bootstrap.DataSecretName != name {
		bootstrap.DataSecretName = &name
	}
	source.Once = true
	return outcome
}

// readBootstrap reads the bootstrap object and what it reports, and changes nothing.
func (r *Reconciler) readBootstrap(ctx context.Context, p *pass) result {
	ref := p.pool.Spec.Template.Spec.Bootstrap.ConfigRef
	if !ref.IsDefined() {
		return goOn()
	}
	source := &p.facts.Bootstrap
	p.facts.Refusal = refusal(ref.APIGroup, ref.Kind, ref.Name, p.pool.Spec.Template.Spec.Version)
	found, outcome := r.read(ctx, p, contract.BootstrapConfig(), ref, source)
	p.bootstrap = found
	if found.object != nil {
		source.Done = done(found.object, "dataSecretCreated")
		p.report(found.object, source)
	}
	return outcome
}

// refusal says that a KubeadmConfig can't render data for a Kubernetes version. Its own controller fails on such a
// version in its log alone and leaves the conditions of the KubeadmConfig as they were, so that nobody could tell.
func refusal(group, kind, name, version string) *status.Cause {
	if group != bootstrapv1.GroupVersion.Group || kind != "KubeadmConfig" {
		return nil
	}
	parsed, err := semver.ParseTolerant(version)
	if err != nil {
		return &status.Cause{Reason: status.VersionNotSupportedReason, Message: fmt.Sprintf(
			"KubeadmConfig %s needs spec.template.spec.version to be a Kubernetes version, found %q", name, version)}
	}
	if _, err := kubeadmtypes.KubeVersionToKubeadmAPIGroupVersion(parsed); err != nil {
		return &status.Cause{Reason: status.VersionNotSupportedReason, Message: fmt.Sprintf(
			"KubeadmConfig %s can't be rendered for spec.template.spec.version %s: %v", name, version, err)}
	}
	return nil
}

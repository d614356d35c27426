package machinepool

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// followBootstrap takes over the bootstrap object and copies the name of its data secret. A pool that was bootstrapped
// once stays so while a new configuration is prepared: its machines go on with the data that they have.
func (r *Reconciler) followBootstrap(ctx context.Context, p *pass) result {
	bootstrap := &p.pool.Spec.Template.Spec.Bootstrap
	source := &p.facts.Bootstrap
	if !bootstrap.ConfigRef.IsDefined() {
		return r.useDataSecret(ctx, p)
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
	switch text, err := r.credentials(ctx, p, name); {
	case err != nil:
		return outcome.join(failed(err))
	case text != "":
		source.Problem, source.ProblemReason = source.String()+" reports in status.dataSecretName: "+text, status.DataSecretRefusedReason
		return outcome
	}
	if bootstrap.DataSecretName == nil || *bootstrap.DataSecretName != name {
		bootstrap.DataSecretName = &name
	}
	source.Once = true
	return outcome
}

// useDataSecret checks the data secret of a pool whose bootstrap has no configRef, and with it has the bootstrap done.
func (r *Reconciler) useDataSecret(ctx context.Context, p *pass) result {
	name := p.pool.Spec.Template.Spec.Bootstrap.DataSecretName
	if name == nil {
		p.facts.Refusal = &status.Cause{Reason: status.BootstrapMissingReason,
			Message: "spec.template.spec.bootstrap sets neither configRef nor dataSecretName"}
		return goOn()
	}
	switch text, err := r.credentials(ctx, p, *name); {
	case err != nil:
		return failed(err)
	case text != "":
		p.facts.Refusal = &status.Cause{Reason: status.DataSecretRefusedReason, Message: dataSecretPath + ": " + text}
	default:
		p.facts.Bootstrap.Done, p.facts.Bootstrap.Once = true, true
	}
	return goOn()
}

// dataSecretPath is the path of the field that names the secret with the bootstrap data.
const dataSecretPath = "spec.template.spec.bootstrap.dataSecretName"

// credentials returns why a secret must not become user data because it holds the credentials of a Cluster, the pool's or another of
// the namespace; empty if it may.
func (r *Reconciler) credentials(ctx context.Context, p *pass, name string) (string, error) {
	for _, cluster := range contract.ClustersOf(name) {
		if cluster == p.pool.Spec.ClusterName {
			return contract.CredentialsText(name, cluster), nil
		}
		key := client.ObjectKey{Namespace: p.pool.Namespace, Name: cluster}
		switch err := r.Client.Get(ctx, key, &clusterv1.Cluster{}); {
		case err == nil:
			return contract.CredentialsText(name, cluster), nil
		case !apierrors.IsNotFound(err):
			return "", fmt.Errorf("read Cluster %s, whose credentials secret %s may hold: %w", key, name, err)
		}
	}
	return "", nil
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

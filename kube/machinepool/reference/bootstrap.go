package reference

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

// UnsupportedBootstrap returns why a KubeadmConfig cannot be rendered for a Kubernetes version, nil if it can. The KubeadmConfig's own
// controller reports this in its log only, and leaves the conditions of the KubeadmConfig unchanged.
func UnsupportedBootstrap(ref clusterv1.ContractVersionedObjectReference, version string) *status.Cause {
	if ref.APIGroup != bootstrapv1.GroupVersion.Group || ref.Kind != "KubeadmConfig" {
		return nil
	}
	parsed, err := semver.ParseTolerant(version)
	if err != nil {
		return &status.Cause{Reason: status.VersionNotSupportedReason, Message: fmt.Sprintf(
			"KubeadmConfig %s needs spec.template.spec.version to be a Kubernetes version, found %q", ref.Name, version)}
	}
	if _, err := kubeadmtypes.KubeVersionToKubeadmAPIGroupVersion(parsed); err != nil {
		return &status.Cause{Reason: status.VersionNotSupportedReason, Message: fmt.Sprintf(
			"KubeadmConfig %s can't be rendered for spec.template.spec.version %s: %v", ref.Name, version, err)}
	}
	return nil
}

// BootstrapData describes the data secret that a bootstrap configuration reports. It is zero if the configuration reports none.
type BootstrapData struct {
	// Name is the name of the secret, empty if it may not be used; then Problem is the reason. ProblemReason is set if the user has to fix
	// it.
	Name, Problem, ProblemReason string
}

// DataSecret returns the secret with bootstrap data that a bootstrap configuration reports.
func DataSecret(ctx context.Context, r client.Reader, pool *clusterv1.MachinePool, found Found) (BootstrapData, error) {
	o, source := found.Object, found.Source
	if o == nil || source.Problem != "" || !source.Done || !o.GetDeletionTimestamp().IsZero() {
		return BootstrapData{}, nil
	}
	name := NestedString(o, "status", "dataSecretName")
	if name == "" {
		return BootstrapData{Problem: source.String() + " reports its data secret as created, but status.dataSecretName is empty"}, nil
	}
	problem, err := CredentialsProblem(ctx, r, pool, name)
	switch {
	case err != nil:
		return BootstrapData{}, err
	case problem != "":
		return BootstrapData{Problem: source.String() + " reports in status.dataSecretName: " + problem,
			ProblemReason: status.DataSecretRefusedReason}, nil
	}
	return BootstrapData{Name: name}, nil
}

// Apply returns a bootstrap configuration with the problem of its data secret, or marked as completed with the name of the secret. A
// configuration that could not be taken over stays as it is: its secret is not used.
func (d BootstrapData) Apply(found Found) (Found, string) {
	switch {
	case found.Source.Problem != "":
		return found, ""
	case d.Problem != "":
		found.Source.Problem, found.Source.ProblemReason = d.Problem, d.ProblemReason
	case d.Name != "":
		found.Source.Once = true
	}
	return found, d.Name
}

// dataSecretPath is the path of the field that names the secret with the bootstrap data.
const dataSecretPath = "spec.template.spec.bootstrap.dataSecretName"

// UserData returns why a pool without a bootstrap configuration has no usable bootstrap data, nil if its data secret may be used.
func UserData(ctx context.Context, r client.Reader, pool *clusterv1.MachinePool) (*status.Cause, error) {
	name := pool.Spec.Template.Spec.Bootstrap.DataSecretName
	if name == nil {
		return &status.Cause{Reason: status.BootstrapMissingReason,
			Message: "spec.template.spec.bootstrap sets neither configRef nor dataSecretName; set one of them"}, nil
	}
	problem, err := CredentialsProblem(ctx, r, pool, *name)
	if err != nil || problem == "" {
		return nil, err
	}
	return &status.Cause{Reason: status.DataSecretRefusedReason, Message: dataSecretPath + ": " + problem}, nil
}

// CredentialsProblem returns why a secret must not become user data because it holds the credentials of a Cluster of the namespace, the
// pool's or another; empty if it may.
func CredentialsProblem(ctx context.Context, r client.Reader, pool *clusterv1.MachinePool, name string) (string, error) {
	for _, cluster := range contract.ClustersOf(name) {
		if cluster == pool.Spec.ClusterName {
			return contract.CredentialsText(name, cluster), nil
		}
		key := client.ObjectKey{Namespace: pool.Namespace, Name: cluster}
		switch err := r.Get(ctx, key, &clusterv1.Cluster{}); {
		case err == nil:
			return contract.CredentialsText(name, cluster), nil
		case !apierrors.IsNotFound(err):
			return "", fmt.Errorf("read Cluster %s, whose credentials secret %s may hold: %w", key, name, err)
		}
	}
	return "", nil
}

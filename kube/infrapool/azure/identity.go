package azure

import (
	"context"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/azureidentity"
)

var _ infrapool.Identified[*azurev1.MachinePoolSource] = Adapter{}

// Identify follows the identityRef of the cluster.
func (Adapter) Identify(ctx context.Context, in infrapool.Inputs, from *infrapool.Credentials, spec *azurev1.MachinePoolSource) (map[string]string, error) {
	return azureidentity.Identify(ctx, in, from, &spec.Cluster)
}

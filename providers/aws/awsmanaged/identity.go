package awsmanaged

import (
	"context"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers/aws/awsidentity"
)

// identify follows the identityRef of the control plane.
func identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	spec *awsv1.ManagedMachinePoolSource) (map[string]string, error) {
	return awsidentity.Identify(ctx, by, from, &spec.Cluster)
}

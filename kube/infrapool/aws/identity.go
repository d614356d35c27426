package aws

import (
	"context"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/awsidentity"
)

// identify follows the identityRef of the cluster.
func identify(ctx context.Context, in infrapool.Inputs, from *infrapool.Credentials, spec *awsv1.MachinePoolSource) (map[string]string, error) {
	return awsidentity.Identify(ctx, in, from, &spec.Cluster)
}

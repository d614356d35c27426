package aws

import (
	"context"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/awsidentity"
	"github.com/muster-project/muster/kube/infrapool/identity"
)

// identify follows the identityRef of the cluster.
func identify(ctx context.Context, by identity.Referrer, from *identity.Credentials,
	spec *awsv1.MachinePoolSource) (map[string]string, error) {
	return awsidentity.Identify(ctx, by, from, &spec.Cluster)
}

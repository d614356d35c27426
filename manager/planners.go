package manager

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/kube/infrapool"
	awspool "github.com/muster-project/muster/kube/infrapool/aws"
	"github.com/muster-project/muster/kube/infrapool/awsmanaged"
	azurepool "github.com/muster-project/muster/kube/infrapool/azure"
	"github.com/muster-project/muster/kube/webhook"
)

// Planners look at the pools of every infrastructure kind as the manager's controllers do, and change nothing. The client's
// scheme is NewScheme's.
func Planners(c client.Client, clusters clustercache.ClusterCache, o Options) ([]infrapool.Planner, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	sessions, err := session.New(awsOptions(o))
	if err != nil {
		return nil, fmt.Errorf("make the sessions with AWS: %w", err)
	}
	options := infrapool.Options{
		Client: c, ClusterCache: clusters, IdentityNamespace: o.IdentityNamespace,
		SkipModelReconciliation: o.Gates.SkipMachinePoolModelReconciliation, Machines: o.Gates.MachinePoolMachines,
	}
	planners := []infrapool.Planner{
		infrapool.NewPlanner[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource](awspool.Adapter{}, aws.Over(sessions), options),
	}
	if !o.Gates.NoEKS {
		planners = append(planners, infrapool.NewPlanner[*awsv1.AWSManagedMachinePool, *awsv1.ManagedMachinePoolSource](
			awsmanaged.Adapter{}, nodegroup.Over(sessions, nodegroupOptions(o)), options))
	}
	driver, err := azure.New(o.Azure)
	if err != nil {
		return nil, fmt.Errorf("make the driver of Azure: %w", err)
	}
	return append(planners, infrapool.NewPlanner[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource](azurepool.Adapter{}, driver, options)), nil
}

// Hub gives objects in the version that the controllers read.
func Hub(c client.Client) func(context.Context, client.Object) (client.Object, error) {
	return func(ctx context.Context, o client.Object) (client.Object, error) {
		return webhook.ToHub(ctx, c.Scheme(), c, o)
	}
}

package world

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	nodegroups "github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/kube/infrapool"
	awspool "github.com/muster-project/muster/kube/infrapool/aws"
	"github.com/muster-project/muster/kube/infrapool/awsmanaged"
	azurepool "github.com/muster-project/muster/kube/infrapool/azure"
	"github.com/muster-project/muster/kube/infrapool/preview"
)

// settings are what drivers work with.
func (w *World) settings(context.Context, string) (awssdk.Config, error) {
	settings := config()
	settings.Credentials = w.account.manager
	return settings, nil
}

// driver is the one of AWSMachinePool, whose requests take the given way. They come one at a time, so that a scenario can be replayed.
func (w *World) driver(base http.RoundTripper) cloud.Driver[*awsv1.MachinePoolSource] {
	d, err := aws.New(aws.Options{Config: w.settings, Base: base, AtOnce: 1})
	w.must(err, "make the driver")
	return d
}

// managedDriver is the one of AWSManagedMachinePool.
func (w *World) managedDriver(base http.RoundTripper) cloud.Driver[*awsv1.ManagedMachinePoolSource] {
	d, err := nodegroups.New(nodegroups.Options{
		Options:   session.Options{Config: w.settings, Base: base, AtOnce: 1},
		EnableIAM: w.scenario.Roles,
	})
	w.must(err, "make the driver")
	return d
}

// azureDriver is the one of AzureMachinePool.
func (w *World) azureDriver(base http.RoundTripper) cloud.Driver[*azurev1.MachinePoolSource] {
	d, err := azure.New(azure.Options{
		Listing:  w.scenario.Seed%2 == 0,
		Endpoint: azureEndpoint, Base: base,
		Credential: func(azcloud.Configuration, *azurev1.IdentityView) (azcore.TokenCredential, error) {
			return anybody{}, nil
		},
	})
	w.must(err, "make the driver")
	return d
}

// azureEndpoint is the address that only the simulator answers.
const azureEndpoint = "http://simulated.azure"

// anybody is a credential that the simulated Azure takes.
type anybody struct{}

// GetToken gives a token that says nothing.
func (anybody) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "anybody", ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}

// reconciler is the one of the scenario's kind.
func (w *World) reconciler(base http.RoundTripper, o infrapool.Options) reconcile {
	if w.scenario.onAKS() {
		return w.agentReconciler(base, o)
	}
	if w.scenario.Managed {
		return infrapool.New(awsmanaged.Adapter{}, counted[*awsv1.ManagedMachinePoolSource]{w.managedDriver(base), w.account}, o).Reconcile
	}
	if w.scenario.onAzure() {
		return infrapool.New(azurepool.Adapter{}, counted[*azurev1.MachinePoolSource]{w.azureDriver(base), w.account}, o).Reconcile
	}
	return infrapool.New(awspool.Adapter{}, counted[*awsv1.MachinePoolSource]{w.driver(base), w.account}, o).Reconcile
}

// look is how a plan looks at the pool.
type look func(ctx context.Context, edited []client.Object, key client.ObjectKey, age time.Duration) (preview.Look, error)

// planner is the one of the scenario's kind.
func (w *World) planner(base http.RoundTripper, o infrapool.Options) look {
	if w.scenario.onAKS() {
		return w.agentPlanner(base, o)
	}
	if w.scenario.Managed {
		return infrapool.NewPlanner(awsmanaged.Adapter{}, w.managedDriver(base), o).Look
	}
	if w.scenario.onAzure() {
		return infrapool.NewPlanner(azurepool.Adapter{}, w.azureDriver(base), o).Look
	}
	return infrapool.NewPlanner(awspool.Adapter{}, w.driver(base), o).Look
}

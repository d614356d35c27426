// Package azure is the provider of Azure: scale sets in both orchestration modes, and agent pools of AKS.
package azure

import (
	"context"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/cloud/azure/agentpool"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/azure/admission"
	"github.com/muster-project/muster/providers/azure/azureidentity"
	"github.com/muster-project/muster/providers/azure/azurejson"
	azurepool "github.com/muster-project/muster/providers/azure/azuremachinepool"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
)

const (
	// MachinePool is the name of the controller of AzureMachinePools.
	MachinePool = "azuremachinepool"
	// ManagedMachinePool is the name of the controller of AzureManagedMachinePools.
	ManagedMachinePool = "azuremanagedmachinepool"
	// ASOManagedMachinePool is the name of the controller of AzureASOManagedMachinePools.
	ASOManagedMachinePool = "azureasomanagedmachinepool"
	// tenantVariable names the directory of clusters that name no identity, as Azure's own clients read it.
	tenantVariable = "AZURE_TENANT_ID"
)

// Provider is the provider of Azure.
func Provider() providers.Provider {
	return providers.Provider{
		Name: "azure", Title: "Azure",
		AddToScheme: []func(*runtime.Scheme) error{azurev1.AddToScheme, aksv1.AddToScheme},
		Controllers: []providers.Controller{
			{Name: MachinePool, Objects: "AzureMachinePools", Kind: azurev1.GroupVersion.WithKind(azurev1.AzureMachinePoolKind)},
			{Name: ManagedMachinePool, Objects: "AzureManagedMachinePools", Kind: aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind)},
			{Name: ASOManagedMachinePool, Objects: "AzureASOManagedMachinePools",
				Kind: aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind)},
			{Name: azurejson.Name},
		},
		Hooks:   hooks(),
		Connect: connect,
		Existing: providers.Existing{Label: "infrastructure-azure", Title: "cluster-api-provider-azure",
			PoolGate: "MachinePool", Variable: "EXP_MACHINE_POOL", PoolGateDefault: true},
		NodeHolds: []nodes.Mark{{Key: "kubernetes.azure.com/upgrade-status", Value: "paused"}},
		Identities: providers.Identities{
			Clusters: []schema.GroupKind{
				{Group: azurev1.GroupVersion.Group, Kind: "AzureCluster"},
				{Group: azurev1.GroupVersion.Group, Kind: aksv1.ManagedControlPlaneKind},
			},
			Check: func(ctx context.Context, by identity.Referrer, from *identity.Credentials) (string, error) {
				view := &azurev1.ClusterView{}
				_, err := azureidentity.Identify(ctx, by, from, view)
				if view.Identity == nil {
					return "", err
				}
				return view.Identity.Name, err
			},
		},
		Permissions: document,
	}
}

func hooks() []webhook.Hook {
	version := azurev1.GroupVersion
	validator := func(scheme *runtime.Scheme, reader client.Reader) *ctrladmission.Webhook {
		return admission.Validator(scheme, reader)
	}
	return append([]webhook.Hook{
		{Role: webhook.Defaults, Version: version, Name: "azuremachinepool", Resource: "azuremachinepools", Path: admission.DefaultPath,
			Serve: webhook.WithoutReader(admission.Defaulter)},
		{Role: webhook.Validates, Version: version, Name: "azuremachinepool", Resource: "azuremachinepools", Path: admission.ValidatePath,
			Serve: validator},
		{Role: webhook.Keeps, Version: version, Name: "azuremachinepooltemplate", Resource: "azuremachinepooltemplates",
			Path: admission.TemplatePath, Serve: webhook.WithoutReader(admission.OfAzureMachinePool)},
	}, agentPoolHooks()...)
}

// agentPoolHooks returns the webhooks of the kinds of agent pools.
func agentPoolHooks() []webhook.Hook {
	version := aksv1.GroupVersion
	validator := func(scheme *runtime.Scheme, reader client.Reader) *ctrladmission.Webhook {
		return admission.ManagedValidator(scheme, reader)
	}
	return []webhook.Hook{
		{Role: webhook.Defaults, Version: version, Name: "azuremanagedmachinepool", Resource: "azuremanagedmachinepools",
			Path:  admission.ManagedDefaultPath,
			Serve: webhook.WithoutReader(admission.ManagedDefaulter)},
		{Role: webhook.Validates, Version: version, Name: "azuremanagedmachinepool", Resource: "azuremanagedmachinepools",
			Path: admission.ManagedValidatePath, Serve: validator},
		{Role: webhook.Keeps, Version: version, Name: "azuremanagedmachinepooltemplate", Resource: "azuremanagedmachinepooltemplates",
			Path:  admission.ManagedTemplatePath,
			Serve: webhook.WithoutReader(admission.OfAzureManagedMachinePool)},
		{Role: webhook.Validates, Version: version, Name: "azureasomanagedmachinepool", Resource: "azureasomanagedmachinepools",
			Path:  admission.ASOValidatePath,
			Serve: webhook.WithoutReader(admission.ASOValidator)},
		{Role: webhook.Keeps, Version: version, Name: "azureasomanagedmachinepooltemplate", Resource: "azureasomanagedmachinepooltemplates",
			Path:  admission.ASOTemplatePath,
			Serve: webhook.WithoutReader(admission.OfAzureASOManagedMachinePool)},
	}
}

func connect(e providers.Environment) (*providers.Connection, error) {
	sessions, err := session.New(session.Options{Hook: e.Hook(), Around: e.Around()})
	if err != nil {
		return nil, fmt.Errorf("make the clients of Azure: %w", err)
	}
	c := &providers.Connection{}
	agentPools := agentpool.Over(sessions)
	providers.AddPools[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource](c, e, MachinePool, azurev1.AzureMachinePoolKind,
		azurepool.Adapter{}, azure.Over(sessions))
	providers.AddPools[*aksv1.AzureManagedMachinePool, *aksv1.AgentPoolSource](c, e, ManagedMachinePool, aksv1.AzureManagedMachinePoolKind,
		azuremanaged.Managed{}, agentPools)
	providers.AddPools[*aksv1.AzureASOManagedMachinePool, *aksv1.AgentPoolSource](c, e, ASOManagedMachinePool,
		aksv1.AzureASOManagedMachinePoolKind, azuremanaged.ASO{}, agentPools)
	if e.Manager == nil {
		return c, nil
	}
	c.Setups[azurejson.Name] = func(ctx context.Context, o controller.Options) error {
		return configurations(e).SetupWithManager(ctx, e.Manager, o)
	}
	return c, nil
}

// configurations is the controller of the cloud provider's configurations. It asks no cloud.
func configurations(e providers.Environment) *azurejson.Reconciler {
	o := e.Pools(azurejson.Name)
	return &azurejson.Reconciler{
		Client: o.Client, Recorder: o.Recorder, WatchFilter: o.WatchFilter, IdentityNamespace: o.IdentityNamespace,
		OwnCredentials: o.OwnCredentials,
		Defaults:       azurejson.Defaults{SubscriptionID: os.Getenv(session.SubscriptionVariable), TenantID: os.Getenv(tenantVariable)},
	}
}

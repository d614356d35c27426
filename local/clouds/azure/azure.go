// Package azure is the local side of Azure.
package azure

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/azure/aks"
	"github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/infracluster"
	"github.com/muster-project/muster/sim/azure"
)

// Cloud returns the local side of Azure.
func Cloud() clouds.Cloud {
	return clouds.Cloud{
		Name: "azure", Title: "Azure",
		Simulate: simulate,
		Clients: clouds.Clients{
			Settings: settings, Account: account,
			Prefixes: []string{"AZURE_", "IDENTITY_", "MSI_", "IMDS_"},
			Hosts:    []string{"management.azure.com", "login.microsoftonline.com"},
		},
		Seed:        standin.Seed(),
		Kinds:       standin.Kinds(),
		Reconcilers: reconcilers,
		Resources:   []string{"azuremachinepool", "azuremachinepoolmachine", "azuremanagedmachinepool", "azureasomanagedmachinepool"},
		Help: clouds.Help{
			Variable: "AZURE_LOCATION", Hosts: "management.azure.com, login.microsoftonline.com",
			Plan: "azuremachinepool/workers --set spec.template.vmSize=Standard_D4s_v3",
		},
	}
}

func simulate(o clouds.Options) (clouds.Simulator, error) {
	server, err := azure.New(azure.Options{Dir: o.Dir, Speed: o.Speed, MachineHost: o.MachineHost})
	if err != nil {
		return clouds.Simulator{}, err
	}
	return clouds.Simulator{Handler: server, Close: server.Close}, nil
}

// settings returns the environment variables of Muster. Its credentials come from the cluster's identity.
func settings(base string) []string {
	return []string{"AZURE_RESOURCE_MANAGER_ENDPOINT=" + base, "AZURE_SUBSCRIPTION_ID=" + azure.SubscriptionID}
}

// account returns the environment variables of Muster and of tools that read the endpoint from the environment. Clients of the SDK get it
// as their cloud configuration. The secret is for the token endpoint, which has the same address.
func account(base string) []string {
	return append(settings(base),
		"AZURE_TENANT_ID="+azure.TenantID, "AZURE_CLIENT_ID="+azure.ClientID, "AZURE_CLIENT_SECRET="+azure.ClientSecret,
		"AZURE_RESOURCE_GROUP="+azure.ResourceGroup, "AZURE_LOCATION="+azure.Location)
}

func reconcilers(in clouds.Inputs) []clouds.Reconciler {
	network := standin.Network{SubscriptionID: azure.SubscriptionID, Location: azure.Location, Zones: azure.Zones,
		Azure: standin.HTTP{Endpoint: in.Endpoint}}
	all := []clouds.Reconciler{
		&infracluster.Reconciler{Client: in.Client, Kind: standin.AzureCluster,
			Network: func(*unstructured.Unstructured) infracluster.Network { return network }},
	}
	for _, kind := range []aks.Kind{aks.Managed(), aks.ASO()} {
		all = append(all, aks.Clusters(in.Client, kind),
			&aks.ControlPlanes{Client: in.Client, Servers: in.Servers, Publisher: in.Publisher,
				Azure: network.Azure, Registry: aks.HTTP{Endpoint: in.Endpoint}, Kind: kind})
	}
	return all
}

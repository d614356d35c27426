// Package scaleway is the provider of Scaleway: pools of Kapsule and Kosmos clusters.
package scaleway

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	scalewayv1alpha1 "github.com/muster-project/muster/api/scaleway/v1alpha1"
	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud/scaleway/kapsule"
	"github.com/muster-project/muster/cloud/scaleway/session"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/scaleway/admission"
	"github.com/muster-project/muster/providers/scaleway/scalewaymanaged"
)

// ManagedMachinePool is the name of the controller.
const ManagedMachinePool = "scalewaymanagedmachinepool"

// resource is the plural by which the API server serves the kind.
const resource = "scalewaymanagedmachinepools"

// Provider is the provider of Scaleway.
func Provider() providers.Provider {
	kind := scalewayv1.GroupVersion.WithKind(scalewayv1.ScalewayManagedMachinePoolKind)
	return providers.Provider{
		Name: "scaleway", Title: "Scaleway",
		AddToScheme: []func(*runtime.Scheme) error{scalewayv1alpha1.AddToScheme, scalewayv1.AddToScheme},
		Controllers: []providers.Controller{{Name: ManagedMachinePool, Objects: "ScalewayManagedMachinePools", Kind: kind}},
		Hooks: []webhook.Hook{{Role: webhook.Validates, Version: scalewayv1.GroupVersion, Name: ManagedMachinePool, Resource: resource,
			Path: admission.ValidatePath,
			Serve: func(scheme *runtime.Scheme, reader client.Reader) *ctrladmission.Webhook {
				return admission.Validator(scheme, reader)
			}}},
		Converted:   []string{resource + "." + scalewayv1.GroupVersion.Group},
		Connect:     connect,
		Existing:    providers.Existing{Label: "infrastructure-scaleway", Title: "cluster-api-provider-scaleway"},
		Identities:  identities(),
		Permissions: document,
	}
}

// identities are the Secrets that clusters name.
func identities() providers.Identities {
	return providers.Identities{
		Clusters: []schema.GroupKind{{Group: scalewayv1.GroupVersion.Group, Kind: scalewayv1.ManagedClusterKind}},
		Check: func(ctx context.Context, by identity.Referrer, from *identity.Credentials) (string, error) {
			var view scalewayv1.ClusterView
			if err := view.Complete(by.InfraCluster); err != nil {
				return "", fmt.Errorf("find the identity of a cluster: %w", err)
			}
			_, err := scalewaymanaged.Identify(ctx, by, from, &view)
			if view.Identity == nil {
				return "", err
			}
			return view.Identity.Name, err
		},
	}
}

// connect makes the sessions.
func connect(e providers.Environment) (*providers.Connection, error) {
	sessions, err := session.New(session.Options{Hook: e.Hook(), Around: e.Around()})
	if err != nil {
		return nil, fmt.Errorf("make the clients of Scaleway: %w", err)
	}
	c := &providers.Connection{}
	providers.AddPools[*scalewayv1.ScalewayManagedMachinePool, *scalewayv1.ManagedMachinePoolSource](
		c, e, ManagedMachinePool, scalewayv1.ScalewayManagedMachinePoolKind, scalewaymanaged.Adapter{}, kapsule.Over(sessions))
	return c, nil
}

// Package gcp is the provider of Google Cloud: managed instance groups, and node pools of GKE.
package gcp

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gkev1 "github.com/muster-project/muster/api/gcp/bootstrap/v1beta1"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/gates"
	"github.com/muster-project/muster/providers/gcp/admission"
	"github.com/muster-project/muster/providers/gcp/gcpidentity"
	gcppool "github.com/muster-project/muster/providers/gcp/gcpmachinepool"
	"github.com/muster-project/muster/providers/gcp/gcpmanaged"
	"github.com/muster-project/muster/providers/gcp/gkeconfig"
)

// The names of the controllers.
const (
	MachinePool        = "gcpmachinepool"
	ManagedMachinePool = "gcpmanagedmachinepool"
)

// GKE is the feature gate that runs the pools that GKE keeps, by the name and variable of the existing provider of Google Cloud.
var GKE = gates.Gate{Feature: "GKE", Env: "EXP_CAPG_GKE", Spec: featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}}

// Provider is the provider of Google Cloud.
func Provider() providers.Provider {
	return providers.Provider{
		Name: "gcp", Title: "Google Cloud",
		AddToScheme: []func(*runtime.Scheme) error{gcpv1.AddToScheme, gkev1.AddToScheme},
		Controllers: []providers.Controller{
			{Name: MachinePool, Objects: "GCPMachinePools", Kind: gcpv1.GroupVersion.WithKind(gcpv1.GCPMachinePoolKind)},
			{Name: ManagedMachinePool, Objects: "GCPManagedMachinePools", Gate: &GKE,
				Kind: gcpv1.GroupVersion.WithKind(gcpv1.GCPManagedMachinePoolKind)},
			{Name: gkeconfig.Name, Gate: &GKE, Kind: gkev1.GroupVersion.WithKind(gkev1.GKEConfigKind)},
		},
		Hooks:   hooks(),
		Gates:   []gates.Gate{GKE},
		Connect: connect,
		Existing: providers.Existing{Label: "infrastructure-gcp", Title: "cluster-api-provider-gcp",
			PoolGate: "MachinePool", Variable: "EXP_MACHINE_POOL", ManagedGate: string(GKE.Feature), ManagedVariable: GKE.Env},
		Identities:  identities(),
		Permissions: document,
	}
}

// identities are those of self-managed clusters and of GKE.
func identities() providers.Identities {
	return providers.Identities{
		Clusters: []schema.GroupKind{
			{Group: gcpv1.GroupVersion.Group, Kind: "GCPCluster"}, {Group: gcpv1.GroupVersion.Group, Kind: gcpv1.ManagedClusterKind},
		},
		Check: func(ctx context.Context, by identity.Referrer, from *identity.Credentials) (string, error) {
			view, err := gcpv1.ClusterViewOf(by.InfraCluster)
			if err != nil {
				return "", fmt.Errorf("find the identity of a cluster: %w", err)
			}
			_, err = gcpidentity.Identify(ctx, by, from, &view)
			if view.Identity == nil {
				return "", err
			}
			return view.Identity.Name, err
		},
	}
}

func hooks() []webhook.Hook {
	version := gcpv1.GroupVersion
	managed := func(scheme *runtime.Scheme, reader client.Reader) *ctrladmission.Webhook {
		return admission.ManagedValidator(scheme, reader)
	}
	return []webhook.Hook{
		{Role: webhook.Validates, Version: version, Name: "gcpmachinepool", Resource: "gcpmachinepools", Path: admission.ValidatePath,
			Serve: webhook.WithoutReader(admission.Validator)},
		{Role: webhook.Keeps, Version: version, Name: "gcpmachinepooltemplate", Resource: "gcpmachinepooltemplates", Path: admission.TemplatePath,
			Serve: webhook.WithoutReader(admission.OfGCPMachinePool)},
		{Role: webhook.Validates, Version: version, Name: "gcpmanagedmachinepool", Resource: "gcpmanagedmachinepools",
			Path: admission.ManagedValidatePath, Serve: managed},
		{Role: webhook.Keeps, Version: version, Name: "gcpmanagedmachinepooltemplate", Resource: "gcpmanagedmachinepooltemplates",
			Path:  admission.ManagedTemplatePath,
			Serve: webhook.WithoutReader(admission.OfGCPManagedMachinePool)},
	}
}

// connect makes the sessions that both kinds share.
func connect(e providers.Environment) (*providers.Connection, error) {
	sessions, err := session.New(session.Options{Hook: e.Hook(), Around: e.Around()})
	if err != nil {
		return nil, fmt.Errorf("make the clients of Google Cloud: %w", err)
	}
	c := &providers.Connection{}
	providers.AddPools[*gcpv1.GCPMachinePool, *gcpv1.MachinePoolSource](c, e, MachinePool, gcpv1.GCPMachinePoolKind, gcppool.Adapter{},
		instancegroup.Over(sessions))
	if !e.Gates.On(GKE) {
		return c, nil
	}
	providers.AddPools[*gcpv1.GCPManagedMachinePool, *gcpv1.ManagedMachinePoolSource](
		c, e, ManagedMachinePool, gcpv1.GCPManagedMachinePoolKind, gcpmanaged.Adapter{}, nodepool.Over(sessions))
	if e.Manager == nil {
		return c, nil
	}
	c.Setups[gkeconfig.Name] = func(ctx context.Context, o controller.Options) error {
		options := e.Pools(gkeconfig.Name)
		return (&gkeconfig.Reconciler{Client: options.Client, WatchFilter: options.WatchFilter}).SetupWithManager(ctx, e.Manager, o)
	}
	return c, nil
}

// Package oci is the provider of Oracle Cloud: instance pools, and node pools and virtual node pools of OKE.
package oci

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ociv1beta1 "github.com/muster-project/muster/api/oci/v1beta1"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud/oci/instancepool"
	"github.com/muster-project/muster/cloud/oci/nodepool"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/cloud/oci/virtualnodepool"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/oci/admission"
	"github.com/muster-project/muster/providers/oci/ociidentity"
	"github.com/muster-project/muster/providers/oci/ocimachinepool"
	"github.com/muster-project/muster/providers/oci/ocimanaged"
	"github.com/muster-project/muster/providers/oci/ocivirtual"
)

// The names of the controllers.
const (
	MachinePool        = "ocimachinepool"
	ManagedMachinePool = "ocimanagedmachinepool"
	VirtualMachinePool = "ocivirtualmachinepool"
)

// Provider is the provider of Oracle Cloud.
func Provider() providers.Provider {
	kind := func(name string) schema.GroupVersionKind { return ociv1.GroupVersion.WithKind(name) }
	return providers.Provider{
		Name: "oci", Title: "Oracle Cloud",
		AddToScheme: []func(*runtime.Scheme) error{ociv1beta1.AddToScheme, ociv1.AddToScheme},
		Controllers: []providers.Controller{
			{Name: MachinePool, Objects: "OCIMachinePools", Kind: kind(ociv1.OCIMachinePoolKind)},
			{Name: ManagedMachinePool, Objects: "OCIManagedMachinePools", Kind: kind(ociv1.OCIManagedMachinePoolKind)},
			{Name: VirtualMachinePool, Objects: "OCIVirtualMachinePools", Kind: kind(ociv1.OCIVirtualMachinePoolKind)},
		},
		Hooks:     hooks(),
		Converted: converted(),
		Connect:   connect,
		Existing: providers.Existing{Label: "infrastructure-oci", Title: "cluster-api-provider-oci", PoolGate: "MachinePool",
			PoolGateDefault: true, Variable: "EXP_MACHINE_POOL"},
		Identities:  identities(),
		Permissions: document,
	}
}

// converted returns the definitions with fields that differ between versions.
func converted() []string {
	var names []string
	for _, plural := range []string{"ocimachinepools", "ocimanagedmachinepools", "ocimanagedmachinepooltemplates"} {
		names = append(names, plural+"."+ociv1.GroupVersion.Group)
	}
	return names
}

func hooks() []webhook.Hook {
	version := ociv1.GroupVersion
	hook := func(role webhook.Role, name, path string, serve func(*runtime.Scheme, client.Reader) *ctrladmission.Webhook) webhook.Hook {
		return webhook.Hook{Role: role, Version: version, Name: name, Resource: name + "s", Path: path, Serve: serve}
	}
	return []webhook.Hook{
		hook(webhook.Validates, "ocimachinepool", admission.ValidatePath, webhook.WithoutReader(admission.Validator)),
		hook(webhook.Keeps, "ocimachinepooltemplate", admission.TemplatePath, webhook.WithoutReader(admission.OfOCIMachinePool)),
		hook(webhook.Validates, "ocimanagedmachinepool", admission.ManagedValidatePath, admission.ManagedValidator),
		hook(webhook.Keeps, "ocimanagedmachinepooltemplate", admission.ManagedTemplatePath,
			webhook.WithoutReader(admission.OfOCIManagedMachinePool)),
		hook(webhook.Validates, "ocivirtualmachinepool", admission.VirtualValidatePath, admission.VirtualValidator),
		hook(webhook.Keeps, "ocivirtualmachinepooltemplate", admission.VirtualTemplatePath,
			webhook.WithoutReader(admission.OfOCIVirtualMachinePool)),
	}
}

// identities are those of self-managed clusters and of OKE.
func identities() providers.Identities {
	return providers.Identities{
		Clusters: []schema.GroupKind{
			{Group: ociv1.GroupVersion.Group, Kind: ociv1.ClusterKind}, {Group: ociv1.GroupVersion.Group, Kind: ociv1.ManagedClusterKind},
		},
		Check: func(ctx context.Context, by identity.Referrer, from *identity.Credentials) (string, error) {
			view, err := ociv1.ClusterViewOf(by.InfraCluster)
			if err != nil {
				return "", fmt.Errorf("find the identity of a cluster: %w", err)
			}
			_, err = ociidentity.Identify(ctx, by, from, &view)
			if view.Identity == nil {
				return "", err
			}
			return view.Identity.Name, err
		},
	}
}

// connect makes the sessions that all kinds share.
func connect(e providers.Environment) (*providers.Connection, error) {
	sessions, err := session.New(session.Options{Hook: e.Hook(), Around: e.Around()})
	if err != nil {
		return nil, fmt.Errorf("make the clients of Oracle Cloud: %w", err)
	}
	c := &providers.Connection{}
	providers.AddPools[*ociv1.OCIMachinePool, *ociv1.MachinePoolSource](
		c, e, MachinePool, ociv1.OCIMachinePoolKind, ocimachinepool.Adapter{}, instancepool.Over(sessions))
	providers.AddPools[*ociv1.OCIManagedMachinePool, *ociv1.ManagedMachinePoolSource](
		c, e, ManagedMachinePool, ociv1.OCIManagedMachinePoolKind, ocimanaged.Adapter{}, nodepool.Over(sessions))
	providers.AddPools[*ociv1.OCIVirtualMachinePool, *ociv1.VirtualMachinePoolSource](
		c, e, VirtualMachinePool, ociv1.OCIVirtualMachinePoolKind, ocivirtual.Adapter{}, virtualnodepool.Over(sessions))
	return c, nil
}

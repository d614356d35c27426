// Package aws is the provider of AWS: Auto Scaling groups and EKS node groups.
package aws

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/featuregate"

	awsv1beta1 "github.com/muster-project/muster/api/aws/v1beta1"
	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/aws/admission"
	"github.com/muster-project/muster/providers/aws/awsidentity"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/providers/aws/awsmanaged"
	"github.com/muster-project/muster/providers/aws/warnings"
	"github.com/muster-project/muster/providers/gates"
)

// The manager puts its certificate into the definitions whose versions it converts.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=update;patch,resourceNames=awsmachinepools.infrastructure.cluster.x-k8s.io;awsmanagedmachinepools.infrastructure.cluster.x-k8s.io

// The names of the controllers.
const (
	MachinePool        = "awsmachinepool"
	ManagedMachinePool = "awsmanagedmachinepool"
)

// The feature gates, by the names and variables of the existing AWS provider.
var (
	// EKS runs the pools that EKS keeps.
	EKS = gates.Gate{Feature: "EKS", Env: "CAPA_EKS", Spec: featuregate.FeatureSpec{Default: true, PreRelease: featuregate.Beta}}
	// EKSEnableIAM lets the controllers make the roles of EKS nodes.
	EKSEnableIAM = gates.Gate{Feature: "EKSEnableIAM", Env: "CAPA_EKS_IAM", Spec: featuregate.FeatureSpec{PreRelease: featuregate.Beta}}
	// EKSAllowAddRoles lets them attach the policies to such roles that objects name.
	EKSAllowAddRoles = gates.Gate{Feature: "EKSAllowAddRoles", Env: "CAPA_EKS_ADD_ROLES",
		Spec: featuregate.FeatureSpec{PreRelease: featuregate.Beta}}
	// BootstrapFormatIgnition lets machines boot with Ignition whose data is kept in the cluster's bucket.
	BootstrapFormatIgnition = gates.Gate{Feature: "BootstrapFormatIgnition", Env: "EXP_BOOTSTRAP_FORMAT_IGNITION",
		Spec: featuregate.FeatureSpec{PreRelease: featuregate.Alpha}}
)

// Provider is the provider of AWS.
func Provider() providers.Provider {
	return providers.Provider{
		Name: "aws", Title: "AWS",
		AddToScheme: []func(*runtime.Scheme) error{awsv1beta1.AddToScheme, awsv1.AddToScheme},
		Controllers: []providers.Controller{
			{Name: MachinePool, Objects: "AWSMachinePools", Kind: awsv1.GroupVersion.WithKind(awsv1.AWSMachinePoolKind)},
			{Name: ManagedMachinePool, Objects: "AWSManagedMachinePools", Gate: &EKS,
				Kind: awsv1.GroupVersion.WithKind(awsv1.AWSManagedMachinePoolKind)},
		},
		Hooks:     hooks(),
		Converted: []string{"awsmachinepools.infrastructure.cluster.x-k8s.io", "awsmanagedmachinepools.infrastructure.cluster.x-k8s.io"},
		Gates:     []gates.Gate{EKS, EKSEnableIAM, EKSAllowAddRoles, BootstrapFormatIgnition},
		Connect:   connect,
		Existing: providers.Existing{Label: "infrastructure-aws", Title: "cluster-api-provider-aws",
			PoolGate: "MachinePool", Variable: "EXP_MACHINE_POOL", PoolGateDefault: true},
		Identities:  identities(),
		Permissions: document,
	}
}

// identities are those of self-managed clusters and of EKS.
func identities() providers.Identities {
	return providers.Identities{
		Clusters: []schema.GroupKind{
			{Group: awsv1.GroupVersion.Group, Kind: "AWSCluster"}, {Group: "controlplane.cluster.x-k8s.io", Kind: "AWSManagedControlPlane"},
		},
		Check: func(ctx context.Context, by identity.Referrer, from *identity.Credentials) (string, error) {
			view := &awsv1.ClusterView{}
			_, err := awsidentity.Identify(ctx, by, from, view)
			if view.Identity == nil {
				return "", err
			}
			return view.Identity.Name, err
		},
	}
}

func hooks() []webhook.Hook {
	version := awsv1.GroupVersion
	return []webhook.Hook{
		{Role: webhook.Warns, Version: version, Name: "awsmachinepool", Resource: "awsmachinepools", Path: warnings.AWSMachinePoolPath,
			Serve: webhook.WithoutReader(warnings.OfAWSMachinePool)},
		{Role: webhook.Warns, Version: version, Name: "awsmanagedmachinepool", Resource: "awsmanagedmachinepools",
			Path: warnings.AWSManagedMachinePoolPath, Serve: webhook.WithoutReader(warnings.OfAWSManagedMachinePool)},
		{Role: webhook.Keeps, Version: version, Name: "awsmachinepooltemplate", Resource: "awsmachinepooltemplates",
			Path: admission.AWSMachinePoolTemplatePath, Serve: webhook.WithoutReader(admission.OfAWSMachinePool)},
		{Role: webhook.Keeps, Version: version, Name: "awsmanagedmachinepooltemplate", Resource: "awsmanagedmachinepooltemplates",
			Path: admission.AWSManagedMachinePoolTemplatePath, Serve: webhook.WithoutReader(admission.OfAWSManagedMachinePool)},
	}
}

// connect makes the sessions that both kinds share.
func connect(e providers.Environment) (*providers.Connection, error) {
	sessions, err := session.New(session.Options{Hook: e.Hook(), Around: e.Around(),
		BootstrapFormatIgnition: e.Gates.On(BootstrapFormatIgnition)})
	if err != nil {
		return nil, fmt.Errorf("make the sessions with AWS: %w", err)
	}
	c := &providers.Connection{}
	providers.AddPools[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource](c, e, MachinePool, awsv1.AWSMachinePoolKind, awspool.Adapter{},
		aws.Over(sessions))
	if e.Gates.On(EKS) {
		o := nodegroup.Options{EnableIAM: e.Gates.On(EKSEnableIAM), AllowAddRoles: e.Gates.On(EKSAllowAddRoles)}
		providers.AddPools[*awsv1.AWSManagedMachinePool, *awsv1.ManagedMachinePoolSource](
			c, e, ManagedMachinePool, awsv1.AWSManagedMachinePoolKind, awsmanaged.Adapter{}, nodegroup.Over(sessions, o))
	}
	return c, nil
}

package oci

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/oci/permissions"
)

// The manager puts its certificate into the definitions whose versions it converts.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=update;patch,resourceNames=ocimachinepools.infrastructure.cluster.x-k8s.io;ocimanagedmachinepools.infrastructure.cluster.x-k8s.io;ocimanagedmachinepooltemplates.infrastructure.cluster.x-k8s.io

// document prints the statements of a policy.
func document() providers.Permissions {
	o := &permissions.Options{}
	return providers.Permissions{
		About: `Oracle Cloud: a policy allows permissions in a compartment. It can't select resources by the freeform tags that Muster writes. If the
network of the cluster is in another compartment, allow the second statement there too.`,
		Examples: `  muster generate iam --cloud oci --group muster --compartment-id OCID > policy.json
  oci iam policy create --name muster --description "Machine pools" --compartment-id OCID --statements file://policy.json
  muster generate iam --cloud oci -o table`,
		AddFlags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Group, "group", permissions.DefaultGroup, "Oracle Cloud: Group of the users whose API keys clusters use.")
			f.StringVar(&o.DynamicGroup, "dynamic-group", "", "Oracle Cloud: Dynamic group of the instances of the manager, instead of a group.")
			f.StringVar(&o.WorkloadCluster, "workload-cluster", "",
				"Oracle Cloud: OCID of the OKE cluster of the manager, for its service account instead of a group.")
			f.StringVar(&o.Compartment, "compartment-id", "", "Oracle Cloud: OCID of the compartment of the pools.")
		},
		Document: func(out, _ io.Writer) error { return policy(*o, out) },
		Actions:  actions,
	}
}

// policy prints the policy.
func policy(o permissions.Options, out io.Writer) error {
	p, err := permissions.PolicyOf(o)
	if err != nil {
		return fmt.Errorf("make the policy: %w", err)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p); err != nil {
		return fmt.Errorf("print what is allowed: %w", err)
	}
	return nil
}

// actions returns the permissions with their reasons.
func actions() (list []providers.Action, err error) {
	for _, grant := range permissions.Grants() {
		for _, p := range grant.Permissions {
			list = append(list, providers.Action{Name: p.Name, Why: p.Why, Where: grant.At})
		}
	}
	return list, nil
}

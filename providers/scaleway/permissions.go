package scaleway

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/scaleway/permissions"
)

// The manager puts its certificate into the definition whose versions it converts.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=update;patch,resourceNames=scalewaymanagedmachinepools.infrastructure.cluster.x-k8s.io

// document prints an IAM policy.
func document() providers.Permissions {
	o := &permissions.Options{}
	return providers.Permissions{
		About: `Scaleway: a policy grants permission sets on projects. There is no set for pools alone: the sets of the policy also allow changes
of the clusters of the project. The manager has no API key of its own: each cluster references the Secret with its key.`,
		Examples: `  muster generate iam --cloud scaleway --project-id PROJECT > policy.json
  muster generate iam --cloud scaleway -o table`,
		AddFlags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Name, "policy-name", permissions.DefaultName, "Scaleway: Name of the policy.")
			f.StringVar(&o.Project, "project-id", "", "Scaleway: ID of the project of the clusters.")
			f.BoolVar(&o.ReadOnly, "read-only", false, "Scaleway: Allow only reads, as for plans.")
		},
		Document: func(out, _ io.Writer) error { return policy(*o, out) },
		Actions:  func() ([]providers.Action, error) { return actions(*o) },
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
	if err := encoder.Encode(p); err != nil {
		return fmt.Errorf("print what is allowed: %w", err)
	}
	return nil
}

// actions returns the operations that the policy allows, each with the permission set that it needs.
func actions(o permissions.Options) (list []providers.Action, err error) {
	p, err := permissions.PolicyOf(o)
	if err != nil {
		return nil, fmt.Errorf("list what is allowed: %w", err)
	}
	for _, op := range permissions.Operations() {
		if p.Allows(op) {
			list = append(list, providers.Action{Name: op.Set + " (" + op.Name + ")", Why: op.Why, Where: "the project of the clusters"})
		}
	}
	return list, nil
}

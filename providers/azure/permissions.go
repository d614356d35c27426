package azure

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/azure/permissions"
)

// document prints a custom role.
func document() providers.Permissions {
	o := &permissions.Options{}
	return providers.Permissions{
		About: `Azure: roles cannot select resources by tag. The role is limited by the scopes at which you assign it: the resource group of the
cluster, the resource group of its network, and the subscription for the list of VM sizes.`,
		Examples: `  muster generate iam --cloud azure --scope /subscriptions/ID > role.json
  az role definition create --role-definition @role.json
  muster generate iam --cloud azure -o table`,
		AddFlags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Name, "role-name", permissions.DefaultName, "Azure: Name of the role. It must be unique in the directory.")
			f.StringSliceVar(&o.Scopes, "scope", nil,
				"Azure: ID of a subscription, resource group or management group at which the role may be assigned. The flag may be repeated.")
			f.BoolVar(&o.RoleAssignments, "role-assignments", false,
				"Azure: Allow role assignments to the identities of scale sets, for identity SystemAssigned.")
		},
		Document: func(out, _ io.Writer) error { return role(*o, out) },
		Actions:  func() ([]providers.Action, error) { return actions(*o) },
	}
}

// role prints the role.
func role(o permissions.Options, out io.Writer) error {
	r, err := permissions.RoleOf(o)
	if err != nil {
		return fmt.Errorf("--scope: %w", err)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("print what is allowed: %w", err)
	}
	return nil
}

func actions(o permissions.Options) (list []providers.Action, err error) {
	grants, err := permissions.Grants(o)
	if err != nil {
		return nil, fmt.Errorf("--scope: %w", err)
	}
	for _, grant := range grants {
		for _, a := range grant.Actions {
			list = append(list, providers.Action{Name: a.Name, Why: a.Why, Where: grant.At})
		}
	}
	return list, nil
}

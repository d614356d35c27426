package gcp

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/gcp/permissions"
)

// document prints a custom role.
func document() providers.Permissions {
	o := &permissions.Options{}
	return providers.Permissions{
		About: `Google Cloud: roles cannot select resources by label. The role is limited by the project on which you grant it. With a shared
network, grant it on the project of the network too, and on the service accounts of the nodes.`,
		Examples: `  muster generate iam --cloud gcp > role.json
  gcloud iam roles create muster --project PROJECT --file role.json
  muster generate iam --cloud gcp -o table`,
		AddFlags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Title, "role-title", permissions.DefaultTitle, "Google Cloud: Title of the role.")
		},
		Document: func(out, _ io.Writer) error { return role(*o, out) },
		Actions:  func() ([]providers.Action, error) { return actions(*o) },
	}
}

// role prints the role.
func role(o permissions.Options, out io.Writer) error {
	r, err := permissions.RoleOf(o)
	if err != nil {
		return fmt.Errorf("make the role: %w", err)
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
		return nil, fmt.Errorf("list what is allowed: %w", err)
	}
	for _, grant := range grants {
		for _, p := range grant.Permissions {
			list = append(list, providers.Action{Name: p.Name, Why: p.Why, Where: grant.At})
		}
	}
	return list, nil
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/muster-project/muster/cloud/aws/permissions"
)

// generateIAM is one run of "muster generate iam".
type generateIAM struct {
	cloud, format string
	options       permissions.Options
}

// generateIAMCommand prints what the controllers' credentials must allow.
func generateIAMCommand() *cobra.Command {
	g := &generateIAM{}
	cmd := &cobra.Command{
		Use:   "iam --cloud aws",
		Short: "Print the least policy that the controllers' credentials need",
		Long: fmt.Sprintf(`Print the least policy that the controllers' credentials need, as the cloud takes it. What changes something is allowed for
what carries Muster's owner tag alone, so that nothing of anybody else's can be touched with it.

The document allows AWSMachinePools and AWSManagedMachinePools. Roles that machines get must have names that it knows: those
which end in .cluster-api-provider-aws.sigs.k8s.io, and what --node-role adds. A managed policy holds %d characters without
white space; what is longer, because many names are given, is printed as several documents, all of which are needed.`, permissions.Limit),
		Example: `  muster generate iam --cloud aws > policy.json
  aws iam create-policy --policy-name muster --policy-document file://policy.json
  muster generate iam --cloud aws --eks-iam --partition aws-us-gov
  muster generate iam --cloud aws -o table`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd.OutOrStdout(), cmd.ErrOrStderr()) },
	}
	f := cmd.Flags()
	f.StringVar(&g.cloud, "cloud", "", "cloud whose policy is printed: aws")
	f.StringVarP(&g.format, "output", "o", "json", "json (the policy), or table (each action with the reason why it is needed)")
	f.StringVar(&g.options.Partition, "partition", "aws", "partition of the account: aws, aws-cn, aws-us-gov")
	f.BoolVar(&g.options.EKS, "eks", true, "allow node groups (AWSManagedMachinePool)")
	f.BoolVar(&g.options.EKSIAM, "eks-iam", false, "allow node roles to be made, as with feature gate EKSEnableIAM")
	f.BoolVar(&g.options.EKSAddRoles, "eks-add-roles", false, "allow any policy to be attached to them, as with feature gate EKSAllowAddRoles")
	f.StringVar(&g.options.Bucket, "ignition-bucket", "", "S3 bucket that keeps user data which is too large for a launch template")
	f.StringSliceVar(&g.options.NodeRoles, "node-role", nil, "name of a further role that machines may get, * for any letters; may be repeated")
	f.StringSliceVar(&g.options.AssumeRoles, "assume-role", nil, "ARN of a role that an AWSClusterRoleIdentity names; may be repeated")
	return cmd
}

func (g *generateIAM) run(out, notes io.Writer) error {
	if g.cloud != "aws" {
		return fmt.Errorf("--cloud: wanted aws, found %q", g.cloud)
	}
	switch g.format {
	case "json":
		return g.json(out, notes)
	case "table":
		return g.table(out)
	}
	return fmt.Errorf("--output: wanted json or table, found %q", g.format)
}

// json prints the documents one after the other.
func (g *generateIAM) json(out, notes io.Writer) error {
	documents, err := permissions.Documents(g.options)
	if err != nil {
		return err
	}
	if len(documents) > 1 {
		if _, err := fmt.Fprintf(notes, "%d documents: all of them are needed, each as a policy of its own.\n", len(documents)); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	for _, d := range documents {
		if err := encoder.Encode(d); err != nil {
			return fmt.Errorf("print the policy: %w", err)
		}
	}
	return nil
}

// table prints why each action is needed.
func (g *generateIAM) table(out io.Writer) error {
	grants, err := permissions.Grants(g.options)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, "ACTION\tWHY\tWHERE"); err != nil {
		return err
	}
	for _, grant := range grants {
		for _, a := range grant.Actions {
			if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", a.Name, a.Why, where(grant)); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// where words a grant's conditions.
func where(g permissions.Grant) string {
	var words []string
	for _, operator := range slices.Sorted(maps.Keys(g.Conditions)) {
		for _, key := range slices.Sorted(maps.Keys(g.Conditions[operator])) {
			values := strings.Join(g.Conditions[operator][key], " or ")
			switch operator {
			case "Null":
				words = append(words, key+" is there")
			default:
				words = append(words, key+" is "+values)
			}
		}
	}
	if len(words) == 0 {
		return "anywhere"
	}
	return strings.Join(words, ", ")
}

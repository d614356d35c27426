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
	azurepermissions "github.com/muster-project/muster/cloud/azure/permissions"
)

// generateIAM is one run of "muster generate iam".
type generateIAM struct {
	cloud, format string
	aws           permissions.Options
	azure         azurepermissions.Options
}

// The flags that one cloud alone knows.
var (
	awsFlags   = []string{"partition", "eks", "eks-iam", "eks-add-roles", "ignition-bucket", "node-role", "assume-role"}
	azureFlags = []string{"role-name", "scope", "role-assignments"}
)

// generateIAMCommand prints what the controllers' credentials must allow.
func generateIAMCommand() *cobra.Command {
	g := &generateIAM{}
	cmd := &cobra.Command{
		Use:   "iam --cloud aws|azure",
		Short: "Print the least policy or role that the controllers' credentials need",
		Long: fmt.Sprintf(`Print the least policy (AWS) or custom role (Azure) that the controllers' credentials need, as the cloud takes it.

AWS: what changes something is allowed for what carries Muster's owner tag alone, so that nothing of anybody else's can be touched
with it. The document allows AWSMachinePools and AWSManagedMachinePools. Roles that machines get must have names that it knows: those
which end in .cluster-api-provider-aws.sigs.k8s.io, and what --node-role adds. A managed policy holds %d characters without
white space; what is longer, because many names are given, is printed as several documents, all of which are needed.

Azure: roles know no tags. What the role allows is bounded by the scopes that it is assigned at: the cluster's resource group, that of
its network, and the subscription for the catalogue of sizes.`, permissions.Limit),
		Example: `  muster generate iam --cloud aws > policy.json
  aws iam create-policy --policy-name muster --policy-document file://policy.json
  muster generate iam --cloud aws --eks-iam --partition aws-us-gov
  muster generate iam --cloud azure --scope /subscriptions/ID > role.json
  az role definition create --role-definition @role.json
  muster generate iam --cloud azure -o table`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.run(cmd, cmd.OutOrStdout(), cmd.ErrOrStderr()) },
	}
	f := cmd.Flags()
	f.StringVar(&g.cloud, "cloud", "", "cloud whose policy or role is printed: aws or azure")
	f.StringVarP(&g.format, "output", "o", "json", "json (the policy or role), or table (each action with the reason why it is needed)")
	f.StringVar(&g.aws.Partition, "partition", "aws", "AWS: partition of the account: aws, aws-cn, aws-us-gov")
	f.BoolVar(&g.aws.EKS, "eks", true, "AWS: allow node groups (AWSManagedMachinePool)")
	f.BoolVar(&g.aws.EKSIAM, "eks-iam", false, "AWS: allow node roles to be made, as with feature gate EKSEnableIAM")
	f.BoolVar(&g.aws.EKSAddRoles, "eks-add-roles", false, "AWS: allow any policy to be attached to them, as with feature gate EKSAllowAddRoles")
	f.StringVar(&g.aws.Bucket, "ignition-bucket", "", "AWS: S3 bucket that keeps user data which is too large for a launch template")
	f.StringSliceVar(&g.aws.NodeRoles, "node-role", nil, "AWS: name of a further role that machines may get, * for any letters; may be repeated")
	f.StringSliceVar(&g.aws.AssumeRoles, "assume-role", nil, "AWS: ARN of a role that an AWSClusterRoleIdentity names; may be repeated")
	f.StringVar(&g.azure.Name, "role-name", azurepermissions.DefaultName, "Azure: name of the role, unique in a directory")
	f.StringSliceVar(&g.azure.Scopes, "scope", nil, "Azure: ID of a subscription, resource group or management group that the role may be assigned at; may be repeated")
	f.BoolVar(&g.azure.RoleAssignments, "role-assignments", false, "Azure: allow roles to be given to the identities of scale sets, as with identity SystemAssigned")
	return cmd
}

func (g *generateIAM) run(cmd *cobra.Command, out, notes io.Writer) error {
	if g.format != "json" && g.format != "table" {
		return fmt.Errorf("--output: wanted json or table, found %q", g.format)
	}
	foreign := azureFlags
	if g.cloud == "azure" {
		foreign = awsFlags
	}
	for _, name := range foreign {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: means nothing with --cloud %s", name, g.cloud)
		}
	}
	switch g.cloud + " " + g.format {
	case "aws json":
		return g.awsJSON(out, notes)
	case "aws table":
		return g.awsTable(out)
	case "azure json":
		return g.azureJSON(out)
	case "azure table":
		return g.azureTable(out)
	}
	return fmt.Errorf("--cloud: wanted aws or azure, found %q", g.cloud)
}

// awsJSON prints the documents one after the other.
func (g *generateIAM) awsJSON(out, notes io.Writer) error {
	documents, err := permissions.Documents(g.aws)
	if err != nil {
		return err
	}
	if len(documents) > 1 {
		if _, err := fmt.Fprintf(notes, "%d documents: all of them are needed, each as a policy of its own.\n", len(documents)); err != nil {
			return err
		}
	}
	for _, d := range documents {
		if err := printJSON(out, d); err != nil {
			return err
		}
	}
	return nil
}

// azureJSON prints the role.
func (g *generateIAM) azureJSON(out io.Writer) error {
	role, err := azurepermissions.RoleOf(g.azure)
	if err != nil {
		return fmt.Errorf("--scope: %w", err)
	}
	return printJSON(out, role)
}

func printJSON(out io.Writer, document any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("print what is allowed: %w", err)
	}
	return nil
}

// awsTable prints why each action is needed.
func (g *generateIAM) awsTable(out io.Writer) error {
	grants, err := permissions.Grants(g.aws)
	if err != nil {
		return err
	}
	var rows [][3]string
	for _, grant := range grants {
		for _, a := range grant.Actions {
			rows = append(rows, [3]string{a.Name, a.Why, where(grant)})
		}
	}
	return printActions(out, rows)
}

// azureTable prints why each action is needed.
func (g *generateIAM) azureTable(out io.Writer) error {
	grants, err := azurepermissions.Grants(g.azure)
	if err != nil {
		return fmt.Errorf("--scope: %w", err)
	}
	var rows [][3]string
	for _, grant := range grants {
		for _, a := range grant.Actions {
			rows = append(rows, [3]string{a.Name, a.Why, grant.At})
		}
	}
	return printActions(out, rows)
}

func printActions(out io.Writer, rows [][3]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][3]string{{"ACTION", "WHY", "WHERE"}}, rows...) {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", row[0], row[1], row[2]); err != nil {
			return err
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

package aws

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/cloud/aws/permissions"
	"github.com/muster-project/muster/providers"
)

// document prints IAM policies.
func document() providers.Permissions {
	o := &permissions.Options{}
	return providers.Permissions{
		About: fmt.Sprintf(`AWS: what changes something is allowed for what carries Muster's owner tag alone, so that nothing of other owners can be touched
with it. The document allows AWSMachinePools and AWSManagedMachinePools. Roles that machines get must have names that it knows: those
which end in .cluster-api-provider-aws.sigs.k8s.io, and what --node-role adds. A managed policy holds %d characters without
white space; what is longer, because many names are given, is printed as several documents, all of which are needed.`, permissions.Limit),
		Examples: `  muster generate iam --cloud aws > policy.json
  aws iam create-policy --policy-name muster --policy-document file://policy.json
  muster generate iam --cloud aws --eks-iam --partition aws-us-gov`,
		AddFlags: func(f *pflag.FlagSet) { addFlags(f, o) },
		Document: func(out, notes io.Writer) error { return documents(*o, out, notes) },
		Actions:  func() ([]providers.Action, error) { return actions(*o) },
	}
}

func addFlags(f *pflag.FlagSet, o *permissions.Options) {
	f.StringVar(&o.Partition, "partition", "aws", "AWS: partition of the account: aws, aws-cn, aws-us-gov")
	f.BoolVar(&o.EKS, "eks", true, "AWS: allow node groups (AWSManagedMachinePool)")
	f.BoolVar(&o.EKSIAM, "eks-iam", false, "AWS: allow node roles to be made, as with feature gate EKSEnableIAM")
	f.BoolVar(&o.EKSAddRoles, "eks-add-roles", false, "AWS: allow any policy to be attached to them, as with feature gate EKSAllowAddRoles")
	f.StringVar(&o.Bucket, "ignition-bucket", "", "AWS: S3 bucket that keeps user data which is too large for a launch template")
	f.StringSliceVar(&o.NodeRoles, "node-role", nil, "AWS: name of a further role that machines may get, * for any letters; may be repeated")
	f.StringSliceVar(&o.AssumeRoles, "assume-role", nil, "AWS: ARN of a role that an AWSClusterRoleIdentity names; may be repeated")
}

// documents prints the documents one after the other.
func documents(o permissions.Options, out, notes io.Writer) error {
	list, err := permissions.Documents(o)
	if err != nil {
		return err
	}
	if len(list) > 1 {
		if _, err := fmt.Fprintf(notes, "%d documents: all of them are needed, each as a policy of its own.\n", len(list)); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	for _, d := range list {
		if err := encoder.Encode(d); err != nil {
			return fmt.Errorf("print what is allowed: %w", err)
		}
	}
	return nil
}

func actions(o permissions.Options) (list []providers.Action, err error) {
	grants, err := permissions.Grants(o)
	for _, grant := range grants {
		for _, a := range grant.Actions {
			list = append(list, providers.Action{Name: a.Name, Why: a.Why, Where: where(grant)})
		}
	}
	return list, err
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

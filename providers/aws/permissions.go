package aws

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/aws/permissions"
)

// document prints IAM policies.
func document() providers.Permissions {
	o := &permissions.Options{}
	return providers.Permissions{
		About: fmt.Sprintf(`AWS: the policy allows changes only of resources with Muster's owner tag, so that resources of other owners stay untouched.
It covers AWSMachinePools and AWSManagedMachinePools. Machines can get only roles whose names the policy contains: names that end in
.cluster-api-provider-aws.sigs.k8s.io, and those of --node-role. A managed policy holds %d characters without white space. A
longer policy, because of many names, is printed as several documents, and all of them are needed.`, permissions.Limit),
		Examples: `  muster generate iam --cloud aws > policy.json
  aws iam create-policy --policy-name muster --policy-document file://policy.json
  muster generate iam --cloud aws --eks-iam --partition aws-us-gov`,
		AddFlags: func(f *pflag.FlagSet) { addFlags(f, o) },
		Document: func(out, notes io.Writer) error { return documents(*o, out, notes) },
		Actions:  func() ([]providers.Action, error) { return actions(*o) },
	}
}

func addFlags(f *pflag.FlagSet, o *permissions.Options) {
	f.StringVar(&o.Partition, "partition", "aws", "AWS: Partition of the account: aws, aws-cn or aws-us-gov.")
	f.BoolVar(&o.EKS, "eks", true, "AWS: Allow node groups (AWSManagedMachinePool).")
	f.BoolVar(&o.EKSIAM, "eks-iam", false, "AWS: Allow the creation of node roles, for the feature gate EKSEnableIAM.")
	f.BoolVar(&o.EKSAddRoles, "eks-add-roles", false,
		"AWS: Allow any policy to be attached to node roles, for the feature gate EKSAllowAddRoles.")
	f.StringVar(&o.Bucket, "ignition-bucket", "", "AWS: S3 bucket for user data that is too large for a launch template.")
	f.StringSliceVar(&o.NodeRoles, "node-role", nil,
		"AWS: Name of an additional role that machines may get; * matches any characters. The flag may be repeated.")
	f.StringSliceVar(&o.AssumeRoles, "assume-role", nil,
		"AWS: ARN of a role that an AWSClusterRoleIdentity references. The flag may be repeated.")
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

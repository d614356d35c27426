package commands

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/muster-project/muster/providers/aws/permissions"
)

func TestGenerateIAM(t *testing.T) {
	t.Parallel()
	many := []string{}
	for range 200 {
		many = append(many, "--node-role", "a-role-with-a-name-that-is-rather-long")
	}
	for _, c := range []struct {
		reason string
		args   []string
		out    []string
		err    string
	}{
		{reason: "the policy is what a file for the cloud needs", args: []string{"--cloud", "aws"},
			out: []string{`"Version": "2012-10-17"`, "eks:CreateNodegroup"}},
		{reason: "parts can be left out", args: []string{"--cloud", "aws", "--eks=false", "--partition", "aws-cn"},
			out: []string{"arn:aws-cn:ec2:*:*:launch-template/*"}},
		{reason: "why is said on request", args: []string{"--cloud", "aws", "-o", "table", "--eks-iam"},
			out: []string{"ACTION", "iam:CreateRole", "a node role that does not exist", "aws:RequestTag/muster.dev/owner is there",
				"iam:PassedToService is ec2.amazonaws.com or eks.amazonaws.com"}},
		{reason: "a cloud must be said: there are several", err: "--cloud"},
		{reason: "nor is there any other yet", args: []string{"--cloud", "moon"},
			err: `wanted aws or azure or gcp or oci or scaleway, found "moon"`},
		{reason: "a role of Google Cloud is what its command line takes", args: []string{"--cloud", "gcp"},
			out: []string{`"title": "Muster machine pools"`, `"compute.instanceGroupManagers.create"`, `"container.clusters.update"`}},
		{reason: "why is said of each permission", args: []string{"--cloud", "gcp", "-o", "table"},
			out: []string{"ACTION", "compute.instanceTemplates.create", "the cluster's project", "iam.serviceAccounts.actAs"}},
		{reason: "statements of Oracle Cloud are in the form of its command line", args: []string{"--cloud", "oci", "--group", "pools"},
			out: []string{`"Allow group pools to {`, "CLUSTER_NODE_POOL_UPDATE", "} in compartment id COMPARTMENT_OCID"}},
		{reason: "why is said of each of them", args: []string{"--cloud", "oci", "-o", "table"},
			out: []string{"ACTION", "INSTANCE_POOL_INSTANCE_DETACH", "chosen, drained instances go", "virtual node pools of OKE"}},
		{reason: "a policy of Scaleway is what its API takes", args: []string{"--cloud", "scaleway"},
			out: []string{`"permission_set_names": [`, `"KubernetesFullAccess"`, `"PROJECT_ID"`}},
		{reason: "why is said of each operation", args: []string{"--cloud", "scaleway", "-o", "table"},
			out: []string{"ACTION", "KubernetesFullAccess (UpgradePool)", "the project of the clusters"}},
		{reason: "a role of Azure is what its command line takes", args: []string{"--cloud", "azure", "--scope", "/subscriptions/1"},
			out: []string{`"IsCustom": true`, `"Microsoft.Compute/virtualMachineScaleSets/delete/action"`, `"AssignableScopes": [`,
				`"/subscriptions/1"`}},
		{reason: "rights are given away on request", args: []string{"--cloud", "azure", "-o", "table", "--role-assignments"},
			out: []string{"ACTION", "Microsoft.Authorization/roleAssignments/write", "spec.systemAssignedIdentityRole.scope",
				"which sizes there are"}},
		{reason: "a role is for somewhere", args: []string{"--cloud", "azure"}, err: "--scope"},
		{reason: "a scope is an ID", args: []string{"--cloud", "azure", "--scope", "mine"}, err: `--scope: scope "mine"`},
		{reason: "what another cloud knows is a mistake", args: []string{"--cloud", "azure", "--scope", "/subscriptions/1", "--eks-iam"},
			err: "--eks-iam: means nothing with --cloud azure"},
		{reason: "in both directions", args: []string{"--cloud", "aws", "--scope", "/subscriptions/1"},
			err: "--scope: means nothing with --cloud aws"},
		{reason: "formats are those of the help", args: []string{"--cloud", "aws", "-o", "yaml"}, err: "--output"},
		{reason: "what is no name is refused", args: []string{"--cloud", "aws", "--node-role", "arn:x"}, err: "node role"},
		{reason: "names without an end are refused", args: append([]string{"--cloud", "aws"}, many...), err: "MusterPassNodeRole"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			cmd := generateCommand()
			var out strings.Builder
			cmd.SetOut(&out)
			cmd.SetErr(io.Discard)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(append([]string{"iam"}, c.args...))
			err := cmd.ExecuteContext(t.Context())
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("want an error with %q, got %v", c.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("want %q printed, got\n%s", want, out.String())
				}
			}
		})
	}
}

// TestGenerateIAMIsJSON holds that the output is one complete policy.
func TestGenerateIAMIsJSON(t *testing.T) {
	t.Parallel()
	cmd := generateCommand()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"iam", "--cloud", "aws"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	var d permissions.Document
	if err := json.Unmarshal([]byte(out.String()), &d); err != nil {
		t.Fatalf("want one JSON document, got %v in\n%s", err, out.String())
	}
	grants, err := permissions.Grants(permissions.Options{EKS: true})
	if err != nil || len(d.Statement) != len(grants) {
		t.Errorf("want a statement for each of %d grants, got %d, %v", len(grants), len(d.Statement), err)
	}
}

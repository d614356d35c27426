// Package account shows the simulated AWS account of a world through the SDK, as a user of the account sees it, and the nodes that it has
// brought.
package account

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/e2e/world"
)

// Account is the simulated account.
type Account struct {
	// T is the test that fails when the account does not answer.
	T *testing.T
	// EC2, EKS and Scaling are its services.
	EC2     *ec2.Client
	EKS     *eks.Client
	Scaling *autoscaling.Client
}

// Of opens a world's account with the credentials that "muster up" prints.
func Of(w *world.World) Account {
	w.T.Helper()
	config := aws.Config{
		Region: simaws.Region, BaseEndpoint: aws.String(w.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider(w.Printed(`AWS_ACCESS_KEY_ID=(\S+)`), w.Printed(`AWS_SECRET_ACCESS_KEY=(\S+)`), ""),
	}
	return Account{T: w.T, EC2: ec2.NewFromConfig(config), EKS: eks.NewFromConfig(config), Scaling: autoscaling.NewFromConfig(config)}
}

// Holdings lists the names of the resources in the account, without its network.
type Holdings struct {
	Groups, Templates, Instances []string
}

// Holds lists what exists now.
func (a Account) Holds() Holdings {
	a.T.Helper()
	var h Holdings
	groups, err := a.Scaling.DescribeAutoScalingGroups(a.T.Context(), nil)
	if err != nil {
		a.T.Fatal(err)
	}
	for _, g := range groups.AutoScalingGroups {
		h.Groups = append(h.Groups, aws.ToString(g.AutoScalingGroupName))
	}
	templates, err := a.EC2.DescribeLaunchTemplates(a.T.Context(), nil)
	if err != nil {
		a.T.Fatal(err)
	}
	for _, t := range templates.LaunchTemplates {
		h.Templates = append(h.Templates, aws.ToString(t.LaunchTemplateName))
	}
	instances, err := a.EC2.DescribeInstances(a.T.Context(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped", "shutting-down"}}}})
	if err != nil {
		a.T.Fatal(err)
	}
	for _, r := range instances.Reservations {
		for _, i := range r.Instances {
			h.Instances = append(h.Instances, aws.ToString(i.InstanceId))
		}
	}
	return h
}

// Empty returns an error that lists the remaining resources.
func (h Holdings) Empty() error {
	if len(h.Groups)+len(h.Templates)+len(h.Instances) == 0 {
		return nil
	}
	return errors.New(fmt.Sprint("left: groups ", h.Groups, ", launch templates ", h.Templates, ", instances ", h.Instances))
}

// Nodes checks that the cluster of the built-in AWSMachinePool has that many nodes, all Ready, with the provider IDs that their cloud gave
// them, and returns their names.
func Nodes(w *world.World, count int) []string {
	w.T.Helper()
	// A world that was just found again serves its workload clusters a moment after the management cluster.
	w.Eventually("the workload cluster to answer", func() error {
		_, err := w.Try("", "--kubeconfig", w.ClusterKubeconfig("capa"), "get", "--raw", "/readyz")
		return err
	})
	w.Workload("capa", "wait", "node", "--all", "--for=condition=Ready", "--timeout", world.WaitLimit.String())
	names := strings.Fields(w.Workload("capa", "get", "nodes", "-o", "name"))
	ids := strings.Fields(w.ReadFrom("capa", "{.items[*].spec.providerID}", "nodes"))
	if len(names) != count || len(ids) != count {
		w.T.Fatalf("want %d nodes with provider IDs, got %v with %v", count, names, ids)
	}
	for _, id := range ids {
		if !regexp.MustCompile(`^aws:///eu-west-1a/i-[0-9a-f]{17}$`).MatchString(id) {
			w.T.Errorf("want a provider ID of the form aws:///ZONE/i-..., got %s", id)
		}
	}
	return names
}

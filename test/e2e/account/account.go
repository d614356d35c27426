// Package account shows the simulated AWS account of a world through the SDK, as a user of the account sees it.
package account

import (
	"errors"
	"fmt"
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

// Holdings are the names of what exists in the account beside its network.
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

// Empty says what is left, as an error.
func (h Holdings) Empty() error {
	if len(h.Groups)+len(h.Templates)+len(h.Instances) == 0 {
		return nil
	}
	return errors.New(fmt.Sprint("left: groups ", h.Groups, ", launch templates ", h.Templates, ", instances ", h.Instances))
}

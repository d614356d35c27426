package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"
)

// account is the simulated account, seen through the SDK as anybody would see it.
type account struct {
	t       *testing.T
	ec2     *ec2.Client
	scaling *autoscaling.Client
}

// account opens the world's account with the credentials that "muster up" prints.
func (w *world) account() account {
	w.t.Helper()
	config := aws.Config{
		Region: simaws.Region, BaseEndpoint: aws.String(w.endpoint),
		Credentials: credentials.NewStaticCredentialsProvider(w.printed(`AWS_ACCESS_KEY_ID=(\S+)`), w.printed(`AWS_SECRET_ACCESS_KEY=(\S+)`), ""),
	}
	return account{t: w.t, ec2: ec2.NewFromConfig(config), scaling: autoscaling.NewFromConfig(config)}
}

// holdings are the names of what exists in the account beside its network.
type holdings struct {
	groups, templates, instances []string
}

func (a account) holds() holdings {
	a.t.Helper()
	var h holdings
	groups, err := a.scaling.DescribeAutoScalingGroups(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, g := range groups.AutoScalingGroups {
		h.groups = append(h.groups, aws.ToString(g.AutoScalingGroupName))
	}
	templates, err := a.ec2.DescribeLaunchTemplates(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, t := range templates.LaunchTemplates {
		h.templates = append(h.templates, aws.ToString(t.LaunchTemplateName))
	}
	instances, err := a.ec2.DescribeInstances(a.t.Context(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped", "shutting-down"}}}})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, r := range instances.Reservations {
		for _, i := range r.Instances {
			h.instances = append(h.instances, aws.ToString(i.InstanceId))
		}
	}
	return h
}

// empty says what is left, as an error.
func (h holdings) empty() error {
	if len(h.groups)+len(h.templates)+len(h.instances) == 0 {
		return nil
	}
	return errors.New(fmt.Sprint("left: groups ", h.groups, ", launch templates ", h.templates, ", instances ", h.instances))
}

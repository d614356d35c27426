package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/sweep"
)

const (
	// instancesNamed is the number of instances in one request: the maximum that EC2 recommends.
	instancesNamed = 1000
	// codeNoInstance is the error code of EC2 for a request that names an unknown instance.
	codeNoInstance = "InvalidInstanceID.NotFound"
)

// newInstances makes the sweep over the instances of a region. It reads the names that are requested at the same time, and nothing else.
func newInstances(client *EC2, now func() time.Time) *sweep.Sweep[ec2types.Instance] {
	some := func(ctx context.Context, ids []string, found func(string, ec2types.Instance)) error {
		list, err := instances(ctx, client, ids, now())
		for _, i := range list {
			found(ptr.Deref(i.InstanceId, ""), i)
		}
		return err
	}
	return sweep.New(sweep.Options[ec2types.Instance]{Some: some, Chunk: instancesNamed, Now: now})
}

// Instances returns the instances of the given IDs that EC2 knows, in one call for all pools that ask at the same time.
func (s *Session) Instances(ctx context.Context, ids []string) ([]ec2types.Instance, error) {
	answers, err := s.instances.Several(ctx, ids)
	if err != nil {
		return nil, err
	}
	var list []ec2types.Instance
	for _, id := range ids {
		if answer := answers[id]; answer.Found {
			list = append(list, answer.Value)
		}
	}
	return list, nil
}

// instances asks for the instances of those names. If EC2 does not know one of them, or not yet, it refuses the question and says which:
// it is asked for the others.
func instances(ctx context.Context, client *EC2, ids []string, now time.Time) ([]ec2types.Instance, error) {
	found, err := client.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
	if err = Refusal(err, now); cloud.CodeOf(err) == codeNoInstance {
		missing := InstanceID.FindAllString(err.Error(), -1)
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(missing, id) })
		if len(ids) == 0 || len(missing) == 0 {
			return nil, nil
		}
		found, err = client.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
		err = Refusal(err, now)
	}
	if err != nil {
		if cloud.CodeOf(err) == codeNoInstance {
			return nil, nil
		}
		return nil, err
	}
	var all []ec2types.Instance
	for _, r := range found.Reservations {
		for _, i := range r.Instances {
			i.LaunchTime = OurTime(i.LaunchTime, found.ResultMetadata)
			all = append(all, i)
		}
	}
	return all, nil
}

// ListChanged makes a conflict of EC2's refusal of an instance that the group still shows: the list is to be read again.
func ListChanged(err error) error {
	var e *cloud.Error
	if cloud.CodeOf(err) == codeNoInstance && errors.As(err, &e) {
		e.Kind = cloud.Conflict
	}
	return err
}

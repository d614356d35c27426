package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// ProviderID is what the Node of an instance carries.
func ProviderID(i asgtypes.Instance) string {
	return fmt.Sprintf("aws:///%s/%s", Deref(i.AvailabilityZone), Deref(i.InstanceId))
}

// StateOf puts the service's lifecycle states into pool's. Warm instances do not belong to the group's size, and detached
// ones do not belong to the group.
func StateOf(i asgtypes.Instance) (state pool.InstanceState, member bool) {
	name := string(i.LifecycleState)
	first, _, _ := strings.Cut(name, ":")
	switch first {
	case "Warmed", "Detached", "Terminated":
		return "", false
	case "Terminating", "Detaching":
		return pool.Terminating, true
	}
	if strings.EqualFold(Deref(i.HealthStatus), "Unhealthy") {
		return pool.Failed, true
	}
	if first == "Pending" {
		return pool.Pending, true
	}
	return pool.Running, true
}

// codeNoInstance is how EC2 refuses a question that names an instance which it does not know.
const codeNoInstance = "InvalidInstanceID.NotFound"

// Instances asks for the instances of those names. One name that EC2 does not know, or not yet, makes it refuse all of
// them: it says which, and is asked for the others.
func (s *Session) Instances(ctx context.Context, ids []string, now time.Time) ([]ec2types.Instance, error) {
	found, err := s.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
	if err = Refusal(err, now); cloud.CodeOf(err) == codeNoInstance {
		missing := InstanceID.FindAllString(err.Error(), -1)
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(missing, id) })
		if len(ids) == 0 || len(missing) == 0 {
			return nil, nil
		}
		found, err = s.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids})
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

// InStandby says that the group does not count the instance although it runs.
func InStandby(i asgtypes.Instance) bool {
	return i.LifecycleState == asgtypes.LifecycleStateStandby || i.LifecycleState == asgtypes.LifecycleStateEnteringStandby
}

// ListChanged makes a conflict of EC2's refusal of an instance that the group still shows: the list is to be read again.
func ListChanged(err error) error {
	var e *cloud.Error
	if cloud.CodeOf(err) == codeNoInstance && errors.As(err, &e) {
		e.Kind = cloud.Conflict
	}
	return err
}

// ReplacesUnhealthy says that nobody has suspended what takes unhealthy instances away.
func ReplacesUnhealthy(is *asgtypes.AutoScalingGroup) bool {
	return !slices.ContainsFunc(Suspended(is), func(name string) bool { return name == "ReplaceUnhealthy" || name == "Terminate" })
}

// Suspended are the processes of the group that are suspended, by whomever.
func Suspended(is *asgtypes.AutoScalingGroup) []string {
	var names []string
	for _, p := range is.SuspendedProcesses {
		names = append(names, Deref(p.ProcessName))
	}
	return names
}

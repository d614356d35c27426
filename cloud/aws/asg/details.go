package asg

import (
	"context"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/session"
)

// Details says what a driver keeps of EC2's answer about an instance: the group's own answer does not tell when instances were launched, or
// their tags.
type Details[R any] struct {
	// Incomplete reports whether a known instance has to be read from EC2 again. It is optional.
	Incomplete func(known R, i asgtypes.Instance) bool
	// Keep returns the details to keep; known are those that were kept before.
	Keep func(known R, i ec2types.Instance) R
}

// Read returns what is kept of each member of a group, by ID. It asks EC2 about members that are not known or incomplete. Those that EC2
// does not show yet, because its reads are eventually consistent, are left out, so that they are read again. With an error, the
// answer holds what was known. A group that is nil has no members.
func (d Details[R]) Read(ctx context.Context, c *session.Session, is *asgtypes.AutoScalingGroup, known map[string]R) (map[string]R, error) {
	if is == nil {
		return nil, nil
	}
	current := make(map[string]R, len(is.Instances))
	var unknown []string
	for _, i := range is.Instances {
		id := ptr.Deref(i.InstanceId, "")
		if _, member := StateOf(i); !member {
			continue
		}
		read, ok := known[id]
		if ok {
			current[id] = read
		}
		if !ok || d.Incomplete != nil && d.Incomplete(read, i) {
			unknown = append(unknown, id)
		}
	}
	found, err := c.Instances(ctx, unknown)
	if err != nil {
		return current, err
	}
	for _, i := range found {
		id := ptr.Deref(i.InstanceId, "")
		current[id] = d.Keep(current[id], i)
	}
	return current, nil
}

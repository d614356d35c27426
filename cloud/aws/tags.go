package aws

import (
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud/aws/session"
)

// Bookkeeping on the group itself: which of its tags, hooks and suspended processes we put there, so that what others put
// there is never taken away. It is not passed on to instances.
const (
	tagOurTags   = "muster.dev/managed-tags"
	tagOurHooks  = "muster.dev/managed-hooks"
	tagSuspended = "muster.dev/suspended-processes"
)

// tagSetAside is on instances that we put into standby. One in standby without it somebody put there for a reason of his own.
const tagSetAside = "muster.dev/set-aside"

// tagKept is on instances that we protected from scale-in so that a refresh leaves them.
const tagKept = "muster.dev/kept"

// groupTags are a group's tags as they are sent; those not in bookkeeping are passed on to new instances.
func groupTags(group string, tags map[string]string) []asgtypes.Tag {
	list := make([]asgtypes.Tag, 0, len(tags))
	for _, key := range session.SortedKeys(tags) {
		list = append(list, asgtypes.Tag{
			Key: &key, Value: new(tags[key]), PropagateAtLaunch: new(!bookkeeping(key)),
			ResourceId: &group, ResourceType: new("auto-scaling-group"),
		})
	}
	return list
}

func bookkeeping(key string) bool {
	return key == tagOurTags || key == tagOurHooks || key == tagSuspended
}

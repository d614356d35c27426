package aws

import (
	"context"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// former looks for groups of other names that could be the pool's, if one is about to be created: by the tags of the pool, and by the name
// that the ecosystem's provider gives its group, which is that of the object.
func (r *reader) former(ctx context.Context) error {
	group, search := &r.memory.group, r.t.Search
	if group.is != nil || !search.Tagged {
		return nil
	}
	tagged, err := r.c.GroupsTagged(ctx, r.t.Owner, driverkit.SearchAge(r.t.Search, r.now))
	if err != nil {
		return err
	}
	found := make([]driverkit.Candidate, 0, len(tagged)+1)
	for _, is := range tagged {
		if asg.Tag(is, session.TagBehind) == "" { // EKS's groups are those of another kind of pool
			found = append(found, r.candidate(is, false))
		}
	}
	if search.Provider {
		is, _, err := r.c.Group(ctx, r.t.Owner.Name, driverkit.SearchAge(r.t.Search, r.now))
		if err != nil {
			return err
		}
		if is != nil && session.OfCluster(asg.Tags(is), r.t.Owner.Cluster, r.t.cluster.EKSClusterName) {
			found = append(found, r.candidate(is, true))
		}
	}
	group.former = driverkit.Former(r.t.Owner, found, cloud.Owner.ResourceName)
	return nil
}

// candidate returns a group as one that could be the pool's.
func (r *reader) candidate(is *asgtypes.AutoScalingGroup, byProvider bool) driverkit.Candidate {
	name := ptr.Deref(is.AutoScalingGroupName, "")
	return driverkit.Candidate{Name: name, Group: "Auto Scaling group " + name, Claim: r.t.claim(is), ByProvider: byProvider,
		Deleting: asg.Deleting(is)}
}

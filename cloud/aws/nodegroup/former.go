package nodegroup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// former looks for node groups of other names that could be the pool's, if one is about to be created. A name in the specification asks for
// a node group of that name.
func (r *reader) former(ctx context.Context) error {
	group := &r.memory.group
	if group.is != nil || !r.t.Search.Tagged || r.t.pool.EKSNodegroupName != "" {
		return nil
	}
	names, err := r.candidates(ctx)
	if err != nil {
		return err
	}
	var found []driverkit.Candidate
	for _, name := range names {
		reply, err := r.c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &r.t.eks, NodegroupName: &name})
		if err = session.Refusal(err, r.now); err != nil && !session.Absent(err) {
			return err
		}
		if err != nil || reply.Nodegroup == nil {
			continue
		}
		is := reply.Nodegroup
		found = append(found, driverkit.Candidate{
			Name: name, Group: fmt.Sprintf("node group %s of EKS cluster %s", name, r.t.eks), Claim: r.t.claim(is),
			ByProvider: name == r.providers() && session.OfCluster(is.Tags, r.t.Owner.Cluster, r.t.eks),
			Deleting:   is.Status == ekstypes.NodegroupStatusDeleting,
		})
	}
	group.former = driverkit.Former(r.t.Owner, found, shortName)
	return nil
}

// candidates returns the names of the cluster's node groups that could be the pool's. EKS finds none by their tags: those are read that are
// called as a node group of Muster's for the object, as the provider's, or whose Auto Scaling group has the tags. Where the list is denied,
// as by the policy that is usual for the provider, the last two are left.
func (r *reader) candidates(ctx context.Context) ([]string, error) {
	names, err := r.c.Nodegroups(ctx, r.t.eks, driverkit.SearchAge(r.t.Search, r.now))
	if err != nil && cloud.KindOf(err) != cloud.Denied {
		return nil, err
	}
	denied := err != nil
	behind, err := r.c.GroupsTagged(ctx, r.t.Owner, driverkit.SearchAge(r.t.Search, r.now))
	if err != nil {
		return nil, err
	}
	tagged := map[string]bool{}
	for _, is := range behind {
		if asg.Tag(is, session.TagBehindCluster) == r.t.eks {
			tagged[asg.Tag(is, session.TagBehind)] = true
		}
	}
	if denied {
		names = append(slices.Sorted(maps.Keys(tagged)), r.providers())
	}
	derived := shortName(cloud.Owner{ID: r.t.Owner.ID, Name: r.t.Owner.Name})
	begin := derived[:len(derived)-suffixLength+1]
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		ours := len(name) == len(derived) && strings.HasPrefix(name, begin)
		return name == "" || name == r.t.name || !ours && !tagged[name] && name != r.providers()
	}), nil
}

// providers returns the name that the ecosystem's provider gives the node group of an object that names none; empty if none of that name
// counts. Longer names than EKS takes are hashes, which are not looked for.
func (r *reader) providers() string {
	if !r.t.Search.Provider {
		return ""
	}
	return r.t.Owner.Namespace + "_" + strings.ReplaceAll(r.t.Owner.Name, ".", "_")
}

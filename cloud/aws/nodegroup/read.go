package nodegroup

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// pass is one call for one pool.
type pass struct {
	options Options
	c       *session.Session
	t       target
	now     time.Time
	memory  *memory
}

// reader reads one pool for one call of Observe or Start, as far as what is known of it is out of date.
type reader struct {
	*pass
	// reused is true if the group was not read although the call wants it as it is now.
	reused bool
	// slow paces the reads that are repeated once in a period.
	slow session.SlowReads
}

// groups reads the pool's node group, the one that the object names, and those of other names that could be the pool's.
func (r *reader) groups(ctx context.Context) error {
	if err := r.group(ctx); err != nil {
		return err
	}
	if err := r.named(ctx); err != nil {
		return err
	}
	return r.former(ctx)
}

// group reads the node group and its backing group, in a call each; at rest the backing group alone, in a call that pools share.
func (r *reader) group(ctx context.Context) error {
	m := r.memory
	if driverkit.Reusable(m.group.at, r.now, r.t.Cache.MaxAge) || m.template.GroupStillKnown(m.group.asked, r.now, r.t.Cache.MaxAge) {
		r.reused = r.t.Cache.MaxAge == 0
		return nil
	}
	if holds, err := r.holdsStill(ctx); holds || err != nil {
		return err
	}
	is, err := r.nodegroup(ctx, r.t.eks, r.t.name)
	if err != nil {
		return err
	}
	read := groupRead{is: is, at: r.now, asked: r.now}
	if is == nil {
		m.group, m.template.Wrote = read, false
		if err = driverkit.NotYetShown("node group "+r.t.name, m.made, r.now, session.VisibleWithin); err != nil {
			m.group = groupRead{}
		}
		return err
	}
	if r.t.owns(is) {
		if m.backingName = backingName(is); m.backingName != "" {
			if read.backing, _, err = r.c.Group(ctx, m.backingName, r.t.Cache.MaxAge); err != nil {
				return err
			}
		}
	}
	read.asks = r.t.digest()
	m.group, m.template.Wrote = read, false
	m.noteFailure(is, r.now)
	return nil
}

// nodegroup reads a node group; nil if there is none.
func (r *reader) nodegroup(ctx context.Context, cluster, name string) (*ekstypes.Nodegroup, error) {
	found, err := r.c.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &cluster, NodegroupName: &name})
	if err = session.Refusal(err, r.now); session.Absent(err) {
		return nil, nil
	}
	if err != nil || found.Nodegroup == nil {
		return nil, err
	}
	is := found.Nodegroup
	is.CreatedAt, is.ModifiedAt = session.OurTime(is.CreatedAt, found.ResultMetadata), session.OurTime(is.ModifiedAt, found.ResultMetadata)
	return is, nil
}

// backingName is the name of the Auto Scaling group that EKS keeps behind the node group. There is one.
func backingName(is *ekstypes.Nodegroup) string {
	if is.Resources == nil || len(is.Resources.AutoScalingGroups) == 0 {
		return ""
	}
	return ptr.Deref(is.Resources.AutoScalingGroups[0].Name, "")
}

// holdsStill reports whether what EKS said of the node group is taken to hold because the backing group, which is read for many pools in
// one call, is as it was then. EKS has no such call. It is asked once in a while all the same, and whenever the answer must be exact.
func (r *reader) holdsStill(ctx context.Context) (bool, error) {
	known := &r.memory.group
	if r.t.Cache.MaxAge <= 0 || !r.memory.atRest(r.t) || r.now.Sub(known.asked) >= session.SlowPeriod || known.asks != r.t.digest() {
		return false, nil
	}
	backing, at, err := r.c.Group(ctx, r.memory.backingName, r.t.Cache.MaxAge)
	if err != nil || backing == nil || !reflect.DeepEqual(backing, known.backing) {
		return false, err
	}
	known.at, r.memory.template.Wrote = at, false
	return true, nil
}

// named reads the node group that the object names, if that is not the pool's own and the pool's own does not exist: another tool may have
// managed the pool before.
func (r *reader) named(ctx context.Context) error {
	on := r.t.groupNamed()
	group := &r.memory.group
	if group.is != nil || !r.t.namesAnother(on) || group.named.ID == r.t.GroupID {
		return nil
	}
	label := fmt.Sprintf("node group %s of EKS cluster %s", on.name, on.cluster)
	if session.Elsewhere(on.region, r.t.cluster) {
		group.named = driverkit.NamedGroup{ID: r.t.GroupID, Conflict: cloud.NamedElsewhere(label, "it is in region "+on.region)}
		return nil
	}
	is, err := r.nodegroup(ctx, on.cluster, on.name)
	if err != nil {
		return err
	}
	group.named = driverkit.NamedGroup{ID: r.t.GroupID}
	if is != nil && !r.t.owns(is) {
		group.named.Conflict = driverkit.NamedConflict(label, on.name, r.t.claim(is))
	}
	return nil
}

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
		is, err := r.nodegroup(ctx, r.t.eks, name)
		if err != nil {
			return err
		}
		if is == nil {
			continue
		}
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

// known returns the pool for a step, and reads what has not been read.
func (r *reader) known(ctx context.Context) (*state, error) {
	if r.memory.group.at.IsZero() {
		if err := r.group(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.named(ctx); err != nil {
		return nil, err
	}
	s := r.state()
	if r.memory.template.Known() {
		return s, nil
	}
	return s, r.readTemplate(ctx, s)
}

// recent returns the pool for a step, with the group as it is at this moment.
func (r *reader) recent(ctx context.Context) (*state, error) {
	if r.now.Sub(r.memory.group.asked) > session.SameMoment {
		r.t.Cache.MaxAge = cloud.NoSharedCache
		if err := r.group(ctx); err != nil {
			return nil, err
		}
	}
	return r.known(ctx)
}

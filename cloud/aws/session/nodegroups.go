package session

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/muster-project/muster/cloud/sweep"
)

// maxNodegroups bounds the node groups of a list: many times as many as EKS allows in a cluster.
const maxNodegroups = 5000

// newNodegroups makes the sweep over the names of node groups: keys are EKS clusters.
func newNodegroups(client *EKS, now func() time.Time) *sweep.Sweep[[]string] {
	some := func(ctx context.Context, clusters []string, found func(string, []string)) error {
		for _, cluster := range clusters {
			pages := eks.NewListNodegroupsPaginator(client.ListNodegroups, &eks.ListNodegroupsInput{ClusterName: &cluster})
			names, err := Listed(ctx, pages, func(page *eks.ListNodegroupsOutput) []string { return page.Nodegroups }, maxNodegroups, now())
			if err != nil && !Absent(err) {
				return err
			}
			found(cluster, names)
		}
		return nil
	}
	return sweep.New(sweep.Options[[]string]{Some: some, Now: now})
}

// Nodegroups returns the names of the node groups of an EKS cluster; none if there is no such cluster.
func (s *Session) Nodegroups(ctx context.Context, cluster string, maxAge time.Duration) ([]string, error) {
	answer, err := s.nodegroups.Get(ctx, cluster, maxAge)
	return answer.Value, err
}

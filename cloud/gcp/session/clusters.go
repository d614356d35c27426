package session

import (
	"context"
	"strings"
	"time"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/sweep"
)

// Cluster returns a GKE cluster with its node pools, and when it was read; nil if there is none. maxAge is as in cloud.Target. It is shared
// by all pools and must not be changed.
func (s *Session) Cluster(ctx context.Context, location, name string, maxAge time.Duration) (*container.Cluster, time.Time, error) {
	answer, err := s.clusters.Get(ctx, keyOf(location, name), maxAge)
	return answer.Value, answer.At, err
}

// TouchCluster is called before and after a write to a cluster or one of its node pools: what was read of them before is out of date.
func (s *Session) TouchCluster(location, name string) { s.clusters.Touch(keyOf(location, name)) }

// ClusterPath is the name of a cluster in requests.
func (s *Session) ClusterPath(location, name string) string {
	return "projects/" + s.Project + "/locations/" + location + "/clusters/" + name
}

// newClusters makes the sweep of clusters: all node pools of a project share its reads.
func newClusters(s *Session, o Options) *sweep.Sweep[*container.Cluster] {
	return sweep.New(sweep.Options[*container.Cluster]{Some: s.someClusters, All: s.allClusters, Now: o.Now, Eager: o.Listing})
}

// someClusters reads single clusters.
func (s *Session) someClusters(ctx context.Context, keys []string, found func(string, *container.Cluster)) error {
	for _, key := range keys {
		location, name, _ := strings.Cut(key, "/")
		is, err := s.Container.Projects.Locations.Clusters.Get(s.ClusterPath(location, name)).Context(ctx).Do()
		if err = s.Refusal(err); err != nil && !Absent(err) {
			return err
		}
		if err == nil {
			found(key, is)
		}
	}
	return nil
}

// allClusters lists the clusters of all locations. Those of a zone that is missing in the reply are read one by one.
func (s *Session) allClusters(ctx context.Context, found func(string, *container.Cluster)) (int, error) {
	list, err := s.Container.Projects.Locations.Clusters.List("projects/" + s.Project + "/locations/-").Context(ctx).Do()
	if err != nil {
		return 1, s.Refusal(err)
	}
	for _, is := range list.Clusters {
		found(keyOf(is.Location, is.Name), is)
	}
	return 1, nil
}

package toy

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/toy/session"
)

// clusters reads clusters for all pools.
type clusters struct {
	*session.Session
	sweep *sweep.Sweep[clusterRead]
}

func newClusters(s *session.Session) *clusters {
	c := &clusters{Session: s}
	c.sweep = sweep.New(sweep.Options[clusterRead]{Some: c.readClusters, Now: s.Now})
	return c
}

// clusterRead is a cluster with its pools and nodes, shared by all pools. It must not be changed.
type clusterRead struct {
	cluster *clusterDoc
	pools   []*poolDoc
	nodes   []*nodeDoc
	// skew is the time by which the cloud's clock is ahead.
	skew time.Duration
}

// cluster returns a cluster with its pools and nodes, and when it was read. maxAge is as in cloud.Target.
func (s *clusters) cluster(ctx context.Context, name string, maxAge time.Duration) (clusterRead, time.Time, error) {
	answer, err := s.sweep.Get(ctx, name, maxAge)
	return answer.Value, answer.At, err
}

// readClusters reads clusters one by one. One that does not exist is left out.
func (s *clusters) readClusters(ctx context.Context, names []string, found func(string, clusterRead)) error {
	for _, name := range names {
		read, err := s.readCluster(ctx, name)
		switch {
		case err == nil:
			found(name, read)
		case !session.Table.IsAbsent(err):
			return err
		}
	}
	return nil
}

func (s *clusters) readCluster(ctx context.Context, name string) (clusterRead, error) {
	read := clusterRead{cluster: &clusterDoc{}}
	header, err := s.Do(ctx, session.Request{Operation: "GetCluster", Method: http.MethodGet, Path: clusterPath(name)}, read.cluster)
	if err != nil {
		return read, err
	}
	read.skew = driverkit.ClockSkew(header, s.Now())
	_, err = s.Listed(ctx, "ListPools", clusterPath(name)+"/pools", func(page []byte) error {
		var is struct{ Pools []*poolDoc }
		err := json.Unmarshal(page, &is)
		read.pools = append(read.pools, is.Pools...)
		return err
	})
	if err != nil {
		return read, err
	}
	_, err = s.Listed(ctx, "ListNodes", clusterPath(name)+"/nodes", func(page []byte) error {
		var is struct{ Nodes []*nodeDoc }
		err := json.Unmarshal(page, &is)
		read.nodes = append(read.nodes, is.Nodes...)
		return err
	})
	return read, err
}

// pool returns a pool of the cluster; nil if there is none.
func (r clusterRead) pool(name string) *poolDoc {
	for _, p := range r.pools {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// nodesOf returns the nodes of a pool.
func (r clusterRead) nodesOf(pool string) []*nodeDoc {
	var out []*nodeDoc
	for _, n := range r.nodes {
		if n.Pool == pool {
			out = append(out, n)
		}
	}
	return out
}

// ours returns a moment of the cloud's clock by Muster's.
func (r clusterRead) ours(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(-r.skew)
}

func clusterPath(name string) string { return "/v1/clusters/" + url.PathEscape(name) }

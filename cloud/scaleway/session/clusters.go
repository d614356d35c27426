package session

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// pageSize is the requested size of a page. The specification names no bound; Scaleway's autoscaler requests as many.
	pageSize = 100
	// maxPages bounds the requests for one list: a cluster has at most 500 nodes, and a page at least one.
	maxPages = 1000
	// documentAge is the maximum age of the document of a cluster when its pools and nodes are read, which needs its ID alone. Decisions
	// that depend on its version or type read a newer one.
	documentAge = 30 * time.Minute
	// listAgain bounds the attempts to read a list that changes between its pages.
	listAgain = 3
)

// Cluster is a cluster with its pools and nodes, shared by all pools. It must not be changed.
type Cluster struct {
	// Doc is the cluster itself. It was read at DocAt, at most documentAge before its pools and nodes.
	Doc   *k8s.Cluster
	DocAt time.Time
	Pools []*k8s.Pool
	Nodes []*k8s.Node
	// Skew is the time by which the cloud's clock is ahead.
	Skew time.Duration
}

// Cluster returns the cluster of a name in the project and region, and when its pools and nodes were read; one with a nil Doc if there is
// none. maxAge is as in cloud.Target, and applies to pools and nodes.
func (s *Session) Cluster(ctx context.Context, name string, maxAge time.Duration) (Cluster, time.Time, error) {
	answer, err := s.clusters.Get(ctx, name, maxAge)
	return answer.Value, answer.At, err
}

// Document returns the cluster of a name itself, and when it was read; nil if there is none.
func (s *Session) Document(ctx context.Context, name string, maxAge time.Duration) (*k8s.Cluster, time.Time, error) {
	answer, err := s.documents.Get(ctx, name, maxAge)
	return answer.Value, answer.At, err
}

// Touch is called before and after a write to a pool: what was read before of the pools and nodes of its cluster is out of date.
func (s *Session) Touch(cluster string) { s.clusters.Touch(cluster) }

// readClusters reads the pools and nodes of clusters, one cluster after another. A cluster that does not exist is left out.
func (s *Session) readClusters(ctx context.Context, names []string, found func(string, Cluster)) error {
	for _, name := range names {
		begun := s.now()
		is, err := s.readCluster(ctx, name, documentAge)
		if err == nil && len(is.Pools) == 0 && is.DocAt.Before(begun) {
			is, err = s.readCluster(ctx, name, 0) // since then the cluster may have been created, deleted or replaced
		}
		if err != nil {
			return err
		}
		if is.Doc != nil {
			found(name, is)
		}
	}
	return nil
}

// readCluster reads a cluster no older than maxAge, and then its pools before its nodes: a node that is listed has its pool then. Doc is
// nil if there is no such cluster.
func (s *Session) readCluster(ctx context.Context, name string, maxAge time.Duration) (out Cluster, err error) {
	if out.Doc, out.DocAt, err = s.Document(ctx, name, maxAge); err != nil || out.Doc == nil {
		return out, err
	}
	path := "/clusters/" + url.PathEscape(out.Doc.ID)
	out.Pools, err = listed(ctx, s, "ListPools", path+"/pools", url.Values{}, &out.Skew, func(p *k8s.Pool) string { return p.ID })
	if err == nil {
		out.Nodes, err = listed(ctx, s, "ListNodes", path+"/nodes", url.Values{}, nil, func(n *k8s.Node) string { return n.ID })
	}
	if Absent(err) {
		return Cluster{DocAt: out.DocAt}, nil
	}
	return out, err
}

// readDocuments finds clusters by their names. A cluster that does not exist is left out.
func (s *Session) readDocuments(ctx context.Context, names []string, found func(string, *k8s.Cluster)) error {
	for _, name := range names {
		is, err := s.readDocument(ctx, name)
		if err != nil {
			return err
		}
		if is != nil {
			found(name, is)
		}
	}
	return nil
}

// readDocument finds a cluster by its name; nil if there is none.
func (s *Session) readDocument(ctx context.Context, name string) (found *k8s.Cluster, err error) {
	named, err := listed(ctx, s, "ListClusters", "/clusters", url.Values{"name": {name}, "project_id": {s.Project}}, nil,
		func(c *k8s.Cluster) string { return c.ID })
	for _, c := range named {
		switch {
		case c.Name != name: // the filter may match parts of names
		case found != nil:
			return nil, cloud.Invalidf("spec.clusterName", "project %s has two clusters with the name %q in %s: rename one of them", s.Project, name,
				s.Region)
		default:
			found = c
		}
	}
	return found, err
}

// listed reads a list to its end, the oldest first: what is created meanwhile comes last. Pages are counted from the beginning, so that a
// list that has lost an object between two pages may hide another one: such a list is read again.
func listed[V any](ctx context.Context, s *Session, operation, path string, query url.Values, skew *time.Duration,
	id func(*V) string,
) ([]*V, error) {
	query.Set("order_by", "created_at_asc")
	query.Set("page_size", strconv.Itoa(pageSize))
	for range listAgain {
		list := pages[V]{seen: map[string]bool{}, id: id}
		err := wire.ReadPages(ctx, maxPages, func(ctx context.Context) (bool, error) {
			list.page++
			query.Set("page", strconv.Itoa(list.page))
			var page listReply[V]
			header, err := s.do(ctx, Request{Operation: operation, Method: http.MethodGet, Path: path, Query: query}, &page)
			if err != nil {
				return false, err
			}
			if skew != nil {
				*skew = driverkit.ClockSkew(header, s.now())
			}
			return list.add(page), nil
		})
		if err != nil || !list.changed {
			return list.found, err
		}
	}
	return nil, &cloud.Error{Kind: cloud.Conflict, Op: Service + ":" + operation, Code: "ListChanged",
		Message: "the list has changed while it was read: it is read again"}
}

// listReply is a page of a list.
type listReply[V any] struct {
	TotalCount uint64 `json:"total_count"`
	Clusters   []*V   `json:"clusters"`
	Pools      []*V   `json:"pools"`
	Nodes      []*V   `json:"nodes"`
}

// pages collects the pages of a list.
type pages[V any] struct {
	page  int
	total uint64
	found []*V
	seen  map[string]bool
	id    func(*V) string
	// changed is true if objects came or went between the pages.
	changed bool
}

// add takes a page and reports whether others follow.
func (p *pages[V]) add(is listReply[V]) bool {
	items := append(append(is.Clusters, is.Pools...), is.Nodes...)
	p.changed = p.changed || p.page > 1 && is.TotalCount != p.total
	p.total = is.TotalCount
	for _, item := range items {
		if id := p.id(item); !p.seen[id] {
			p.seen[id] = true
			p.found = append(p.found, item)
		}
	}
	more := uint64(len(p.found)) < p.total
	if more && len(items) == 0 {
		p.changed = true
	}
	return more && len(items) > 0 && !p.changed
}

package toy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/cloud/wire"
)

// Options of a Driver.
type Options struct {
	// Endpoint is the address of the API, without a slash at the end. Token authenticates the account.
	Endpoint, Token string
	// Base sends the requests instead of the standard library's transport.
	Base http.RoundTripper
	// Hook and Around see every request.
	Hook   wire.Hook
	Around wire.Around
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

const (
	// pageSize is the largest page of a list, pagesMost bounds the requests for one list, bodyMost a reply in bytes.
	pageSize, pagesMost, bodyMost = 50, 500, 16 << 20
	// The documented limits of an account: requests at once, and more each second.
	readBurst, readRate, writeBurst, writeRate = 100, 10, 50, 5
)

// session sends requests to the API of one account. All pools share its reads.
type session struct {
	o        Options
	client   *http.Client
	clusters *sweep.Sweep[clusterRead]
}

// clusterRead is a cluster with its pools and nodes, shared by all pools. It must not be changed.
type clusterRead struct {
	cluster *clusterDoc
	pools   []*poolDoc
	nodes   []*nodeDoc
	// skew is the time by which the cloud's clock is ahead.
	skew time.Duration
}

func newSession(o Options) *session {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &session{o: o, client: &http.Client{Transport: wire.New(wire.Options{
		Base: o.Base, Budgets: budgetsOf, Hook: o.Hook, Around: o.Around, Now: o.Now,
	})}}
	s.clusters = sweep.New(sweep.Options[clusterRead]{Some: s.readClusters, Now: o.Now})
	return s
}

// budgetsOf returns the bucket of a call.
func budgetsOf(c wire.Call) []wire.Budget {
	if c.ReadOnly {
		return []wire.Budget{{Key: "reads", Name: "reads of the toy cloud", Burst: readBurst, PerSecond: readRate}}
	}
	return []wire.Budget{{Key: "writes", Name: "writes of the toy cloud", Burst: writeBurst, PerSecond: writeRate}}
}

// request is one request. Body is encoded unless it is nil, the reply is decoded into the value of into.
type request struct {
	operation, method, path string
	// revision is the one on which a change rests, empty for none.
	revision string
	body     any
}

// do sends a request and returns the header of the reply.
func (s *session) do(ctx context.Context, r request, into any) (http.Header, error) {
	call := wire.Call{Service: "toy", Operation: r.operation, ReadOnly: r.method == http.MethodGet}
	body, err := json.Marshal(r.body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", call, err)
	}
	req, err := http.NewRequestWithContext(wire.WithCall(ctx, call), r.method, s.o.Endpoint+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request %s: %w", call, err)
	}
	if r.body == nil {
		req.Body = http.NoBody
	}
	req.Header.Set("Authorization", "Bearer "+s.o.Token)
	if r.revision != "" {
		req.Header.Set("If-Match", r.revision)
	}
	reply, err := s.client.Do(req)
	if err != nil {
		return nil, unanswered(call.String(), err)
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, bodyMost))
	_ = reply.Body.Close() // it was read, or the error of that tells
	switch {
	case err != nil:
		return nil, unanswered(call.String(), err)
	case reply.StatusCode >= http.StatusMultipleChoices:
		return nil, refused(call.String(), reply.StatusCode, reply.Header, text, s.o.Now())
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, unanswered(call.String(), err)
	}
	return reply.Header, nil
}

// listed reads a list to its end, with each page decoded by add.
func (s *session) listed(ctx context.Context, operation, path string, add func(page []byte) error) error {
	token := ""
	return wire.ReadPages(ctx, pagesMost, func(ctx context.Context) (bool, error) {
		query := url.Values{"pageSize": {strconv.Itoa(pageSize)}}
		if token != "" {
			query.Set("pageToken", token)
		}
		var page json.RawMessage
		if _, err := s.do(ctx, request{operation: operation, method: http.MethodGet, path: path + "?" + query.Encode()}, &page); err != nil {
			return false, err
		}
		var next struct{ NextPageToken string }
		err := json.Unmarshal(page, &next)
		if err == nil {
			err = add(page)
		}
		token = next.NextPageToken
		if err != nil {
			return false, unanswered("toy:"+operation, err)
		}
		return token != "", nil
	})
}

// cluster returns a cluster with its pools and nodes, and when it was read. maxAge is as in cloud.Target.
func (s *session) cluster(ctx context.Context, name string, maxAge time.Duration) (clusterRead, time.Time, error) {
	answer, err := s.clusters.Get(ctx, name, maxAge)
	return answer.Value, answer.At, err
}

// readClusters reads clusters one by one. One that does not exist is left out.
func (s *session) readClusters(ctx context.Context, names []string, found func(string, clusterRead)) error {
	for _, name := range names {
		read, err := s.readCluster(ctx, name)
		switch {
		case err == nil:
			found(name, read)
		case !table.IsAbsent(err):
			return err
		}
	}
	return nil
}

func (s *session) readCluster(ctx context.Context, name string) (clusterRead, error) {
	read := clusterRead{cluster: &clusterDoc{}}
	header, err := s.do(ctx, request{operation: "GetCluster", method: http.MethodGet, path: clusterPath(name)}, read.cluster)
	if err != nil {
		return read, err
	}
	read.skew = driverkit.ClockSkew(header, s.o.Now())
	err = s.listed(ctx, "ListPools", clusterPath(name)+"/pools", func(page []byte) error {
		var is struct{ Pools []*poolDoc }
		err := json.Unmarshal(page, &is)
		read.pools = append(read.pools, is.Pools...)
		return err
	})
	if err != nil {
		return read, err
	}
	err = s.listed(ctx, "ListNodes", clusterPath(name)+"/nodes", func(page []byte) error {
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

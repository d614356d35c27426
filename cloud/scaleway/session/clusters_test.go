package session

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
)

const clustersPage = `{"total_count":2,"clusters":[{"id":"c0","name":"managed-too"},{"id":"c1","name":"managed","version":"1.36.1"}]}`

func names(kind string, total, from, to int) reply {
	var items []string
	for i := from; i < to; i++ {
		items = append(items, fmt.Sprintf(`{"id":"%d","name":"p%d"}`, i, i))
	}
	return reply{body: fmt.Sprintf(`{"total_count":%d,"%s":[%s]}`, total, kind, strings.Join(items, ","))}
}

// TestLists: a list is read to its end by its total, whatever a page holds, and again if it changed between its pages.
func TestLists(t *testing.T) {
	t.Parallel()
	clusters, none := reply{body: clustersPage}, names("nodes", 0, 0, 0)
	for _, c := range []struct {
		reason   string
		replies  []reply
		pools    int
		requests int
		kind     cloud.ErrorKind
	}{
		{"one page", []reply{clusters, names("pools", 2, 0, 2), none}, 2, 3, ""},
		{"smaller pages than were asked for", []reply{clusters, names("pools", 3, 0, 1), names("pools", 3, 1, 2), names("pools", 3, 2, 3),
			none}, 3, 5, ""},
		{"a pool that went between two pages hides another one", []reply{clusters, names("pools", 4, 0, 2), names("pools", 3, 3, 4),
			names("pools", 3, 1, 3), names("pools", 3, 3, 4), none}, 3, 6, ""},
		{"a page that ends early", []reply{clusters, names("pools", 4, 0, 2), names("pools", 4, 0, 0), names("pools", 2, 0, 2), none}, 2, 5, ""},
		{"a list that always changes", []reply{clusters, names("pools", 4, 0, 2), names("pools", 3, 2, 3), names("pools", 4, 0, 2),
			names("pools", 3, 2, 3), names("pools", 4, 0, 2), names("pools", 3, 2, 3), none}, 0, 7, cloud.Conflict},
		{"a list that is refused in its midst", []reply{clusters, names("pools", 4, 0, 2), {status: 500, body: `{}`}}, 0, 3, cloud.Unavailable},
	} {
		s, sent := over(t, c.replies...)
		is, _, err := s.Cluster(t.Context(), "managed", 0)
		if len(is.Pools) != c.pools || len(sent.requests) != c.requests || (err != nil) != (c.kind != "") ||
			err != nil && cloud.KindOf(err) != c.kind {
			t.Errorf("%s: want %d pools after %d requests, %q, got %d after %v, %v", c.reason, c.pools, c.requests, c.kind, len(is.Pools),
				sent.requests, err)
		}
	}
}

// TestClusterByName: the filter of the list may match parts of names; two clusters of one name are told, and none is no error.
func TestClusterByName(t *testing.T) {
	t.Parallel()
	empty := names("pools", 0, 0, 0)
	s, _ := over(t, reply{body: clustersPage}, empty)
	if is, _, err := s.Cluster(t.Context(), "managed", 0); err != nil || is.Doc == nil || is.Doc.ID != "c1" {
		t.Errorf("want cluster c1, got %+v, %v", is.Doc, err)
	}
	s, _ = over(t, reply{body: clustersPage}, empty)
	if is, _, err := s.Cluster(t.Context(), "other", 0); err != nil || is.Doc != nil {
		t.Errorf("want no cluster, got %+v, %v", is.Doc, err)
	}
	s, _ = over(t, reply{body: strings.ReplaceAll(clustersPage, "managed-too", "managed")}, empty)
	_, _, err := s.Cluster(t.Context(), "managed", 0)
	if cloud.KindOf(err) != cloud.Invalid || !strings.Contains(err.Error(), "spec.clusterName") {
		t.Errorf("want two clusters of one name told, got %v", err)
	}
	gone := reply{status: 404, body: `{"type":"not_found","resource":"cluster"}`}
	s, _ = over(t, reply{body: clustersPage}, gone)
	if is, _, err := s.Cluster(t.Context(), "managed", 0); err != nil || is.Doc != nil {
		t.Errorf("want a cluster gone that went between the lists, got %+v, %v", is.Doc, err)
	}
}

// TestClusterIsReadRarely: pools and nodes are read without the cluster for half an hour, unless their cluster is gone, empty or missing:
// it may be another one by then.
func TestClusterIsReadRarely(t *testing.T) {
	t.Parallel()
	pools, none, empty := names("pools", 1, 0, 1), names("nodes", 0, 0, 0), names("pools", 0, 0, 0)
	cluster, other := reply{body: clustersPage}, reply{body: strings.ReplaceAll(clustersPage, "c1", "c2")}
	gone := reply{status: 404, body: `{"type":"not_found","resource":"cluster"}`}
	noCluster := names("clusters", 0, 0, 0)
	for _, c := range []struct {
		reason string
		wait   time.Duration
		before []reply
		after  []reply
		id     string
	}{
		{"it is the same", documentAge, []reply{cluster, pools, none}, []reply{pools, none}, "c1"},
		{"it was read long ago", documentAge + time.Second, []reply{cluster, pools, none}, []reply{cluster, pools, none}, "c1"},
		{"it is gone", time.Minute, []reply{cluster, pools, none}, []reply{gone, noCluster}, ""},
		{"it is gone, and its lists are empty", time.Minute, []reply{cluster, pools, none}, []reply{empty, none, noCluster}, ""},
		{"another one has its name", time.Minute, []reply{cluster, pools, none}, []reply{gone, other, pools, none}, "c2"},
		{"another one has its name, and the lists of the former are empty", time.Minute, []reply{cluster, pools, none},
			[]reply{empty, none, other, pools, none}, "c2"},
		{"it was missing", time.Minute, []reply{noCluster}, []reply{other, pools, none}, "c2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := &script{replies: slices.Concat(c.before, c.after)}
			sessions, err := New(Options{Base: sent})
			if err != nil {
				t.Fatal(err)
			}
			s, err := sessions.Of(view())
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Cluster(t.Context(), "managed", 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.wait)
			is, _, err := s.Cluster(t.Context(), "managed", 0)
			id := ""
			if is.Doc != nil {
				id = is.Doc.ID
			}
			if err != nil || id != c.id || len(sent.requests) != len(sent.replies) {
				t.Errorf("%s: want cluster %q after %d requests, got %q after %v, %v", c.reason, c.id, len(sent.replies), id, sent.requests, err)
			}
		})
	}
}

// TestSharedReads: the pools of a cluster are read together, with three requests whatever their number.
func TestSharedReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, sent := over(t, reply{body: clustersPage}, names("pools", 10, 0, 10), names("nodes", 30, 0, 30))
		var pools sync.WaitGroup
		for range 10 {
			pools.Go(func() {
				if is, _, err := s.Cluster(t.Context(), "managed", 1); err != nil || len(is.Nodes) != 30 {
					t.Errorf("want 30 nodes, got %d, %v", len(is.Nodes), err)
				}
			})
		}
		pools.Wait()
		if len(sent.requests) != 3 {
			t.Errorf("want 3 requests for 10 pools, got %v", sent.requests)
		}
		for _, r := range sent.requests {
			if !strings.HasPrefix(r, "GET ") || strings.Contains(r, "metadata") {
				t.Errorf("want reads and nothing about the SDK's own, got %s", r)
			}
		}
	})
}

// TestServerType: the catalogue of Instances is read to where the type is.
func TestServerType(t *testing.T) {
	t.Parallel()
	total := map[string][]string{"X-Total-Count": {"2"}, "Content-Type": {"application/json"}}
	page := func(name, arch string, gpus int) reply {
		return reply{header: total, body: fmt.Sprintf(`{"servers":{"%s":{"ncpus":2,"ram":8589934592,"gpu":%d,"arch":"%s"}}}`, name, gpus, arch)}
	}
	find := func(name string) (*ServerType, []string) {
		s, sent := over(t, page("L4-1-24G", "x86_64", 1), page("BASIC2-A2C-8G", "arm64", 0))
		is, err := s.ServerType(t.Context(), "fr-par-1", func(n string) bool { return n == name })
		if err != nil {
			t.Fatal(err)
		}
		return is, sent.requests
	}
	if is, asked := find("L4-1-24G"); is == nil || is.MemoryMiB() != 8192 || is.CPUs != 2 || is.GPUs != 1 || is.Architecture() != "amd64" ||
		len(asked) != 1 {
		t.Errorf("want a type with a GPU from the first page, got %+v after %v", is, asked)
	}
	if is, asked := find("BASIC2-A2C-8G"); is == nil || is.Architecture() != "arm64" || len(asked) != 2 {
		t.Errorf("want a type of arm64 from the second page, got %+v after %v", is, asked)
	}
	if is, asked := find("NONE"); is != nil || len(asked) != 2 {
		t.Errorf("want no type after both pages, got %+v after %v", is, asked)
	}
}

// TestMaxNodes: the limit of a type of control plane; zero for a type that is not listed.
func TestMaxNodes(t *testing.T) {
	t.Parallel()
	types := reply{body: `{"total_count":2,"cluster_types":[{"name":"kapsule","max_nodes":150},{"name":"kapsule-dedicated-8","max_nodes":500}]}`}
	for name, want := range map[string]int{"kapsule": 150, "kapsule-dedicated-8": 500, "other": 0} {
		s, _ := over(t, types)
		if n, err := s.MaxNodes(t.Context(), name); err != nil || n != want {
			t.Errorf("%s: want %d nodes, got %d, %v", name, want, n, err)
		}
	}
}

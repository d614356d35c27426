package session

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/muster-project/muster/cloud/wire"
)

// ServerType is a type of Instances.
type ServerType struct {
	CPUs int    `json:"ncpus"`
	RAM  int64  `json:"ram"`
	GPUs int    `json:"gpu"`
	Arch string `json:"arch"`
}

// MemoryMiB returns the memory.
func (t ServerType) MemoryMiB() int { return int(t.RAM >> mebi) }

// mebi is the binary logarithm of a mebibyte.
const mebi = 20

// Architecture returns the architecture in the words of Node labels.
func (t ServerType) Architecture() string {
	if t.Arch == "arm64" {
		return t.Arch
	}
	return "amd64"
}

// ServerType looks for the type of Instances with a name in a zone; nil if there is none.
func (s *Session) ServerType(ctx context.Context, zone string, named func(name string) bool) (found *ServerType, err error) {
	number, seen := 0, 0
	err = wire.ReadPages(ctx, maxPages, func(ctx context.Context) (bool, error) {
		number++
		var page struct {
			Servers map[string]ServerType `json:"servers"`
		}
		header, err := s.do(ctx, Request{Operation: "ListServersTypes", Method: http.MethodGet, service: ServiceInstance,
			Path:  "/instance/v1/zones/" + url.PathEscape(zone) + "/products/servers",
			Query: url.Values{"page": {strconv.Itoa(number)}, "per_page": {strconv.Itoa(pageSize)}}}, &page)
		if err != nil {
			return false, err
		}
		for name, is := range page.Servers {
			if named(name) {
				found = &is
			}
		}
		seen += len(page.Servers)
		total, _ := strconv.Atoi(header.Get("X-Total-Count"))
		return found == nil && seen < total && len(page.Servers) > 0, nil
	})
	return found, err
}

// MaxNodes returns how many nodes a cluster with a type of control plane may have; zero if that is unknown.
func (s *Session) MaxNodes(ctx context.Context, kind string) (maxNodes int, err error) {
	number, seen := 0, 0
	err = wire.ReadPages(ctx, maxPages, func(ctx context.Context) (bool, error) {
		number++
		var page struct {
			TotalCount   int `json:"total_count"`
			ClusterTypes []struct {
				Name     string `json:"name"`
				MaxNodes int    `json:"max_nodes"`
			} `json:"cluster_types"`
		}
		err := s.Do(ctx, Request{Operation: "ListClusterTypes", Method: http.MethodGet, Path: "/cluster-types",
			Query: url.Values{"page": {strconv.Itoa(number)}, "page_size": {strconv.Itoa(pageSize)}}}, &page)
		if err != nil {
			return false, err
		}
		for _, t := range page.ClusterTypes {
			if t.Name == kind {
				maxNodes = t.MaxNodes
			}
		}
		seen += len(page.ClusterTypes)
		return maxNodes == 0 && seen < page.TotalCount && len(page.ClusterTypes) > 0, nil
	})
	return maxNodes, err
}

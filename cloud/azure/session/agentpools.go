package session

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud/sweep"
)

// AgentPoolsVersion is the version of AKS's API by which managed clusters are read. It shows agent pools of type VirtualMachines whole.
const AgentPoolsVersion = "2025-08-01"

// ManagedCluster is a managed cluster with its agent pools, as one request reads them.
type ManagedCluster struct {
	// Properties are the managed cluster's; nil where it does not exist.
	Properties map[string]any
	// Tags are the managed cluster's.
	Tags map[string]*string
	// Pools are the properties of its agent pools, by name in small letters. They are shared by all pools and must not be changed.
	Pools map[string]map[string]any
	// Skew is the lead of Azure's clock over Muster's.
	Skew time.Duration
}

// newManagedClusters makes the sweep of managed clusters: all pools of one share its reads.
func newManagedClusters(s *Session, o Options) *sweep.Sweep[ManagedCluster] {
	return sweep.New(sweep.Options[ManagedCluster]{Now: o.Now, Some: func(ctx context.Context, keys []string, found func(string,
		ManagedCluster)) error {
		for _, id := range keys {
			read, err := s.managedCluster(ctx, id)
			if err != nil {
				return err
			}
			if read.Properties != nil {
				found(id, read)
			}
		}
		return nil
	}})
}

// managedCluster reads a managed cluster, which shows its agent pools with all their properties.
func (s *Session) managedCluster(ctx context.Context, id string) (ManagedCluster, error) {
	reply, err := s.Resource(ctx, ResourceRequest{Operation: "ManagedClusters.Get", Method: http.MethodGet, Path: id,
		APIVersion: AgentPoolsVersion})
	if Absent(err) {
		return ManagedCluster{}, nil
	}
	if err != nil {
		return ManagedCluster{}, err
	}
	return managedClusterOf(reply), nil
}

func managedClusterOf(reply ResourceReply) ManagedCluster {
	out := ManagedCluster{Properties: map[string]any{}, Pools: map[string]map[string]any{}, Skew: reply.Skew}
	if properties, ok := reply.Body["properties"].(map[string]any); ok {
		out.Properties = properties
	}
	tags, _ := reply.Body["tags"].(map[string]any)
	out.Tags = map[string]*string{}
	for name, value := range tags {
		text, _ := value.(string)
		out.Tags[name] = &text
	}
	profiles, _ := out.Properties["agentPoolProfiles"].([]any)
	for _, p := range profiles {
		profile, _ := p.(map[string]any)
		if name, ok := profile["name"].(string); ok {
			delete(profile, "name")
			out.Pools[strings.ToLower(name)] = profile
		}
	}
	return out
}

// ManagedCluster returns a managed cluster with its agent pools, and when it was read. maxAge is as in cloud.Target. Its Properties are nil
// if it does not exist.
func (s *Session) ManagedCluster(ctx context.Context, id string, maxAge time.Duration) (ManagedCluster, time.Time, error) {
	answer, err := s.managed.Get(ctx, id, maxAge)
	return answer.Value, answer.At, err
}

// TouchManagedCluster is called before and after a write to a managed cluster or one of its agent pools: what was read of them before is
// out of date.
func (s *Session) TouchManagedCluster(id string) { s.managed.Touch(id) }

package kapsule

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// defaultPods is the default limit of pods of a kubelet.
	defaultPods = 110
	// maxPlacement is the maximum number of nodes in a placement group (Pool.placement_group_id of the specification).
	maxPlacement = 20
)

func (r *reader) resolver() *cache.Resolver {
	return &cache.Resolver{Place: r.c.Region + "/" + string(r.t.spec.Zone), Shared: r.lookups, Now: r.now, Remembered: r.t.Remembered,
		Remember: map[string]string{}}
}

// observeCapacity adds what a node of the node type offers. A pool that exists is observed without it, and one is created without the
// permission to look it up.
func (r *reader) observeCapacity(ctx context.Context, out *pool.Observed) error {
	if r.t.spec.External() {
		return nil
	}
	look := r.resolver()
	out.ResolvedLookups = look.Remember
	is, err := r.nodeType(ctx, look)
	if err == nil {
		out.Capacity = is.capacity(r.t.pods())
		return nil
	}
	look.Keep()
	if waits := r.memory.read.pool == nil && cloud.KindOf(err) != cloud.Denied; waits || cloud.KindOf(err) == cloud.Invalid {
		return err
	}
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil {
		return failed
	}
	out.Issues = append(out.Issues, driverkit.CauseOf(err))
	return nil
}

// pods returns how many pods a node runs.
func (t target) pods() int {
	for _, name := range []string{"max-pods", "maxPods", "max_pods"} {
		if n, err := strconv.Atoi(t.spec.KubeletArgs[name]); err == nil && n > 0 {
			return n
		}
	}
	return defaultPods
}

// nodeType holds the properties of an Instance type that a look-up stores.
type nodeType struct {
	CPUs      int    `json:"cpus"`
	MemoryMiB int    `json:"memoryMiB"`
	GPUs      int    `json:"gpus,omitempty"`
	Arch      string `json:"arch"`
}

func (n nodeType) capacity(pods int) *pool.NodeCapacity {
	out := &pool.NodeCapacity{CPUs: n.CPUs, MemoryMiB: n.MemoryMiB, Pods: pods, Architecture: n.Arch, OperatingSystem: "linux"}
	if n.GPUs > 0 {
		out.Devices = map[string]int{"nvidia.com/gpu": n.GPUs}
	}
	return out
}

// nodeType looks up the node type in the zone, once for each specification.
func (r *reader) nodeType(ctx context.Context, look *cache.Resolver) (is nodeType, err error) {
	name := normal(r.t.spec.NodeType)
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "node-type", Inputs: name, Good: func(answer string) bool { return json.Unmarshal([]byte(answer), &nodeType{}) == nil },
		Ask: func(ctx context.Context) (string, error) {
			found, err := r.c.ServerType(ctx, string(r.t.spec.Zone), func(n string) bool { return normal(n) == name })
			switch {
			case err != nil:
				return "", err
			case found == nil:
				return "", cloud.Invalidf(rows.SpecOf(memberNodeType), "zone %s has no node type %q", r.t.spec.Zone, r.t.spec.NodeType)
			}
			answer, err := json.Marshal(nodeType{CPUs: found.CPUs, MemoryMiB: found.MemoryMiB(), GPUs: found.GPUs, Arch: found.Architecture()})
			return string(answer), err
		},
	})
	if err != nil {
		return is, err
	}
	return is, json.Unmarshal([]byte(text), &is)
}

// mayHave returns an error if the pool may not have so many nodes: a placement group or the control plane holds fewer. Where the limit of
// the control plane can't be looked up, Kapsule checks it.
func (r *reader) mayHave(ctx context.Context, size int) error {
	if r.t.spec.PlacementGroupID != "" && size > maxPlacement {
		return tooMany("the pool would have %d nodes, and a placement group holds %d: ask for fewer, or remove spec.placementGroupID in another "+
			"pool", size, maxPlacement)
	}
	all := size
	for _, p := range r.memory.read.Pools {
		if p.Name != r.t.name {
			all += int(p.Size)
		}
	}
	if most := r.maxNodes(ctx); most == 0 || all <= most {
		return nil
	}
	if err := r.readDocument(ctx, 0, &r.memory.read); err != nil { // its type may have changed
		return err
	}
	if most := r.maxNodes(ctx); most > 0 && all > most {
		return tooMany("the pool would have %d nodes and the cluster %d, and a control plane of type %s has at most %d: ask for fewer, or "+
			"change the type of the control plane", size, all, r.memory.read.Doc.Type, most)
	}
	return nil
}

// maxNodes returns how many nodes the cluster may have; zero if that is unknown.
func (r *reader) maxNodes(ctx context.Context) int {
	kind := r.memory.read.Doc.Type
	text, err := r.resolver().Resolve(ctx, cache.Question{Kind: "cluster-type", Inputs: kind, Good: cache.NotEmpty,
		Ask: func(ctx context.Context) (string, error) {
			most, err := r.c.MaxNodes(ctx, kind)
			return strconv.Itoa(most), err
		}})
	if err != nil {
		return 0
	}
	most, _ := strconv.Atoi(text) // zero for an answer that is no number
	return most
}

package gkenodepool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/world"
)

const (
	// clusterPath is where the cluster is, poolPath where the node pool is.
	clusterPath = "projects/" + gcp.Project + "/locations/" + gcp.Region + "/clusters/" + world.ClusterName
	// onPool and onOther name the pool and the cluster's other pool in out-of-band actions.
	onPool  = world.ClusterName + "/" + "pool"
	onOther = world.ClusterName + "/" + otherPool
)

// poolID returns the resource name of a node pool of the cluster.
func poolID(name string) string { return clusterPath + "/nodePools/" + name }

// cluster returns the cluster, or nil if it does not exist.
func (p *pool) cluster() *container.Inspected {
	for _, c := range p.Cloud.State().Clusters {
		return &c
	}
	return nil
}

// nodes returns the node pool with the name of the pool; nil if it does not exist.
func (p *pool) nodes() *container.InspectedPool { return p.named(p.World.InfraKey().Name) }

// named returns the node pool of a name; nil when there is none.
func (p *pool) named(name string) *container.InspectedPool {
	c := p.cluster()
	if c == nil {
		return nil
	}
	if at := slices.IndexFunc(c.Pools, func(n container.InspectedPool) bool { return n.Name == name }); at >= 0 {
		return &c.Pools[at]
	}
	return nil
}

// request holds the fields of a request body that concern machines.
type request struct {
	NodeCount *int     `json:"nodeCount"`
	Instances []string `json:"instances"`
}

// describe describes a request for the trace, and returns the machines that it names. Fingerprints of what was read are left out: they are
// not part of the request.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var fields request
	sent := map[string]any{}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &sent); err != nil {
			return "", nil, fmt.Errorf("read a request: %w", err)
		}
		_ = json.Unmarshal(body, &fields) // what has another type says nothing of machines
	}
	delete(sent, "etag")
	words := document.Written(sent)
	sum := sha256.Sum256([]byte(words))
	text = strings.Join([]string{req.Method, req.URL.Path, req.URL.Query().Get("size"), words, "(" + hex.EncodeToString(sum[:4]) + ")"}, " ")
	return text, p.machines(req, fields), nil
}

// machines returns the machines that a request names: nil for a request that lowers the size, after which Google chooses them.
func (p *pool) machines(req *http.Request, fields request) []string {
	n, path := p.nodes(), req.URL.Path
	switch {
	case req.Method == http.MethodDelete && strings.HasSuffix(path, "/nodePools/"+p.World.InfraKey().Name):
		return nil // all go
	case n == nil:
		return []string{}
	case strings.HasSuffix(path, "/deleteInstances"):
		return p.World.Group.Named(fields.Instances)
	}
	size, err := strconv.Atoi(req.URL.Query().Get("size"))
	for _, g := range n.Groups {
		ofGroup := err == nil && strings.HasSuffix(path, "/"+project.LastOf(g.Path)+"/resize") && size < g.Size
		if ofGroup || fields.NodeCount != nil && *fields.NodeCount < g.Size {
			return nil
		}
	}
	return []string{}
}

// ask asks GKE for something as people do, and reads the answer.
func (p *pool) ask(method, path string, body document.Object, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(p.World.Context(), method, gcp.Endpoint+"/v1/"+path, bytes.NewReader(sent))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", gcp.AsUser)
	reply, err := sim.Transport{Handler: p.Cloud}.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = reply.Body.Close() }()
	content, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %w", method, path, content, err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// shown are properties of a node pool as GKE shows it.
type shown struct {
	Config struct {
		ImageType string
		BootDisk  struct{ SizeGb json.Number }
		Taints    []struct{ Key, Value, Effect string }
	}
	Autoscaling struct {
		Enabled                                                          bool
		MinNodeCount, MaxNodeCount, TotalMinNodeCount, TotalMaxNodeCount int
	}
	Management      struct{ AutoRepair, AutoUpgrade bool }
	UpgradeSettings struct {
		Strategy                 string
		MaxSurge, MaxUnavailable int
	}
	Locations []string
}

// shownPool returns the pool as GKE shows it; empty if it does not exist.
func (p *pool) shownPool() shown {
	var out shown
	if err := p.ask(http.MethodGet, poolID(p.World.InfraKey().Name), nil, &out); err != nil {
		p.World.Trace("hand", "failed: %v", err)
	}
	return out
}

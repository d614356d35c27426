package instancegroup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/oracle"
)

// groupID returns the spec.providerID of a group in a zone or region.
func groupID(location, name string) string {
	return "projects/" + gcp.Project + "/" + location + "/instanceGroupManagers/" + name
}

// regional reports whether an operation is one of regional groups.
func regional(action string) bool { return strings.HasPrefix(action, "regionInstanceGroupManagers.") }

// held returns the state of the pool's group in the simulator, or nil if the group does not exist.
func (p *pool) held() *compute.Group {
	groups := p.Cloud.State().Groups
	if at := slices.IndexFunc(groups, func(g compute.Group) bool { return g.Name == p.World.Group.Name() }); at >= 0 {
		return &groups[at]
	}
	return nil
}

// request holds the fields of a request body that the trace shows.
type request struct {
	Name         string          `json:"name,omitempty"`
	Size         *int            `json:"targetSize,omitempty"`
	Versions     json.RawMessage `json:"versions,omitempty"`
	Policy       json.RawMessage `json:"updatePolicy,omitempty"`
	Config       json.RawMessage `json:"allInstancesConfig,omitempty"`
	Lifecycle    json.RawMessage `json:"instanceLifecyclePolicy,omitempty"`
	Healing      json.RawMessage `json:"autoHealingPolicies,omitempty"`
	Distribution json.RawMessage `json:"distributionPolicy,omitempty"`
	Instances    []string        `json:"instances,omitempty"`
}

// describe describes a request for the trace without its secrets, and returns the machines that it names. Fingerprints are left out: they
// echo what was read, and are not part of the request.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var fields request
	sent := map[string]any{}
	if len(body) > 0 {
		if err := errors.Join(json.Unmarshal(body, &sent), json.Unmarshal(body, &fields)); err != nil {
			return "", nil, fmt.Errorf("read a request: %w", err)
		}
	}
	delete(sent, "fingerprint")
	sum := sha256.Sum256([]byte(document.Written(sent)))
	size := req.URL.Query().Get("size")
	words := []string{req.Method, strings.TrimPrefix(req.URL.Path, "/compute/v1/projects/"+gcp.Project+"/"), size, document.Written(fields),
		"(" + hex.EncodeToString(sum[:4]) + ")"}
	return strings.Join(words, " "), p.named(req, fields, size), nil
}

// named returns the machines that a request names: nil for a request that lowers the size, after which Compute Engine chooses them.
func (p *pool) named(req *http.Request, fields request, size string) []string {
	g := p.World.Group.Now()
	switch {
	case req.Method == http.MethodDelete && strings.Contains(req.URL.Path, "/instanceGroupManagers/"):
		return nil // all go
	case !p.World.Group.Ours(g):
		return []string{}
	case strings.HasSuffix(req.URL.Path, "/deleteInstances"):
		return p.World.Group.Named(fields.Instances)
	}
	staying := len(g.Staying())
	if fields.Size != nil && *fields.Size < staying || size != "" && number(size) < staying {
		return nil
	}
	return []string{}
}

// proactive reports whether a group replaces instances by itself, as soon as they are of another template than its own.
func proactive(g *compute.Group) bool {
	return document.Text(g.Doc, "updatePolicy.type") == "PROACTIVE"
}

// annotate tells the oracles that each removal lowers the size. A write that changes what a group launches from, or lets it replace
// instances by itself, removes all instances with another template without a drain. If Compute Engine ignores the setting that it is to
// replace none, the removal is not Muster's.
func (p *pool) annotate(call wire.Call, text string, sent *oracle.Write) {
	sent.Shrinks = true
	g := p.held()
	if !p.World.Group.Ours(p.World.Group.Now()) || !proactive(g) || !strings.HasSuffix(call.Operation, "nstanceGroupManagers.patch") ||
		strings.Contains(text, `"OPPORTUNISTIC"`) {
		return
	}
	for i, after := range sent.After.Groups {
		same := func(b oracle.Group) bool { return b.Name == after.Name && b.Content == after.Content }
		if after.Owner != p.World.Objects.Owner().ID || slices.ContainsFunc(sent.Before.Groups, same) && !strings.Contains(text, `"PROACTIVE"`) {
			continue
		}
		sent.Named = nil
		for k, m := range after.Members {
			sent.After.Groups[i].Members[k].Leaving = m.Leaving || m.Content != after.Content
		}
	}
}

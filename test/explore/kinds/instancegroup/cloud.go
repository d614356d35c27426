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

// groupID is what spec.providerID says of a group somewhere.
func groupID(location, name string) string {
	return "projects/" + gcp.Project + "/" + location + "/instanceGroupManagers/" + name
}

// regional reports whether an operation is one of regional groups.
func regional(action string) bool { return strings.HasPrefix(action, "regionInstanceGroupManagers.") }

// held returns the pool's group in the simulator's own words; nil when there is none.
func (p *pool) held() *compute.Group {
	groups := p.Cloud.State().Groups
	if at := slices.IndexFunc(groups, func(g compute.Group) bool { return g.Name == p.World.Group.Name() }); at >= 0 {
		return &groups[at]
	}
	return nil
}

// request is what a trace shows of a request's body.
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

// asked is what a request asks for, as a trace shows it, without its secrets, and which machines it names. Fingerprints are left out: they
// are what was read, and not what is asked for.
func (p *pool) asked(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	var asked request
	sent := map[string]any{}
	if len(body) > 0 {
		if err := errors.Join(json.Unmarshal(body, &sent), json.Unmarshal(body, &asked)); err != nil {
			return "", nil, fmt.Errorf("read a request: %w", err)
		}
	}
	delete(sent, "fingerprint")
	sum := sha256.Sum256([]byte(document.Written(sent)))
	size := req.URL.Query().Get("size")
	words := []string{req.Method, strings.TrimPrefix(req.URL.Path, "/compute/v1/projects/"+gcp.Project+"/"), size, document.Written(asked),
		"(" + hex.EncodeToString(sum[:4]) + ")"}
	return strings.Join(words, " "), p.named(req, asked, size), nil
}

// named are the machines that a request names. One after which fewer are wanted than there are names all: Compute Engine chooses which go.
func (p *pool) named(req *http.Request, asked request, size string) []string {
	g := p.World.Group.Now()
	switch {
	case req.Method == http.MethodDelete && strings.Contains(req.URL.Path, "/instanceGroupManagers/"):
		return nil // all go
	case !p.World.Group.Ours(g):
		return []string{}
	case strings.HasSuffix(req.URL.Path, "/deleteInstances"):
		return p.World.Group.Named(asked.Instances)
	}
	staying := len(g.Staying())
	if asked.Size != nil && *asked.Size < staying || size != "" && number(size) < staying {
		return nil
	}
	return []string{}
}

// proactive reports whether a group replaces instances by itself, as soon as they are of another template than its own.
func proactive(g *compute.Group) bool {
	return document.Text(g.Doc, "updatePolicy.type") == "PROACTIVE"
}

// judged tells the oracles that each removal lowers the size, and that a write which changes what a group launches, or has it replace
// instances by itself, takes all those that are of another template: Compute Engine drains none. Where Compute Engine ignores that it is
// told to replace none, that is its own doing.
func (p *pool) judged(call wire.Call, text string, sent *oracle.Write) {
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

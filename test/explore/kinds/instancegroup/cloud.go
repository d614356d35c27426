package instancegroup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/world"
)

// groupID is what spec.providerID says of a group somewhere.
func groupID(location, name string) string {
	return "projects/" + gcp.Project + "/" + location + "/instanceGroupManagers/" + name
}

// regional reports whether an operation is one of regional groups.
func regional(action string) bool { return strings.HasPrefix(action, "regionInstanceGroupManagers.") }

// group is the one that has our name where our group is, nil when there is none.
func (p *pool) group() *compute.Group { return p.called(p.World.Objects.Owner().ResourceName()) }

// called is the group of a name where our group is.
func (p *pool) called(name string) *compute.Group {
	path := groupID(own(p.World.Scenario).location(), name)
	groups := p.Cloud.State().Groups
	if at := slices.IndexFunc(groups, func(g compute.Group) bool { return g.Path == path }); at >= 0 {
		return &groups[at]
	}
	return nil
}

// ourGroup is the one that has our name and our owner's label.
func (p *pool) ourGroup() *compute.Group {
	if g := p.group(); g != nil && g.Labels[gcp.LabelOwner] == p.World.Objects.Owner().ID {
		return g
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
	g := p.ourGroup()
	switch {
	case req.Method == http.MethodDelete && strings.Contains(req.URL.Path, "/instanceGroupManagers/"):
		return nil // all go
	case g == nil:
		return []string{}
	case strings.HasSuffix(req.URL.Path, "/deleteInstances"):
		return idsOf(g, asked.Instances)
	}
	staying := 0
	for _, m := range g.Instances {
		if !gcp.Leaves(m) {
			staying++
		}
	}
	if asked.Size != nil && *asked.Size < staying || size != "" && number(size) < staying {
		return nil
	}
	return []string{}
}

// idsOf are the instances of a group that URLs name, by what their guests are known by.
func idsOf(g *compute.Group, urls []string) []string {
	ids := []string{}
	for _, m := range g.Instances {
		if gcp.NamedBy(urls, m.Zone, m.Name) {
			ids = append(ids, idOf(m))
		}
	}
	return ids
}

// idOf is what the oracles call an instance: its ID, or its name as long as it does not exist.
func idOf(m compute.Instance) string {
	if m.ID == "" {
		return m.Name
	}
	return m.ID
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
	g := p.ourGroup()
	if g == nil || !proactive(g) || !strings.HasSuffix(call.Operation, "nstanceGroupManagers.patch") ||
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

// members are the instances of a group that are not on their way out.
func members(g *compute.Group) []compute.Instance {
	return slices.DeleteFunc(slices.Clone(g.Instances), gcp.Leaves)
}

// nodes counts the instances of a group that have joined, and those of them that are cordoned.
func (p *pool) nodes(g *compute.Group) (joined, cordoned int) {
	for _, m := range members(g) {
		if m.ID == "" {
			continue
		}
		if node := p.World.Workload.Node(m.ID); node != nil {
			joined++
			if node.Spec.Unschedulable || node.Annotations[nodes.DrainStartedAnnotation] != "" {
				cordoned++
			}
		}
	}
	return joined, cordoned
}

// instances are the machines of the pool's group, also while it has another owner.
func (p *pool) instances() []world.Instance {
	g := p.group()
	if g == nil {
		return nil
	}
	var list []world.Instance
	for _, m := range g.Instances {
		list = append(list, world.Instance{UID: cmp.Or(m.ID, m.Name), ProviderID: m.ProviderID})
	}
	return list
}

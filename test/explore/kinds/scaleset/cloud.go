package scaleset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/world"
)

// Tags of scale sets, as the project promises them.
const (
	tagSurge   = "muster.dev_surge"
	tagContent = "muster.dev_content"
)

// setPath is where a scale set of our resource group is.
func setPath(name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s", simazure.SubscriptionID,
		simazure.ResourceGroup, name)
}

// scaleSet is the one that has our name, nil when there is none.
func (p *pool) scaleSet() *simcompute.Set {
	sets := p.Cloud.State().Sets
	if at := slices.IndexFunc(sets, func(s simcompute.Set) bool { return strings.EqualFold(s.Name, world.InfraKey.Name) }); at >= 0 {
		return &sets[at]
	}
	return nil
}

// ourScaleSet is the one that has our name and our owner tag.
func (p *pool) ourScaleSet() *simcompute.Set {
	if s := p.scaleSet(); s != nil && s.Tags[azure.TagOwner] == p.World.Objects.Owner().ID {
		return s
	}
	return nil
}

// snapshot is what exists, in the oracles' words.
func (p *pool) snapshot() oracle.Cloud {
	var c oracle.Cloud
	for _, s := range p.Cloud.State().Sets {
		g := oracle.Group{
			Name: s.Name, Owner: s.Tags[azure.TagOwner], Content: contentOf(s.Content), Max: world.Plenty, Size: s.Capacity, Asked: s.Capacity,
			Surge: surgeLeft(s), Deleting: s.State == "Deleting",
			Print: fmt.Sprintf("%d %v %v %s", s.Capacity, s.Tags, s.Zones, s.Model), Tags: s.Tags,
			Untagged: fmt.Sprintf("%d %v %s", s.Capacity, s.Zones, s.Model),
		}
		staying := 0
		for _, m := range s.Machines {
			leaving := m.State == "Deleting"
			g.Members = append(g.Members, oracle.Member{
				ID: m.UID, Leaving: leaving, Launched: m.Created, Content: contentOf(m.Content), Failed: m.State == "Failed" || m.Power == "stopped" ||
					m.Power == "deallocated",
			})
			if !leaving {
				staying++
			}
			c.Instances = append(c.Instances, oracle.Instance{ID: m.UID, Owner: m.Tags[azure.TagOwner], Group: s.Name, Leaving: leaving})
			p.World.Secrets("a machine's tags", fmt.Sprint(m.Tags))
		}
		g.Size = min(g.Size, staying+s.Launches) // what Azure has given up to bring is not there, whatever else it does meanwhile
		p.World.Secrets("a scale set's tags", fmt.Sprint(s.Tags))
		c.Groups = append(c.Groups, g)
	}
	return c
}

// contentOf leaves out what says nothing.
func contentOf(text string) string { return strings.ReplaceAll(text, `"dataDisks":[],`, "") }

// surgeLeft is how much of a size that an autoscaler owns was added for a rollout and has not been used up.
func surgeLeft(s simcompute.Set) int {
	surge, size := 0, 0
	if _, err := fmt.Sscanf(s.Tags[tagSurge], "%d/%d", &surge, &size); err != nil {
		return 0
	}
	return max(0, surge-max(0, size-s.Capacity))
}

// asked is what a request asks for, as a trace shows it, without its secrets, and which machines it names.
func (p *pool) asked(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
	tail := req.URL.Path
	if at := strings.Index(strings.ToLower(tail), "/providers/"); at >= 0 {
		tail = tail[at+len("/providers/"):]
	}
	sum := sha256.Sum256(body)
	words := []string{req.Method, tail}
	if body = shown(body); len(body) > 0 {
		words = append(words, string(body))
	}
	text = strings.Join(append(words, "("+hex.EncodeToString(sum[:4])+")"), " ")
	switch {
	case req.Method == http.MethodDelete && strings.EqualFold(req.URL.Path, setPath(world.InfraKey.Name)):
		return text, nil, nil // all go
	case req.Method == http.MethodPost && strings.HasSuffix(strings.ToLower(tail), "/delete"):
		return text, p.namedIn(body), nil
	}
	return text, []string{}, nil
}

// shown is the part of a body that a trace shows.
func shown(body []byte) []byte {
	var asked struct {
		SKU         json.RawMessage   `json:"sku,omitempty"`
		Tags        map[string]string `json:"tags,omitempty"`
		InstanceIDs []string          `json:"instanceIds,omitempty"`
	}
	if json.Unmarshal(body, &asked) != nil {
		return nil
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return nil
	}
	return text
}

// namedIn are the machines that a request names, by the names that their guests know them by.
func (p *pool) namedIn(body []byte) []string {
	var asked struct {
		InstanceIDs []string `json:"instanceIds"`
	}
	ids := []string{}
	s := p.scaleSet()
	if s == nil || json.Unmarshal(body, &asked) != nil {
		return ids
	}
	for _, m := range s.Machines {
		if slices.Contains(asked.InstanceIDs, m.ID) {
			ids = append(ids, m.UID)
		}
	}
	return ids
}

// instances are the machines of our scale set.
func (p *pool) instances() []world.Instance {
	s := p.scaleSet()
	if s == nil {
		return nil
	}
	var list []world.Instance
	for _, m := range s.Machines {
		list = append(list, world.Instance{UID: m.UID, ProviderID: m.ProviderID})
	}
	return list
}

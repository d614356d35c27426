package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/test/explore/oracle"
)

// Tags of scale sets, as the project promises them: Azure takes no slash in a tag's name.
const (
	tagOwnerAzure   = "muster.dev_owner"
	tagSurgeAzure   = "muster.dev_surge"
	tagContentAzure = "muster.dev_content"
)

// apiVersion is the version of Azure's interface that people ask in.
const apiVersion = "2026-04-01"

// setName is our scale set's.
func (a *account) setName() string { return infraKey.Name }

// setPath is where a scale set of our resource group is.
func setPath(name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s", simazure.SubscriptionID, simazure.ResourceGroup, name)
}

// scaleSet is the one that has our name, nil when there is none.
func (a *account) scaleSet() *simcompute.Set {
	if a.azure == nil {
		return nil
	}
	sets := a.azure.State().Sets
	if at := slices.IndexFunc(sets, func(s simcompute.Set) bool { return strings.EqualFold(s.Name, a.setName()) }); at >= 0 {
		return &sets[at]
	}
	return nil
}

// ourScaleSet is the one that has our name and our owner tag.
func (a *account) ourScaleSet() *simcompute.Set {
	if s := a.scaleSet(); s != nil && s.Tags[tagOwnerAzure] == a.world.owner().ID {
		return s
	}
	return nil
}

// subscription is what exists, in the oracles' words.
func (a *account) subscription() oracle.Cloud {
	if a.world.scenario.onAKS() {
		return a.agentPools()
	}
	var c oracle.Cloud
	for _, s := range a.azure.State().Sets {
		g := oracle.Group{
			Name: s.Name, Owner: s.Tags[tagOwnerAzure], Content: contentOf(s.Content), Max: plenty, Size: s.Capacity, Surge: surgeLeft(s), Deleting: s.State == "Deleting",
			Print: fmt.Sprintf("%d %v %v %s", s.Capacity, s.Tags, s.Zones, s.Model), Tags: s.Tags, Untagged: fmt.Sprintf("%d %v %s", s.Capacity, s.Zones, s.Model),
		}
		staying := 0
		for _, m := range s.Machines {
			leaving := m.State == "Deleting"
			g.Members = append(g.Members, oracle.Member{
				ID: m.UID, Leaving: leaving, Launched: m.Created, Content: contentOf(m.Content), Failed: m.State == "Failed" || m.Power == "stopped" || m.Power == "deallocated",
			})
			if !leaving {
				staying++
			}
			c.Instances = append(c.Instances, oracle.Instance{ID: m.UID, Owner: m.Tags[tagOwnerAzure], Group: s.Name, Leaving: leaving})
			a.world.secrets("a machine's tags", fmt.Sprint(m.Tags))
		}
		g.Size = min(g.Size, staying+s.Launches) // what Azure has given up to bring is not there, whatever else it does meanwhile
		a.world.secrets("a scale set's tags", fmt.Sprint(s.Tags))
		c.Groups = append(c.Groups, g)
	}
	return c
}

// contentOf leaves out what says nothing.
func contentOf(text string) string { return strings.ReplaceAll(text, `"dataDisks":[],`, "") }

// surgeLeft is how much of a size that an autoscaler owns was added for a rollout and has not been used up.
func surgeLeft(s simcompute.Set) int {
	surge, size := 0, 0
	if _, err := fmt.Sscanf(s.Tags[tagSurgeAzure], "%d/%d", &surge, &size); err != nil {
		return 0
	}
	return max(0, surge-max(0, size-s.Capacity))
}

// askedOfAzure is what a request asks for, as a trace shows it, without its secrets, and which machines it names.
func (a *account) askedOfAzure(req *http.Request, body []byte) (text string, named []string) {
	if a.world.scenario.onAKS() {
		return a.askedOfAKS(req, body)
	}
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
	case req.Method == http.MethodDelete && strings.EqualFold(req.URL.Path, setPath(a.setName())):
		return text, nil // all go
	case req.Method == http.MethodPost && strings.HasSuffix(strings.ToLower(tail), "/delete"):
		return text, a.namedIn(body)
	}
	return text, []string{}
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
func (a *account) namedIn(body []byte) []string {
	var asked struct {
		InstanceIDs []string `json:"instanceIds"`
	}
	ids := []string{}
	s := a.scaleSet()
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

// ask asks Azure for something as people and other programs do.
func (a *account) ask(ctx context.Context, method, path string, body any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, azureEndpoint+path+"?api-version="+apiVersion, sent)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer user")
	req.Header.Set("Content-Type", "application/json")
	reply, err := sim.Transport{Handler: a.azure}.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s", method, path, ending(reply, nil))
	}
	return nil
}

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
)

// Tags of scale sets, as the project promises them.
const (
	tagSurge   = "muster.dev_surge"
	tagContent = "muster.dev_content"
)

// setPath returns the resource path of a scale set in the resource group.
func setPath(name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s", simazure.SubscriptionID,
		simazure.ResourceGroup, name)
}

// scaleSet returns the scale set with the name of the pool, nil if it does not exist.
func (p *pool) scaleSet() *simcompute.Set {
	sets := p.Cloud.State().Sets
	if at := slices.IndexFunc(sets, func(s simcompute.Set) bool { return strings.EqualFold(s.Name, p.World.InfraKey().Name) }); at >= 0 {
		return &sets[at]
	}
	return nil
}

// describe describes a request for the trace without its secrets, and returns the machines that it names.
func (p *pool) describe(_ string, req *http.Request, body []byte) (text string, named []string, err error) {
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
	case req.Method == http.MethodDelete && strings.EqualFold(req.URL.Path, setPath(p.World.InfraKey().Name)):
		return text, nil, nil // all go
	case req.Method == http.MethodPost && strings.HasSuffix(strings.ToLower(tail), "/delete"):
		var of struct{ InstanceIDs []string }
		if json.Unmarshal(body, &of) != nil {
			return text, []string{}, nil
		}
		return text, p.World.Group.Named(of.InstanceIDs), nil
	}
	return text, []string{}, nil
}

// shown returns the part of a body that a trace shows.
func shown(body []byte) []byte {
	var fields struct {
		SKU         json.RawMessage   `json:"sku,omitempty"`
		Tags        map[string]string `json:"tags,omitempty"`
		InstanceIDs []string          `json:"instanceIds,omitempty"`
	}
	if json.Unmarshal(body, &fields) != nil {
		return nil
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return text
}

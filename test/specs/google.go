package specs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// google is the module that holds Google's discovery documents beside the clients that are made of them.
const google = "google.golang.org/api"

// document is a discovery document.
type document struct {
	ServicePath string                     `json:"servicePath"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Schemas     map[string]*schema         `json:"schemas"`
	// Nulls is true if a member that is null counts as one that is left out.
	Nulls bool `json:"nulls,omitempty"`
	resource
}

type resource struct {
	Methods   map[string]*method   `json:"methods"`
	Resources map[string]*resource `json:"resources,omitempty"`
}

type method struct {
	ID         string               `json:"id"`
	HTTPMethod string               `json:"httpMethod"`
	FlatPath   string               `json:"flatPath"`
	Parameters map[string]parameter `json:"parameters,omitempty"`
	Request    reference            `json:"request,omitzero"`
	Response   reference            `json:"response,omitzero"`
	// Success is the status of an answer that is no error, 0 where the document has none.
	Success int `json:"success,omitempty"`
}

type parameter struct {
	Location string `json:"location"`
	Required bool   `json:"required,omitempty"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// recordedOfGroups are members that Compute Engine shows in version v1 in recorded traffic and publishes in the description of its beta
// alone.
var recordedOfGroups = map[string]bool{
	"InstanceGroupManager.serviceAccount": true, "InstanceGroupManagerUpdatePolicy.minReadySec": true,
	"InstanceGroupManagerStatusStateful.isStateful": true,
}

// Google reads the discovery documents of GKE and Compute Engine from the module that the drivers are built with, once.
var Google = once(func() (*Specification, error) {
	return discover("container/v1/container-api.json", "compute/v1/compute-api.json")
})

// GoogleBeta reads the discovery document of the beta of Compute Engine, once.
var GoogleBeta = once(func() (*Specification, error) { return discover("compute/v0.beta/compute-api.json") })

// discover reads discovery documents.
func discover(files ...string) (*Specification, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", google).Output()
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", google, err)
	}
	var texts [][]byte
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), file))
		if err != nil {
			return nil, fmt.Errorf("read a discovery document: %w", err)
		}
		texts = append(texts, text)
	}
	return fromDocuments(texts...)
}

// fromDocuments returns the operations of discovery documents.
func fromDocuments(texts ...[]byte) (*Specification, error) {
	all := map[string]*Operation{}
	for _, text := range texts {
		from := &document{}
		if err := json.Unmarshal(text, from); err != nil {
			return nil, fmt.Errorf("decode a document: %w", err)
		}
		from.add(all, from.ServicePath, &types{
			schemas: from.Schemas, shown: recordedOfGroups, nulls: from.Nulls,
			common: func(name string) bool { return from.Parameters[name] != nil },
			since:  func(string, string) string { return "" },
		})
	}
	return &Specification{
		operations: all, find: byPath(all), unpublished: func(*http.Request) bool { return false },
	}, nil
}

// add adds the operations of a resource and of those below it.
func (r *resource) add(all map[string]*Operation, servicePath string, from *types) {
	for _, m := range r.Methods {
		o := &Operation{ID: m.ID, Method: m.HTTPMethod, Path: "/" + servicePath + m.FlatPath, Query: map[string]bool{}, body: m.Request.Ref,
			answer: m.Response.Ref, from: from}
		if m.Success != 0 {
			o.Success = []int{m.Success}
		}
		for name, p := range m.Parameters {
			if p.Location == "query" {
				o.Query[name] = p.Required
			}
		}
		all[o.ID] = o
	}
	for _, below := range r.Resources {
		below.add(all, servicePath, from)
	}
}

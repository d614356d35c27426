package specs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// google is the module that holds Google's discovery documents beside the clients that are made of them.
const google = "google.golang.org/api"

// Discovery holds the operations that services publish.
type Discovery struct {
	operations map[string]*Operation
	// byShape are the operations by their method and the number of parts of their path.
	byShape map[string][]*Operation
}

// Operation is one that a service publishes.
type Operation struct {
	// ID begins with the service: compute.instanceTemplates.get. Path has a name in braces for each part that a request chooses.
	ID, Method, Path string
	// Query are the parameters behind the path, and whether a request must have them.
	Query map[string]bool
	// Success is the status of an answer that is no error, 0 where it is not published.
	Success int
	// body is the schema of requests, "" for those that have none.
	body  string
	parts []string
	from  *document
}

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

// Google reads the discovery documents of the module that the drivers are built with, once.
var Google = sync.OnceValues(func() (*Discovery, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", google).Output()
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", google, err)
	}
	var texts [][]byte
	for _, file := range []string{"container/v1/container-api.json", "compute/v1/compute-api.json"} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), file))
		if err != nil {
			return nil, fmt.Errorf("read a discovery document: %w", err)
		}
		texts = append(texts, text)
	}
	return newDiscovery(texts...)
})

// add adds the operations of a resource and of those below it.
func (d *Discovery) add(from *document, r *resource) {
	for _, m := range r.Methods {
		o := &Operation{ID: m.ID, Method: m.HTTPMethod, Path: "/" + from.ServicePath + m.FlatPath, Query: map[string]bool{}, Success: m.Success,
			body: m.Request.Ref, from: from}
		for name, p := range m.Parameters {
			if p.Location == "query" {
				o.Query[name] = p.Required
			}
		}
		o.parts = strings.Split(o.Path, "/")
		d.operations[o.ID] = o
		shape := shapeOf(o.Method, o.parts)
		d.byShape[shape] = append(d.byShape[shape], o)
	}
	for _, below := range r.Resources {
		d.add(from, below)
	}
}

func shapeOf(method string, parts []string) string { return fmt.Sprint(method, len(parts)) }

// Operation returns the operation with an ID, nil where none is published.
func (d *Discovery) Operation(id string) *Operation { return d.operations[id] }

// newDiscovery returns the operations of documents.
func newDiscovery(texts ...[]byte) (*Discovery, error) {
	d := &Discovery{operations: map[string]*Operation{}, byShape: map[string][]*Operation{}}
	for _, text := range texts {
		from := &document{}
		if err := json.Unmarshal(text, from); err != nil {
			return nil, fmt.Errorf("decode a document: %w", err)
		}
		d.add(from, &from.resource)
	}
	return d, nil
}

// GoogleRequest returns what the discovery documents do not have of a request: its method and path, a parameter, a member of its body. It
// also returns what they demand and the request does not have.
func GoogleRequest(r *http.Request, body string) error {
	d, err := Google()
	if err != nil {
		return err
	}
	return d.request(r, body)
}

// request holds a request against the operation that answers it.
func (d *Discovery) request(r *http.Request, body string) error {
	o := d.find(r.Method, r.URL.Path)
	if o == nil {
		return fmt.Errorf("no operation is published for %s %s", r.Method, r.URL.Path)
	}
	return o.check(r, body)
}

// find returns the operation of a request: of several that its path fits the one with the fewest parts to choose.
func (d *Discovery) find(method, path string) *Operation {
	parts := strings.Split(path, "/")
	var found *Operation
	most := -1
	for _, o := range d.byShape[shapeOf(method, parts)] {
		if same, fits := o.fits(parts); fits && same > most {
			found, most = o, same
		}
	}
	return found
}

// fits reports whether the parts of a path are those of the operation's, and how many of them the operation names.
func (o *Operation) fits(parts []string) (same int, ok bool) {
	for i, want := range o.parts {
		name, verb, chosen := strings.Cut(strings.TrimPrefix(want, "{"), "}")
		switch {
		case !chosen && parts[i] != name:
			return 0, false
		case !chosen:
			same++
		default:
			value, has, _ := strings.Cut(parts[i], ":")
			if value == "" || has != strings.TrimPrefix(verb, ":") {
				return 0, false
			}
		}
	}
	return same, true
}

// check holds a request against the operation.
func (o *Operation) check(r *http.Request, body string) error {
	query := r.URL.Query()
	for name := range query {
		_, own := o.Query[name]
		_, any := o.from.Parameters[name]
		if !own && !any {
			return fmt.Errorf("%s has no parameter %s", o.ID, name)
		}
	}
	for name, required := range o.Query {
		if required && !query.Has(name) {
			return fmt.Errorf("%s needs the parameter %s", o.ID, name)
		}
	}
	if err := o.checkBody(body); err != nil {
		return fmt.Errorf("%s: %w", o.ID, err)
	}
	return nil
}

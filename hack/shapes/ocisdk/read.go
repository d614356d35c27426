// Package ocisdk reads what Oracle's services publish from the sources of their packages in the Go SDK.
package ocisdk

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/core/shapes"
)

var (
	basePath  = regexp.MustCompile(`client\.BasePath = "([^"]+)"`)
	operation = regexp.MustCompile(`(?s)\nfunc \(client \w+\) (\w+)\(ctx context\.Context, request common\.OCIRequest,.*?` +
		`request\.HTTPRequest\(http\.Method(\w+), "([^"]+)"`)
	structType = regexp.MustCompile(`(?ms)^type (\w+) struct \{\n(.*?)^\}`)
	parameter  = regexp.MustCompile("`mandatory:\"(true|false)\" contributesTo:\"(query|header)\" name:\"([^\"]+)\"")
	body       = regexp.MustCompile("(?m)^\t(?:\\w+ )?(\\S+) `(?:presentIn|contributesTo):\"body\"`")
	member     = regexp.MustCompile("(?m)^\t\\w+ (\\S+) `mandatory:\"(true|false)\" json:\"([^\"]+)\"`")
	value      = regexp.MustCompile(`(?m)^\t\w+ +(\w+Enum) += "([^"]+)"`)
)

// Read reads the package of a service in a folder of the module. Operations succeed with 200: the sources have no status.
func Read(dir string) (*shapes.Service, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err == nil && len(files) == 0 {
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read the package %s: %w", dir, err)
	}
	var text strings.Builder
	for _, file := range files {
		part, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return nil, fmt.Errorf("read a file: %w", err)
		}
		text.Write(part)
	}
	return fromSource(text.String())
}

func fromSource(text string) (*shapes.Service, error) {
	base := basePath.FindStringSubmatch(text)
	if base == nil {
		return nil, fmt.Errorf("the client has no base path")
	}
	p := source{structs: map[string]string{}, values: map[string][]string{}}
	for _, m := range value.FindAllStringSubmatch(text, -1) {
		p.values[m[1]] = append(p.values[m[1]], m[2])
	}
	for _, m := range structType.FindAllStringSubmatch(text, -1) {
		p.structs[m[1]] = m[2]
	}
	out := &shapes.Service{Operations: map[string]shapes.Operation{}, Types: shapes.Types{}}
	for _, m := range operation.FindAllStringSubmatch(text, -1) {
		name := strings.ToUpper(m[1][:1]) + m[1][1:]
		o := shapes.Operation{Method: strings.ToUpper(m[2]), Path: "/" + base[1] + m[3], Success: []int{http.StatusOK}}
		p.parameters(&o, name+"Request")
		o.Body, o.Answer = p.body(name+"Request"), p.body(name+"Response")
		out.Operations[name] = o
	}
	for name, members := range p.structs {
		for _, m := range member.FindAllStringSubmatch(members, -1) {
			if out.Types[name] == nil {
				out.Types[name] = map[string]string{}
			}
			out.Types[name][m[3]] = required(p.kind(m[1]), m[2])
		}
	}
	return out, nil
}

// source holds the declarations of a package: the fields of its structs and the values of its enumerations.
type source struct {
	structs map[string]string
	values  map[string][]string
}

// parameters adds the parameters of a request to an operation.
func (p source) parameters(o *shapes.Operation, request string) {
	for _, m := range parameter.FindAllStringSubmatch(p.structs[request], -1) {
		switch {
		case m[2] == "query":
			o.Query = append(o.Query, required(m[3], m[1]))
		case m[3] != "opc-request-id":
			o.Headers = append(o.Headers, required(http.CanonicalHeaderKey(m[3]), m[1]))
		}
	}
	slices.Sort(o.Query)
	slices.Sort(o.Headers)
}

// body returns the kind of the body of a request or an answer, "" for none.
func (p source) body(name string) string {
	if m := body.FindStringSubmatch(p.structs[name]); m != nil {
		return p.kind(m[1])
	}
	return ""
}

// kinds are those of the types of the language and of the SDK.
var kinds = map[string]string{"string": "string", "bool": "bool", "int": "int", "int64": "int", "float32": "number", "float64": "number",
	"common.SDKTime": "string", "interface{}": "any"}

// kind returns the kind of a type of the language.
func (p source) kind(typ string) string {
	typ = strings.TrimPrefix(typ, "*")
	if of, is := strings.CutPrefix(typ, "[]"); is {
		return "[]" + p.kind(of)
	}
	if of, is := strings.CutPrefix(typ, "map[string]"); is {
		return "{}" + p.kind(of)
	}
	if values := p.values[typ]; values != nil {
		return "=" + strings.Join(values, "|")
	}
	if kind, is := kinds[typ]; is {
		return kind
	}
	if _, is := p.structs[typ]; is {
		return typ
	}
	return "any"
}

// required marks a name or a kind that a request must have.
func required(text, mandatory string) string {
	if mandatory == "true" {
		return "*" + text
	}
	return text
}

package rest

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/core/shapes"
	"github.com/muster-project/muster/sim/document"
)

// Exchange is a request as an operation sees it.
type Exchange struct {
	core.Call
	// Compartments are those that exist.
	Compartments []string
}

// Reply is the answer of an operation.
type Reply struct {
	Status int
	// Header are the headers of the answer.
	Header map[string]string
	// Body is nil for none.
	Body any
}

// Route is an operation of a service S.
type Route[S any] = core.Route[S, *Exchange, Reply]

// Reads returns the route of an operation that reads, with the permissions that it needs.
func Reads[S any](service, name, pattern string, run func(S, *Exchange) (Reply, error), permissions ...string) Route[S] {
	return Route[S]{Method: http.MethodGet, Pattern: pattern, Service: service, Name: name, Permissions: permissions, Run: run}
}

// Writes returns the route of an operation that changes something, with the permissions that it needs.
func Writes[S any](service, name, method, pattern string, run func(S, *Exchange) (Reply, error), permissions ...string) Route[S] {
	return Route[S]{Method: method, Pattern: pattern, Service: service, Name: name, Permissions: permissions, Mutating: true, Run: run}
}

// Stamp returns a time as the services write it.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// OCID returns an identifier of a kind of resource in a region, whose key is the region's name in OCIDs. It depends on the seed and the
// other parts alone.
func OCID(seed sim.Seed, region, kind string, of ...any) string {
	sum, err := hex.DecodeString(seed.Hex(64, append([]any{kind}, of...)...))
	if err != nil {
		return "" // the digits are hexadecimal
	}
	unique := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum))
	return "ocid1." + kind + ".oc1." + region + ".aaaaaaaa" + unique
}

// Shown answers with a resource and its etag; "" is none.
func Shown(body any, etag string) Reply {
	out := Reply{Status: http.StatusOK, Body: body, Header: map[string]string{}}
	if etag != "" {
		out.Header["Etag"] = etag
	}
	return out
}

// Etag returns the etag of a revision of a resource.
func Etag(id string, revision int64) string {
	sum := sha256.Sum256(fmt.Append(nil, id, "|", revision))
	return hex.EncodeToString(sum[:16])
}

// Match refuses a request that is about another revision of a resource.
func (x *Exchange) Match(etag string) error {
	if want := x.Request.Header.Get("If-Match"); want != "" && want != "*" && strings.Trim(want, `"`) != etag {
		return NoEtagMatch()
	}
	return nil
}

// Compartment returns the compartment of a request, which must exist.
func (x *Exchange) Compartment(id string) (string, error) {
	switch {
	case id == "":
		return "", Missing("compartmentId")
	case !slices.Contains(x.Compartments, id):
		return "", NotFound()
	}
	return id, nil
}

// Truth returns a parameter that is a boolean, a default where it is not there.
func (x *Exchange) Truth(name string, otherwise bool) (bool, error) {
	text := x.Query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	is, err := strconv.ParseBool(text)
	if err != nil {
		return false, Invalid("%s: %q is no boolean.", name, text)
	}
	return is, nil
}

// dialect holds the rules by which the services read bodies.
var dialect = &shapes.Dialect{
	Malformed: func() error {
		return Refuse(http.StatusBadRequest, "CannotParseRequest", "Incoming request could not be parsed: the body is no JSON object.")
	},
	Unknown: func(name, typ, path string) error {
		return Invalid("Unrecognized field %q of %s.", member(path, name), typ)
	},
	Wrong: func(v any, _, path string) error {
		return Invalid("Invalid %s: %s is not a valid value.", path, document.Written(v))
	},
	Missing: func(path string) error { return Missing(path) },
	Member:  member, Entry: member,
}

func member(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// Read returns the body of a request, which must be of a type.
func (x *Exchange) Read(types shapes.Types, typ string) (document.Object, error) {
	body, err := types.Read(x.Body, typ, dialect)
	if err == nil {
		document.WithoutNulls(body)
	}
	return body, err
}

// Only returns the members of an object that a type has.
func Only(types shapes.Types, typ string, o document.Object) document.Object {
	out := document.Object{}
	for name := range types[typ] {
		if v, there := o[name]; there {
			out[name] = v
		}
	}
	return out
}

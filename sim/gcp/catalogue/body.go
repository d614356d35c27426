package catalogue

import (
	"net/http"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/gcp/shapes"
)

// dialect is that of Compute Engine.
var dialect = project.Dialect(func(message string) error {
	return &project.Error{Status: http.StatusBadRequest, Reason: "invalid", State: "INVALID_ARGUMENT", Message: message}
})

// Body returns the body of a request that must be of a type, without what only the service sets, as Compute Engine writes it.
func Body(x *project.Call, typ string) (document.Object, error) {
	return shapes.Compute().Types.Read(x.Body, typ, dialect)
}

// Patch returns the body of a JSON merge patch of a type. A null is kept: it removes a member.
func Patch(x *project.Call, typ string) (document.Object, error) {
	d, err := x.Document()
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, dialect.Malformed()
	}
	checked := document.Copied(d)
	withoutNulls(checked)
	return d, shapes.Compute().Types.Fit(checked, typ, dialect)
}

// withoutNulls removes members that are null, at any depth.
func withoutNulls(d document.Object) {
	for k, v := range d {
		switch v := v.(type) {
		case nil:
			delete(d, k)
		case document.Object:
			withoutNulls(v)
		}
	}
}

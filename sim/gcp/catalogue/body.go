package catalogue

import (
	"errors"
	"net/http"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/gcp/shapes"
)

// bodies are what requests may hold.
var bodies = shapes.Shapes{Shapes: core.ReadShapes(shapes.Compute)}

// Body returns the body of a request that must be of a shape, without what only the service sets, as Compute Engine writes it.
func Body(x *project.Call, shape string) (document.Object, error) {
	d, err := bodies.Read(x.Body, shape)
	return d, refused(err)
}

// Patch returns the body of a JSON merge patch of a shape. A null stays: it removes what it stands for.
func Patch(x *project.Call, shape string) (document.Object, error) {
	d, err := x.Document()
	if err != nil {
		return nil, err
	}
	checked := document.Copied(d)
	withoutNulls(checked)
	_, err = bodies.Read([]byte(document.Written(checked)), shape)
	return d, refused(err)
}

// refused returns Google's error for a body that is not of its shape.
func refused(err error) error {
	var m *shapes.Mismatch
	if errors.As(err, &m) {
		return &project.Error{Status: http.StatusBadRequest, Reason: "invalid", State: "INVALID_ARGUMENT", Message: m.Message}
	}
	return err
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

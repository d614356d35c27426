package main

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/core/shapes"
)

// TestGenerate: each part of an operation has its place in the request, and each kind of member its type.
func TestGenerate(t *testing.T) {
	t.Parallel()
	source, err := generate(&shapes.Service{
		Operations: map[string]shapes.Operation{
			"UpdateThing": {Method: "PUT", Path: "/20200101/things/{thingId}", Query: []string{"*compartmentId", "limit"},
				Headers: []string{"If-Match"}, Body: "Thing", Answer: "[]Thing"},
			"DeleteThing": {Method: "DELETE", Path: "/20200101/things/{thingId}"},
		},
		Types: shapes.Types{"Thing": {"id": "*string", "size": "int", "on": "?bool", "tags": "{}{}any", "parts": "[]Part", "part": "Part",
			"state": "=A|B"}, "Part": {"share": "number", "opc-request-id": "string"}},
	}, "things")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(source)), " ")
	for _, want := range []string{
		"package things",
		"ThingId *string `mandatory:\"true\" contributesTo:\"path\" name:\"thingId\"`",
		"CompartmentId *string `mandatory:\"true\" contributesTo:\"query\" name:\"compartmentId\"`",
		"Limit *string `mandatory:\"false\" contributesTo:\"query\" name:\"limit\"`",
		"IfMatch *string `mandatory:\"false\" contributesTo:\"header\" name:\"if-match\"`",
		"Body *Thing `contributesTo:\"body\"`",
		`return rest.Call[[]Thing](ctx, c.Client, http.MethodPut, "/things/{thingId}", "UpdateThing", r)`,
		`return rest.Call[struct{}](ctx, c.Client, http.MethodDelete, "/things/{thingId}", "DeleteThing", r)`,
		"Id *string `mandatory:\"true\" json:\"id\"`",
		"Size *int `mandatory:\"false\" json:\"size\"`",
		"On *bool `mandatory:\"false\" json:\"on\"`",
		"Tags map[string]map[string]any `mandatory:\"false\" json:\"tags\"`",
		"Parts []Part `mandatory:\"false\" json:\"parts\"`",
		"Part *Part `mandatory:\"false\" json:\"part\"`",
		"State *string `mandatory:\"false\" json:\"state\"`",
		"OpcRequestId *string `mandatory:\"false\" json:\"opc-request-id\"`",
		"Share *float64 `mandatory:\"false\" json:\"share\"`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %s, got\n%s", want, source)
		}
	}
}

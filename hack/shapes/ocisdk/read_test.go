package ocisdk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/core/shapes"
)

// text is a package as the SDK has it: an operation that lists things, one that makes one, and an enumeration.
const text = `
	client.BasePath = "2016"

func (client C) listThings(ctx context.Context, request common.OCIRequest, extra map[string]string) (common.OCIResponse, error) {

	httpRequest, err := request.HTTPRequest(http.MethodGet, "/things", binaryReqBody, extraHeaders)
}

func (client C) makeThing(ctx context.Context, request common.OCIRequest, extra map[string]string) (common.OCIResponse, error) {

	httpRequest, err := request.HTTPRequest(http.MethodPost, "/things/{id}", binaryReqBody, extraHeaders)
}

type ListThingsRequest struct {

	// The place.
	Place *string ` + "`mandatory:\"true\" contributesTo:\"query\" name:\"place\"`" + `

	Limit *int ` + "`mandatory:\"false\" contributesTo:\"query\" name:\"limit\"`" + `

	OpcRequestId *string ` + "`mandatory:\"false\" contributesTo:\"header\" name:\"opc-request-id\"`" + `
}

type ListThingsResponse struct {
	RawResponse *http.Response

	// The things.
	Items []Thing ` + "`presentIn:\"body\"`" + `
}

type MakeThingRequest struct {
	IfMatch *string ` + "`mandatory:\"false\" contributesTo:\"header\" name:\"if-match\"`" + `

	Details Thing ` + "`contributesTo:\"body\"`" + `
}

type MakeThingResponse struct {
	Thing ` + "`presentIn:\"body\"`" + `
}

type Thing struct {

	// The state.
	State ThingStateEnum ` + "`mandatory:\"true\" json:\"state\"`" + `

	Made *common.SDKTime ` + "`mandatory:\"false\" json:\"made\"`" + `

	Tags map[string]string ` + "`mandatory:\"false\" json:\"tags\"`" + `

	Parts []Thing ` + "`mandatory:\"false\" json:\"parts\"`" + `

	Other *common.Other ` + "`mandatory:\"false\" json:\"other\"`" + `
}

const (
	ThingStateOn  ThingStateEnum = "ON"
	ThingStateOff ThingStateEnum = "OFF"
)
`

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := fromSource(text)
	want := &shapes.Service{
		Operations: map[string]shapes.Operation{
			"ListThings": {Method: "GET", Path: "/2016/things", Success: []int{200}, Query: []string{"*place", "limit"}, Answer: "[]Thing"},
			"MakeThing": {Method: "POST", Path: "/2016/things/{id}", Success: []int{200}, Headers: []string{"If-Match"}, Body: "Thing",
				Answer: "Thing"},
		},
		Types: shapes.Types{"Thing": {"state": "*=ON|OFF", "made": "string", "tags": "{}string", "parts": "[]Thing", "other": "any"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, want and got: %s", err, diff)
	}
	if _, err := fromSource("package x"); err == nil {
		t.Error("want a package without a client refused")
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("want a folder without a package refused")
	}
}

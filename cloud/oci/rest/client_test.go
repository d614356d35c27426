package rest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/wire"
)

// unsigned leaves requests as they are.
type unsigned struct{}

func (unsigned) Sign(*http.Request) error { return nil }

// recorded is a dispatcher that keeps the last request, and answers with a status and a body.
type recorded struct {
	status     int
	body       string
	request    *http.Request
	sent       string
	dispatches int
}

func (d *recorded) Do(r *http.Request) (*http.Response, error) {
	d.request, d.dispatches = r, d.dispatches+1
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		d.sent = string(text)
	}
	return &http.Response{StatusCode: d.status, Request: r, Body: io.NopCloser(bytes.NewBufferString(d.body)),
		ContentLength: int64(len(d.body)), Header: http.Header{"Etag": {"v1"}, "Opc-Next-Page": {"2"}, "Opc-Work-Request-Id": {"w"}}}, nil
}

func client(d *recorded) core.Client {
	base := common.DefaultBaseClientWithSigner(unsigned{})
	base.HTTPClient = d
	call := wire.Call{Service: "core", Account: "tenancy", Region: "here"}
	return core.Client{Client: rest.New(base, "http://127.0.0.1:9", "20160918", call)}
}

func TestUpdateKeepsZeroAndLeavesOutAbsent(t *testing.T) {
	t.Parallel()
	d := &recorded{status: http.StatusOK, body: `{"id":"ocid1.pool","size":0}`}
	answer, err := client(d).UpdateInstancePool(t.Context(), core.UpdateInstancePoolRequest{
		InstancePoolId: common.String("ocid1.pool"), IfMatch: common.String("v0"), OpcRetryToken: common.String("token"),
		Body: &core.UpdateInstancePoolDetails{Size: common.Int(0), FreeformTags: map[string]string{"a": "b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.request.Method != http.MethodPut || d.request.URL.EscapedPath() != "/20160918/instancePools/ocid1.pool" {
		t.Errorf("got %s %s", d.request.Method, d.request.URL.EscapedPath())
	}
	if call := wire.CallFrom(d.request.Context()); call.String() != "core:UpdateInstancePool" || call.ReadOnly || call.Region != "here" {
		t.Errorf("got call %+v", call)
	}
	if h := d.request.Header; h.Get("If-Match") != "v0" || h.Get("Opc-Retry-Token") != "token" {
		t.Errorf("got headers %v", h)
	}
	if want := `{"freeformTags":{"a":"b"},"size":0}`; d.sent != want {
		t.Errorf("got body %s, want %s", d.sent, want)
	}
	if *answer.Body.Id != "ocid1.pool" || *answer.Body.Size != 0 || *answer.Etag != "v1" {
		t.Errorf("got answer %+v", answer.Body)
	}
}

func TestListHasItsNextPage(t *testing.T) {
	t.Parallel()
	d := &recorded{status: http.StatusOK, body: `[{"id":"a","currentSize":2},{"id":"b"}]`}
	answer, err := client(d).ListInstancePools(t.Context(), core.ListInstancePoolsRequest{
		CompartmentId: common.String("c"), Limit: common.String("100")})
	if err != nil {
		t.Fatal(err)
	}
	if q := d.request.URL.RawQuery; q != "compartmentId=c&limit=100" {
		t.Errorf("got query %s", q)
	}
	if len(answer.Body) != 2 || *answer.Body[0].CurrentSize != 2 || *answer.OpcNextPage != "2" {
		t.Errorf("got answer %+v", answer)
	}
}

func TestAnswerWithoutBody(t *testing.T) {
	t.Parallel()
	d := &recorded{status: http.StatusAccepted}
	answer, err := client(d).DetachInstancePoolInstance(t.Context(), core.DetachInstancePoolInstanceRequest{
		InstancePoolId: common.String("p"), Body: &core.DetachInstancePoolInstanceDetails{InstanceId: common.String("i")}})
	if err != nil {
		t.Fatal(err)
	}
	if *answer.OpcWorkRequestID != "w" || d.sent != `{"instanceId":"i"}` {
		t.Errorf("got answer %+v of %s", answer, d.sent)
	}
}

func TestErrorIsSentOnceAndTyped(t *testing.T) {
	t.Parallel()
	d := &recorded{status: http.StatusTooManyRequests, body: `{"code":"TooManyRequests","message":"slow down"}`}
	_, err := client(d).GetInstancePool(t.Context(), core.GetInstancePoolRequest{InstancePoolId: common.String("p")})
	failure, is := common.IsServiceError(err)
	if !is || failure.GetCode() != "TooManyRequests" || failure.GetMessage() != "slow down" || d.dispatches != 1 {
		t.Errorf("got %v after %d requests", err, d.dispatches)
	}
	if _, err := client(d).GetInstancePool(t.Context(), core.GetInstancePoolRequest{}); err == nil ||
		!strings.Contains(err.Error(), "GetInstancePool") {
		t.Errorf("got %v for a request without its pool", err)
	}
}

// TestPathHoldsIdentifiersAlone: OCIDs come from users, and the SDK writes them into paths as they are.
func TestPathHoldsIdentifiersAlone(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"ocid1.instancepool.oc1.iad.aaaa": true, "ocid1.instancepool.oc1..aaaa": true, "a/../../instances/b": false, "..": false, "a?b=c": false,
		"a%2Fb": false, "a/b": false, "a b": false, ".a": false,
	} {
		d := &recorded{status: http.StatusOK, body: `{}`}
		_, err := client(d).GetInstancePool(t.Context(), core.GetInstancePoolRequest{InstancePoolId: &text})
		if (err == nil) != good || (d.dispatches == 1) != good {
			t.Errorf("%q: want it sent %t, got %d requests and %v", text, good, d.dispatches, err)
		}
		if err != nil && !strings.Contains(err.Error(), "instancePoolId") {
			t.Errorf("%q: want the parameter named, got %v", text, err)
		}
	}
}

// Package rest sends requests to the services of Oracle Cloud. It signs and sends with the base client of Oracle's SDK. The generated
// clients of the services are built on it, because the SDK's own packages retry and wait inside of a call, and the one for Core Services
// takes longer to compile than all others together.
package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/muster-project/muster/cloud/wire"
)

// Client calls a service in one region as one identity. It is safe for concurrent use.
type Client struct {
	base    common.BaseClient
	call    wire.Call
	explain func(wire.Call, error) error
}

// New returns a client that signs and sends with the base client. The endpoint is the address of the service, for example
// https://iaas.us-phoenix-1.oraclecloud.com, and version the part of the path that all operations share. Calls are counted as the service,
// account and region of call. A request is sent once: retries and the circuit breaker of the SDK are off.
func New(base common.BaseClient, endpoint, version string, call wire.Call) Client {
	base.Host, base.BasePath, base.Configuration = endpoint, version, common.CustomClientConfiguration{}
	return Client{base: base, call: call}
}

// WithErrors returns the client with a function that makes the errors of its calls of those of the SDK.
func (c Client) WithErrors(explain func(wire.Call, error) error) Client {
	c.explain = explain
	return c
}

// Response is the answer to a request.
type Response[T any] struct {
	Headers
	// Body is the zero value for an operation that answers with none.
	Body T
}

// Headers are those of an answer that drivers read.
type Headers struct {
	// Date is the time of the service.
	Date *string `presentIn:"header" name:"date"`
	// Etag is the version of the resource, for If-Match of a later request.
	Etag *string `presentIn:"header" name:"etag"`
	// OpcNextPage is the page that follows, nil at the end of a list.
	OpcNextPage *string `presentIn:"header" name:"opc-next-page"`
	// OpcWorkRequestID is the OCID of the work request that does what was requested, nil if there is none.
	OpcWorkRequestID *string `presentIn:"header" name:"opc-work-request-id"`
}

// Call sends a request, whose parts are tagged as the SDK tags them, and reads the answer. Errors of the service are common.ServiceError,
// unless WithErrors makes others of them.
func Call[T any](ctx context.Context, c Client, method, path, operation string, request any) (*Response[T], error) {
	call := c.call
	call.Operation, call.ReadOnly = operation, method == http.MethodGet
	out, err := send[T](ctx, c, call, method, path, request)
	if err != nil && c.explain != nil {
		return nil, c.explain(call, err)
	}
	return out, err
}

// UnsendableError is the error of a request that was not sent, because a part of it has no value that can be sent.
type UnsendableError struct{ err error }

// Error names the operation and the part.
func (e *UnsendableError) Error() string { return e.err.Error() }

// Unwrap returns the error within.
func (e *UnsendableError) Unwrap() error { return e.err }

func send[T any](ctx context.Context, c Client, call wire.Call, method, path string, request any) (*Response[T], error) {
	operation := call.Operation
	if err := checkPath(request); err != nil {
		return nil, &UnsendableError{fmt.Errorf("%s: %w", operation, err)}
	}
	r, err := common.MakeDefaultHTTPRequestWithTaggedStruct(method, path, request)
	if err != nil {
		return nil, &UnsendableError{fmt.Errorf("%s: %w", operation, err)}
	}
	answer, err := c.base.CallWithDetails(wire.WithCall(ctx, call), &r, common.ClientCallDetails{Signer: c.base.Signer})
	if answer != nil && answer.Body != nil {
		defer func() { _ = answer.Body.Close() }() // it was read, or the error of that tells
	}
	if err != nil {
		return nil, err
	}
	out := &Response[T]{}
	if err := common.UnmarshalResponse(answer, &out.Headers); err != nil {
		return nil, fmt.Errorf("read the headers of the answer to %s: %w", operation, err)
	}
	if _, none := any(out.Body).(struct{}); none {
		return out, nil
	}
	if err := json.NewDecoder(answer.Body).Decode(&out.Body); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", operation, err)
	}
	return out, nil
}

// identifier matches what a request may put into its path: OCIDs and names. The SDK writes values into paths as they are, so that any other
// text could lead to another resource.
var identifier = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.+[A-Za-z0-9_-]+)*$`)

// checkPath returns an error for a parameter of the path that is no identifier.
func checkPath(request any) error {
	values := reflect.ValueOf(request)
	for field, value := range values.Fields() {
		text, is := value.Interface().(*string)
		if field.Tag.Get("contributesTo") == "path" && is && text != nil && !identifier.MatchString(*text) {
			return fmt.Errorf("%s: %q is no OCID", field.Tag.Get("name"), *text)
		}
	}
	return nil
}

package session

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/muster-project/muster/cloud"
)

// ResourceRequest is a request about one resource in any version of any API: its body is a JSON document, so that properties which the
// SDK's types do not know are sent and kept.
type ResourceRequest struct {
	// Operation names the call as the SDK would, for example AgentPools.CreateOrUpdate: rate budgets and metrics go by it.
	Operation string
	// Method and Path of the request; APIVersion is the version of the API.
	Method, Path, APIVersion string
	// Body is encoded as JSON; nil sends none.
	Body any
	// IfMatch and IfNoneMatch are conditions on the resource's ETag; empty sets none.
	IfMatch, IfNoneMatch string
}

// ResourceReply is the answer to a ResourceRequest.
type ResourceReply struct {
	// Body is the decoded JSON document; nil where there is none.
	Body map[string]any
	// Skew is the lead of Azure's clock over Muster's.
	Skew time.Duration
	// Token is the hint of the long-running operation that the request began; empty where it began none.
	Token string
}

// Resource sends one request. Errors are converted by Refusal.
func (s *Session) Resource(ctx context.Context, r ResourceRequest) (ResourceReply, error) {
	at := runtime.JoinPaths(s.arm.Endpoint(), r.Path) + "?" + url.Values{"api-version": {r.APIVersion}}.Encode()
	client, operation, _ := strings.Cut(r.Operation, ".")
	ctx = context.WithValue(ctx, runtime.CtxAPINameKey{}, client+"Client."+operation)
	req, err := runtime.NewRequest(ctx, r.Method, at)
	if err != nil {
		return ResourceReply{}, cloud.Invalidf("", "no request can be made of %s %s: %v", r.Method, r.Path, err)
	}
	req.Raw().Header["Accept"] = []string{"application/json"}
	for name, value := range map[string]string{"If-Match": r.IfMatch, "If-None-Match": r.IfNoneMatch} {
		if value != "" {
			req.Raw().Header.Set(name, value)
		}
	}
	if r.Body != nil {
		if err := runtime.MarshalAsJSON(req, r.Body); err != nil {
			return ResourceReply{}, cloud.Invalidf("", "the request %s %s can't be encoded: %v", r.Method, r.Path, err)
		}
	}
	reply, err := s.arm.Pipeline().Do(req)
	if err != nil {
		return ResourceReply{}, Refusal(err, s.sets.now())
	}
	// The pipeline has read the body already.
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode/100 != 2 {
		return ResourceReply{}, Refusal(runtime.NewResponseError(reply), s.sets.now())
	}
	return s.decoded(reply)
}

// decoded reads a reply.
func (s *Session) decoded(reply *http.Response) (ResourceReply, error) {
	out := ResourceReply{Skew: s.sets.skew(reply), Token: operationHint(reply.Header)}
	body, err := runtime.Payload(reply)
	if err != nil {
		return out, &cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply, Message: "the reply can't be read"}
	}
	if len(body) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(body, &out.Body); err != nil {
		return out, &cloud.Error{Kind: cloud.Unavailable, Code: cloud.CodeNoReply, Message: "the reply is no JSON object"}
	}
	return out, nil
}

// operationHint returns the token of an operation as Poll takes it; empty where a reply began none.
func operationHint(h http.Header) string {
	if at := h.Get("Azure-AsyncOperation"); at != "" {
		return tokenOf(at)
	}
	return ""
}

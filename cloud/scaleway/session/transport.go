package session

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/scaleway/scaleway-sdk-go/scw"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

const (
	// Service is the name under which calls of the Kubernetes API are counted.
	Service = "k8s"
	// ServiceInstance is the API that describes node types.
	ServiceInstance = "instance"
	// maxBody bounds a reply in bytes.
	maxBody = 16 << 20
	// burst and rate are the initial budget. Scaleway publishes no limit, so that it adapts.
	burst, rate = 100, 25
)

// budgetsOf returns the bucket of a call: one for each project and region.
func budgetsOf(c wire.Call) []wire.Budget {
	return []wire.Budget{{Key: c.Account + "/" + c.Region, Name: "requests about project " + c.Account + " in " + c.Region, Label: "requests",
		Burst: burst, PerSecond: rate, Adaptive: true}}
}

// Request is one request. Path begins below the region. Body is encoded unless it is nil.
type Request struct {
	Operation, Method, Path string
	Query                   url.Values
	Body                    any
	// service is another one than Service, with the whole path.
	service string
}

// Do sends a request and decodes the reply into the value of into. Errors are *cloud.Error.
func (s *Session) Do(ctx context.Context, r Request, into any) error {
	_, err := s.do(ctx, r, into)
	return err
}

// do also returns the header of the reply.
func (s *Session) do(ctx context.Context, r Request, into any) (http.Header, error) {
	call := wire.Call{Service: Service, Operation: r.Operation, Account: s.Project, Region: s.Region, ReadOnly: r.Method == http.MethodGet}
	path := "/k8s/v1/regions/" + s.Region + r.Path
	if r.service != "" {
		call.Service, path = r.service, r.Path
	}
	sent := &scw.ScalewayRequest{Method: r.Method, Path: path, Query: r.Query}
	if r.Body != nil {
		if err := sent.SetBody(r.Body); err != nil {
			return nil, s.refused(call, err)
		}
	}
	reply := &http.Response{Header: http.Header{}}
	err := s.client.Do(sent, into, scw.WithContext(withReply(wire.WithCall(ctx, call), reply)))
	return reply.Header, s.refused(call, err)
}

type replyKey struct{}

// withReply has the sender fill in the header of the reply, which the SDK hides.
func withReply(ctx context.Context, reply *http.Response) context.Context {
	return context.WithValue(ctx, replyKey{}, reply)
}

// sender hands the requests of one session to the transport, and makes errors of replies that refuse.
type sender struct {
	to *wire.Transport
	// host of the API: the keys go nowhere else.
	host    string
	session *Session
}

// RoundTrip sends one request. A redirect that leads elsewhere is not followed.
func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.EqualFold(req.URL.Host, s.host) {
		wire.CloseBody(req)
		return nil, &refusal.Astray{Host: req.URL.Host, Not: "not where the API of this identity is"}
	}
	reply, err := s.to.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxBody))
	_ = reply.Body.Close() // it was read, or the error of that tells
	if err != nil {
		return nil, err
	}
	call := wire.CallFrom(req.Context())
	switch {
	case reply.StatusCode >= http.StatusMultipleChoices:
		return nil, ofReply(call.String(), reply, body, s.session.now())
	case len(body) > 0 && !json.Valid(body):
		return nil, cloud.NotFromService(call.String(), reply.StatusCode)
	}
	if into, ok := req.Context().Value(replyKey{}).(*http.Response); ok {
		into.Header = reply.Header
	}
	reply.Header.Set("Content-Type", "application/json") // what was found to be JSON is decoded, whatever it calls itself
	reply.Body, reply.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return reply, nil
}

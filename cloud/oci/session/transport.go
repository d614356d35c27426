package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/rest"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/cloud/wire/refusal"
)

const (
	userAgent = "muster"
	// maxBody bounds an answer in bytes: addresses come from tenants.
	maxBody = 16 << 20
	// maxList bounds the answers for one list together, in bytes, and maxObjects the objects of one answer.
	maxList, maxObjects = 64 << 20, 200_000
	// burst and rate are the initial budget of an identity with a service in a region. Oracle publishes no limit, so that it adapts.
	burst, rate = 100, 25
)

// budgetsOf returns the bucket of a call. Oracle throttles users.
func budgetsOf(c wire.Call) []wire.Budget {
	if c.Service == serviceTokens {
		return nil
	}
	return []wire.Budget{{Key: strings.Join([]string{c.Account, c.Region, c.Service}, "\n"),
		Name: "requests to " + c.Service + " in " + c.Region + " as " + c.Account, Label: c.Service,
		Burst: burst, PerSecond: rate, Adaptive: true}}
}

// client returns a client of a service.
func (s *Session) client(from source, address, version, service string) rest.Client {
	base := common.DefaultBaseClientWithSigner(signer{from})
	base.UserAgent = userAgent
	at, _ := url.Parse(address) // it was parsed before
	base.HTTPClient = &http.Client{Transport: &sender{to: s.transport, host: at.Host, from: from, session: s}}
	return rest.New(base, address, version, wire.Call{Service: service, Account: s.identity, Region: s.Region}).WithErrors(s.refused)
}

// sender hands the requests of one client to the transport, and makes errors of answers that refuse.
type sender struct {
	to *wire.Transport
	// host of the service: signed requests go nowhere else.
	host    string
	from    source
	session *Session
}

// RoundTrip sends one request. A redirect is an answer that refuses, and is not followed.
func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.EqualFold(req.URL.Host, s.host) {
		wire.CloseBody(req)
		return nil, &refusal.Astray{Host: req.URL.Host, Not: "not where the service is"}
	}
	reply, err := s.to.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := readAll(reply)
	if err != nil {
		return nil, err
	}
	if err := take(req.Context(), body); err != nil {
		return nil, err
	}
	call := wire.CallFrom(req.Context())
	switch {
	case reply.StatusCode == http.StatusUnauthorized:
		if id, ok := req.Context().Value(signedBy{}).(string); ok {
			s.from.refused(id)
		}
		fallthrough
	case reply.StatusCode >= http.StatusMultipleChoices:
		return nil, ofReply(call.String(), reply, body, s.session.now())
	case len(body) > 0 && !json.Valid(body):
		return nil, cloud.NotFromService(call.String(), reply.StatusCode)
	}
	reply.Body, reply.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return reply, nil
}

// take returns an error for an answer that takes too much memory: by the number of its objects, each of which takes many times the memory
// of its text, or with the answers of the same list before it.
func take(ctx context.Context, body []byte) error {
	if n := bytes.Count(body, []byte("{")) + bytes.Count(body, []byte("null")); n > maxObjects {
		return tooLarge(fmt.Sprintf("the service answered with %d objects, and at most %d are read", n, maxObjects))
	}
	left, is := ctx.Value(listLeft{}).(*int)
	if !is {
		return nil
	}
	if *left -= len(body); *left < 0 {
		return tooLarge(fmt.Sprintf("the service has given a list of more than %d MiB: name another compartment", maxList>>20))
	}
	return nil
}

func tooLarge(message string) error {
	return &cloud.Error{Kind: cloud.Unavailable, Code: "AnswerTooLarge", Message: message}
}

// listLeft is the key under which the context of a list has the bytes that are left of it.
type listLeft struct{}

// readAll reads the body of an answer up to its bound, and closes it.
func readAll(reply *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxBody))
	_ = reply.Body.Close() // it was read, or the error of that tells
	return body, err
}

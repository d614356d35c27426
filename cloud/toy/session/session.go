// Package session sends the requests of the drivers of the toy cloud, for both kinds of groups: budgets, errors, pages, and what several of
// them look up or write on their groups.
package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/wire"
)

// Options of a Driver.
type Options struct {
	// Endpoint is the address of the API, without a slash at the end. Token authenticates the account.
	Endpoint, Token string
	// Base sends the requests instead of the standard library's transport.
	Base http.RoundTripper
	// Hook and Around see every request.
	Hook   wire.Hook
	Around wire.Around
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

const (
	// pageSize is the largest page of a list, pagesMost bounds the requests for one list, bodyMost a reply in bytes.
	pageSize, pagesMost, bodyMost = 50, 500, 16 << 20
	// The documented limits of an account: requests at once, and more each second.
	readBurst, readRate, writeBurst, writeRate = 100, 10, 50, 5
)

// Session sends requests to the API of one account.
type Session struct {
	Options
	client *http.Client
}

// New returns a session. It sends nothing.
func New(o Options) *Session {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Session{Options: o, client: &http.Client{Transport: wire.New(wire.Options{
		Base: o.Base, Budgets: budgetsOf, Hook: o.Hook, Around: o.Around, Now: o.Now,
	})}}
}

// Close closes idle connections.
func (s *Session) Close() { s.client.CloseIdleConnections() }

// budgetsOf returns the bucket of a call.
func budgetsOf(c wire.Call) []wire.Budget {
	if c.ReadOnly {
		return []wire.Budget{{Key: "reads", Name: "reads of the toy cloud", Label: "reads", Burst: readBurst, PerSecond: readRate}}
	}
	return []wire.Budget{{Key: "writes", Name: "writes of the toy cloud", Label: "writes", Burst: writeBurst, PerSecond: writeRate}}
}

// Request is one request.
type Request struct {
	Operation, Method, Path string
	// Revision is the one on which a change rests, empty for none.
	Revision string
	// Body is encoded unless it is nil.
	Body any
}

// Do sends a request, decodes the reply into the value of into, and returns the header of the reply.
func (s *Session) Do(ctx context.Context, r Request, into any) (http.Header, error) {
	call := wire.Call{Service: "toy", Operation: r.Operation, ReadOnly: r.Method == http.MethodGet}
	body, err := json.Marshal(r.Body)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", call, err)
	}
	req, err := http.NewRequestWithContext(wire.WithCall(ctx, call), r.Method, s.Endpoint+r.Path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request %s: %w", call, err)
	}
	if r.Body == nil {
		req.Body = http.NoBody
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	if r.Revision != "" {
		req.Header.Set("If-Match", r.Revision)
	}
	reply, err := s.client.Do(req)
	if err != nil {
		return nil, unanswered(call.String(), err)
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, bodyMost))
	_ = reply.Body.Close() // it was read, or the error of that tells
	switch {
	case err != nil:
		return nil, unanswered(call.String(), err)
	case reply.StatusCode >= http.StatusMultipleChoices:
		return nil, refused(call.String(), reply.StatusCode, reply.Header, text, s.Now())
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, unanswered(call.String(), err)
	}
	return reply.Header, nil
}

// Resolver looks up what specifications name.
func (s *Session) Resolver(shared *cache.Lookups, remembered map[string]string, now time.Time) *cache.Resolver {
	return &cache.Resolver{Place: s.Endpoint, Shared: shared, Now: now, Remembered: remembered, Remember: map[string]string{}}
}

// Listed reads a list to its end, with each page decoded by add, and returns the header of the last one.
func (s *Session) Listed(ctx context.Context, operation, path string, add func(page []byte) error) (header http.Header, err error) {
	token := ""
	err = wire.ReadPages(ctx, pagesMost, func(ctx context.Context) (bool, error) {
		query := url.Values{"pageSize": {strconv.Itoa(pageSize)}}
		if token != "" {
			query.Set("pageToken", token)
		}
		var page json.RawMessage
		header, err = s.Do(ctx, Request{Operation: operation, Method: http.MethodGet, Path: path + "?" + query.Encode()}, &page)
		if err != nil {
			return false, err
		}
		var next struct{ NextPageToken string }
		err := json.Unmarshal(page, &next)
		if err == nil {
			err = add(page)
		}
		token = next.NextPageToken
		if err != nil {
			return false, unanswered("toy:"+operation, err)
		}
		return token != "", nil
	})
	return header, err
}

package sim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// AdminPath is where a simulated cloud answers its owner instead of its clients.
const AdminPath = "/_sim/"

const (
	// ownerLimit bounds one call of a simulator, which answers at once or is away.
	ownerLimit = 10 * time.Second
	// answerLimit bounds what is read of an answer, in bytes: a managed cluster has up to 100 pools, each with its machines.
	answerLimit = 16 << 20
)

// Owner speaks to the simulator of another process as its owner.
type Owner struct {
	// Endpoint of the simulator: http://127.0.0.1:4566.
	Endpoint string
	// Name of what is simulated, for errors: EKS.
	Name string
}

// Reply is what a simulator answers its owner.
type Reply struct {
	// Code is the HTTP status, Status the same with its text.
	Code   int
	Status string
	Body   []byte
}

// Text is the body as one line, as refusals have it.
func (r Reply) Text() string { return strings.TrimSpace(string(r.Body)) }

// Refused reports whether the simulator did not do what it was asked for.
func (r Reply) Refused() bool { return r.Code >= http.StatusMultipleChoices }

// Call sends a request to a path below AdminPath. A refusal is a reply and no error. No error holds the body of the request.
func (o Owner) Call(ctx context.Context, method, path string, body []byte) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, ownerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, o.Endpoint+AdminPath+path, bytes.NewReader(body))
	if err != nil {
		return Reply{}, fmt.Errorf("ask the simulated %s: %w", o.Name, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Reply{}, fmt.Errorf("ask the simulated %s: %w", o.Name, err)
	}
	out := Reply{Code: resp.StatusCode, Status: resp.Status}
	out.Body, err = io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return Reply{}, fmt.Errorf("read the answer of the simulated %s: %w", o.Name, err)
	}
	return out, nil
}

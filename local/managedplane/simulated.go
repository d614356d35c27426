package managedplane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/muster-project/muster/sim"
)

// Simulated is a service of a simulated cloud in another process, spoken to as its owner. No error holds what was sent, which has tokens.
type Simulated struct {
	// Endpoint of the simulated cloud: http://127.0.0.1:4566.
	Endpoint string
	// Service is its name, Clusters the path of its clusters below sim.AdminPath: EKS and eks/clusters.
	Service, Clusters string
	// Busy is why the service does nothing with a cluster now.
	Busy error
}

// Refusal is the refusal of a service, with its code where it has one, and in its words.
type Refusal struct{ Service, Code, Message string }

// Error returns all of it.
func (r *Refusal) Error() string {
	if r.Code == "" {
		return r.Service + " refused: " + r.Message
	}
	return r.Service + " refused: " + r.Code + ": " + r.Message
}

// codeOf matches the error code at the beginning of a message.
var codeOf = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*): `)

// Put makes a cluster known or changes it, and decodes what it is then; nil decodes nothing.
func (s Simulated) Put(ctx context.Context, want, is any) error {
	body, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("describe the cluster: %w", err)
	}
	reply, err := s.call(ctx, http.MethodPut, "", body)
	if err != nil || is == nil {
		return err
	}
	if err := json.Unmarshal(reply.Body, is); err != nil {
		return fmt.Errorf("read the answer of the simulated %s: %w", s.Service, err)
	}
	return nil
}

// Delete begins to delete the cluster at a path, and reports whether it is gone.
func (s Simulated) Delete(ctx context.Context, path string) (gone bool, err error) {
	reply, err := s.call(ctx, http.MethodDelete, "/"+path, nil)
	if reply.Code == http.StatusNotFound {
		return true, nil
	}
	return err == nil && reply.Code == http.StatusNoContent, err
}

func (s Simulated) call(ctx context.Context, method, path string, body []byte) (sim.Reply, error) {
	reply, err := sim.Owner{Endpoint: s.Endpoint, Name: s.Service}.Call(ctx, method, s.Clusters+path, body)
	switch {
	case err != nil:
		return reply, err
	case reply.Code == http.StatusConflict:
		return reply, fmt.Errorf("%w: %s", s.Busy, reply.Text())
	case reply.Refused():
		refusal := &Refusal{Service: s.Service, Message: reply.Text()}
		if codeOf.MatchString(refusal.Message) {
			refusal.Code, refusal.Message, _ = strings.Cut(refusal.Message, ": ")
		}
		return reply, refusal
	}
	return reply, nil
}

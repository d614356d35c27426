package aks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// ErrBusy is why a managed cluster is not changed now: another operation runs on it or on one of its pools.
var ErrBusy = errors.New("another operation runs")

// Registry is the simulated AKS, as far as managed clusters are made in it.
type Registry interface {
	// Put creates a managed cluster or changes it as far as it differs, and returns what it is then. ErrBusy is returned while it can't be
	// changed.
	Put(ctx context.Context, want containerservice.Wanted) (containerservice.Inspected, error)
	// Delete begins to delete a managed cluster, and reports whether it is gone.
	Delete(ctx context.Context, subscription, group, name string) (gone bool, err error)
}

// Refusal is AKS's refusal of a managed cluster, with its code and in its words.
type Refusal struct{ Code, Message string }

// Error returns both.
func (r *Refusal) Error() string { return "AKS refused: " + r.Code + ": " + r.Message }

// codeOf is the code at the beginning of a refusal in words.
var codeOf = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*): `)

// HTTP is the simulated AKS of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated Azure: http://127.0.0.1:4567.
	Endpoint string
}

// Put implements Registry.
func (h HTTP) Put(ctx context.Context, want containerservice.Wanted) (containerservice.Inspected, error) {
	var out containerservice.Inspected
	body, err := json.Marshal(want)
	if err != nil {
		return out, fmt.Errorf("describe the managed cluster %s: %w", want.Name, err)
	}
	reply, err := h.call(ctx, http.MethodPut, "", body)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(reply.Body, &out); err != nil {
		return out, fmt.Errorf("read the answer of the simulated AKS: %w", err)
	}
	return out, nil
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, subscription, group, name string) (gone bool, err error) {
	reply, err := h.call(ctx, http.MethodDelete, "/"+url.PathEscape(subscription)+"/"+url.PathEscape(group)+"/"+url.PathEscape(name), nil)
	return err == nil && reply.Code == http.StatusNoContent, err
}

// call asks the simulator. The token is in no error.
func (h HTTP) call(ctx context.Context, method, path string, body []byte) (sim.Reply, error) {
	reply, err := sim.Owner{Endpoint: h.Endpoint, Name: "AKS"}.Call(ctx, method, "aks/clusters"+path, body)
	switch {
	case err != nil:
		return reply, err
	case reply.Code == http.StatusConflict:
		return reply, fmt.Errorf("%w: %s", ErrBusy, reply.Text())
	case codeOf.MatchString(reply.Text()) && reply.Refused():
		code, message, _ := strings.Cut(reply.Text(), ": ")
		return reply, &Refusal{Code: code, Message: message}
	case reply.Refused():
		return reply, fmt.Errorf("AKS refused: %s", reply.Text())
	}
	return reply, nil
}

package aks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/containerservice"
)

const (
	// callLimit bounds one call of the simulator, which answers at once or is away.
	callLimit = 10 * time.Second
	// answerLimit bounds what is read of an answer: a cluster has up to 100 pools, each with its machines.
	answerLimit = 16 << 20
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
	_, answer, err := h.call(ctx, http.MethodPut, "", body)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, fmt.Errorf("read the answer of the simulated AKS: %w", err)
	}
	return out, nil
}

// Delete implements Registry.
func (h HTTP) Delete(ctx context.Context, subscription, group, name string) (gone bool, err error) {
	status, _, err := h.call(ctx, http.MethodDelete, "/"+url.PathEscape(subscription)+"/"+url.PathEscape(group)+"/"+url.PathEscape(name), nil)
	return err == nil && status == http.StatusNoContent, err
}

// call asks the simulator. The token is in no error.
func (h HTTP) call(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, h.Endpoint+"/_sim/aks/clusters"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("ask the simulated AKS: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("ask the simulated AKS: %w", err)
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	switch said := strings.TrimSpace(string(answer)); {
	case err != nil:
		return 0, nil, fmt.Errorf("read the answer of the simulated AKS: %w", err)
	case resp.StatusCode == http.StatusConflict:
		return 0, nil, fmt.Errorf("%w: %s", ErrBusy, said)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return 0, nil, fmt.Errorf("AKS refused: %s", said)
	}
	return resp.StatusCode, answer, nil
}

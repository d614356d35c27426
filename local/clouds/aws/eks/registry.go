package eks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// callLimit bounds one call of the simulator, which answers at once or is away.
	callLimit = 10 * time.Second
	// answerLimit bounds what is read of a refusal.
	answerLimit = 4 << 10
)

// HTTP is the simulated EKS of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulated AWS: http://127.0.0.1:4566.
	Endpoint string
}

// registration is a cluster as the simulator's owner makes it known.
type registration struct {
	Region        string   `json:"region"`
	Name          string   `json:"name"`
	Version       string   `json:"version"`
	Endpoint      string   `json:"endpoint"`
	CA            []byte   `json:"certificateAuthority"`
	Token         string   `json:"token"`
	Subnets       []string `json:"subnetIds"`
	SecurityGroup string   `json:"securityGroupId"`
}

// Put makes a cluster known.
func (h HTTP) Put(ctx context.Context, c Cluster) error {
	body, err := json.Marshal(registration(c))
	if err != nil {
		return fmt.Errorf("describe the cluster: %w", err)
	}
	return h.call(ctx, http.MethodPut, "", body)
}

// Delete forgets a cluster.
func (h HTTP) Delete(ctx context.Context, region, name string) error {
	return h.call(ctx, http.MethodDelete, "/"+url.PathEscape(name)+"?region="+url.QueryEscape(region), nil)
}

// call asks the simulator. The token is in no error.
func (h HTTP) call(ctx context.Context, method, path string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, h.Endpoint+"/_sim/eks/clusters"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask the simulated EKS: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the simulated EKS: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	switch said := strings.TrimSpace(string(text)); {
	case err != nil:
		return fmt.Errorf("read the answer of the simulated EKS: %w", err)
	case resp.StatusCode == http.StatusConflict:
		return fmt.Errorf("%w: %s", ErrInUse, said)
	case method == http.MethodDelete && resp.StatusCode == http.StatusNotFound:
		return nil
	case resp.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("the simulated EKS refused: %s: %s", resp.Status, said)
	}
	return nil
}

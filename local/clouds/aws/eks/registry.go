package eks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/muster-project/muster/sim"
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
	reply, err := sim.Owner{Endpoint: h.Endpoint, Name: "EKS"}.Call(ctx, method, "eks/clusters"+path, body)
	switch {
	case err != nil:
		return err
	case reply.Code == http.StatusConflict:
		return fmt.Errorf("%w: %s", ErrInUse, reply.Text())
	case method == http.MethodDelete && reply.Code == http.StatusNotFound:
		return nil
	case reply.Refused():
		return fmt.Errorf("the simulated EKS refused: %s: %s", reply.Status, reply.Text())
	}
	return nil
}

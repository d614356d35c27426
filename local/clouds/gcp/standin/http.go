package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/muster-project/muster/sim"
)

// HTTP is the simulated Google Cloud of another process, spoken to as its owner.
type HTTP struct {
	// Endpoint of the simulator: http://127.0.0.1:4568.
	Endpoint string
}

// Make has the simulator hold a network with a subnetwork in each region.
func (h HTTP) Make(ctx context.Context, project, name string) error {
	body, err := json.Marshal(map[string]string{"project": project, "name": name})
	if err != nil {
		return fmt.Errorf("describe the network %s: %w", name, err)
	}
	reply, err := sim.Owner{Endpoint: h.Endpoint, Name: "Google Cloud"}.Call(ctx, http.MethodPut, "networks", body)
	if err == nil && reply.Refused() {
		err = fmt.Errorf("the simulated Google Cloud did not take the network %s: %s: %s", name, reply.Status, reply.Text())
	}
	return err
}

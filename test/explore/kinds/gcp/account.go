// Package gcp provides the simulated project of Google Cloud for the exploration of its kinds of pools: its clients and its errors.
package gcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/sim"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/explore/kinds/shelf"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Labels by which what belongs to a pool is known, as the project promises them.
const (
	LabelOwner   = "muster-dev_owner-id"
	LabelCluster = "muster-dev_cluster"
	LabelSurge   = "muster-dev_surge"
)

// The properties of pools in the project.
const (
	Project = project.DefaultID
	Region  = "us-central1"
	// MachineType is that of the first machines.
	MachineType = "n2-standard-2"
	// BadType is one whose image does not boot, so that machines of it never join.
	BadType = "c3-standard-4"
	// Image is the one image of the family for Version.
	Image   = "projects/" + Project + "/global/images/cluster-api-ubuntu-1804-v1-34-1-1760000000"
	Version = "v1.34.1"
	// HealthCheck is one that groups can be healed by.
	HealthCheck = "kubelet"
)

// Zones are those of the region that pools are in.
var Zones = []string{"us-central1-a", "us-central1-b", "us-central1-c"}

// HandQuota leaves room for few machines.
const HandQuota script.What = "hand sets a quota"

// Follow has a user take back a quota some time later.
func Follow(d *script.Drawing, e script.Event) {
	if e.What == HandQuota {
		d.Scenario.Add(script.Event{What: script.HandHeal, At: d.Later(e, 10, 300)})
	}
}

// Endpoint is the address that only the simulator answers.
const Endpoint = "http://127.0.0.1:9"

// Account is the simulated project.
type Account struct {
	World *world.World
	Cloud *simgcp.Cloud
	// Shelves are the instance templates of the project.
	*shelf.Shelves
}

// The clients of the project. Drivers, whose requests stay on the machine, authenticate as controller.
const (
	controller = "controller"
	user       = "user"
	// AsUser is the Authorization header of requests by users.
	AsUser = "Bearer simulated:" + user
)

// Bound binds the manager to the permissions of a role. world.Options take it as Manager.
type Bound struct {
	// Allowed are the manager's only permissions.
	Allowed []string
	// Cloud is the project, nil until it exists.
	Cloud *simgcp.Cloud
}

// New makes a project with the cluster's network.
func New(w *world.World) *Account {
	o := simgcp.Options{Seed: w.Scenario.Seed, Speed: w.Scenario.Speed, MachineHost: w.Workload, Limits: simgcp.Limits{},
		Switches: w.Scenario.Switches}
	bound, limited := w.Options.Manager.(*Bound)
	if limited {
		o.Accounts = []simgcp.Account{{Email: controller, Allowed: bound.Allowed}, {Email: user}}
	}
	made, err := simgcp.New(o)
	w.Must(err, "make the simulator")
	if limited {
		bound.Cloud = made
	}
	a := &Account{World: w, Cloud: made, Shelves: shelf.New(LabelOwner)}
	w.Must(made.PutNetwork(compute.Network{Project: Project, Name: world.ClusterName}), "make the network")
	return a
}

// Cluster returns a GCPCluster whose status describes the network of the project.
func Cluster() *unstructured.Unstructured {
	domains := map[string]any{}
	for _, z := range Zones {
		domains[z] = map[string]any{}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gcpv1.GroupVersion.String(), "kind": "GCPCluster",
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
		"spec":     map[string]any{"project": Project, "region": Region, "network": map[string]any{"name": world.ClusterName}},
		"status":   map[string]any{"ready": true, "failureDomains": domains},
	}}
}

// SetQuota leaves room for so many of the first machines.
func (a *Account) SetQuota(machines int) error {
	return a.Cloud.SetQuota(compute.Quota{Region: Region, Metric: "INSTANCES", Limit: float64(machines)})
}

// Heal takes back what keeps Compute Engine from creating instances.
func (a *Account) Heal() error { return a.SetQuota(-1) }

// ClearBlockers is Heal at the end.
func (a *Account) ClearBlockers() { a.World.Must(a.Heal(), "take the quota away") }

// Ask asks Compute Engine for something in the project as people and other programs do.
func (a *Account) Ask(ctx context.Context, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, Endpoint+"/compute/v1/projects/"+Project+"/"+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", AsUser)
	reply, err := sim.Transport{Handler: a.Cloud}.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode >= http.StatusMultipleChoices {
		content, _ := io.ReadAll(reply.Body) // what can't be read is not shown
		return fmt.Errorf("%s %s: %s", method, path, content)
	}
	return nil
}

// Reads are calls that only read.
var Reads = []string{"*.get*", "*.list*", "*.aggregatedList"}

// Denial is the reason with which Compute Engine refuses what the credentials do not allow.
const Denial = "forbidden"

// Refusals are reasons that Compute Engine documents for a refusal before anything is done, and the status that each comes with.
func Refusals() []script.Refusal {
	return []script.Refusal{
		{}, {},
		{Code: Denial, Status: http.StatusForbidden},
		{Code: "rateLimitExceeded", Status: http.StatusForbidden},
		{Code: "quotaExceeded", Status: http.StatusForbidden},
		{Code: "backendError", Status: http.StatusServiceUnavailable},
		{Code: "conditionNotMet", Status: http.StatusPreconditionFailed},
		{Code: "resourceNotReady", Status: http.StatusBadRequest},
		{Code: "invalid", Status: http.StatusBadRequest},
	}
}

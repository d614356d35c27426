// Package gcp is the simulated project of Google Cloud in which its kinds of pools are explored: how it is asked, and what it refuses.
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
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Labels by which what belongs to a pool is known, as the project promises them.
const (
	LabelOwner   = "muster-dev_owner-id"
	LabelCluster = "muster-dev_cluster"
	LabelSurge   = "muster-dev_surge"
)

// What pools are made of in the project.
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
	// numbers are those of templates, by their paths.
	numbers map[string]int64
	// lent are the owners whose groups have used templates that are not theirs, by the templates' numbers.
	lent map[int64]string
}

// Who asks the project: drivers whose requests stay on the machine ask as controller.
const (
	controller = "controller"
	user       = "user"
	// AsUser is what a user's requests have as Authorization.
	AsUser = "Bearer simulated:" + user
)

// Bound is what world.Options take as Manager to bind the manager to the permissions of a role.
type Bound struct {
	// Allowed are the manager's only permissions.
	Allowed []string
	// Cloud is the project, once it is made.
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
	a := &Account{World: w, Cloud: made, numbers: map[string]int64{}, lent: map[int64]string{}}
	w.Must(made.PutNetwork(compute.Network{Project: Project, Name: world.ClusterName}), "make the network")
	return a
}

// Cluster is what the project holds, as a cluster shows it.
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

// Appease is Heal at the end.
func (a *Account) Appease() { a.World.Must(a.Heal(), "take the quota away") }

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
		said, _ := io.ReadAll(reply.Body) // what can't be read is not shown
		return fmt.Errorf("%s %s: %s", method, path, said)
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

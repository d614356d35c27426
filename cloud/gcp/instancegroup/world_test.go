package instancegroup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/instancegroup"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/permissions"
	"github.com/muster-project/muster/sim"
	simgcp "github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/compute"
	simproject "github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

const (
	endpoint    = "http://127.0.0.1:9"
	project     = simproject.DefaultID
	region      = "us-central1"
	zone        = "us-central1-a"
	clusterName = "capg"
	poolName    = "mp-0"
	version     = "v1.34.2"
	machineType = "n2-standard-2"
	family      = "projects/" + project + "/global/images/family/capi-ubuntu-2404-k8s-v1-34"
	image       = "projects/" + project + "/global/images/cluster-api-ubuntu-2404-v1-34-1-1760000000"
	// within is longer than anything takes that Compute Engine does to a group.
	within = 20 * time.Minute
)

type specification = *gcpv1.MachinePoolSource

// otherTool is an account that is allowed everything.
const otherTool = "other-tool"

// newCloud makes a simulated Google Cloud that allows the driver what package permissions says, and nothing else. Some
// switches are on.
func newCloud(on ...sim.Switch) (*simgcp.Cloud, error) {
	role, err := permissions.RoleOf(permissions.Options{})
	if err != nil {
		return nil, err
	}
	made, err := simgcp.New(simgcp.Options{Seed: 1, Limits: simgcp.Limits{}, Switches: on,
		Accounts: []simgcp.Account{{Email: controller, Allowed: role.IncludedPermissions}, {Email: otherTool}}})
	if err != nil {
		return nil, err
	}
	return made, errors.Join(made.PutNetwork(compute.Network{Project: project, Name: clusterName}), putHealthCheck(made))
}

// healthCheck is a health check of the project, by which groups can be healed.
const healthCheck = "kubelet"

// putHealthCheck creates it as another tool.
func putHealthCheck(made *simgcp.Cloud) error {
	text := strings.NewReader(`{"name": "` + healthCheck + `", "type": "HTTP"}`)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		endpoint+"/compute/v1/projects/"+project+"/global/healthChecks", text)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer simulated:"+otherTool)
	reply, err := sim.Transport{Handler: made}.RoundTrip(req)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("create a health check: %s", reply.Status)
	}
	return errors.Join(err, reply.Body.Close())
}

func newDriver(over http.RoundTripper) (*instancegroup.Driver, error) {
	return instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: over})
}

// calls notes the requests that are sent.
type calls struct {
	mu   sync.Mutex
	list []string
}

// Done notes a request.
func (c *calls) Done(is wire.Call, _ wire.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, is.Operation)
}

// Throttled notes nothing: Done has noted the request.
func (c *calls) Throttled(wire.Call, wire.Result) {}

// during returns the requests that are sent meanwhile.
func (c *calls) during(do func()) []string {
	c.mu.Lock()
	c.list = nil
	c.mu.Unlock()
	do()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

// source is the specification of a small pool, in zones.
func source(zones ...string) specification {
	return &gcpv1.MachinePoolSource{
		Pool: &gcpv1.GCPMachinePoolSpec{
			InstanceType: machineType, Image: new(image), AdditionalLabels: gcpv1.Labels{"team": "a"},
			DistributionPolicy: &gcpv1.DistributionPolicy{Zones: zones},
		},
		Cluster: gcpv1.ClusterView{
			Name: clusterName, ClusterName: clusterName, Project: project, Region: region, Network: clusterName, Ready: true,
		},
	}
}

// spec changes a copy of a specification.
func spec(change func(*gcpv1.GCPMachinePoolSpec)) func(specification) specification {
	return func(s specification) specification {
		changed := *s
		changed.Pool = s.Pool.DeepCopy()
		change(changed.Pool)
		return &changed
	}
}

// world is a simulated Google Cloud with a driver.
type world struct {
	*testing.T
	cloud  *simgcp.Cloud
	driver *instancegroup.Driver
	calls  *calls
	target instancegroup.Target
}

// inWorld runs a test in a fresh world, in virtual time.
func inWorld(t *testing.T, zones []string, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud()
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := made.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		sent := &calls{}
		d, err := instancegroup.New(instancegroup.Options{Endpoint: endpoint, Base: sim.Transport{Handler: made}, Hook: sent})
		if err != nil {
			t.Fatal(err)
		}
		test(&world{T: t, cloud: made, driver: d, calls: sent, target: instancegroup.Target{
			Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: clusterName, Namespace: "default", Name: poolName},
			KubernetesVersion: version, Spec: source(zones...), Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\nruncmd: [join]\n"),
				"cloud-config"),
		}})
	})
}

// settle lets pass what anything takes.
func settle() {
	<-time.After(within)
	synctest.Wait()
}

func (w *world) observe() pool.Observed {
	w.Helper()
	o, err := w.driver.Observe(w.Context(), w.target)
	if err != nil {
		w.Fatalf("observe: %v", err)
	}
	return o
}

func (w *world) start(s pool.Step) {
	w.Helper()
	if err := w.driver.Start(w.Context(), w.target, s); err != nil {
		w.Fatalf("start %s: %v", s.Kind, err)
	}
	settle()
}

// create creates the pool with a size.
func (w *world) create(size int) pool.Observed {
	w.Helper()
	w.start(pool.Step{Kind: pool.PutTemplate})
	w.start(pool.Step{Kind: pool.CreateGroup, Size: size, Template: w.observe().Latest().Ref})
	return w.observe()
}

// read reads what another client would.
func (w *world) read(path string) (is map[string]any) {
	w.Helper()
	if err := json.Unmarshal(w.send(http.MethodGet, path, nil), &is); err != nil {
		w.Fatal(err)
	}
	return is
}

// send sends a request of another client, which must succeed, and returns the answer.
func (w *world) send(method, path string, body any) []byte {
	w.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		w.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.Context(), method, endpoint+"/compute/v1/projects/"+project+"/"+path, bytes.NewReader(text))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer simulated:"+otherTool)
	reply, err := sim.Transport{Handler: w.cloud}.RoundTrip(req)
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	answer, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		w.Fatalf("%s %s: %s, %v", method, path, answer, err)
	}
	return answer
}

// beside is the target of another pool.
func (w *world) beside(name string) instancegroup.Target {
	t := w.target
	t.Owner.ID, t.Owner.Name = "owner-of-"+name, name
	return t
}

// as runs a test's steps for another target.
func (w *world) as(t instancegroup.Target) *world {
	other := *w
	other.target = t
	return &other
}

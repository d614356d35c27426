package nodepool_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/nodepool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/permissions"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

const (
	endpoint    = "http://127.0.0.1:9"
	region      = "us-central1"
	clusterName = "managed"
	poolName    = "pool"
	// master is the version of the control plane, newer a later patch of the same minor version.
	master, version = "1.34.7-gke.1734500", "v1.34.6-gke.1634500"
	// within is longer than any operation of GKE takes that goes well.
	within = 40 * time.Minute
)

type source = *gcpv1.ManagedMachinePoolSource

// controller is the account that the driver asks as.
const controller = "controller"

// newCloud makes a simulated Google Cloud with a regional GKE cluster without node pools. It allows the driver what package permissions
// says, and nothing else. Some switches are on.
func newCloud(on ...sim.Switch) (*gcp.Cloud, error) {
	role, err := permissions.RoleOf(permissions.Options{})
	if err != nil {
		return nil, err
	}
	accounts := []gcp.Account{{Email: controller, Allowed: role.IncludedPermissions}}
	made, err := gcp.New(gcp.Options{Seed: 1, Speed: 1, Switches: on, Accounts: accounts})
	if err != nil {
		return nil, err
	}
	_, err = made.GKE.PutCluster(container.DesiredCluster{Project: project.DefaultID, Location: region, Name: clusterName,
		Body: document.Object{
			"initialClusterVersion": master, "releaseChannel": document.Object{"channel": "UNSPECIFIED"},
		}})
	if err != nil {
		return nil, fmt.Errorf("create a cluster: %w", err)
	}
	settle()
	return made, nil
}

// settle lets pass what any operation takes.
func settle() {
	<-time.After(within)
	synctest.Wait()
}

// newDriver makes a driver on a simulated cloud.
func newDriver(over http.RoundTripper) (*nodepool.Driver, error) {
	return nodepool.New(nodepool.Options{Endpoint: endpoint, Base: over})
}

// zonal is the specification of a small node pool in one zone.
func zonal() source {
	return &gcpv1.ManagedMachinePoolSource{
		Name: poolName,
		Cluster: gcpv1.ManagedClusterView{
			Name: clusterName, Location: region, Version: "v1.34.7",
			View: gcpv1.ClusterView{
				Name: clusterName, ClusterName: clusterName, Project: project.DefaultID, Region: region, Ready: true,
				AdditionalLabels: map[string]string{"env": "test"},
			},
		},
		Pool: &gcpv1.GCPManagedMachinePoolSpec{
			InstanceType: new("e2-standard-4"), ImageType: new("COS_CONTAINERD"), NodeLocations: []string{region + "-a"},
			AdditionalLabels: gcpv1.Labels{"team": "a"},
			UpgradeSettings:  &gcpv1.UpgradeSettings{MaxSurge: new(int32(1)), MaxUnavailable: new(int32(0))},
		},
	}
}

// spec changes a copy of a specification.
func spec(change func(*gcpv1.GCPManagedMachinePoolSpec)) func(source) source {
	return func(s source) source {
		changed := *s
		changed.Pool = s.Pool.DeepCopy()
		change(changed.Pool)
		return &changed
	}
}

// world is a simulated Google Cloud with a driver.
type world struct {
	*testing.T
	cloud  *gcp.Cloud
	driver *nodepool.Driver
	target nodepool.Target
}

// inWorld runs a test in a fresh world, in virtual time.
func inWorld(t *testing.T, test func(*world)) { t.Helper(); inWorldAs(t, nil, test) }

// inWorldAs runs a test in a world with some switches on.
func inWorldAs(t *testing.T, on sim.Switches, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud(on...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := made.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		d, err := newDriver(sim.Transport{Handler: made})
		if err != nil {
			t.Fatal(err)
		}
		test(&world{T: t, cloud: made, driver: d, target: nodepool.Target{
			Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: clusterName, Namespace: "default", Name: poolName},
			KubernetesVersion: version, Spec: zonal(),
		}})
	})
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

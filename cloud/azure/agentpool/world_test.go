package agentpool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/agentpool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/permissions"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/test/permissions/allowed"
	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

const (
	endpoint    = "http://simulated.azure"
	clusterName = "managed"
	version     = "v1.34.7"
	poolName    = "pool"
	// within is longer than any operation of AKS takes that goes well.
	within = 40 * time.Minute
)

type source = *aksv1.AgentPoolSource

// newCloud makes a simulated Azure with a managed cluster of one System pool, which runs a version of Kubernetes.
func newCloud(version string, on ...sim.Switch) (*simazure.Cloud, error) {
	made, err := simazure.New(simazure.Options{Seed: 1, Switches: on})
	if err != nil {
		return nil, err
	}
	if err := putCluster(made, version, nil); err != nil {
		return nil, err
	}
	return made, made.AKS.RegisterFeature(containerservice.FeatureResize)
}

// putCluster creates the managed cluster, or writes its tags.
func putCluster(made *simazure.Cloud, version string, tags map[string]string) error {
	wanted := map[string]any{
		"location": simazure.Location, "identity": map[string]any{"type": "SystemAssigned"},
		"properties": map[string]any{"kubernetesVersion": version[1:], "dnsPrefix": clusterName, "agentPoolProfiles": []any{
			map[string]any{"name": "system", "mode": "System", "count": 1, "vmSize": simazure.VMSize},
		}},
	}
	if tags != nil {
		wanted["tags"] = tags
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s?api-version=2025-05-01",
		endpoint, simazure.SubscriptionID, simazure.ResourceGroup, clusterName)
	req, err := http.NewRequest(http.MethodPut, at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer any")
	req.Header.Set("Content-Type", "application/json")
	reply, err := sim.Transport{Handler: made}.RoundTrip(req)
	if err != nil {
		return err
	}
	if err := reply.Body.Close(); err != nil {
		return err
	}
	if reply.StatusCode != http.StatusCreated && reply.StatusCode != http.StatusOK {
		return fmt.Errorf("write a managed cluster: %s", reply.Status)
	}
	settle()
	return nil
}

// settle lets pass what any operation takes.
func settle() {
	<-time.After(within)
	synctest.Wait()
}

// newDriver makes a driver that may ask for what package permissions allows, and for nothing else.
func newDriver(over http.RoundTripper) (*agentpool.Driver, error) {
	role, err := allowed.New(permissions.Options{})
	if err != nil {
		return nil, err
	}
	return agentpool.New(agentpool.Options{
		Endpoint: endpoint, Base: role.Wrap(over),
		Credential: func(azcloud.Configuration, *azurev1.IdentityView) (azcore.TokenCredential, error) {
			return &azfake.TokenCredential{}, nil
		},
	})
}

// managedPool is the specification of a small AzureManagedMachinePool.
func managedPool() source {
	return &aksv1.AgentPoolSource{
		Name: poolName,
		Cluster: aksv1.ManagedClusterView{
			Name: clusterName,
			View: azurev1.ClusterView{
				Name: clusterName, ClusterName: clusterName, SubscriptionID: simazure.SubscriptionID, ResourceGroup: simazure.ResourceGroup,
				Location: simazure.Location, Environment: azurev1.PublicCloud, ControlPlaneVersion: version, Ready: true,
			},
		},
		Managed: &aksv1.AzureManagedMachinePoolSpec{
			Mode: "User", SKU: simazure.VMSize, AvailabilityZones: []string{"1", "2", "3"}, AdditionalTags: azurev1.Tags{"team": "a"},
			// Upgrades take a while, so that there is time to end one.
			UpgradeSettings: &aksv1.UpgradeSettings{NodeSoakDurationInMinutes: new(int32(30))},
		},
	}
}

// spec changes a copy of a specification.
func spec(change func(*aksv1.AzureManagedMachinePoolSpec)) func(source) source {
	return func(s source) source {
		changed := *s
		changed.Managed = s.Managed.DeepCopy()
		change(changed.Managed)
		return &changed
	}
}

// world is a simulated Azure with a driver.
type world struct {
	*testing.T
	cloud  *simazure.Cloud
	driver *agentpool.Driver
	target agentpool.Target
}

// inWorld runs a test in a fresh world, in virtual time.
func inWorld(t *testing.T, test func(*world)) {
	t.Helper()
	inWorldOf(t, nil, test)
}

// inWorldOf is inWorld with some switches on.
func inWorldOf(t *testing.T, on sim.Switches, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud(version, on...)
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
		test(&world{T: t, cloud: made, driver: d, target: agentpool.Target{
			Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: clusterName, Namespace: "default", Name: poolName},
			KubernetesVersion: version, Spec: managedPool(),
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

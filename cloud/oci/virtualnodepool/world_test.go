package virtualnodepool_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/cloud/oci/virtualnodepool"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/permissions"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
)

const (
	endpoint    = "http://127.0.0.1:9"
	clusterName = oci.ClusterName
	version     = "v1.34.1"
	user        = "ocid1.user.oc1..muster"
	fingerprint = "20:3b:97:13"
)

type (
	source = *ociv1.VirtualMachinePoolSource
	spec   = ociv1.OCIVirtualMachinePoolSpec
)

// private is the key of all drivers.
var private = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// clusterID is the OCID of the cluster, which is the same in all simulated clouds.
var clusterID = sync.OnceValue(func() string {
	made, err := oci.New(oci.Options{Seed: 1, Speed: 1})
	if err != nil {
		panic(err)
	}
	defer made.Close()
	shown, err := made.PutCluster(oci.Access{Name: clusterName, Version: version[1:]})
	if err != nil {
		panic(err)
	}
	return document.Text(shown, "id")
})

// part returns a part of the network of the cluster.
func part(kind, name, role string) ociv1.NetworkPart {
	return ociv1.NetworkPart{Name: name, Role: role, ID: "ocid1." + kind + ".oc1.iad." + name}
}

// virtualPool returns a specification that can be met.
func virtualPool() source {
	return &ociv1.VirtualMachinePoolSource{
		Name: "pool", Pool: &spec{},
		Cluster: ociv1.ManagedClusterView{
			ID: clusterID(), ControlPlane: "cp", Version: version, Enhanced: true, Ready: true, CNITypes: []ociv1.CNIType{ociv1.CNINative},
			View: ociv1.ClusterView{
				Name: "c", ClusterName: "c", Managed: true, Region: oci.Region, CompartmentID: oci.Compartment, ResourceIdentifier: "cluster-uid",
				FreeformTags: map[string]string{"team": "a"}, Ready: true,
				AvailabilityDomains: []ociv1.AvailabilityDomain{{Name: oci.Domains()[0]}, {Name: oci.Domains()[1]}, {Name: oci.Domains()[2]}},
				Subnets: []ociv1.NetworkPart{part("subnet", "worker", ociv1.RoleWorker), part("subnet", "pod", ociv1.RolePod),
					part("subnet", "other", "")},
				SecurityGroups: []ociv1.NetworkPart{part("networksecuritygroup", "worker", ociv1.RoleWorker),
					part("networksecuritygroup", "pod", ociv1.RolePod), part("networksecuritygroup", "other", "")},
				Identity: &ociv1.IdentityView{Name: "OCIClusterIdentity/default/muster", Type: ociv1.PrincipalUser, Tenancy: oci.Tenancy, User: user,
					KeyFingerprint: fingerprint, PrivateKey: common.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
						Bytes: x509.MarshalPKCS1PrivateKey(private())})))},
			},
		},
	}
}

// with changes a copy of a specification.
func with(change func(*spec)) func(source) source {
	return func(s source) source {
		out := *s
		out.Pool = s.Pool.DeepCopy()
		change(out.Pool)
		return &out
	}
}

// allowed are the permissions under which all tests run: the documented ones that are about virtual node pools.
func allowed() (names []string) {
	for _, grant := range permissions.Grants() {
		for _, p := range grant.Permissions {
			if strings.HasPrefix(p.Name, "CLUSTER_VIRTUAL_NODE_POOL_") || strings.HasPrefix(p.Name, "CLUSTER_WORK_REQUEST_") {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// keyWith is the drivers' API key with permissions.
func keyWith(permissions []string) []oci.Key {
	return []oci.Key{{ID: oci.Tenancy + "/" + user + "/" + fingerprint, Public: &private().PublicKey, Permissions: permissions}}
}

// newCloud makes a simulated cloud with an enhanced cluster that is at rest.
func newCloud(o oci.Options) (*oci.Cloud, error) {
	if o.Seed, o.Speed = 1, 1; o.Keys == nil {
		o.Keys = keyWith(allowed())
	}
	made, err := oci.New(o)
	if err != nil {
		return nil, err
	}
	_, err = made.PutCluster(oci.Access{Name: clusterName, Version: version[1:]})
	settle()
	return made, err
}

func newDriver(over http.RoundTripper) (*virtualnodepool.Driver, error) {
	return virtualnodepool.New(virtualnodepool.Options{Endpoint: endpoint, Base: over})
}

// engineOf is a client of OKE beside the driver, as another tool is.
func engineOf(made *oci.Cloud) (containerengine.Client, error) {
	sessions, err := session.New(session.Options{Endpoint: endpoint, Base: sim.Transport{Handler: made}})
	if err != nil {
		return containerengine.Client{}, err
	}
	is, err := sessions.Of(virtualPool().Cluster.View)
	if err != nil {
		return containerengine.Client{}, err
	}
	return is.Engine, nil
}

// createForeign creates a virtual node pool as another tool does.
func createForeign(made *oci.Cloud, name string, size int) error {
	engine, err := engineOf(made)
	if err != nil {
		return err
	}
	var places []containerengine.PlacementConfiguration
	for _, domain := range oci.Domains() {
		places = append(places, containerengine.PlacementConfiguration{AvailabilityDomain: &domain, SubnetId: new(part("subnet", "worker",
			"").ID)})
	}
	_, err = engine.CreateVirtualNodePool(context.Background(), containerengine.CreateVirtualNodePoolRequest{
		Body: &containerengine.CreateVirtualNodePoolDetails{ClusterId: new(clusterID()), CompartmentId: new(oci.Compartment), DisplayName: &name,
			Size: &size, PlacementConfigurations: places, PodConfiguration: &containerengine.PodConfiguration{
				Shape: new(ociv1.DefaultPodShape), SubnetId: new(part("subnet", "pod", "").ID),
				NsgIds: []string{part("networksecuritygroup", "pod", "").ID}},
			NsgIds: []string{part("networksecuritygroup", "worker", "").ID}}})
	return err
}

// settle lets pass longer than any change takes that goes well.
func settle() {
	<-time.After(40 * time.Minute)
	synctest.Wait()
}

// world is a simulated cloud with a driver and a pool.
type world struct {
	*testing.T
	cloud  *oci.Cloud
	driver *virtualnodepool.Driver
	target virtualnodepool.Target
}

// inWorld runs a test in virtual time. Without options the cloud behaves as is assumed.
func inWorld(t *testing.T, o oci.Options, test func(*world)) {
	t.Helper()
	t.Parallel()
	s := virtualPool()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud(o)
		if err != nil {
			t.Fatal(err)
		}
		defer made.Close()
		driver, err := newDriver(sim.Transport{Handler: made})
		if err != nil {
			t.Fatal(err)
		}
		test(&world{T: t, cloud: made, driver: driver, target: virtualnodepool.Target{
			Owner: cloud.Owner{ID: "owner-id", Cluster: "c", Namespace: "default", Name: "pool", Kind: "ocivirtualmachinepool"}, Spec: s,
		}})
	})
}

// change changes the specification.
func (w *world) change(change func(*spec)) { w.target.Spec = with(change)(w.target.Spec) }

func (w *world) observe() domain.Observed {
	w.Helper()
	o, err := w.driver.Observe(w.Context(), w.target)
	if err != nil {
		w.Fatal(err)
	}
	return o
}

// try begins a step.
func (w *world) try(s domain.Step) error { return w.driver.Start(w.Context(), w.target, s) }

// start begins a step that works, and waits for what it brings.
func (w *world) start(s domain.Step) {
	w.Helper()
	if err := w.try(s); err != nil {
		w.Fatalf("start %s: %v", s.Kind, err)
	}
	settle()
}

// shown returns the virtual node pool as OKE shows it.
func (w *world) shown() containerengine.VirtualNodePool {
	w.Helper()
	engine, err := engineOf(w.cloud)
	if err != nil {
		w.Fatal(err)
	}
	id := w.cloud.Snapshot().Groups[0].ID
	answer, err := engine.GetVirtualNodePool(w.Context(), containerengine.GetVirtualNodePoolRequest{VirtualNodePoolId: &id})
	if err != nil {
		w.Fatal(err)
	}
	return answer.Body
}

// sent returns the operations of the requests that some work makes.
func (w *world) sent(work func()) (out []string) {
	last := w.cloud.Calls().Next()
	work()
	for _, c := range w.cloud.Calls().Summary(last).Calls {
		out = append(out, c.Action)
	}
	return out
}

// stale counts the virtual nodes that are not of the wanted configuration.
func stale(o domain.Observed) (n int) {
	for _, i := range o.Instances {
		if i.State != domain.Terminating && !i.Template.Same(o.Wanted) {
			n++
		}
	}
	return n
}

func ids(o domain.Observed) (out []string) {
	for _, i := range o.Instances {
		out = append(out, i.ID)
	}
	slices.Sort(out)
	return out
}

// patient is the simulator with a user who waits until the cloud has finished what was asked of it, and whose tools create virtual node
// pools. Virtual nodes show when they were created.
type patient struct{ *oci.Cloud }

// Capabilities has the actions of the patient user.
func (p patient) Capabilities() sim.Capabilities {
	can := p.Cloud.Capabilities()
	can.Groups.HidesCreationTimes = false
	can.OutOfBand[sim.CreateGroup] = func(on sim.Resource) error { return createForeign(p.Cloud, cmp.Or(on.Name, "theirs"), 0) }
	can.OutOfBand = atRest(can.OutOfBand)
	return can
}

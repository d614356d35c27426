package instancepool_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/instancepool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/permissions"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/test/testrun"
)

func TestMain(m *testing.M) { testrun.Main(m, testrun.GarbageOfWorlds) }

const (
	endpoint    = "http://127.0.0.1:9"
	clusterName = "c"
	poolName    = "mp"
	version     = "v1.34.2"
	flexible    = "VM.Standard.E4.Flex"
	identifier  = "id-of-c"
	// within is longer than anything takes that goes well.
	within = 20 * time.Minute
)

type (
	source = *ociv1.MachinePoolSource
	spec   = ociv1.OCIMachinePoolSpec
)

// machinePool returns a specification that can be met.
func machinePool() source {
	view := ociv1.ClusterView{
		Name: clusterName, ClusterName: clusterName, CompartmentID: oci.Compartment, Region: oci.Region, ResourceIdentifier: identifier,
		FreeformTags: map[string]string{"team": "a"}, Ready: true, Identity: identity(manager),
		Subnets: []ociv1.NetworkPart{{Name: "worker", Role: ociv1.RoleWorker, ID: "ocid1.subnet.oc1.iad.worker"},
			{Name: "other", Role: ociv1.RoleWorker, ID: "ocid1.subnet.oc1.iad.other"}},
		SecurityGroups: []ociv1.NetworkPart{{Name: "worker", Role: ociv1.RoleWorker, ID: "ocid1.networksecuritygroup.oc1.iad.worker"}},
	}
	for _, name := range oci.Domains() {
		view.AvailabilityDomains = append(view.AvailabilityDomains, ociv1.AvailabilityDomain{Name: name, FaultDomains: catalogue.FaultDomains()})
	}
	return &ociv1.MachinePoolSource{Name: poolName, Cluster: view, Pool: &spec{InstanceConfiguration: ociv1.InstanceConfiguration{
		Shape: flexible, ShapeConfig: &ociv1.ShapeConfig{OCPUs: new(ociv1.Decimal("2"))},
		InstanceSourceViaImageConfig: &ociv1.InstanceSourceViaImageConfig{ImageID: new(catalogue.Image(oci.RegionKey, version, "amd64"))},
	}}}
}

// with changes a copy of a specification.
func with(change func(source)) func(source) source {
	return func(s source) source {
		out := *s
		out.Pool = s.Pool.DeepCopy()
		tags := map[string]string{}
		for key, value := range s.Cluster.FreeformTags {
			tags[key] = value
		}
		out.Cluster.FreeformTags = tags
		change(&out)
		return &out
	}
}

// manager and otherTool are fingerprints of the keys of Muster and of another tool, which may do everything.
const (
	manager, otherTool = "00:01", "00:02"
	user               = "ocid1.user.oc1..tests"
)

var private = sync.OnceValues(func() (*rsa.PrivateKey, error) {
	const bits = 2048
	return rsa.GenerateKey(rand.Reader, bits)
})

// identity returns the identity with the key of a fingerprint.
func identity(fingerprint string) *ociv1.IdentityView {
	key, err := private()
	if err != nil {
		return nil
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return &ociv1.IdentityView{Name: "OCIClusterIdentity/default/" + fingerprint, Type: ociv1.PrincipalUser, Tenancy: oci.Tenancy, User: user,
		KeyFingerprint: fingerprint, PrivateKey: common.NewSecret(string(text))}
}

// keys are those of Muster, with these permissions, and of another tool.
func keys(allowed []string) []oci.Key {
	key, err := private()
	if err != nil {
		return nil
	}
	id := oci.Tenancy + "/" + user + "/"
	return []oci.Key{{ID: id + manager, Public: &key.PublicKey, Permissions: allowed}, {ID: id + otherTool, Public: &key.PublicKey}}
}

// newCloud makes a simulated cloud that allows Muster what is documented, and nothing else.
func newCloud(o oci.Options) (*oci.Cloud, error) {
	if o.Seed, o.Speed = 1, 1; o.Keys == nil {
		o.Keys = keys(permissions.Names())
	}
	return oci.New(o)
}

func newDriver(over http.RoundTripper) (*instancepool.Driver, error) {
	return instancepool.New(instancepool.Options{Endpoint: endpoint, Directory: "/nonexistent", Base: over})
}

// settle lets pass what anything takes that goes well.
func settle() {
	<-time.After(within)
	synctest.Wait()
}

// world is a simulated cloud with a driver and a pool.
type world struct {
	*testing.T
	cloud  *oci.Cloud
	driver *instancepool.Driver
	target instancepool.Target
}

// inWorld runs a test in virtual time.
func inWorld(t *testing.T, o oci.Options, test func(*world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		made, err := newCloud(o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := made.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		driver, err := newDriver(sim.Transport{Handler: made})
		if err != nil {
			t.Fatal(err)
		}
		test(&world{T: t, cloud: made, driver: driver, target: instancepool.Target{
			Owner:             cloud.Owner{ID: "owner-id", Cluster: clusterName, Namespace: "default", Name: poolName, Kind: "ocimachinepool"},
			KubernetesVersion: version, Spec: machinePool(),
			Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\nruncmd: [join]\n"), "cloud-config"),
		}})
	})
}

// change changes the specification.
func (w *world) change(change func(source)) { w.target.Spec = with(change)(w.target.Spec) }

func (w *world) observe() pool.Observed {
	w.Helper()
	o, err := w.driver.Observe(w.Context(), w.target)
	if err != nil {
		w.Fatalf("observe: %v", err)
	}
	w.target.Remembered = o.ResolvedLookups
	if o.Group != nil {
		w.target.GroupID = o.Group.ID
	}
	return o
}

// try begins a step.
func (w *world) try(s pool.Step) error { return w.driver.Start(w.Context(), w.target, s) }

// start begins a step that works, and waits for what it brings.
func (w *world) start(s pool.Step) pool.Observed {
	w.Helper()
	if err := w.try(s); err != nil {
		w.Fatalf("start %s: %v", s.Kind, err)
	}
	settle()
	return w.observe()
}

// create creates the pool with a size.
func (w *world) create(size int) pool.Observed {
	w.Helper()
	w.observe()
	o := w.start(pool.Step{Kind: pool.PutTemplate})
	o = w.start(pool.Step{Kind: pool.CreateGroup, Size: size, Template: o.Latest().Ref})
	if o.Group == nil || len(o.Instances) != size {
		w.Fatalf("want a pool of %d instances, got %+v with %v", size, o.Group, o.Instances)
	}
	return o
}

// again forgets what the driver knows.
func (w *world) again() {
	w.Helper()
	driver, err := newDriver(sim.Transport{Handler: w.cloud})
	if err != nil {
		w.Fatal(err)
	}
	w.driver = driver
}

// byHand runs an action of the console.
func (w *world) byHand(action sim.Action, on sim.Resource) {
	w.Helper()
	if has, err := w.cloud.GroupCapabilities().OutOfBand.Do(action, on); err != nil || !has {
		w.Fatalf("%s: %v, %v", action, has, err)
	}
}

// changed changes the pools of the cloud by hand.
func (w *world) changed(change func(*compute.Service) error) {
	w.Helper()
	if err := w.cloud.GroupsByHand(change); err != nil {
		w.Fatal(err)
	}
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

// groupName is the name of the pool in the cloud.
func (w *world) groupName() string { return w.target.Owner.ResourceName() }

// targets names instances of an observation.
func targets(o pool.Observed, places ...int) (out []pool.InstanceRef) {
	for _, at := range places {
		out = append(out, pool.InstanceRef{ID: o.Instances[at].ID, ProviderID: o.Instances[at].ProviderID})
	}
	return out
}

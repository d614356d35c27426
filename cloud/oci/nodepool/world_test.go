package nodepool_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/nodepool"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
)

const (
	endpoint    = "http://127.0.0.1:9"
	clusterName = oci.ClusterName
	version     = "v1.34.1"
	newer       = "v1.35.2"
	user        = "ocid1.user.oc1..muster"
	fingerprint = "20:3b:97:13"
	shape       = "VM.Standard.E4.Flex"
)

type (
	source = *ociv1.ManagedMachinePoolSource
	spec   = ociv1.OCIManagedMachinePoolSpec
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

// managedPool returns a specification that can be met.
func managedPool() source {
	return &ociv1.ManagedMachinePoolSource{
		Name: "pool",
		Pool: &spec{NodeShape: shape, SSHPublicKey: "ssh-rsa AAAA",
			NodeShapeConfig: &ociv1.NodeShapeConfig{OCPUs: new(ociv1.Decimal("2")), MemoryInGBs: new(ociv1.Decimal("32"))}},
		Cluster: ociv1.ManagedClusterView{
			ID: clusterID(), ControlPlane: "cp", Version: version, Enhanced: true, Ready: true, CNITypes: []ociv1.CNIType{ociv1.CNINative},
			View: ociv1.ClusterView{
				Name: "c", ClusterName: "c", Managed: true, Region: oci.Region, CompartmentID: oci.Compartment, ResourceIdentifier: "cluster-uid",
				FreeformTags: map[string]string{"team": "a"}, Ready: true,
				AvailabilityDomains: []ociv1.AvailabilityDomain{{Name: oci.Domains()[0]}, {Name: oci.Domains()[1]}, {Name: oci.Domains()[2]}},
				Subnets:             []ociv1.NetworkPart{part("subnet", "worker", ociv1.RoleWorker), part("subnet", "pod", ociv1.RolePod)},
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

// keyWith is the drivers' API key with permissions; nil is all.
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

func newDriver(over http.RoundTripper) (*nodepool.Driver, error) {
	return nodepool.New(nodepool.Options{Endpoint: endpoint, Base: over})
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
	driver *nodepool.Driver
	target nodepool.Target
}

// inWorld runs a test in virtual time. Without options the cloud behaves as is assumed.
func inWorld(t *testing.T, o oci.Options, test func(*world)) {
	t.Helper()
	t.Parallel()
	s := managedPool()
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
		test(&world{T: t, cloud: made, driver: driver, target: nodepool.Target{
			Owner:             cloud.Owner{ID: "owner-id", Cluster: "c", Namespace: "default", Name: "pool", Kind: "ocimanagedmachinepool"},
			KubernetesVersion: version, Spec: s,
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

func (w *world) create(size int) {
	w.Helper()
	w.start(domain.Step{Kind: domain.CreateGroup, Size: size})
}

// remove removes the nodes at places of the observation.
func remove(o domain.Observed, places ...int) domain.Step {
	s := domain.Step{Kind: domain.Remove}
	for _, at := range places {
		s.Targets = append(s.Targets, domain.InstanceRef{ID: o.Instances[at].ID, ProviderID: o.Instances[at].ProviderID})
	}
	return s
}

// launch points the node pool at what is wanted.
func (w *world) launch() {
	w.Helper()
	w.start(domain.Step{Kind: domain.UpdateGroup, Template: w.observe().Latest().Ref})
}

// roll has OKE cycle the nodes.
func (w *world) roll() {
	w.Helper()
	w.start(domain.Step{Kind: domain.StartProviderRollout, Template: w.observe().Latest().Ref})
}

// upgradeCluster brings the control plane to a version.
func (w *world) upgradeCluster(to string) {
	w.Helper()
	if _, err := w.cloud.PutCluster(oci.Access{Name: clusterName, Version: to[1:]}); err != nil {
		w.Fatal(err)
	}
	settle()
	out := *w.target.Spec
	out.Cluster.Version = to
	w.target.Spec = &out
}

// byHand runs an action of the console.
func (w *world) byHand(action sim.Action, on sim.Resource) {
	w.Helper()
	on.Cluster = clusterName
	if _, err := w.cloud.Capabilities().OutOfBand.Do(action, on); err != nil {
		w.Fatal(err)
	}
	settle()
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

// stale counts the nodes that are not of the wanted configuration.
func stale(o domain.Observed) (n int) {
	for _, i := range o.Instances {
		if i.State != domain.Terminating && !i.Template.Same(o.Wanted) {
			n++
		}
	}
	return n
}

func reasons(list []domain.Cause) (out []string) {
	for _, i := range list {
		out = append(out, i.Reason)
	}
	return out
}

func has(list []domain.Cause, reason string) bool { return slices.Contains(reasons(list), reason) }

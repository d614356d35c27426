package bench

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/instancepool"
	"github.com/muster-project/muster/cloud/oci/nodepool"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

const (
	// ociSeed is the seed of the simulated tenancy, ociEndpoint an address that only it answers.
	ociSeed, ociEndpoint = 1, "http://127.0.0.1:9"
	// ociShape is the shape that pools begin with, otherOCIShape another one. ociVersion is that of clusters and of their pools.
	ociShape, otherOCIShape, ociVersion = "VM.Standard.E4.Flex", "VM.Standard.E5.Flex", "1.34.1"
	// okeClusters is the number of clusters in the compartment, okePools that of node pools in each: a cluster has 1,000 nodes at most.
	okeClusters, okePools = 10, 100
	// okeCreated exceeds the time to create a cluster.
	okeCreated = 40 * time.Minute
	// poolsTogether is the number of instance pools that are created at a time: each creation lists those of the compartment anew.
	poolsTogether = 20
	// sharedInstancePool and sharedOKEPool bound the requests of a pass over one of six pools in a compartment, which share a list.
	sharedInstancePool, sharedOKEPool = 0.4, 0.4
)

// instancePools are instance pools in one compartment.
func instancePools() lab[*ociv1.MachinePoolSource] {
	return lab[*ociv1.MachinePoolSource]{cloud: tenancy, most: sharedInstancePool, other: otherOCIShape,
		together: poolsTogether,
		driver: func(base http.RoundTripper) (cloud.Driver[*ociv1.MachinePoolSource], error) {
			return instancepool.New(session.Options{Endpoint: ociEndpoint, Base: base})
		},
		spec: func(change string) *ociv1.MachinePoolSource {
			image := catalogue.Image(simoci.RegionKey, ociVersion, "amd64")
			return &ociv1.MachinePoolSource{Name: "pool", Cluster: ociCluster(), Pool: &ociv1.OCIMachinePoolSpec{
				InstanceConfiguration: ociv1.InstanceConfiguration{
					Shape: cmp.Or(change, ociShape), ShapeConfig: &ociv1.ShapeConfig{OCPUs: new(ociv1.Decimal("2"))},
					InstanceSourceViaImageConfig: &ociv1.InstanceSourceViaImageConfig{ImageID: &image},
				}}}
		},
		place: func(spec *ociv1.MachinePoolSource, k int) { spec.Name = fmt.Sprintf("pool-%d", k) },
	}
}

// okeNodePools are node pools of clusters in one compartment.
func okeNodePools() lab[*ociv1.ManagedMachinePoolSource] {
	return lab[*ociv1.ManagedMachinePoolSource]{cloud: okeTenancy, most: sharedOKEPool, other: otherOCIShape,
		driver: func(base http.RoundTripper) (cloud.Driver[*ociv1.ManagedMachinePoolSource], error) {
			return nodepool.New(session.Options{Endpoint: ociEndpoint, Base: base})
		},
		spec: func(change string) *ociv1.ManagedMachinePoolSource {
			return &ociv1.ManagedMachinePoolSource{
				Name: "pool",
				Pool: &ociv1.OCIManagedMachinePoolSpec{NodeShape: cmp.Or(change, ociShape), NodeShapeConfig: &ociv1.NodeShapeConfig{
					OCPUs: new(ociv1.Decimal("2")), MemoryInGBs: new(ociv1.Decimal("32"))}},
				Cluster: ociv1.ManagedClusterView{ID: okeClusterID(0), ControlPlane: "cp", Version: "v" + ociVersion, Enhanced: true,
					Ready: true, CNITypes: []ociv1.CNIType{ociv1.CNINative}, View: ociCluster()},
			}
		},
		place: func(spec *ociv1.ManagedMachinePoolSource, k int) {
			spec.Name, spec.Cluster.ID = fmt.Sprintf("pool-%d", k), okeClusterID(k/okePools)
		},
	}
}

// ociCluster returns a cluster in the compartment.
func ociCluster() ociv1.ClusterView {
	out := ociv1.ClusterView{
		Name: "c", ClusterName: "c", Region: simoci.Region, CompartmentID: simoci.Compartment, ResourceIdentifier: "cluster-uid", Ready: true,
		FreeformTags: map[string]string{"team": "a"}, Identity: ociKey(),
	}
	for _, role := range []string{ociv1.RoleWorker, ociv1.RolePod} {
		out.Subnets = append(out.Subnets, ociv1.NetworkPart{Name: role, Role: role, ID: "ocid1.subnet.oc1.iad." + role})
		out.SecurityGroups = append(out.SecurityGroups,
			ociv1.NetworkPart{Name: role, Role: role, ID: "ocid1.networksecuritygroup.oc1.iad." + role})
	}
	for _, name := range simoci.Domains() {
		out.AvailabilityDomains = append(out.AvailabilityDomains,
			ociv1.AvailabilityDomain{Name: name, FaultDomains: catalogue.FaultDomains()})
	}
	return out
}

// ociKey returns the identity of all drivers.
var ociKey = sync.OnceValue(func() *ociv1.IdentityView {
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return &ociv1.IdentityView{Name: "OCIClusterIdentity/default/muster", Type: ociv1.PrincipalUser, Tenancy: simoci.Tenancy,
		User: "ocid1.user.oc1..muster", KeyFingerprint: "20:3b:97:13", PrivateKey: common.NewSecret(string(text))}
})

// okeClusterID returns the OCID of one of the clusters of node pools.
func okeClusterID(k int) string { return rest.OCID(ociSeed, simoci.RegionKey, "cluster", k+1) }

// tenancy returns a simulated tenancy of Oracle Cloud.
func tenancy(inside sim.MachineHost, speed float64) (simulated, error) {
	return simoci.New(simoci.Options{Seed: ociSeed, Speed: speed, MachineHost: inside})
}

// okeTenancy returns a simulated tenancy with clusters of OKE.
func okeTenancy(inside sim.MachineHost, speed float64) (simulated, error) {
	made, err := simoci.New(simoci.Options{Seed: ociSeed, Speed: speed, MachineHost: inside, Versions: []string{ociVersion}})
	if err != nil {
		return nil, err
	}
	for k := range okeClusters {
		shown, err := made.PutCluster(simoci.Access{Name: fmt.Sprintf("cluster-%d", k), Version: ociVersion})
		if err != nil {
			return nil, err
		}
		if is := document.Text(shown, "id"); is != okeClusterID(k) {
			return nil, fmt.Errorf("cluster %d: want the OCID %s, got %s", k, okeClusterID(k), is)
		}
	}
	time.Sleep(okeCreated)
	return made, nil
}

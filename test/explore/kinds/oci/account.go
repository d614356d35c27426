// Package oci provides the simulated tenancy of Oracle Cloud for the exploration of its kinds of pools: its cluster, its credentials and
// its refusals.
package oci

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/providers/oci/ociidentity"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/test/explore/machinecontroller"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The properties of pools in the tenancy.
const (
	// Endpoint is the address that only the simulator answers.
	Endpoint = "http://127.0.0.1:9"
	// Shape is the shape of the first machines.
	Shape = "VM.Standard.E4.Flex"
	// BadShape is one whose machines never join.
	BadShape = "VM.Standard3.Flex"
	// Denial is the code of what the credentials do not allow.
	Denial = session.CodeNotFound

	identity = "muster"
)

// The tags by which what belongs to a pool is known.
var (
	OwnerTag   = session.Spelling.Key(cloud.TagOwner)
	ClusterTag = session.Spelling.Key(cloud.TagCluster)
	// AdoptTag is the tag by which an operator allows an object to take a pool over.
	AdoptTag = session.Spelling.Key("adopt-by")
)

// Reads are calls that only read.
var Reads = []string{"Get*", "List*"}

// Refusals are codes that Oracle documents for a refusal before anything is done, with their statuses.
func Refusals() []script.Refusal {
	return []script.Refusal{{}, {}, {Code: Denial, Status: 404}, {Code: session.CodeIncorrectState, Status: 409},
		{Code: session.CodeConflict, Status: 409}, {Code: session.CodeNoEtagMatch, Status: 412}, {Code: "LimitExceeded", Status: 400},
		{Code: "QuotaExceeded", Status: 400}, {Code: "InvalidParameter", Status: 400}, {Code: "InternalServerError", Status: 500},
		{Code: "TooManyRequests", Status: 429}}
}

// New makes the tenancy.
func New(w *world.World) *simoci.Cloud {
	var versions []string
	for minor := world.LastMinor; minor >= world.FirstMinor; minor-- {
		versions = append(versions, world.Minor(minor)+Patch)
	}
	made, err := simoci.New(simoci.Options{Seed: w.Scenario.Seed, Speed: w.Scenario.Speed, MachineHost: w.Workload, Versions: versions,
		Switches: w.Scenario.Switches})
	w.Must(err, "make the simulator")
	return made
}

// Patch is the patch of each minor version that control planes and pools run.
const Patch = ".2"

// Object returns an object of Oracle's provider as a user applies it.
func Object(kind string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": ociv1.GroupVersion.String(), "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": world.ClusterName, "namespace": world.Namespace},
	}}
}

// The kinds of parts of the network.
const (
	Subnet        = "subnet"
	SecurityGroup = "networksecuritygroup"
)

// PartID returns the OCID of the part of the network that has a role.
func PartID(kind, role string) string {
	return "ocid1." + kind + ".oc1." + simoci.RegionKey + "." + role
}

// Cluster returns an infrastructure cluster of a kind, with its network and the tags of what belongs to it.
func Cluster(kind string) *unstructured.Unstructured {
	domains := map[string]any{}
	for _, name := range simoci.Domains() {
		domains[name] = map[string]any{"name": name}
	}
	part := func(kind, role string) any {
		return map[string]any{"name": role, "role": role, "id": PartID(kind, role)}
	}
	o := Object(kind, map[string]any{
		"compartmentId": simoci.Compartment, "region": simoci.Region, "ociResourceIdentifier": "cluster-uid",
		"freeformTags": map[string]any{"team": "a"}, "availabilityDomains": domains,
		"identityRef": map[string]any{"kind": ociv1.ClusterIdentityKind, "name": identity, "namespace": world.Namespace},
		"networkSpec": map[string]any{"vcn": map[string]any{
			"subnets": []any{part(Subnet, ociv1.RoleWorker), part(Subnet, ociv1.RolePod)},
			"networkSecurityGroup": map[string]any{"list": []any{part(SecurityGroup, ociv1.RoleWorker),
				part(SecurityGroup, ociv1.RolePod)}},
		}},
	})
	o.Object["status"] = map[string]any{"ready": true, "initialization": map[string]any{"provisioned": true}}
	return o
}

// key is the private key of all worlds, in PEM.
var key = sync.OnceValues(func() ([]byte, error) {
	made, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(made)}), nil
})

// SetUp makes the identity that the cluster names.
func SetUp(w *world.World) {
	private, err := key()
	w.Must(err, "make a key")
	w.Must(w.Objects.User.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: world.Namespace, Name: identity},
		Data: map[string][]byte{
			ociidentity.KeyTenancy: []byte(simoci.Tenancy), ociidentity.KeyUser: []byte("ocid1.user.oc1..muster"),
			ociidentity.KeyFingerprint: []byte("20:3b:97:13"), ociidentity.KeyPrivateKey: private,
		},
	}), "make the credentials")
	who := Object(ociv1.ClusterIdentityKind, map[string]any{"type": string(ociv1.PrincipalUser),
		"principalSecret": map[string]any{"name": identity, "namespace": world.Namespace}, "allowedNamespaces": map[string]any{}})
	who.SetName(identity)
	w.Must(w.Objects.User.Create(w.Context(), who), "make the identity")
}

// Machines describes the objects for single machines.
func Machines() *machinecontroller.Infra {
	return &machinecontroller.Infra{
		New:  func() client.Object { return &ociv1.OCIMachinePoolMachine{} },
		List: func() client.ObjectList { return &ociv1.OCIMachinePoolMachineList{} },
		ProviderID: func(o client.Object) string {
			return ptr.Deref(o.(*ociv1.OCIMachinePoolMachine).Spec.ProviderID, "")
		},
		Provisioned: func(o client.Object) bool {
			return ptr.Deref(o.(*ociv1.OCIMachinePoolMachine).Status.Initialization.Provisioned, false)
		},
	}
}

// Definitions are those of kinds of objects that a management cluster has of Oracle's provider, with others.
func Definitions(others ...string) []script.Definition {
	var out []script.Definition
	for _, name := range append([]string{"ocimachinepoolmachines", "ociclusteridentities"}, others...) {
		out = append(out, script.Definition{Name: name + ".infrastructure", Version: "v1beta2"})
	}
	return out
}

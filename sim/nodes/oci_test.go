package nodes_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/test/memapi/served"
)

// oracle is a simulated Oracle Cloud whose nodes join an API server.
type oracle struct {
	*testing.T
	cloud  *oci.Cloud
	server *served.Server
	fleet  *nodes.Fleet
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	cloud, err := oci.New(oci.Options{MachineHost: f, Speed: cloudSpeed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	return &oracle{T: t, cloud: cloud, server: s, fleet: f}
}

// create sends a request to create a resource and returns its OCID. No key is known to the cloud, so that no signature is verified.
func (o *oracle) create(path string, body any) string {
	o.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		o.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, "https://iaas.us-ashburn-1.oraclecloud.com/20160918/"+path, bytes.NewReader(text))
	if err != nil {
		o.Fatal(err)
	}
	sum := sha256.Sum256(text)
	req.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	req.Header.Set("X-Content-Sha256", base64.StdEncoding.EncodeToString(sum[:]))
	req.Header.Set("Authorization", `Signature version="1",keyId="a/b/c",algorithm="rsa-sha256",signature="AAAA",`+
		`headers="date (request-target) host content-length content-type x-content-sha256"`)
	reply, err := sim.Transport{Handler: o.cloud}.RoundTrip(req)
	if err != nil {
		o.Fatal(err)
	}
	defer reply.Body.Close()
	out := map[string]any{}
	if err := json.NewDecoder(reply.Body).Decode(&out); err != nil || reply.StatusCode != http.StatusOK {
		o.Fatalf("%s: %d %v %v", path, reply.StatusCode, out, err)
	}
	return out["id"].(string)
}

// node waits for the one node of a group, whose Node is named by name, and returns both.
func (o *oracle) node(group string, name func(sim.Member) string) (sim.Member, *corev1.Node) {
	o.Helper()
	for ctx := deadline(o.T); ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		g := o.cloud.Snapshot().Group(group)
		if g == nil || len(g.Members) != 1 {
			continue
		}
		var node *corev1.Node
		if !o.server.Await(deadline(o.T), "nodes", "", name(g.Members[0]), func(found apiruntime.Object) bool {
			node, _ = found.(*corev1.Node)
			return ready(found)
		}) {
			o.Fatalf("want a Ready node of %+v, found %+v; console:\n%s", g.Members[0], node, o.fleet.Console(g.Members[0].ID))
		}
		return g.Members[0], node
	}
	o.Fatalf("want a node of %s, got %+v", group, o.cloud.Snapshot())
	return sim.Member{}, nil
}

// wants holds the labels of a Node.
func (o *oracle) wants(node *corev1.Node, labels map[string]string) {
	o.Helper()
	for key, want := range labels {
		if got := node.Labels[key]; got != want {
			o.Errorf("label %s: want %q, got %q", key, want, got)
		}
	}
}

// TestMachineOfAnInstancePoolJoins: with the user data of an instance configuration, whose template asks the metadata service.
func TestMachineOfAnInstancePoolJoins(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, shape, image, arch string }{
		{"x86", "VM.Standard.E4.Flex", "amd64", "amd64"}, {"Arm", "VM.Standard.A1.Flex", "arm64", "arm64"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			o := newOracle(t)
			j := joinConfig(o.server)
			j.NodeRegistration.Name = ""
			j.NodeRegistration.KubeletExtraArgs = []bootstrapv1.Arg{{Name: "provider-id", Value: ptr.To(`oci://{{ ds["id"] }}`)}}
			configuration := o.create("instanceConfigurations", map[string]any{"compartmentId": oci.Compartment,
				"instanceDetails": map[string]any{"instanceType": "compute", "launchDetails": map[string]any{"shape": tc.shape,
					"sourceDetails": map[string]any{"sourceType": "image", "imageId": catalogue.Image(oci.RegionKey, "1.34.2", tc.image)},
					"metadata":      map[string]any{"user_data": base64.StdEncoding.EncodeToString(userData(t, j, "1.34.2", nil))}}}})
			o.create("instancePools", map[string]any{"compartmentId": oci.Compartment, "displayName": "p", "size": 1,
				"instanceConfigurationId": configuration, "placementConfigurations": []any{
					map[string]any{"availabilityDomain": oci.Domains()[1], "primarySubnetId": "ocid1.subnet.oc1.iad.s"}}})
			m, node := o.node("p", func(m sim.Member) string { return m.Name })
			if node.Spec.ProviderID != "oci://"+m.ID || m.ProviderID != node.Spec.ProviderID {
				t.Errorf("want the provider ID oci://%s, got %s", m.ID, node.Spec.ProviderID)
			}
			o.wants(node, map[string]string{corev1.LabelTopologyZone: "US-ASHBURN-AD-2", corev1.LabelArchStable: tc.arch,
				corev1.LabelInstanceTypeStable: tc.shape, "team": ""})
			if node.Status.NodeInfo.KubeletVersion != "v1.34.2" {
				t.Errorf("want the version of the image, got %s", node.Status.NodeInfo.KubeletVersion)
			}
		})
	}
}

// TestNodeOfOKEJoins: without user data, by what the cloud tells it.
func TestNodeOfOKEJoins(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	if _, err := o.cloud.PutCluster(oci.Access{Name: "c", Version: "1.34.2", Server: "https://" + o.server.Endpoint(), CA: o.server.CA(),
		Token: served.Token}); err != nil {
		t.Fatal(err)
	}
	for ctx := deadline(t); ctx.Err() == nil && o.cloud.CreatePool("c", "workers", 1, nil) != nil; time.Sleep(5 * time.Millisecond) {
	}
	m, node := o.node("workers", func(m sim.Member) string { return m.Name })
	if node.Spec.ProviderID != m.ID || m.ProviderID != m.ID {
		t.Errorf("want the OCID %s as provider ID, got %s", m.ID, node.Spec.ProviderID)
	}
	o.wants(node, map[string]string{corev1.LabelTopologyRegion: oci.Region, corev1.LabelInstanceTypeStable: "VM.Standard.E4.Flex"})
	if node.Status.NodeInfo.KubeletVersion != "v1.34.2" {
		t.Errorf("want the version of the pool, got %s", node.Status.NodeInfo.KubeletVersion)
	}
}

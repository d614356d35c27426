package standintest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/local/clouds/aws/standin"
	"github.com/muster-project/muster/local/infracluster"
)

// TestInfrastructureClusters: what people and core read of an AWSCluster in its possible states.
func TestInfrastructureClusters(t *testing.T) {
	account := func(o *unstructured.Unstructured) infracluster.Network {
		region, _, _ := unstructured.NestedString(o.Object, "spec", "region")
		if region == "" {
			region = "eu-west-1"
		}
		return standin.Network{Region: region, VPC: "vpc-1", NodeSecurityGroup: "sg-1", Subnets: []standin.Subnet{
			{ID: "subnet-1", Zone: region + "a", CIDR: "10.0.0.0/24"}, {ID: "subnet-2", Zone: region + "a", CIDR: "10.0.1.0/24", Public: true}}}
	}
	subnets := []any{
		map[string]any{"id": "subnet-1", "resourceID": "subnet-1", "availabilityZone": "eu-west-1a", "cidrBlock": "10.0.0.0/24",
			"isPublic": false, "zoneType": "availability-zone"},
		map[string]any{"id": "subnet-2", "resourceID": "subnet-2", "availabilityZone": "eu-west-1a", "cidrBlock": "10.0.1.0/24", "isPublic": true,
			"zoneType": "availability-zone"},
	}
	status := func(zone string) map[string]any {
		return map[string]any{"ready": true, "initialization": map[string]any{"provisioned": true},
			"failureDomains": map[string]any{zone: map[string]any{"controlPlane": true}},
			"networkStatus":  map[string]any{"securityGroups": map[string]any{"node": map[string]any{"id": "sg-1", "name": "node"}}}}
	}
	endpoint := clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 20001}
	plane := clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io", Kind: "LocalControlPlane", Name: "c"}
	for _, tc := range []struct {
		reason               string
		cluster              clusterv1.ClusterSpec
		initialized          bool
		spec                 map[string]any
		orphan               bool
		wantSpec, wantStatus map[string]any
	}{
		{reason: "an empty one gets the account's network", spec: map[string]any{},
			wantSpec:   map[string]any{"region": "eu-west-1", "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}, "subnets": subnets}},
			wantStatus: status("eu-west-1a")},
		{reason: "what a person wrote stays, and the network follows the region",
			spec: map[string]any{"region": "us-east-1", "network": map[string]any{"vpc": map[string]any{"id": "vpc-own"},
				"subnets": []any{map[string]any{"id": "subnet-own"}}}, "sshKeyName": "k"},
			wantSpec: map[string]any{"region": "us-east-1", "network": map[string]any{"vpc": map[string]any{"id": "vpc-own"},
				"subnets": []any{map[string]any{"id": "subnet-own"}}}, "sshKeyName": "k"},
			wantStatus: status("us-east-1a")},
		{reason: "the endpoint is copied once the cluster has one", cluster: clusterv1.ClusterSpec{ControlPlaneEndpoint: endpoint},
			spec: map[string]any{},
			wantSpec: map[string]any{"region": "eu-west-1", "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}, "subnets": subnets},
				"controlPlaneEndpoint": map[string]any{"host": "127.0.0.1", "port": int64(20001)}},
			wantStatus: status("eu-west-1a")},
		{reason: "a network is ready no sooner than the control plane", cluster: clusterv1.ClusterSpec{ControlPlaneRef: plane},
			spec:     map[string]any{},
			wantSpec: map[string]any{"region": "eu-west-1", "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}, "subnets": subnets}}},
		{reason: "and ready with it", cluster: clusterv1.ClusterSpec{ControlPlaneRef: plane}, initialized: true, spec: map[string]any{},
			wantSpec:   map[string]any{"region": "eu-west-1", "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}, "subnets": subnets}},
			wantStatus: status("eu-west-1a")},
		{reason: "a paused cluster is left alone", cluster: clusterv1.ClusterSpec{Paused: new(true)}, spec: map[string]any{},
			wantSpec: map[string]any{}},
		{reason: "one that no Cluster names waits for it", orphan: true, spec: map[string]any{}, wantSpec: map[string]any{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(standin.AWSCluster)
			o.SetNamespace("ns")
			o.SetName("c")
			o.Object["spec"] = tc.spec
			if !tc.orphan {
				o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "1"}})
			}
			scheme := runtime.NewScheme()
			if err := clusterv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(o).
				WithObjects(o, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, Spec: tc.cluster,
					Status: clusterv1.ClusterStatus{
						Initialization: clusterv1.ClusterInitializationStatus{ControlPlaneInitialized: &tc.initialized}}}).Build()
			r := &infracluster.Reconciler{Client: c, Kind: standin.AWSCluster, Network: account}
			got := reconcileOnce(t, r, c)
			spec, _, _ := unstructured.NestedMap(got.Object, "spec")
			gotStatus, _, _ := unstructured.NestedMap(got.Object, "status")
			if diff := cmp.Diff(tc.wantSpec, spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantStatus, gotStatus); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if again := reconcileOnce(t, r, c); again.GetResourceVersion() != got.GetResourceVersion() {
				t.Errorf("second pass: want no write, got resource version %s after %s", again.GetResourceVersion(), got.GetResourceVersion())
			}
		})
	}
}

// reconcileOnce reconciles ns/c and returns it.
func reconcileOnce(t *testing.T, r *infracluster.Reconciler, c client.Client) *unstructured.Unstructured {
	t.Helper()
	key := types.NamespacedName{Namespace: "ns", Name: "c"}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(r.Kind)
	if err := c.Get(t.Context(), key, got); err != nil {
		t.Fatal(err)
	}
	return got
}

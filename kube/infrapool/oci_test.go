package infrapool_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/ocimachine"
	"github.com/muster-project/muster/providers/oci/ocimachinepool"
	"github.com/muster-project/muster/providers/oci/ocimanaged"
	"github.com/muster-project/muster/providers/oci/ocivirtual"
)

const (
	ociInfraText = `{kind: OCIManagedCluster, metadata: {name: i}, spec: {compartmentId: ocid1.compartment.oc1..a, region: us-ashburn-1,
  ociResourceIdentifier: uid}}`
	ociPlaneText = `{kind: OCIManagedControlPlane, metadata: {name: cp}, spec: {id: ocid1.cluster.oc1.iad.a, version: v1.34.2,
  clusterType: ENHANCED_CLUSTER}, status: {ready: true}}`
)

// ociInputs are the objects of a cluster of OKE that takes pools.
func ociInputs(t *testing.T) infrapool.Inputs {
	t.Helper()
	return infrapool.Inputs{Cluster: "owner", InfraCluster: gcpManagedUntyped(t, ociInfraText),
		ControlPlane: gcpManagedUntyped(t, ociPlaneText)}
}

// ociWithout returns the control plane without a part of its text.
func ociWithout(t *testing.T, in infrapool.Inputs, part string) infrapool.Inputs {
	t.Helper()
	in.ControlPlane = gcpManagedUntyped(t, strings.Replace(ociPlaneText, part, "", 1))
	return in
}

// heldBy returns the text of a cause; empty for none.
func heldBy(c *pool.Cause) string {
	if c == nil {
		return ""
	}
	return c.Message
}

// TestOCIPlaces holds where the drivers look for pools of OKE: neither a control plane nor a cluster object that is missing or not ready
// keeps them from that. Virtual node pools need an enhanced cluster.
func TestOCIPlaces(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"compartment": "ocid1.compartment.oc1..a", "region": "us-ashburn-1", "resource-identifier": "uid",
		"managed": "true", "oke-cluster": "ocid1.cluster.oc1.iad.a"}
	both := ociInputs(t)
	change := func(by func(*infrapool.Inputs)) infrapool.Inputs {
		in := both
		by(&in)
		return in
	}
	for _, c := range []struct {
		why              string
		in               infrapool.Inputs
		held, waits, err string
		// virtual adds the checks of virtual node pools.
		virtual string
	}{
		{why: "both objects", in: both},
		{why: "a control plane that is not ready", held: "OCIManagedControlPlane cp is not ready yet",
			in: ociWithout(t, both, "ready: true")},
		{why: "a basic cluster", in: ociWithout(t, both, ",\n  clusterType: ENHANCED_CLUSTER"),
			virtual: "OCIManagedControlPlane cp is no enhanced cluster, and only those have virtual nodes: set its spec.clusterType to " +
				"ENHANCED_CLUSTER"},
		{why: "a cluster that does not exist yet", waits: "OCIManagedControlPlane cp has no spec.id yet",
			in: ociWithout(t, both, "id: ocid1.cluster.oc1.iad.a, ")},
		{why: "a control plane whose ID is remembered", in: ociWithout(t, change(func(in *infrapool.Inputs) { in.Resolved = kept }),
			"id: ocid1.cluster.oc1.iad.a, ")},
		{why: "the control plane is gone", in: change(func(in *infrapool.Inputs) { in.ControlPlane, in.Resolved = nil, kept })},
		{why: "the cluster object is gone", in: change(func(in *infrapool.Inputs) { in.InfraCluster, in.Resolved = nil, kept })},
		{why: "both are gone", in: infrapool.Inputs{Cluster: "owner", Resolved: kept, ClusterDeleting: true}},
		{why: "nothing is known", in: infrapool.Inputs{Cluster: "owner", Resolved: map[string]string{"region": "us-ashburn-1"}},
			err: `does not say where the node pool is: set it to {"compartment"`},
		{why: "no compartment", err: "OCIManagedCluster i has no spec.compartmentId", in: change(func(in *infrapool.Inputs) {
			in.InfraCluster = gcpManagedUntyped(t, "{kind: OCIManagedCluster, metadata: {name: i}}")
		})},
		{why: "a control plane of another shape", err: "another type", in: change(func(in *infrapool.Inputs) {
			in.ControlPlane = gcpManagedUntyped(t, "{kind: OCIManagedControlPlane, spec: {id: 1}}")
		})},
		{why: "a cluster object of another shape", err: "another type", in: change(func(in *infrapool.Inputs) {
			in.InfraCluster = gcpManagedUntyped(t, "{kind: OCIManagedCluster, spec: {region: 1}}")
		})},
	} {
		managed, err := ocimanaged.Adapter{}.Translate(&ociv1.OCIManagedMachinePool{}, c.in)
		virtual, virtualErr := ocivirtual.Adapter{}.Translate(&ociv1.OCIVirtualMachinePool{}, c.in)
		var waits *infrapool.NotYet
		if c.err != "" || c.waits != "" {
			for _, err := range []error{err, virtualErr} {
				if err == nil || !strings.Contains(err.Error(), c.err+c.waits) || errors.As(err, &waits) != (c.waits != "") {
					t.Errorf("%s: want %q, got %v", c.why, c.err+c.waits, err)
				}
			}
			continue
		}
		v := managed.Spec.Cluster
		if err != nil || virtualErr != nil || v.View.ClusterName != "owner" || !v.View.Managed || v.ID != kept["oke-cluster"] ||
			v.Deleting != c.in.ClusterDeleting || heldBy(managed.CreateBlocked) != c.held ||
			heldBy(virtual.CreateBlocked) != c.held+c.virtual {
			t.Errorf("%s: got %+v, held by %q and %q, %v, %v", c.why, v, heldBy(managed.CreateBlocked), heldBy(virtual.CreateBlocked), err,
				virtualErr)
		}
		for _, keep := range []map[string]string{managed.Keep, virtual.Keep} {
			if diff := cmp.Diff(kept, keep); diff != "" {
				t.Errorf("%s: remembered (-want +got):\n%s", c.why, diff)
			}
		}
	}
}

// TestOCIVersionsAgree holds that nothing is done in OKE while the object and its MachinePool name different versions, which an upgrade
// changes one after the other, and that a pool is deleted all the same.
func TestOCIVersionsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, own, of string
		deleted      bool
		held         bool
	}{
		{why: "the same", own: "v1.34.2", of: "v1.34.2"},
		{why: "the same without the v", own: "v1.34.2", of: "1.34.2"},
		{why: "the MachinePool's alone", of: "v1.34.2"},
		{why: "the object's alone", own: "v1.34.2"},
		{why: "different ones", own: "v1.33.1", of: "v1.34.2", held: true},
		{why: "different ones of an object that is deleted", own: "v1.33.1", of: "v1.34.2", deleted: true},
	} {
		o, in := &ociv1.OCIManagedMachinePool{}, ociInputs(t)
		if c.own != "" {
			o.Spec.Version = &c.own
		}
		if c.deleted {
			o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		in.MachinePool = &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "mp"}}
		in.MachinePool.Spec.Template.Spec.Version = c.of
		_, err := ocimanaged.Adapter{}.Translate(o, in)
		var waits *infrapool.NotYet
		if c.held != errors.As(err, &waits) || c.held && (waits.Cause.Reason != "VersionMismatch" || waits.Cause.Message !=
			"spec.version is v1.33.1, and spec.template.spec.version of MachinePool mp is v1.34.2: set both to the same version, or remove "+
				"spec.version") {
			t.Errorf("%s: want held %t with both versions, got %v", c.why, c.held, err)
		}
		in.MachinePool = nil
		if _, err := (ocimanaged.Adapter{}).Translate(o, in); err != nil {
			t.Errorf("%s: want nothing held without a MachinePool, got %v", c.why, err)
		}
	}
}

// TestOCICycling holds who replaces outdated nodes: OKE if the object asks for it and the cluster can, and else Muster.
func TestOCICycling(t *testing.T) {
	t.Parallel()
	const limits = "strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 1, deletePolicy: Newest}}"
	basic := ociWithout(t, ociInputs(t), ",\n  clusterType: ENHANCED_CLUSTER")
	for _, c := range []struct {
		why, spec string
		in        infrapool.Inputs
		cycled    bool
		disabled  string
	}{
		{why: "Muster by default", spec: "{" + limits + "}", in: ociInputs(t)},
		{why: "Muster in a basic cluster", spec: "{" + limits + "}", in: basic},
		{why: "not without the switch", spec: "{nodePoolCyclingDetails: {maximumSurge: '3'}, " + limits + "}", in: ociInputs(t)},
		{why: "OKE", spec: "{nodePoolCyclingDetails: {isNodeCyclingEnabled: true}, " + limits + "}", in: ociInputs(t), cycled: true},
		{why: "OKE can't", spec: "{nodePoolCyclingDetails: {isNodeCyclingEnabled: true}, " + limits + "}", in: basic, cycled: true,
			disabled: "OCIManagedControlPlane cp is no enhanced cluster"},
	} {
		o := &ociv1.OCIManagedMachinePool{}
		decode(t, c.spec, &o.Spec)
		got, err := ocimanaged.Adapter{}.Translate(o, c.in)
		if err != nil || got.DeletePolicy != pool.Newest || (got.Strategy == nil) != c.cycled ||
			!strings.HasPrefix(heldBy(got.RollDisabled), c.disabled) || (got.RollDisabled != nil) != (c.disabled != "") {
			t.Errorf("%s: got %+v, %s, disabled by %q, %v", c.why, got.Strategy, got.DeletePolicy, heldBy(got.RollDisabled), err)
		}
		if s := got.Strategy; s != nil && (s.MaxSurge.Value != 2 || s.MaxUnavailable.Value != 1 ||
			s.SurgeField != "spec.strategy.rollingUpdate.maxSurge") {
			t.Errorf("%s: want the limits of the strategy, got %+v", c.why, s)
		}
	}
}

// TestOCISources holds what reaches the drivers: the object's name, when it was created, and no field that the controller writes.
func TestOCISources(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Name: "pool-0", CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
	managed := &ociv1.OCIManagedMachinePool{ObjectMeta: meta}
	decode(t, "{nodeShape: s, providerID: x, id: y, providerIDList: [z]}", &managed.Spec)
	got, err := ocimanaged.Adapter{}.Translate(managed, ociInputs(t))
	want := &ociv1.OCIManagedMachinePoolSpec{NodeShape: "s"}
	if diff := cmp.Diff(want, got.Spec.Pool); err != nil || diff != "" || got.Spec.Name != "pool-0" ||
		!got.Spec.Created.Equal(meta.CreationTimestamp.Time) {
		t.Errorf("node pool: %s of %s, %v\n%s", got.Spec.Name, got.Spec.Created, err, diff)
	}
	virtual := &ociv1.OCIVirtualMachinePool{ObjectMeta: meta}
	decode(t, "{nsgNames: [s], providerID: x, id: y, providerIDList: [z]}", &virtual.Spec)
	of, err := ocivirtual.Adapter{}.Translate(virtual, ociInputs(t))
	if diff := cmp.Diff(&ociv1.OCIVirtualMachinePoolSpec{NSGNames: []string{"s"}}, of.Spec.Pool); err != nil || diff != "" ||
		of.Spec.Name != "pool-0" || !of.Spec.Created.Equal(meta.CreationTimestamp.Time) {
		t.Errorf("virtual node pool: %s of %s, %v\n%s", of.Spec.Name, of.Spec.Created, err, diff)
	}
	self := &ociv1.OCIMachinePool{ObjectMeta: meta}
	decode(t, "{providerID: x, ocid: y, providerIDList: [z], instanceConfiguration: {shape: s, instanceConfigurationId: i}}", &self.Spec)
	instances, err := ocimachinepool.Adapter{}.Translate(self, ociInputs(t))
	only := &ociv1.OCIMachinePoolSpec{InstanceConfiguration: ociv1.InstanceConfiguration{Shape: "s"}}
	if diff := cmp.Diff(only, instances.Spec.Pool); err != nil || diff != "" || instances.Spec.Name != "pool-0" ||
		instances.Spec.Cluster.ClusterName != "owner" || !instances.NoPrerequisites {
		t.Errorf("instance pool: %+v, %v\n%s", instances.Spec, err, diff)
	}
	if managed.GetProviderID() != "x" || virtual.GetProviderID() != "x" || self.GetProviderID() != "x" {
		t.Error("want the objects left as they are")
	}
}

// TestOCIMachinePoolPlaces holds where an instance pool is, in a cluster of either kind and without one.
func TestOCIMachinePoolPlaces(t *testing.T) {
	t.Parallel()
	own := gcpManagedUntyped(t, strings.Replace(ociInfraText, "OCIManagedCluster", "OCICluster", 1))
	kept := map[string]string{"compartment": "ocid1.compartment.oc1..a", "region": "us-ashburn-1", "resource-identifier": "uid"}
	for _, c := range []struct {
		why     string
		in      infrapool.Inputs
		managed bool
		err     string
	}{
		{why: "a cluster of instances", in: infrapool.Inputs{Cluster: "owner", InfraCluster: own}},
		{why: "a cluster of OKE", in: ociInputs(t), managed: true},
		{why: "a cluster that is gone", in: infrapool.Inputs{Cluster: "owner", Resolved: kept}},
		{why: "nothing is known", in: infrapool.Inputs{}, err: "does not say where the instance pool is"},
		{why: "a cluster of another shape", in: infrapool.Inputs{InfraCluster: gcpManagedUntyped(t, "{kind: OCICluster, spec: {region: 1}}")},
			err: "another type"},
	} {
		got, err := ocimachinepool.Adapter{}.Translate(&ociv1.OCIMachinePool{}, c.in)
		v := got.Spec.Cluster
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want %q, got %v", c.why, c.err, err)
			}
			continue
		}
		if err != nil || v.CompartmentID != kept["compartment"] || v.Region != "us-ashburn-1" || v.ClusterName != "owner" ||
			v.Managed != c.managed || got.Keep["compartment"] != kept["compartment"] {
			t.Errorf("%s: got %+v, kept %v, %v", c.why, v, got.Keep, err)
		}
	}
}

// TestOCIReferences holds that a Cluster of another kind has no pools of OKE, and the names that the ecosystem knows.
func TestOCIReferences(t *testing.T) {
	t.Parallel()
	ref := func(kind string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{Kind: kind, Name: "c"}
	}
	managed, virtual, self := ocimanaged.Adapter{}.Kind(), ocivirtual.Adapter{}.Kind(), ocimachinepool.Adapter{}.Kind()
	for _, c := range []struct {
		infra, plane string
		want         bool
	}{{"OCIManagedCluster", "OCIManagedControlPlane", true}, {"OCICluster", "KubeadmControlPlane", false}} {
		cluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{InfrastructureRef: ref(c.infra), ControlPlaneRef: ref(c.plane)}}
		for _, got := range []clusterv1.ContractVersionedObjectReference{
			ocimanaged.Adapter{}.InfraCluster(cluster), ocivirtual.Adapter{}.InfraCluster(cluster), managed.ControlPlane(cluster),
			virtual.ControlPlane(cluster),
		} {
			if got.IsDefined() != c.want {
				t.Errorf("%s and %s: got %+v", c.infra, c.plane, got)
			}
		}
		if got := (ocimachinepool.Adapter{}).InfraCluster(cluster); got.Kind != c.infra {
			t.Errorf("instance pool: want %s, got %s", c.infra, got.Kind)
		}
	}
	for _, got := range [][2]string{
		{managed.Aliases[report.GroupReady], "NodePoolReady"}, {virtual.Aliases[report.GroupReady], "VirtualNodePoolReady"},
		{self.Aliases[report.GroupReady], "InstancePoolReady"}, {self.Aliases[report.TemplateReady], "LaunchTemplateReady"},
		{managed.Finalizer, "ocimanagedmachinepool.infrastructure.cluster.x-k8s.io"},
	} {
		if got[0] != got[1] {
			t.Errorf("want the ecosystem's name %s, got %s", got[1], got[0])
		}
	}
	o, out := &ociv1.OCIManagedMachinePool{}, engine.Outcome{}
	if (ocimanaged.Adapter{}).Report(o, report.Report{}, out); o.Status.NodepoolLifecycleState != "" {
		t.Errorf("want no state without a node pool, got %s", o.Status.NodepoolLifecycleState)
	}
	out.Observed.Group = &pool.Group{State: "ACTIVE"}
	of := &ociv1.OCIVirtualMachinePool{}
	ocivirtual.Adapter{}.Report(of, report.Report{}, out)
	if (ocimanaged.Adapter{}).Report(o, report.Report{}, out); o.Status.NodepoolLifecycleState != "ACTIVE" ||
		of.Status.NodepoolLifecycleState != "ACTIVE" {
		t.Errorf("want OKE's state, got %s and %s", o.Status.NodepoolLifecycleState, of.Status.NodepoolLifecycleState)
	}
}

// TestOCIMachines holds what objects of single instances show, and that what the ecosystem's provider has written into them stays.
func TestOCIMachines(t *testing.T) {
	t.Parallel()
	k := ocimachine.Kind(ociv1.MachineManaged)
	seen := machines.Seen{Now: time.Unix(1, 0), Instance: pool.Instance{ID: "ocid1.instance.a", ProviderID: "oci://ocid1.instance.a",
		State: pool.Running, CloudState: "ACTIVE", Zone: "Uocm:PHX-AD-1"}}
	m := &ociv1.OCIMachinePoolMachine{}
	k.FillSpec(m, seen)
	k.FillStatus(m, seen)
	if k.ProviderID(m) != "oci://ocid1.instance.a" || *m.Spec.OCID != "ocid1.instance.a" || m.Spec.MachineType != ociv1.MachineManaged ||
		!m.Status.Ready || m.Status.Initialization.Provisioned == nil || m.Status.InstanceState != "ACTIVE" ||
		m.Status.FailureDomain != "Uocm:PHX-AD-1" || len(m.Status.Conditions) == 0 {
		t.Errorf("got %+v", m)
	}
	again := m.DeepCopy()
	k.FillSpec(again, seen)
	k.FillStatus(again, seen)
	if diff := cmp.Diff(m, again); diff != "" {
		t.Errorf("want nothing changed by a second look:\n%s", diff)
	}
	seen.Instance.State, seen.Instance.CloudState, seen.Instance.Zone = pool.Terminating, "DELETING", ""
	k.FillStatus(m, seen)
	if m.Status.Ready || !*m.Status.Initialization.Provisioned || m.Status.InstanceState != "DELETING" ||
		m.Status.FailureDomain != "Uocm:PHX-AD-1" {
		t.Errorf("want it provisioned and not ready, got %+v", m.Status)
	}
	theirs := &ociv1.OCIMachinePoolMachine{Spec: ociv1.OCIMachinePoolMachineSpec{ProviderID: new("ocid1.instance.a"),
		OCID: new("ocid1.instance.a"), MachineType: ociv1.MachineSelfManaged}}
	want := theirs.DeepCopy()
	k.FillSpec(theirs, seen)
	if diff := cmp.Diff(want, theirs); diff != "" {
		t.Errorf("want what is set kept:\n%s", diff)
	}
	if (ociv1.OCIMachinePoolMachine{}).Spec.ProviderID != nil || k.ProviderID(&ociv1.OCIMachinePoolMachine{}) != "" {
		t.Error("want no ID of a new object")
	}
}

package world

import (
	"strconv"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	simaws "github.com/muster-project/muster/sim/aws"
)

// The cluster of managed pools, whose control plane is Amazon's own.
const (
	eksCluster = "eks-c"
	// firstMinor is the minor version of Kubernetes that it begins with, lastMinor that which it is brought to at most.
	firstMinor, lastMinor = 31, 34
)

// controlPlane is what a cluster of Amazon's own shows.
func (w *World) controlPlane() *unstructured.Unstructured {
	o := place()
	o.SetAPIVersion("controlplane.cluster.x-k8s.io/v1beta2")
	o.SetKind("AWSManagedControlPlane")
	version := "v" + minor(w.minor)
	w.must(unstructured.SetNestedField(o.Object, eksCluster, "spec", "eksClusterName"), "name the EKS cluster")
	w.must(unstructured.SetNestedField(o.Object, version, "spec", "version"), "set the version")
	w.must(unstructured.SetNestedMap(o.Object, map[string]any{"ready": true, "version": version}, "status"), "set the status")
	return o
}

func minor(n int) string { return "1." + strconv.Itoa(n) }

// upgrade brings control plane and pool to the next minor version, or the pool alone to that of its control plane.
func (w *World) upgrade(e Event) {
	if w.scenario.onAKS() {
		w.upgradeAKS(e)
		return
	}
	if !w.scenario.Managed {
		return
	}
	if w.minor < lastMinor {
		w.minor++
		w.account.putCluster()
		is := w.controlPlane()
		w.must(w.user.Get(w.t.Context(), clusterKey, is), "read the control plane")
		next := w.controlPlane()
		next.SetResourceVersion(is.GetResourceVersion())
		next.SetUID(is.GetUID())
		w.must(w.user.Update(w.t.Context(), next), "upgrade the control plane")
	}
	if e.M%3 > 0 {
		w.editPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + minor(w.minor) + ".0" })
	}
}

// version is the Kubernetes version that the pool begins with.
func (s Scenario) version() string {
	if s.Managed {
		return "v" + minor(firstMinor) + ".0"
	}
	if s.onAKS() {
		return "v" + minor(firstMinor) + aksPatch
	}
	if s.onAzure() {
		return azureVersion
	}
	return kubernetesVersion
}

// managedPool is a pool of that kind as a user applies it.
func (w *World) managedPool() *awsv1.AWSManagedMachinePool {
	s := w.scenario
	o := &awsv1.AWSManagedMachinePool{}
	o.Namespace, o.Name = infraKey.Namespace, infraKey.Name
	o.Spec = awsv1.AWSManagedMachinePoolSpec{
		Scaling:        &awsv1.ManagedMachinePoolScaling{MinSize: ptr.To(int32(s.Least)), MaxSize: ptr.To(int32(s.Most))},
		AdditionalTags: awsv1.Tags{"team": "a"}, Labels: awsv1.NodeLabels{"tier": "a"}, UpdateConfig: s.Strategy.updates(), CapacityType: ptr.To(awsv1.ManagedMachinePoolCapacityTypeOnDemand),
	}
	if s.Adopted {
		o.Spec.EKSNodegroupName, o.Spec.RoleName = adoptedNodegroup, simaws.NodegroupRole
	}
	if s.Spot {
		o.Spec.CapacityType = ptr.To(awsv1.ManagedMachinePoolCapacityTypeSpot)
	}
	if s.Bare {
		o.Spec.InstanceType = ptr.To(string(simaws.InstanceType))
		return o
	}
	t := w.launchTemplate()
	o.Spec.AWSLaunchTemplate = &t
	return o
}

// updates is how many machines an update of EKS's own replaces at once.
func (l *Limits) updates() *awsv1.UpdateConfig {
	if l == nil {
		return &awsv1.UpdateConfig{MaxUnavailable: ptr.To(1)}
	}
	n := share(ptr.To(parsed(l.Unavailable)))
	n.N = max(1, n.N)
	if n.Percent {
		return &awsv1.UpdateConfig{MaxUnavailablePercentage: &n.N}
	}
	return &awsv1.UpdateConfig{MaxUnavailable: &n.N}
}

// managedEdit changes one field of a managed pool.
func managedEdit(s *awsv1.AWSManagedMachinePoolSpec, n, m int) {
	switch n {
	case 0, 1:
		s.Labels = []awsv1.NodeLabels{nil, {"tier": "b"}, {"tier": "a", "team": "x"}}[m%3]
	case 2:
		s.Taints = []awsv1.Taints{nil, {{Key: "dedicated", Value: "gpu", Effect: awsv1.TaintEffectNoSchedule}}}[m%2]
	case 3:
		s.UpdateConfig = (&Limits{Unavailable: []string{"1", "2", "50%"}[m%3]}).updates()
	case 4, 5:
		s.AdditionalTags = []awsv1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 6:
		s.NodeRepairConfig = []*awsv1.NodeRepairConfig{nil, {}, {Enabled: awssdk.Bool(true)}, {Enabled: awssdk.Bool(false)}}[m%4]
	case 7:
		s.UpdateConfig = (&Limits{Unavailable: "1"}).updates()
		s.UpdateConfig.Force = m%2 == 0
	default:
		s.Scaling = openEnded(s.Scaling, m)
	}
}

// openEnded leaves out one of the bounds, or both.
func openEnded(s *awsv1.ManagedMachinePoolScaling, m int) *awsv1.ManagedMachinePoolScaling {
	is := ptr.Deref(s, awsv1.ManagedMachinePoolScaling{MinSize: ptr.To[int32](1), MaxSize: ptr.To[int32](8)})
	switch m % 3 {
	case 0:
		is.MinSize = nil
	case 1:
		is.MaxSize = nil
	default:
		return nil
	}
	return &is
}

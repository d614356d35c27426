package ociinstancepool

import (
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	muster "github.com/muster-project/muster/pool"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/test/explore/kinds/oci"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// applied returns a pool as a user applies it.
func (p *pool) applied() client.Object {
	o, s := &ociv1.OCIMachinePool{}, p.world.Scenario
	o.Namespace, o.Name = world.InfraKey.Namespace, world.InfraKey.Name
	o.Spec = ociv1.OCIMachinePoolSpec{Strategy: strategy(s.Strategy), InstanceConfiguration: ociv1.InstanceConfiguration{
		Shape: oci.Shape, ShapeConfig: &ociv1.ShapeConfig{OCPUs: decimal("2"), MemoryInGBs: decimal("32")},
		InstanceSourceViaImageConfig: &ociv1.InstanceSourceViaImageConfig{
			ImageID: ptr.To(catalogue.Image(simoci.RegionKey, version, "amd64"))},
	}}
	if own(s) {
		o.Spec.PlacementDetails = []ociv1.PlacementDetails{{AvailabilityDomain: 1}}
	}
	if s.Spot && !s.Switches.On(compute.RefusesPreemptible) {
		o.Spec.InstanceConfiguration.PreemptibleInstanceConfig = &ociv1.PreemptibleInstanceConfig{}
	}
	return o
}

// setRollout sets how machines are to be replaced.
func setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	desired.Keep = muster.DefaultTemplateHistoryLimit
	if o != nil {
		world.SetReplacedByMuster(object(o).Spec.Strategy.RollingUpdate, desired)
	}
}

// edits returns the changes that users make to the object.
func (p *pool) edits() world.Edits {
	back := func(o client.Object) {
		c := &object(o).Spec.InstanceConfiguration
		c.Shape, c.ShapeConfig.MemoryInGBs, c.InstanceSourceViaImageConfig.BootVolumeSizeInGBs = oci.Shape, decimal("32"), nil
	}
	return world.Edits{
		Template: func(o client.Object, n int) { editTemplate(&object(o).Spec.InstanceConfiguration, n) },
		Bad:      func(o client.Object) { object(o).Spec.InstanceConfiguration.Shape = oci.BadShape },
		Back:     back,
		Type:     func(o client.Object) string { return object(o).Spec.InstanceConfiguration.Shape },
		Group:    func(o client.Object, n, m int) { edit(&object(o).Spec, n, m) },
		Strategy: func(o client.Object, l *script.Limits) { object(o).Spec.Strategy = strategy(l) },
	}
}

// editTemplate changes what machines are launched from.
func editTemplate(c *ociv1.InstanceConfiguration, n int) {
	switch n % 4 {
	case 0:
		c.InstanceSourceViaImageConfig.BootVolumeSizeInGBs = []*int64{nil, ptr.To[int64](93), ptr.To[int64](120)}[n/4%3]
	case 1:
		c.ShapeConfig.MemoryInGBs = []*ociv1.Decimal{decimal("16"), decimal("32"), decimal("64")}[n/4%3]
	default:
		c.Shape = []string{oci.Shape, "VM.Standard.E5.Flex"}[n%2]
	}
}

// edit changes one field of the pool that machines need not be replaced for.
func edit(s *ociv1.OCIMachinePoolSpec, n, m int) {
	if n%2 == 0 {
		s.PlacementDetails = [][]ociv1.PlacementDetails{nil, {{AvailabilityDomain: 1}}, {{AvailabilityDomain: 1}, {AvailabilityDomain: 2}}}[m%3]
		return
	}
	s.Strategy = strategy([]*script.Limits{nil, {Surge: "0", Unavailable: "1", Policy: "Newest"},
		{Surge: "2", Unavailable: "0", Policy: "Random"}}[m%3])
}

package okenodepool

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/test/explore/kinds/oci"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// object returns an infrastructure object as what it is.
func object(o client.Object) *ociv1.OCIManagedMachinePool { return o.(*ociv1.OCIManagedMachinePool) }

// applied returns a pool as a user applies it.
func (p *pool) applied() client.Object {
	o := &ociv1.OCIManagedMachinePool{}
	o.Namespace, o.Name = world.InfraKey.Namespace, world.InfraKey.Name
	o.Spec = ociv1.OCIManagedMachinePoolSpec{
		NodeShape:         oci.Shape,
		NodeShapeConfig:   &ociv1.NodeShapeConfig{OCPUs: ptr.To(ociv1.Decimal("2")), MemoryInGBs: ptr.To(ociv1.Decimal("32"))},
		InitialNodeLabels: ociv1.NodeLabels{{Key: "tier", Value: "a"}}, Strategy: strategy(nil),
		NodePoolCyclingDetails: cyclings()[own(p.world.Scenario)],
	}
	return o
}

// strategy returns the strategy in the form of the object. There always is one, because admission sets the default.
func strategy(l *script.Limits) common.Strategy {
	if l == nil {
		l = &script.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"}
	}
	return *l.Spec()
}

// cyclings are settings by which OKE replaces nodes, or leaves that to Muster.
func cyclings() []*ociv1.NodePoolCyclingDetails {
	on := func(surge, unavailable ociv1.NodeCount) *ociv1.NodePoolCyclingDetails {
		return &ociv1.NodePoolCyclingDetails{IsNodeCyclingEnabled: ptr.To(true), MaximumSurge: &surge, MaximumUnavailable: &unavailable}
	}
	return []*ociv1.NodePoolCyclingDetails{nil, nil, on("1", "0"), on("0", "1"), on("50%", "25%"),
		{IsNodeCyclingEnabled: ptr.To(false)}, {IsNodeCyclingEnabled: ptr.To(true)}}
}

// setRollout sets how nodes are to be replaced: by OKE where it cycles them, and by Muster otherwise.
func setRollout(mp *clusterv1.MachinePool, o client.Object, desired *oracle.Desired) {
	desired.Deleting = desired.Deleting || mp != nil && !mp.DeletionTimestamp.IsZero()
	desired.ReplacedByMuster = true
	if o == nil {
		return
	}
	s := &object(o).Spec
	if !s.Cycled() {
		world.SetReplacedByMuster(s.Strategy.RollingUpdate, desired)
		return
	}
	desired.Surge, desired.Unavailable = share(s.NodePoolCyclingDetails.MaximumSurge, 1), share(s.NodePoolCyclingDetails.MaximumUnavailable, 0)
	desired.Surge.N = max(desired.Surge.N, 1) // a restart is Muster's, and adds one node
}

func share(n *ociv1.NodeCount, otherwise int) oracle.Share {
	if n == nil {
		return oracle.Share{N: otherwise}
	}
	text, percent := strings.CutSuffix(string(*n), "%")
	number, _ := strconv.Atoi(text)
	return oracle.Share{N: number, Percent: percent}
}

// edits returns the changes that users make to the object.
func (p *pool) edits() world.Edits {
	back := func(o client.Object) {
		s := &object(o).Spec
		s.NodeShape, s.NodeSourceViaImage, s.NodeShapeConfig.MemoryInGBs = oci.Shape, nil, ptr.To(ociv1.Decimal("32"))
	}
	return world.Edits{
		Template: func(o client.Object, n int) { editTemplate(&object(o).Spec, n) },
		Bad:      func(o client.Object) { object(o).Spec.NodeShape = oci.BadShape },
		Back:     back,
		Type:     func(o client.Object) string { return object(o).Spec.NodeShape },
		Group:    func(o client.Object, n, m int) { edit(&object(o).Spec, n, m) },
		Strategy: func(o client.Object, l *script.Limits) { object(o).Spec.Strategy = strategy(l) },
		Upgrade:  p.upgrade,
	}
}

// editTemplate changes what nodes are created from.
func editTemplate(s *ociv1.OCIManagedMachinePoolSpec, n int) {
	switch n % 4 {
	case 0:
		s.NodeSourceViaImage = []*ociv1.NodeSourceViaImage{nil, {BootVolumeSizeInGBs: ptr.To[int64](93)},
			{BootVolumeSizeInGBs: ptr.To[int64](120)}}[n/4%3]
	case 1:
		s.NodeShapeConfig.MemoryInGBs = ptr.To([]ociv1.Decimal{"16", "32", "64"}[n/4%3])
	default:
		s.NodeShape = []string{oci.Shape, "VM.Standard.E5.Flex"}[n%2]
	}
}

// edit changes one field that no node is replaced for. Labels are left out: OKE takes nodes with other labels for outdated, and Muster
// gives new ones alone the labels.
func edit(s *ociv1.OCIManagedMachinePoolSpec, n, m int) {
	switch n % 2 {
	case 0:
		s.NodeEvictionNodePoolSettings = []*ociv1.NodeEvictionNodePoolSettings{nil, {EvictionGraceDuration: ptr.To("PT0M")},
			{EvictionGraceDuration: ptr.To("PT20M"), IsForceDeleteAfterGraceDuration: ptr.To(true)}}[m%3]
	default:
		s.NodePoolCyclingDetails = cyclings()[m%len(cyclings())]
	}
}

// upgrade has the control plane brought to the next minor version, and the pool to that of its control plane.
func (p *pool) upgrade(e script.Event) {
	if p.minor < world.LastMinor && e.N%3 > 0 {
		p.minor++
		p.provide()
	}
	if e.M%3 > 0 {
		p.follow()
	}
}

// follow has a user give the MachinePool the version of the control plane.
func (p *pool) follow() {
	p.world.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Version = "v" + p.version() })
}

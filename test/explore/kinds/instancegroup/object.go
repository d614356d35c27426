package instancegroup

import (
	"context"
	"net/http"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/settings"
	muster "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// object returns an infrastructure object as what it is.
func object(o client.Object) *gcpv1.GCPMachinePool { return o.(*gcpv1.GCPMachinePool) }

// setUp makes the health check that the group is healed by.
func (p *pool) setUp() {
	if own(p.World.Scenario).Heals {
		p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPost, "global/healthChecks", map[string]any{"name": gcp.HealthCheck, "type": "HTTP"})
		}), "make a health check")
	}
}

// applied returns a pool of that kind as a user applies it.
func (p *pool) applied() client.Object {
	s := p.World.Scenario
	o := &gcpv1.GCPMachinePool{}
	o.Namespace, o.Name = p.World.InfraKey().Namespace, p.World.InfraKey().Name
	o.Spec = gcpv1.GCPMachinePoolSpec{
		InstanceType: gcp.MachineType, AdditionalLabels: gcpv1.Labels{"team": "a"}, Strategy: strategy(s.Strategy),
		DistributionPolicy: &gcpv1.DistributionPolicy{Zones: own(s).zones()},
	}
	if own(s).Machines {
		o.Annotations = map[string]string{settings.MachinesAnnotation: settings.MachinesOn}
	}
	if s.Spot {
		o.Spec.ProvisioningModel = ptr.To(gcpv1.ProvisioningSpot)
	}
	if own(s).Heals {
		o.Spec.AutoHealing = &gcpv1.AutoHealing{HealthCheck: gcp.HealthCheck, InitialDelaySec: 60}
	}
	return o
}

// strategy returns the strategy in the form of a GCPMachinePool. There always is one, because admission sets the default.
func strategy(l *script.Limits) common.Strategy {
	if l == nil {
		return *(&script.Limits{Surge: "1", Unavailable: "0", Policy: "Oldest"}).Spec()
	}
	return *l.Spec()
}

// editTemplate changes the template of machines.
func editTemplate(s *gcpv1.GCPMachinePoolSpec, n int) {
	switch n % 4 {
	case 0:
		s.RootDeviceSize = []int64{40, 50, 0}[n/4%3]
	case 1:
		s.RootDeviceSize, s.InstanceType = 0, gcp.MachineType
	default:
		s.InstanceType = []string{"n2-standard-2", "n2-standard-4", "e2-standard-2"}[n%3]
	}
}

// edit changes one field of the pool that machines need not be replaced for.
func edit(s *gcpv1.GCPMachinePoolSpec, n, m int) {
	switch n {
	case 0, 1, 2:
		s.AdditionalLabels = []gcpv1.Labels{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 3, 4:
		s.InstanceLifecyclePolicy = []*gcpv1.InstanceLifecyclePolicy{
			nil, {DefaultActionOnFailure: gcpv1.ActionDoNothing}, {ForceUpdateOnRepair: ptr.To(true)},
		}[m%3]
	case 5, 6:
		if s.AutoHealing != nil {
			s.AutoHealing.InitialDelaySec = []int32{60, 30, 0}[m%3]
		}
		if len(s.DistributionPolicy.Zones) > 1 {
			s.DistributionPolicy.TargetShape = []gcpv1.TargetShape{"", gcpv1.ShapeBalanced, gcpv1.ShapeAny}[m%3]
		}
	default:
		s.Strategy = strategy([]*script.Limits{nil, {Surge: "0", Unavailable: "1", Policy: "Newest"},
			{Surge: "2", Unavailable: "0", Policy: "Random"}}[m%3])
	}
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
	back := func(o client.Object) { object(o).Spec.InstanceType, object(o).Spec.RootDeviceSize = gcp.MachineType, 0 }
	return world.Edits{
		Template: func(o client.Object, n int) { editTemplate(&object(o).Spec, n) },
		Bad:      func(o client.Object) { object(o).Spec.InstanceType = gcp.BadType },
		Back:     back,
		Type:     func(o client.Object) string { return object(o).Spec.InstanceType },
		Group:    func(o client.Object, n, m int) { edit(&object(o).Spec, n, m) },
		Strategy: func(o client.Object, l *script.Limits) { object(o).Spec.Strategy = strategy(l) },
	}
}

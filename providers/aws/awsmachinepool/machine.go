package awsmachinepool

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// instanceReady is the ecosystem's name of an instance's readiness, in addition to Ready.
const instanceReady = "InstanceReady"

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachines/status;awsmachines/finalizers,verbs=get;update;patch

// machineKind describes AWSMachine.
func machineKind() *machines.Kind {
	return &machines.Kind{
		GroupVersion: awsv1.GroupVersion,
		Name:         awsv1.AWSMachineKind,
		Finalizer:    awsv1.MachineFinalizer,
		New:          func() client.Object { return &awsv1.AWSMachine{} },
		NewList:      func() client.ObjectList { return &awsv1.AWSMachineList{} },
		ProviderID: func(o client.Object) string {
			m, ok := o.(*awsv1.AWSMachine)
			if !ok {
				return ""
			}
			return m.Spec.ProviderID
		},
		FillSpec:   fillSpec,
		FillStatus: fillStatus,
	}
}

// fillSpec sets the instance of the object. An existing ID is kept, in any spelling.
func fillSpec(o client.Object, seen machines.Seen) {
	m, ok := o.(*awsv1.AWSMachine)
	if !ok {
		return
	}
	if m.Spec.ProviderID == "" {
		m.Spec.ProviderID = seen.Instance.ProviderID
	}
	if m.Spec.InstanceID == "" {
		m.Spec.InstanceID = seen.Instance.ID
	}
	if t := only(seen); m.Spec.InstanceType == "" && t != nil && t.MixedInstancesPolicy == nil {
		m.Spec.InstanceType = t.AWSLaunchTemplate.InstanceType
	}
}

// only is the pool's specification, if the instance was launched from what it asks for now: of any other nothing is known
// but that it exists.
func only(seen machines.Seen) *awsv1.AWSMachinePoolSpec {
	o, ok := seen.Pool.(*awsv1.AWSMachinePool)
	if !ok || !seen.Instance.Template.Same(seen.Wanted) {
		return nil
	}
	return &o.Spec
}

// fillStatus sets the observed state of the instance. An instance that was once provisioned stays provisioned.
func fillStatus(o client.Object, seen machines.Seen) {
	m, ok := o.(*awsv1.AWSMachine)
	if !ok {
		return
	}
	i := seen.Instance
	if i.State == pool.Running {
		provisioned := true
		m.Status.Initialization.Provisioned = &provisioned
		m.Status.Ready = true
	}
	m.Status.InstanceState = stateWord(i)
	if i.Zone != "" {
		m.Status.FailureDomain = i.Zone
	}
	if t := only(seen); t != nil && t.MixedInstancesPolicy == nil {
		m.Status.Interruptible = t.AWSLaunchTemplate.SpotMarketOptions != nil || t.AWSLaunchTemplate.MarketType == awsv1.MarketTypeSpot
	}
	machines.SetConditions(m, &m.Status.Conditions, seen, m.Status.InstanceState, instanceReady)
}

// stateWord is the instance's state in EC2's words.
func stateWord(i pool.Instance) string {
	switch i.State {
	case pool.Pending:
		return "pending"
	case pool.Running:
		return "running"
	case pool.Terminating:
		return "shutting-down"
	default:
		return "stopped"
	}
}

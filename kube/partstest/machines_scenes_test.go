package partstest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// kind is AWSMachine with as little as the package needs to know of it.
var kind = machines.Kind{
	GroupVersion: awsv1.GroupVersion, Name: "AWSMachine", Finalizer: awsv1.MachineFinalizer,
	New:        func() client.Object { return &awsv1.AWSMachine{} },
	NewList:    func() client.ObjectList { return &awsv1.AWSMachineList{} },
	ProviderID: func(o client.Object) string { return o.(*awsv1.AWSMachine).Spec.ProviderID },
	FillSpec: func(o client.Object, seen machines.Seen) {
		o.(*awsv1.AWSMachine).Spec.ProviderID = seen.Instance.ProviderID
	},
	FillStatus: func(o client.Object, seen machines.Seen) {
		o.(*awsv1.AWSMachine).Status.InstanceState = string(seen.Instance.State)
	},
}

// ofPool is the owner reference to the pool.
func ofPool() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: awsv1.GroupVersion.String(), Kind: "AWSMachinePool", Name: "p", UID: "u-p"}
}

// The parts of a pool's machines, named as a person would say them.
func infra(name string, change ...func(*awsv1.AWSMachine)) client.Object {
	o := &awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("u-" + name),
		Finalizers:      []string{awsv1.MachineFinalizer},
		OwnerReferences: []metav1.OwnerReference{ofPool()}}, Spec: awsv1.AWSMachineSpec{ProviderID: "aws:///zone-a/" + name}}
	for _, f := range change {
		f(o)
	}
	return o
}

func machine(name string, change ...func(*clusterv1.Machine)) clusterv1.Machine {
	m := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("m-" + name),
		Finalizers: []string{clusterv1.MachineFinalizer}},
		Spec: clusterv1.MachineSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group,
			Kind: "AWSMachine", Name: name}}}
	m.Status.NodeRef.Name = name
	for _, f := range change {
		f(&m)
	}
	return m
}

func at(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }

func createdAt(d time.Duration) func(*awsv1.AWSMachine) {
	return func(o *awsv1.AWSMachine) { o.CreationTimestamp = *at(d) }
}

func infraFor(providerID string) func(*awsv1.AWSMachine) {
	return func(o *awsv1.AWSMachine) { o.Spec.ProviderID = providerID }
}

func infraGoing(o *awsv1.AWSMachine) { o.DeletionTimestamp = at(time.Minute) }

func infraGoingFirst(o *awsv1.AWSMachine) { o.DeletionTimestamp = at(-time.Minute) }

func infraGoingAtOnce(o *awsv1.AWSMachine) { o.DeletionTimestamp = at(0) }

func infraDetached(o *awsv1.AWSMachine) {
	o.Annotations = map[string]string{machines.DetachedAnnotation: ""}
}

func infraPaused(o *awsv1.AWSMachine) {
	o.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
}

func infraMarked(o *awsv1.AWSMachine) {
	o.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
}

func infraOrphaned(o *awsv1.AWSMachine) { o.OwnerReferences = nil }

func infraRestored(o *awsv1.AWSMachine) { o.OwnerReferences[0].UID = "before" }

func infraFree(o *awsv1.AWSMachine) { o.Finalizers = nil }

// machineNodeless takes away the Node that other Machines have.
func machineNodeless(m *clusterv1.Machine) { m.Status.NodeRef = clusterv1.MachineNodeReference{} }

func machineGoing(m *clusterv1.Machine) { m.DeletionTimestamp = at(0) }

func machineHooked(m *clusterv1.Machine) {
	m.Annotations = map[string]string{machines.HoldAnnotation: "", clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/backup": ""}
}

func machineHeld(m *clusterv1.Machine) {
	m.Annotations = map[string]string{machines.HoldAnnotation: ""}
	m.Spec.ProviderID = "aws:///zone-a/" + m.Name
}

func machineDetached(m *clusterv1.Machine) {
	machinePaused(m)
	m.Annotations[machines.DetachedAnnotation] = ""
}

func machinePaused(m *clusterv1.Machine) {
	m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
}

func machineMarked(m *clusterv1.Machine) {
	m.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: "now"}
}

func becauseOf(cause string) func(*clusterv1.Machine) {
	return func(m *clusterv1.Machine) { m.Annotations = map[string]string{machines.CauseAnnotation: cause} }
}

// condition has the Machine's controller report how far it is with its deletion.
func condition(reason, message string) func(*clusterv1.Machine) {
	return func(m *clusterv1.Machine) {
		machineGoing(m)
		m.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: reason,
			Message: message}}
	}
}

// waiting has it wait for the infrastructure machine, which comes after the drain.
func waiting(m *clusterv1.Machine) {
	condition(clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, "")(m)
}

// drain has it report how its drain went.
func drain(succeeded corev1.ConditionStatus) func(*clusterv1.Machine) {
	return func(m *clusterv1.Machine) {
		m.Status.Deprecated = &clusterv1.MachineDeprecatedStatus{V1Beta1: &clusterv1.MachineV1Beta1DeprecatedStatus{
			Conditions: clusterv1.Conditions{{Type: clusterv1.DrainingSucceededV1Beta1Condition, Status: succeeded,
				LastTransitionTime: *at(30 * time.Second)}}}}
	}
}

func instance(id string, state pool.InstanceState) pool.Instance {
	return pool.Instance{ID: id, ProviderID: "aws:///zone-b/" + id, State: state}
}

func identified(id, uid string) pool.Instance {
	i := instance(id, pool.Running)
	i.UID = uid
	return i
}

// since returns an instance that was made that long after now.
func since(id, uid string, d time.Duration) pool.Instance {
	i := identified(id, uid)
	i.Created = now.Add(d)
	return i
}

// ending returns one instance that the cloud is terminating.
func ending(id, uid string) []pool.Instance {
	i := identified(id, uid)
	i.State = pool.Terminating
	return []pool.Instance{i}
}

func infraOf(uid string) func(*awsv1.AWSMachine) {
	return func(o *awsv1.AWSMachine) { o.Annotations = map[string]string{machines.InstanceUIDAnnotation: uid} }
}

func held(i pool.Instance) pool.Instance {
	i.LifecycleHook = &pool.LifecycleHook{}
	return i
}

// say puts actions into words.
func say(list []machines.Action) []string {
	var out []string
	for _, a := range list {
		text := string(a.Do)
		switch {
		case a.Do == machines.Create:
			text += " " + a.Instance.ID
		case a.Machine != nil:
			text += " " + a.Machine.Object.Name
		case a.Infra != nil:
			text += " " + a.Infra.Object.GetName()
		}
		if a.Cause.Reason != "" {
			text += " (" + a.Cause.Reason + ")"
		}
		out = append(out, text)
	}
	return out
}

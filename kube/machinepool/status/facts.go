package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Facts holds the observations that a pass makes before its first step.
type Facts struct {
	// Cluster is the namespace and name of the pool's Cluster; NoCluster is true if it does not exist.
	Cluster   string
	NoCluster bool
	// Paused is the reason why the pool is paused, empty if it is not. Nothing else is observed of a paused pool.
	Paused string
	// Deleting is true if the pool is being deleted.
	Deleting bool
	// Desired is spec.replicas; nil if it is not set.
	Desired *int32
	// ReplicasManagedExternally is true if an external autoscaler owns the size, so that the direction of a change is unknown.
	ReplicasManagedExternally bool
	// DataSecret is the name of the secret with the bootstrap data of new machines; empty if there is none.
	DataSecret string
	// VersionSkew is the reason why the control plane does not support nodes of the pool's version; empty if it does.
	VersionSkew string
	// BootstrapProblem is the reason why machines cannot be bootstrapped as the pool is specified; nil if they can.
	BootstrapProblem *Cause
	// Failure is the terminal failure of the infrastructure or bootstrap provider, of the v1beta1 contract.
	Failure *Cause
	// Replicas and UpToDate are the counts that the infrastructure object reports; nil if it reports none.
	Replicas, UpToDate *int32
	// ByVersion is true if the infrastructure object reports no UpToDate, so that the versions of the Nodes are compared instead.
	ByVersion bool
	// Instances counts the different instances in the provider ID list.
	Instances int32
	// ListedElsewhere names instances of the infrastructure object that another pool lists, with that pool: this pool does not list them.
	ListedElsewhere []string
	// NodesUnknown is the reason why the Nodes of the pool could not be read; empty if they could.
	NodesUnknown string
	// ConnectionInterrupted is true if the workload cluster has been unreachable for so short a time that the last known state still
	// counts. Every start of the controllers begins that way.
	ConnectionInterrupted bool
}

// Outcome holds the effects of a pass's steps, and the objects as the steps leave them.
type Outcome struct {
	// Deletion is the progress of the deletion; it is zero until a step has to wait.
	Deletion Cause
	// Bootstrap and Infrastructure are the two objects that the pool refers to.
	Bootstrap, Infrastructure Source
	// Machines describes the Machines of the pool; nil if it has none.
	Machines *Machines
	// UpToDateByMachine are the machines by whether each is up to date; nil if that is unknown. It is used if the infrastructure object
	// reports no count, and in pools with Machines, whose conditions report it.
	UpToDateByMachine *UpToDateByMachine
	// Nodes describes the Nodes of the pool; nil if they are unknown.
	Nodes *Nodes
}

// pass holds the inputs of the status.
type pass struct {
	Facts
	Outcome
}

// Cause is a reason for programs and a sentence for users.
type Cause struct {
	Reason, Message string
}

// Source describes an object that the pool refers to, as far as the contract covers it.
type Source struct {
	// Kind and Name of the object; both empty if the pool refers to none.
	Kind, Name string
	// Found is true if the object exists.
	Found bool
	// Problem is the reason why it could not be read or taken over; ProblemReason is set if the user has to fix it.
	Problem, ProblemReason string
	// Ready is the object's Ready condition, nil if it has none; Severity is the severity of a v1beta1 condition.
	Ready    *metav1.Condition
	Severity clusterv1.ConditionSeverity
	// Done is true if the object reports that its part is complete: the data secret is created, the group is provisioned. Once is true if
	// it ever did.
	Done, Once bool
}

// String returns kind and name.
func (s Source) String() string { return s.Kind + " " + s.Name }

// Nodes describes the Nodes of the pool's instances.
type Nodes struct {
	// Refs to the Nodes of the instances, in the order of the provider ID list.
	Refs []corev1.ObjectReference
	// Ready counts machines whose Node is Ready; Available counts those that have been Ready for minReadySeconds and are neither drained
	// nor deleted. In pools with Machines the conditions of the Machine must be true as well.
	Ready, Available int32
	// BlocksControlPlane is the reason why the control plane can't take its next minor version before Nodes are replaced; empty if it can.
	BlocksControlPlane string
	// Missing are the provider IDs of instances that have no Node.
	Missing []string
	// NotReady names Nodes or Machines that are not Ready, with the reason that they report.
	NotReady []string
	// Starting counts those of NotReady whose Node has never been Ready: new machines.
	Starting int32
	// Settling names Nodes that have been Ready for less than minReadySeconds.
	Settling []string
	// Leaving names Nodes that are still Ready, but are being drained by Muster or deleted.
	Leaving []string
	// Kept names Nodes whose instances have left the pool, but that are still Ready.
	Kept []string
	// BeforePool are the names of the Nodes that are older than the MachinePool: they had joined before it was moved or restored.
	BeforePool map[string]bool
	// Versions are the kubelet versions, sorted.
	Versions []clusterv1.StatusVersion
}

// UpToDateByMachine are the machines of a pool by whether each is up to date.
type UpToDateByMachine struct {
	// UpToDate counts the machines that are up to date.
	UpToDate int32
	// Not names the machines that are not, Unknown those of which it is unknown.
	Not, Unknown []string
	// Basis describes what was compared if that is less than everything; empty otherwise.
	Basis string
}

// count returns how many machines are known to be up to date; nil if that is unknown of all of them.
func (j *UpToDateByMachine) count() *int32 {
	if j.UpToDate == 0 && len(j.Not) == 0 && len(j.Unknown) > 0 {
		return nil
	}
	return &j.UpToDate
}

// Machines describes the Machines of a pool.
type Machines struct {
	// Kind is the kind of the infrastructure machines, Problem the reason why they could not be read; empty if they could.
	Kind, Problem string
	// Waiting names infrastructure machines for which no Machine can be created, with the reason.
	Waiting []string
	// Remediating names Machines that are being replaced because they are unhealthy, with the reason.
	Remediating []string
}

// replicas returns how many machines the pool has: as the infrastructure object counts them, otherwise as it lists them.
func (f *pass) replicas() int32 {
	if f.Replicas != nil {
		return *f.Replicas
	}
	return f.Instances
}

// target returns how many machines the pool has to have; 0 if it is being deleted.
func (f *pass) target() int32 {
	if f.Deleting || f.Desired == nil {
		return 0
	}
	return *f.Desired
}

package status

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Facts are what one pass has observed.
type Facts struct {
	// Cluster is the name of the pool's cluster; NoCluster says that no such Cluster exists.
	Cluster   string
	NoCluster bool
	// Paused says why nothing is done for the pool, and is empty otherwise. A paused pass observes nothing else.
	Paused string
	// Deletion is how far deletion has come; nil while the pool is not being deleted.
	Deletion *Cause
	// Desired is spec.replicas; nil as long as it is not set.
	Desired *int32
	// External says that somebody else sizes the pool, so that the direction of a change is not ours to predict.
	External bool
	// Bootstrap and Infrastructure are the two objects that the pool refers to.
	Bootstrap, Infrastructure Source
	// Refusal says why the bootstrap provider can't serve the pool as it is specified.
	Refusal *Cause
	// Failure is the infrastructure's or bootstrap provider's terminal failure, of the older contract.
	Failure *Cause
	// Replicas and UpToDate are the infrastructure's own counts; nil when it reports none.
	Replicas, UpToDate *int32
	// Instances are how many different instances the provider ID list names.
	Instances int32
	// Nodes are what the workload cluster says; nil when it can't be asked, and NodesUnknown says why.
	Nodes        *Nodes
	NodesUnknown string
	// Passing says that the workload cluster has been out of reach for so short a time that what was known last still
	// stands. Every start of the controllers begins that way.
	Passing bool
}

// Cause is a reason word and a sentence.
type Cause struct {
	Reason, Message string
}

// Source is an object of a provider, as far as its part of the contract goes.
type Source struct {
	// Kind and Name of the object; both empty when the pool refers to none.
	Kind, Name string
	// Found says that the object exists.
	Found bool
	// Problem says why it could not be read or taken over; ProblemReason is set when that is for a person to put right.
	Problem, ProblemReason string
	// Ready is the object's own Ready condition, nil when it has none; Severity is what the older kind of condition adds.
	Ready    *metav1.Condition
	Severity clusterv1.ConditionSeverity
	// Done says that the object reports now what is waited for (its data secret, its provisioned group); Once says that
	// it ever did.
	Done, Once bool
}

// String names the object for people.
func (s Source) String() string { return s.Kind + " " + s.Name }

// Nodes are what the workload cluster says about the pool's instances.
type Nodes struct {
	// Refs to the Nodes of the instances, in the order of the provider ID list.
	Refs []corev1.ObjectReference
	// Ready counts Nodes that are Ready; Available counts those that have been for minReadySeconds.
	Ready, Available int32
	// Missing are the provider IDs of instances that have no Node.
	Missing []string
	// NotReady names Nodes that are not Ready, with the reason that they report.
	NotReady []string
	// Settling names Nodes that are Ready, but not yet for minReadySeconds.
	Settling []string
	// Kept names Nodes whose instance left the list, but that still report Ready.
	Kept []string
	// Versions are the kubelet versions, ordered.
	Versions []clusterv1.StatusVersion
}

// replicas is how many machines the pool has: what the infrastructure counts, or else what it lists.
func (f *Facts) replicas() int32 {
	if f.Replicas != nil {
		return *f.Replicas
	}
	return f.Instances
}

// target is how many machines the pool shall have; a pool that is being deleted shall have none.
func (f *Facts) target() int32 {
	if f.Deletion != nil || f.Desired == nil {
		return 0
	}
	return *f.Desired
}

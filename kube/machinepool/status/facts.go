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
	// DataSecret is the name of the secret with the bootstrap data that new machines get; empty as long as there is none.
	DataSecret string
	// Skew says why the control plane can't serve nodes of the pool's version; empty where it can.
	Skew string
	// Refusal says why the bootstrap provider can't serve the pool as it is specified.
	Refusal *Cause
	// Failure is the infrastructure's or bootstrap provider's terminal failure, of the older contract.
	Failure *Cause
	// Replicas and UpToDate are the infrastructure's own counts; nil when it reports none.
	Replicas, UpToDate *int32
	// ByVersion says that the infrastructure reports no such count, so that the versions of the nodes are compared instead.
	ByVersion bool
	// UpToDateByMachine says of each machine whether it is up to date; nil when nobody can. It counts where the infrastructure itself
	// reports no count, and in pools with Machines, whose own conditions say it.
	UpToDateByMachine *UpToDateByMachine
	// Instances are how many different instances the provider ID list names.
	Instances int32
	// Elsewhere names instances that the infrastructure lists and that are another pool's, with that pool: they are not listed.
	Elsewhere []string
	// Machines are the Machine objects of the pool; nil when it has none.
	Machines *Machines
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
	// Ready counts machines whose Node is Ready; Available counts those that have been for minReadySeconds and are not on
	// their way out. In pools with Machines their own conditions must say so too.
	Ready, Available int32
	// Missing are the provider IDs of instances that have no Node.
	Missing []string
	// NotReady names Nodes or Machines that are not Ready, with the reason that they report.
	NotReady []string
	// Starting counts those of NotReady whose Node has never been Ready: new machines on their way up.
	Starting int32
	// Settling names Nodes that are Ready, but not yet for minReadySeconds.
	Settling []string
	// Leaving names Nodes that are Ready still, but drained by us or being deleted.
	Leaving []string
	// Kept names Nodes whose instance left the list, but that still report Ready.
	Kept []string
	// Versions are the kubelet versions, ordered.
	Versions []clusterv1.StatusVersion
}

// UpToDateByMachine are the machines of a pool, told apart by whether each is as the pool wants it.
type UpToDateByMachine struct {
	// UpToDate counts those that are.
	UpToDate int32
	// Not and Unknown name those that are not, and those of which nobody can say.
	Not, Unknown []string
	// Basis says what was compared when that is less than everything, for people; empty otherwise.
	Basis string
}

// count is how many machines are known to be up to date; nil when nothing is known of any.
func (j *UpToDateByMachine) count() *int32 {
	if j.UpToDate == 0 && len(j.Not) == 0 && len(j.Unknown) > 0 {
		return nil
	}
	return &j.UpToDate
}

// Machines are the Machine objects of a pool's instances.
type Machines struct {
	// Kind of the infrastructure's own machines, and Problem why they can't be read; empty when they can.
	Kind, Problem string
	// Waiting names instances' infrastructure machines that can't get a Machine, with the reason.
	Waiting []string
	// Remediating names Machines that a health check has marked and that are deleted for it, with the reason.
	Remediating []string
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

package sim

// Managed is what a machine of a node group that its cloud manages learns from the cloud itself: with it the machine joins its
// cluster without being told how by user data.
type Managed struct {
	// Cluster is the cluster's name in the cloud, Group that of the node group.
	Cluster, Group string
	// Server is the URL of the cluster's API server, CA the certificates by which it is trusted, in PEM.
	Server string
	CA     []byte
	// Token is a bootstrap token that stands for the identity by which the cloud's own machines are let in; empty where the
	// cluster was made without one, so that the machine is turned away.
	Token string
	// Operator is the name of the cloud's program that operates on the machine's Node, as the machine's console shows it.
	Operator string
	// Own is true if the image is the user's own: the cloud adds nothing to its user data, and it joins only if that says so. An
	// image of the cloud's joins by itself, and runs its user data before that.
	Own bool
	// Labels and Taints that the node registers with, the cloud's own among them.
	Labels map[string]string
	Taints []Taint
}

// Taint keeps pods away from a node. Effect is in Kubernetes' words, such as NoSchedule.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Workload is also implemented by a MachineHost whose machines become nodes of clusters: a cloud that manages nodes looks at them and
// drains them by it. Machines are named by their IDs; an unknown one is not ready and has nothing to drain. The cloud calls with its own
// lock held: no method waits for anything, and none calls the cloud.
type Workload interface {
	// Ready reports that the machine has joined its cluster and that its node is Ready.
	Ready(id string) bool
	// Cordon closes the machine's node to new pods, or opens it again.
	Cordon(id string, closed bool)
	// Drain begins to evict what runs on the machine's node, or goes on with it, within the budgets of the pods; by force it
	// deletes them whatever their budgets say. It reports whether nothing is left that has to go; a node that has not joined is
	// drained.
	Drain(id string, force bool) (done bool)
	// Mark gives the machine's node labels and taints, after those that are to go were taken off. An empty label value is a value.
	Mark(id string, change Marks)
	// Unregister deletes the machine's node, also when the machine is powered off at once. A kubelet that runs does not register again.
	Unregister(id string)
}

// Marks is how the labels and taints of a node change.
type Marks struct {
	Labels map[string]string
	Taints []Taint
	// Unlabel are the keys of labels, Untaint the taints, that go. What is put as well stays.
	Unlabel []string
	Untaint []Taint
}

package detail

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/memory"
)

// Facts are the inputs of a Detail.
type Facts struct {
	Pool *clusterv1.MachinePool
	// Infra is the infrastructure object; nil if it does not exist or may not be read.
	Infra *unstructured.Unstructured
	// Cluster is the pool's cluster; nil if it does not exist or may not be read.
	Cluster *clusterv1.Cluster
	// Pass is the last pass over the pool; nil if this process has made none.
	Pass    *memory.Pass
	Samples []memory.Sample
	// Policies is nil if no rollout policy selects the pool, or if they may not be read.
	Policies *Policies
	Events   []Event
	Cloud    string
	Unread   []string
}

// Build describes a pool.
func Build(f Facts) Detail {
	d := Detail{APIVersion: APIVersion, Kind: Kind, Pool: view.PoolOf(f.Pool, f.Infra), Cloud: f.Cloud, Unread: f.Unread,
		Zones: []Zone{}, Drains: []Drain{}, Differs: []Differs{}, Waiting: []Cause{}, Issues: []Cause{}, Events: f.Events,
		History: f.Samples, Version: f.Pool.Spec.Template.Spec.Version, Deleting: !f.Pool.DeletionTimestamp.IsZero(),
		Paused: paused(f), Conditions: conditions(f)}
	if d.Events == nil {
		d.Events = []Event{}
	}
	if d.History == nil {
		d.History = []memory.Sample{}
	}
	d.Policies = f.Policies
	if f.Infra != nil {
		d.progress(f)
		d.Template, _, _ = unstructured.NestedString(f.Infra.Object, "status", "template")
		d.ProviderID, _, _ = unstructured.NestedString(f.Infra.Object, "spec", "providerID")
	}
	if f.Pass == nil {
		d.fromObjects(f)
	} else {
		d.fromPass(*f.Pass)
	}
	d.Commands = commands(d)
	return d
}

// paused reports whether the pool or its cluster is paused.
func paused(f Facts) bool {
	_, annotated := f.Pool.Annotations[clusterv1.PausedAnnotation]
	return annotated || f.Cluster != nil && ptr.Deref(f.Cluster.Spec.Paused, false)
}

// fromObjects lists the machines as the objects have them.
func (d *Detail) fromObjects(f Facts) {
	zones := map[string][]Machine{}
	for _, is := range view.Instances(f.Pool, f.Infra) {
		m := Machine{ID: cmp.Or(is.InstanceID, is.InstanceName, is.ProviderID), Name: is.InstanceName, Node: is.Node,
			Version: ptr.Deref(is.Version, ""), Template: is.Template, Age: Unknown}
		if m.Node == view.NodeNotReported {
			m.Node = ""
		}
		switch {
		case is.Template == "" || d.Template == "":
		case is.Template == d.Template:
			m.Age = New
		default:
			m.Age = Old
		}
		m.Status = statusOf(is.State, is.Node, is.Ready)
		zones[is.Zone] = append(zones[is.Zone], m)
	}
	d.place(zones)
}

// statusOf returns the status of a machine as an infrastructure object reports it.
func statusOf(state, node string, ready bool) Status {
	switch {
	case state == string(pool.Pending), state == string(pool.Terminating), state == string(pool.Failed):
		return Status(state)
	case node == view.NodeNotReported:
		return NodeUnknown
	case node == "":
		return Joining
	case ready:
		return Serving
	}
	return NotReady
}

// place keeps the machines by zone.
func (d *Detail) place(zones map[string][]Machine) {
	for name, machines := range zones {
		slices.SortStableFunc(machines, func(a, b Machine) int { return cmp.Compare(a.ID, b.ID) })
		d.Zones = append(d.Zones, Zone{Name: name, Machines: machines})
		d.Machines += len(machines)
	}
	slices.SortFunc(d.Zones, func(a, b Zone) int { return cmp.Compare(a.Name, b.Name) })
}

// good are the conditions that report a problem if they are False, and bad those that do if they are True.
var (
	good = []string{"Ready", "GroupReady", "TemplateReady", "PrerequisitesReady", "InstancesReady", "UpToDate",
		clusterv1.AvailableCondition, clusterv1.BootstrapConfigReadyCondition, clusterv1.InfrastructureReadyCondition}
	bad = []string{"Draining"}
)

// conditions lists the conditions of the infrastructure object, then those of the pool.
func conditions(f Facts) []Condition {
	out := []Condition{}
	add := func(kind string, list []metav1.Condition) {
		for _, c := range list {
			one := Condition{Kind: kind, Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: view.OneLine(c.Message),
				Since: c.LastTransitionTime.Time}
			one.Bad = c.Status != metav1.ConditionTrue && slices.Contains(good, c.Type) ||
				c.Status == metav1.ConditionTrue && slices.Contains(bad, c.Type)
			out = append(out, one)
		}
	}
	if f.Infra != nil {
		add(f.Infra.GetKind(), view.Conditions(f.Infra))
	}
	add("MachinePool", f.Pool.Status.Conditions)
	slices.SortStableFunc(out, func(a, b Condition) int {
		switch {
		case a.Bad == b.Bad:
			return 0
		case a.Bad:
			return -1
		}
		return 1
	})
	return out
}

// commands returns the commands that act on a pool.
func commands(d Detail) []Command {
	at, ns := "machinepool/"+d.Pool.Name, " --namespace "+d.Pool.Namespace
	desired := ptr.Deref(d.Pool.Desired, 0)
	list := []Command{
		{"Show what a change would do", fmt.Sprintf("muster plan %s%s --set spec.replicas=%d", at, ns, desired+1)},
		{"Scale", fmt.Sprintf("kubectl scale %s%s --replicas=%d", at, ns, desired+1)},
		{"Replace every machine, once", fmt.Sprintf("kubectl annotate --overwrite %s%s muster.dev/restart-now='REASON'", at, ns)},
		{"Pause the rollout", fmt.Sprintf("kubectl annotate --overwrite %s%s muster.dev/rollout=paused", at, ns)},
		{"Continue the rollout", fmt.Sprintf("kubectl annotate %s%s muster.dev/rollout-", at, ns)},
		{"Show its objects", fmt.Sprintf("muster tree %s%s", at, ns)},
	}
	if d.Pool.Infrastructure.Kind != "" {
		list = append(list, Command{"Describe its infrastructure object", fmt.Sprintf("kubectl describe %s/%s%s",
			lower(d.Pool.Infrastructure.Kind), d.Pool.Infrastructure.Name, ns)})
	}
	return list
}

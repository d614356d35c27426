package machinesync

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/members"
	"github.com/muster-project/muster/kube/machinepool/reference"
	"github.com/muster-project/muster/kube/machinepool/status"
)

const (
	// WriteLimit bounds the Machines that one pass creates, changes or deletes, so that a pool of thousands does not block a worker.
	WriteLimit = 50
	// AfterLimit is the time until a pass that has reached the limit is continued.
	AfterLimit = time.Second
)

// Input holds the facts from which the Machines of a pool are derived. It is not changed.
type Input struct {
	Pool *clusterv1.MachinePool
	// Members are the Machines and the infrastructure machines of the pool.
	Members []members.Member
	// InfraKind is the kind of the infrastructure machines if all of them could be read; then a Machine without one represents nothing. It
	// is empty otherwise.
	InfraKind schema.GroupVersionKind
	// InfraGone is true if the pool's infrastructure object does not exist.
	InfraGone bool
	// ServingOutside are the keys of instances that are not in the pool's list and whose Nodes are Ready. Interrupted is true if they can't be
	// known for a short time.
	ServingOutside map[string]bool
	Interrupted    bool
	// UpToDate decides which machines are up to date. It holds the Nodes of the pool.
	UpToDate members.UpToDateBasis
}

func (in Input) deleting() bool { return !in.Pool.DeletionTimestamp.IsZero() }

// Output is the result of Sync.
type Output struct {
	// ByInstance holds the Machines by instance key, after all writes.
	ByInstance map[string]*clusterv1.Machine
	// Waiting names infrastructure machines for which no Machine can be created, with the reason.
	Waiting []string
	// Remediating names Machines that are being replaced because they are unhealthy, with the reason.
	Remediating []string
	// Events are the events for what was written.
	Events []status.Event
}

// Syncer writes Machines to the management cluster.
type Syncer struct {
	Objects reference.ObjectReader
}

// change is the result of syncing one member.
type change struct {
	// machine is the Machine as it is now, nil if there is none.
	machine *clusterv1.Machine
	// writes counts the requests that changed an object.
	writes           int
	created, deleted bool
	// waiting is the reason for which no Machine can be created.
	waiting string
	event   *status.Event
}

// Sync brings the Machines of a pool in line with its template and its infrastructure machines. Nothing is written if nothing differs.
func (s Syncer) Sync(ctx context.Context, in Input) (Output, control.Result) {
	out, outcome := Output{ByInstance: map[string]*clusterv1.Machine{}}, control.Continue()
	latest, writes := map[string]*clusterv1.Machine{}, 0
	listed := members.ListedInstances(in.Pool)
	var created, deleted []string
	for _, m := range in.Members {
		done := change{machine: m.Machine}
		if writes >= WriteLimit {
			outcome = outcome.Join(control.RequeueAfter(AfterLimit))
		} else {
			var result control.Result
			done, result = s.sync(ctx, in, m, listed)
			outcome = outcome.Join(result)
		}
		writes += done.writes
		if done.machine != nil {
			latest[done.machine.Name] = done.machine
			if id := (members.Member{Infra: m.Infra, Machine: done.machine}).ProviderID(); id != "" {
				out.ByInstance[members.InstanceKey(id)] = done.machine
			}
		}
		if done.created {
			created = append(created, done.machine.Name)
		}
		if done.deleted {
			deleted = append(deleted, done.machine.Name)
		}
		if done.waiting != "" {
			out.Waiting = append(out.Waiting, done.waiting)
		}
		if done.event != nil {
			out.Events = append(out.Events, *done.event)
		}
	}
	out.Remediating = remediatingNames(latest)
	out.Events = append(out.Events, machineEvents(in.Pool.Namespace, created, deleted)...)
	return out, outcome
}

// remediatingNames returns the sorted names of the Machines that a MachineHealthCheck has marked, with the reason.
func remediatingNames(byName map[string]*clusterv1.Machine) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if m := byName[name]; remediating(m) {
			all = append(all, name+members.ReasonOf(m, clusterv1.MachineHealthCheckSucceededCondition))
		}
	}
	return all
}

func machineEvents(namespace string, created, deleted []string) []status.Event {
	var all []status.Event
	if len(created) > 0 {
		all = append(all, status.NormalEvent(status.MachinesCreated, "Created Machines for instances: %s", status.FirstNames(created)).
			RelatedToMachine(namespace, created[0]))
	}
	if len(deleted) > 0 {
		all = append(all, status.NormalEvent(status.MachinesDeleted, "Deleted Machines of terminated instances: %s",
			status.FirstNames(deleted)).
			RelatedToMachine(namespace, deleted[0]))
	}
	return all
}

// sync brings one Machine in line. listed are the instances of the pool by key.
func (s Syncer) sync(ctx context.Context, in Input, m members.Member, listed map[string]bool) (change, control.Result) {
	switch {
	case m.Machine == nil && (in.deleting() || !m.Infra.GetDeletionTimestamp().IsZero()):
		return change{}, control.Continue()
	case m.Machine == nil:
		return s.create(ctx, in, m)
	case m.Infra == nil && !in.InfraKind.Empty() && !in.deleting():
		if done, err := s.deleteObsolete(ctx, in, m.Machine, listed); done.deleted || err != nil {
			return done, control.Failed(err)
		}
	}
	return s.update(ctx, in, m, listed)
}

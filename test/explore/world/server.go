package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/apifault"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/memapi"
)

const (
	// seenLate bounds the staleness of the facts of a pass: the age that a drain accepts, a slow read, and a stale one. seenLater replaces it
	// while caches stand still or after a workload cluster became unreachable.
	seenLate, seenLater = time.Minute, 3 * time.Minute
)

// servers observes the writes to both API servers, and plays their faults.
type servers struct {
	world    *World
	faults   apifault.Faults
	rotation record.Rotation
}

// gate carries the requests of a process to an API server: an outage and faults meet them here, every write is an effect
// at which the process may die, and bodies are looked through for secrets.
func (p *process) gate(workload bool) memapi.Gate {
	w := p.world
	name := "mgmt"
	if workload {
		name = "wl"
	}
	return func(_ context.Context, op memapi.Op, do func() error) error {
		if p.dead {
			return errKilled
		}
		if workload && w.Workload.Outage.Away() {
			return apierrors.NewServiceUnavailable("the server is out of reach")
		}
		if p.interrupted(op.Write, false); p.dead {
			return errKilled
		}
		if !op.Write {
			return w.servers.faults.Meet(workload, op, do)
		}
		text := fmt.Sprintf("%s %s %s %s %s", name, op.Verb, op.Kind+slash(op.Subresource), op.Key, op.Body)
		w.Secrets("a write to the API", op.Body)
		return p.effect(text, func() error {
			w.servers.lives(workload, op)
			if !workload && !w.servers.concernsPool(op.Kind, op.Key) {
				w.Blame("foreign", "a pass for %s wrote %s %s of another pool", w.key, op.Kind, op.Key)
			}
			begins := p.drains(workload, op)
			p.recordDeletion(workload, op)
			err := w.servers.faults.Meet(workload, op, do)
			begins()
			p.revertDeletion(workload, op)
			if workload && w.Workload.Users.Lifts(op) {
				w.Blame("foreign", "node %s was uncordoned, which a user has cordoned", op.Key.Name)
			}
			if !workload {
				w.keeper.Greet(op)
				w.servers.staysReady(op)
				w.servers.quarrels(op)
			}
			w.Trace("api", "%s%s -> %s", p.name, text, answer(err))
			return err
		})
	}
}

// late returns how stale the facts of the process can be.
func (p *process) late() time.Duration {
	now, w := time.Now(), p.world
	if p.lagging > 0 || now.Sub(p.lagUntil) < seenLater || now.Sub(w.Workload.Outage.Until()) < seenLater || now.Before(p.deafUntil) ||
		len(w.managers.list) > 1 {
		return seenLater
	}
	return seenLate
}

// drains watches a write to a Node. What it gives is to be called after the write, and has it judged if a drain has begun by it.
func (p *process) drains(workload bool, op memapi.Op) func() {
	w := p.world
	if !workload || op.Kind != "Node" || op.Verb == "delete" {
		return func() {}
	}
	id := w.Workload.MachineOf(op.Key.Name)
	if id == "" || w.Workload.Drains.Begun(op.Key.Name) {
		return func() {}
	}
	return func() {
		if !w.Workload.Drains.Begun(op.Key.Name) {
			return
		}
		a, now := w.account, time.Now()
		cloud, nodes := w.Snapshot(), w.Workload.Truth()
		before := maps.Clone(nodes)
		n := nodes[id]
		n.DrainStarted = time.Time{}
		before[id] = n
		a.look(cloud, before, nil)
		w.servers.strange(cloud, id)
		lost, risen := a.ledger.Lately(now, p.late())
		a.look(cloud, nodes, []string{id})
		a.judge(p, oracle.Write{
			At: now, Call: "a drain of " + op.Key.Name, Drains: true, Named: []string{id}, Before: cloud, After: cloud, Nodes: before,
			Desired: p.desired,
			Unseen:  2 * script.Unseen, Moved: !a.world.Notes.moved.IsZero() && now.Sub(a.world.Notes.moved) < p.late(), Lost: lost, Risen: risen,
			Autoscaled: a.world.Notes.autoscaledLately(p.late()),
		})
	}
}

// strange blames the drain of an instance of another pool.
func (sv *servers) strange(is oracle.Cloud, id string) {
	w := sv.world
	for _, g := range is.Groups {
		has := slices.ContainsFunc(g.Members, func(i oracle.Member) bool { return i.ID == id })
		another := func(m *member) bool { return m != w.member && g.Owner != "" && g.Owner == m.Objects.owner.ID }
		if has && slices.ContainsFunc(w.members, another) {
			w.Blame("foreign", "a pass for %s began the drain of %s of group %s of another pool", w.key, id, g.Name)
		}
	}
}

// lives looks at a Node that is to be deleted.
func (sv *servers) lives(workload bool, op memapi.Op) {
	w := sv.world
	if !workload || op.Verb != "delete" || op.Kind != "Node" {
		return
	}
	w.Workload.Drains.Remember(op.Key.Name)
	if !w.Objects.deleted() {
		w.blameAll("living node", oracle.LivingNode(op.Key.Name, w.Workload.MachineOf(op.Key.Name), w.Snapshot()))
	}
}

// staysReady looks at a write of a status: a rotation of the bootstrap token changes no Ready.
func (sv *servers) staysReady(op memapi.Op) {
	if op.Subresource == "status" && sv.rotation.Lately() {
		sv.world.blameAll("rotation", oracle.Rotation(sv.world.Objects.readiness()))
	}
}

// quarrels looks at what a write of Muster has left in both objects.
func (sv *servers) quarrels(op memapi.Op) {
	w := sv.world
	if op.Subresource != "" || op.Verb == "delete" || op.Kind != w.Objects.kind && op.Kind != "MachinePool" {
		return
	}
	counts := func() bool { // each read that is behind may take the objects back
		return len(w.managers.list) > 1 && !slices.ContainsFunc(w.account.inForce(), func(f sim.PlayedFault) bool { return f.Kind == sim.Stale })
	}
	if wrong := w.quarrel.Record(w.Objects.observed(), sv.members, counts); wrong != "" {
		w.Blame("busy", "%s", wrong)
	}
}

// members names those that the cloud has, and whether they leave.
func (sv *servers) members() string {
	var list []string
	for _, g := range sv.world.Snapshot().Groups {
		for _, m := range g.Members {
			list = append(list, fmt.Sprint(g.Name, m.ID, m.Leaving))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func slash(sub string) string {
	if sub == "" {
		return ""
	}
	return "/" + sub
}

func answer(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// prune takes a field out of the status of the infrastructure object that was written, as an API server does whose definition of the kind
// is older.
func (sv *servers) prune(op memapi.Op, field string) {
	w := sv.world
	o := w.pool.New()
	if w.Objects.User.Get(w.t.Context(), op.Key, o) != nil {
		return
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	w.Must(err, "read the fields of %s", op.Key)
	if _, is, _ := unstructured.NestedFieldNoCopy(fields, "status", field); !is {
		return
	}
	unstructured.RemoveNestedField(fields, "status", field)
	pruned := w.pool.New()
	w.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(fields, pruned), "prune the status of %s", op.Key)
	w.Must(w.Objects.server.Put(pruned), "write the status of %s", op.Key)
}

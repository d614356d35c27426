package world

import (
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/memapi"
)

// outsideOneIn is how rare scenarios are with each of the things that outside draws.
const outsideOneIn = 12

// Outside draws what users and restores do to objects, and what the credentials do not allow.
func (d *Drawing) Outside() {
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Cordon, At: at, N: d.IntN(9)})
		d.Scenario.Add(Event{What: Uncordon, At: at + time.Duration(20+d.IntN(400))*time.Second})
	}
	if d.IntN(outsideOneIn) == 0 && d.Scenario.Kind.Machines != nil {
		d.Scenario.Add(Event{What: LoseOwner, At: d.Moment(), N: d.IntN(9)})
	}
	if d.IntN(outsideOneIn) == 0 {
		if of := d.odds().Secondary; of != nil {
			d.Scenario.Denied = of(d.Scenario)
		}
	}
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Waver, At: at, N: d.IntN(9)})
		d.Scenario.Add(Event{What: Uncordon, At: at + time.Duration(90+d.IntN(400))*time.Second})
	}
	d.named()
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Restored, At: at, N: d.IntN(9)})
		if d.IntN(2) == 0 {
			d.Scenario.Add(Event{What: Copied, At: max(0, at-time.Duration(d.IntN(120))*time.Second)})
		}
	}
}

// named draws a pool whose object names the group of another tool.
func (d *Drawing) named() {
	if d.IntN(outsideOneIn) > 0 || d.Scenario.Has(HandForeign) || d.Scenario.Kind.TheirID == "" {
		return
	}
	d.Scenario.Named = true
	d.Scenario.Add(Event{What: HandDropForeign, At: time.Minute + d.Moment()})
}

// groupOf returns the name of the group that a provider ID names.
func (k *Kind) groupOf(id string) string {
	if k.GroupOf != nil {
		return k.GroupOf(id)
	}
	return id[strings.LastIndex(id, "/")+1:]
}

// deny refuses the secondary read of the scenario, if there is one.
func (w *World) deny() {
	if w.Scenario.Denied == "" {
		return
	}
	f := sim.Fault{Kind: sim.ErrorBefore, Action: w.Scenario.Denied, Code: w.Scenario.Kind.Odds.Denial, Message: "played by the explorer", Status: http.StatusForbidden}
	w.Must(w.pool.Cloud.Faults().Add(f), "deny a read")
}

// cordon has a user cordon the n-th node, and returns it; nil if there is none.
func (l *Workload) cordon(n int) *corev1.Node {
	var list []*corev1.Node
	for _, m := range l.running() {
		if node := l.node(m); node != nil && m.joined && !node.Spec.Unschedulable {
			list = append(list, node)
		}
	}
	if len(list) == 0 {
		return nil
	}
	node := list[n%len(list)]
	node.Spec.Unschedulable = true
	l.cordoned[node.Name] = true
	l.world.Must(l.user.Update(l.world.t.Context(), node), "cordon node %s", node.Name)
	return node
}

// waverFor is how long a user takes to give up a scale-in.
const waverFor = 20 * time.Second

// waver has a user cordon and mark the n-th node, scale the pool in by one, and take both back while budgets keep the node's pods.
func (w *World) waver(n int) {
	node := w.Workload.cordon(n)
	mp, _ := w.Objects()
	if node == nil || mp == nil || ptr.Deref(mp.Spec.Replicas, 0) < 2 {
		return
	}
	was := *mp.Spec.Replicas
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, clusterv1.DeleteMachineAnnotation, "yes")
	w.Must(w.Workload.user.Update(w.t.Context(), node), "mark node %s", node.Name)
	w.Workload.by[w.Workload.machineOf(node.Name)].marked = time.Now()
	w.Workload.block(2 * waverFor)
	w.happen(Event{What: Replicas, N: int(was) - 1, M: 1})
	w.At(time.Now().Add(waverFor), func() {
		if mp, _ := w.Objects(); mp != nil && mp.DeletionTimestamp.IsZero() {
			w.happen(Event{What: Replicas, N: int(was), M: 1})
		}
	})
}

// uncordon has users take back their cordons, except where a drain has begun meanwhile.
func (l *Workload) uncordon() {
	for _, m := range l.running() {
		node := l.node(m)
		if node == nil || !l.cordoned[node.Name] || node.Annotations[drain.StartedAnnotation] != "" || !l.world.keeper.drains[m.ID].IsZero() {
			continue
		}
		delete(l.cordoned, node.Name)
		node.Spec.Unschedulable = false
		l.world.Must(l.user.Update(l.world.t.Context(), node), "uncordon node %s", node.Name)
	}
	l.house()
}

// lifts blames a write of Muster that takes back the cordon of a user.
func (l *Workload) lifts(op memapi.Op) {
	node := &corev1.Node{}
	if op.Kind == "Node" && l.cordoned[op.Key.Name] && l.user.Get(l.world.t.Context(), op.Key, node) == nil && !node.Spec.Unschedulable {
		l.world.blame("foreign", "node %s was uncordoned, which a user has cordoned", node.Name)
	}
}

// loseOwner drops the owner references of the n-th infrastructure machine.
func (w *World) loseOwner(n int) {
	living := slices.DeleteFunc(w.infraMachines(), func(o client.Object) bool { return !o.GetDeletionTimestamp().IsZero() })
	if len(living) > 0 {
		o := living[n%len(living)]
		o.SetOwnerReferences(nil)
		w.Must(w.User.Update(w.t.Context(), o), "drop the owner of %s", o.GetName())
	}
}

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

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/drain"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/memapi"
)

// outsideOneIn is how rare scenarios are with each of the things that outside draws.
const outsideOneIn = 12

// outside draws what users and restores do to objects, and what the credentials do not allow.
func (d *drawing) outside() {
	if d.IntN(outsideOneIn) == 0 {
		at := d.moment()
		d.s.add(Event{What: Cordon, At: at, N: d.IntN(9)})
		d.s.add(Event{What: Uncordon, At: at + time.Duration(20+d.IntN(400))*time.Second})
	}
	if d.IntN(outsideOneIn) == 0 && d.s.onAzure() {
		d.s.add(Event{What: LoseOwner, At: d.moment(), N: d.IntN(9)})
	}
	if d.IntN(outsideOneIn) == 0 {
		d.s.Denied = d.secondary()
	}
	if d.IntN(outsideOneIn) == 0 {
		at := d.moment()
		d.s.add(Event{What: Waver, At: at, N: d.IntN(9)})
		d.s.add(Event{What: Uncordon, At: at + time.Duration(90+d.IntN(400))*time.Second})
	}
	d.named()
	if d.IntN(outsideOneIn) == 0 {
		at := d.moment()
		d.s.add(Event{What: Restored, At: at, N: d.IntN(9)})
		if d.IntN(2) == 0 {
			d.s.add(Event{What: Copied, At: max(0, at-time.Duration(d.IntN(120))*time.Second)})
		}
	}
}

// named draws a pool whose object names the group of another tool.
func (d *drawing) named() {
	if d.IntN(outsideOneIn) > 0 || d.s.Has(HandForeign) || d.s.onAKS() {
		return
	}
	d.s.Named = true
	d.s.add(Event{What: HandDropForeign, At: time.Minute + d.moment()})
}

// secondary is a read without which the rest of a pool can be observed.
func (d *drawing) secondary() string {
	switch {
	case d.s.onAKS():
		return "Operations_Get"
	case d.s.Mode == azurev1.FlexibleOrchestrationMode:
		return "VirtualMachineScaleSetVMs_List"
	case d.s.Managed:
		return "" // without ListUpdates no update is begun: the pool is observed, and rests as it is
	case d.s.onAzure():
		return ""
	}
	return "DescribeScalingActivities"
}

// theirUUID is the last part of the ARN of a node group, by which nothing is found.
const theirUUID = "00000000-0000-0000-0000-000000000000"

// groupOf returns the name of the group that a provider ID names.
func groupOf(id string) string {
	if _, path, managed := strings.Cut(id, ":nodegroup/"); managed {
		return strings.Split(path+"/", "/")[1]
	}
	return id[strings.LastIndex(id, "/")+1:]
}

// theirID is what spec.providerID says of the group of another tool.
func (w *World) theirID() string {
	if w.scenario.onAzure() {
		return "azure://" + setPath(theirGroup)
	}
	if w.scenario.Managed {
		return "arn:aws:eks:" + simaws.Region + ":" + simaws.AccountID + ":nodegroup/" + eksCluster + "/" + theirGroup + "/" + theirUUID
	}
	return "arn:aws:autoscaling:eu-west-1:000000000000:autoScalingGroup:x:autoScalingGroupName/" + theirGroup
}

// deny refuses the secondary read of the scenario, if there is one.
func (w *World) deny() {
	if w.scenario.Denied == "" {
		return
	}
	f := sim.Fault{Kind: sim.ErrorBefore, Action: w.scenario.Denied, Code: "AccessDenied", Message: "played by the explorer", Status: http.StatusForbidden}
	if w.scenario.InAzure() {
		f.Code = "AuthorizationFailed"
	}
	w.must(w.account.server.Faults().Add(f), "deny a read")
}

// cordon has a user cordon the n-th node, and returns it; nil if there is none.
func (l *workload) cordon(n int) *corev1.Node {
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
	l.world.must(l.user.Update(l.world.t.Context(), node), "cordon node %s", node.Name)
	return node
}

// waverFor is how long a user takes to give up a scale-in.
const waverFor = 20 * time.Second

// waver has a user cordon and mark the n-th node, scale the pool in by one, and take both back while budgets keep the node's pods.
func (w *World) waver(n int) {
	node := w.workload.cordon(n)
	mp, _ := w.objects(w.user)
	if node == nil || mp == nil || ptr.Deref(mp.Spec.Replicas, 0) < 2 {
		return
	}
	was := *mp.Spec.Replicas
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, clusterv1.DeleteMachineAnnotation, "yes")
	w.must(w.workload.user.Update(w.t.Context(), node), "mark node %s", node.Name)
	w.workload.by[w.workload.machineOf(node.Name)].marked = time.Now()
	w.workload.block(2 * waverFor)
	w.happen(Event{What: Replicas, N: int(was) - 1, M: 1})
	w.at(time.Now().Add(waverFor), func() {
		if mp, _ := w.objects(w.user); mp != nil && mp.DeletionTimestamp.IsZero() {
			w.happen(Event{What: Replicas, N: int(was), M: 1})
		}
	})
}

// uncordon has users take back their cordons, except where a drain has begun meanwhile.
func (l *workload) uncordon() {
	for _, m := range l.running() {
		node := l.node(m)
		if node == nil || !l.cordoned[node.Name] || node.Annotations[drain.StartedAnnotation] != "" || !l.world.keeper.drains[m.ID].IsZero() {
			continue
		}
		delete(l.cordoned, node.Name)
		node.Spec.Unschedulable = false
		l.world.must(l.user.Update(l.world.t.Context(), node), "uncordon node %s", node.Name)
	}
	l.house()
}

// lifts blames a write of Muster that takes back the cordon of a user.
func (l *workload) lifts(op memapi.Op) {
	node := &corev1.Node{}
	if op.Kind == "Node" && l.cordoned[op.Key.Name] && l.user.Get(l.world.t.Context(), op.Key, node) == nil && !node.Spec.Unschedulable {
		l.world.blame("foreign", "node %s was uncordoned, which a user has cordoned", node.Name)
	}
}

// loseOwner drops the owner references of the n-th infrastructure machine.
func (w *World) loseOwner(n int) {
	list := &azurev1.AzureMachinePoolMachineList{}
	w.must(w.user.List(w.t.Context(), list, client.InNamespace(namespace)), "list infrastructure machines")
	living := slices.DeleteFunc(list.Items, func(o azurev1.AzureMachinePoolMachine) bool { return !o.DeletionTimestamp.IsZero() })
	if len(living) > 0 {
		o := &living[n%len(living)]
		o.OwnerReferences = nil
		w.must(w.user.Update(w.t.Context(), o), "drop the owner of %s", o.Name)
	}
}

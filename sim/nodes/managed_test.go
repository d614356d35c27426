package nodes_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// managed is a machine of a node group of EKS.
func managed(s *served.Server, data string) sim.Machine {
	m := machine("i-1", []byte(data))
	m.Managed = &sim.Managed{Cluster: "c", Group: "g", Server: "https://" + s.Endpoint(), CA: s.CA(), Token: served.Token,
		Labels: map[string]string{"eks.amazonaws.com/nodegroup": "g", "team": "blue"},
		Taints: []sim.Taint{{Key: "dedicated", Value: "x", Effect: "NoSchedule"}}}
	return m
}

func TestMachineOfANodeGroupJoinsByItself(t *testing.T) {
	t.Parallel()
	archive := func(parts ...string) string {
		return "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n" + strings.Join(parts, "\n--B\n") + "\n--B--\n"
	}
	flags := "Content-Type: application/node.eks.aws\n\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 17}, flags: " +
		"[--node-labels=team=red]}}"
	for _, tc := range []struct {
		reason, data string
		own          bool
		label, value string
		pods         int64
		tainted      bool
	}{
		{reason: "an image of EKS's needs no user data", label: "eks.amazonaws.com/nodegroup", value: "g", pods: 110, tainted: true},
		{reason: "user data runs before", data: archive("Content-Type: text/x-shellscript\n\n#!/bin/bash\necho hello"), label: "team",
			value: "blue", pods: 110, tainted: true},
		{reason: "its flags come beside EKS's", data: archive(flags), label: "team", value: "red", pods: 17, tainted: true},
		{reason: "an image of one's own joins by bootstrap.sh", own: true,
			data: "#!/bin/bash\nset -ex\n/etc/eks/bootstrap.sh c \\\n  --kubelet-extra-args '--node-labels=team=own'\n", label: "team", value: "own",
			pods: 110},
		{reason: "or as the EKS bootstrap provider has it", own: true,
			data: "#cloud-config\nruncmd:\n- /etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=team=own --max-pods=9'\n", label: "team",
			value: "own", pods: 9},
		{reason: "or by a whole NodeConfig", own: true, data: archive(flags), label: "team", value: "red", pods: 17},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
			m := managed(s, tc.data)
			m.Managed.Own = tc.own
			f.PowerOn(m)
			var node *corev1.Node
			if !s.Await(deadline(t), "nodes", "", hostname, func(o apiruntime.Object) bool {
				node, _ = o.(*corev1.Node)
				return ready(o)
			}) {
				t.Fatalf("no Ready node; console:\n%s", f.Console("i-1"))
			}
			if node.Spec.ProviderID != m.ProviderID || node.Labels[tc.label] != tc.value || node.Status.Capacity.Pods().Value() != tc.pods ||
				(len(node.Spec.Taints) > 0) != tc.tainted {
				t.Errorf("want %s=%s, %d pods, tainted %v; got %+v", tc.label, tc.value, tc.pods, tc.tainted, node)
			}
			for !f.Ready("i-1") { // The kubelet says so to us a moment after it said so to the API server.
				if deadline(t).Err() != nil {
					t.Fatal("want the machine known as ready")
				}
			}
			if strings.Contains(string(f.Console("i-1")), strings.Split(served.Token, ".")[1]) {
				t.Errorf("the console shows the token:\n%s", f.Console("i-1"))
			}
		})
	}
}

func TestMachineOfANodeGroupThatIsTurnedAway(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, data, says string
		change             func(*sim.Machine)
	}{
		{reason: "its role is not let in", says: "Unauthorized", change: func(m *sim.Machine) { m.Managed.Token = "" }},
		{reason: "its user data names another cluster", data: "#!/bin/bash\n/etc/eks/bootstrap.sh other\n",
			says: "no access to the cluster other", change: func(m *sim.Machine) { m.Managed.Own = true }},
		{reason: "it is of no node group", data: "#!/bin/bash\n/etc/eks/bootstrap.sh c\n", says: "of no node group",
			change: func(m *sim.Machine) { m.Managed = nil }},
		{reason: "an image of one's own without any user data", says: "user data is empty",
			change: func(m *sim.Machine) { m.Managed.Own = true }},
		{reason: "a NodeConfig that is none", data: "Content-Type: application/node.eks.aws\nMIME-Version: 1.0\n\nkind: Pod\n",
			says: "could not decode the NodeConfig"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
			m := managed(s, tc.data)
			if tc.change != nil {
				tc.change(&m)
			}
			f.PowerOn(m)
			if c := awaitConsole(t, f, "has not joined a cluster"); !strings.Contains(c, tc.says) {
				t.Errorf("want %q on the console, got:\n%s", tc.says, c)
			}
			if f.Ready("i-1") || !f.Drain("i-1", false) {
				t.Error("want a machine that is not ready, and that has nothing to drain")
			}
		})
	}
}

// awaitNode waits until the node is as ok says.
func awaitNode(t *testing.T, s *served.Server, f *nodes.Fleet, want string, ok func(*corev1.Node) bool) {
	t.Helper()
	if !s.Await(deadline(t), "nodes", "", hostname, func(o apiruntime.Object) bool {
		n, is := o.(*corev1.Node)
		return is && n != nil && ok(n)
	}) {
		t.Fatalf("want %s; console:\n%s", want, f.Console("i-1"))
	}
}

func TestEKSDrainsANode(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(managed(s, ""))
	awaitNode(t, s, f, "a Ready node", func(n *corev1.Node) bool { return ready(n) })
	daemon := pod("daemon")
	daemon.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d", Controller: ptr.To(true)}}
	put(t, s, daemon)
	put(t, s, pod("web"))
	s.Refuse(func(_, verb, path string) int {
		if verb == "post" && strings.HasSuffix(path, "/eviction") {
			return http.StatusTooManyRequests
		}
		return 0
	})
	if f.Drain("i-1", false) {
		t.Error("want a drain that is not done at once")
	}
	awaitNode(t, s, f, "the node closed", func(n *corev1.Node) bool { return n.Spec.Unschedulable })
	awaitConsole(t, f, "pod default/web: ")
	if f.Drain("i-1", false) {
		t.Error("want a drain that a budget holds up")
	}
	t.Run("one that is called off opens the node", func(t *testing.T) {
		f.Cordon("i-1", false)
		awaitNode(t, s, f, "the node open", func(n *corev1.Node) bool { return !n.Spec.Unschedulable })
	})
	t.Run("and ends once the budget lets it", func(t *testing.T) {
		s.Refuse(nil)
		untilDrained(t, f, false)
		if !s.Await(deadline(t), "pods", "default", "web", func(o apiruntime.Object) bool { return o == nil }) ||
			!s.Await(deadline(t), "pods", "default", "daemon", exists) {
			t.Error("want the pod gone and the DaemonSet's still there")
		}
	})
	t.Run("by force it needs no leave", func(t *testing.T) {
		f.Cordon("i-1", false)
		awaitNode(t, s, f, "the node open", func(n *corev1.Node) bool { return !n.Spec.Unschedulable })
		put(t, s, pod("again"))
		s.Refuse(func(_, verb, path string) int {
			if verb == "post" && strings.HasSuffix(path, "/eviction") {
				return http.StatusTooManyRequests
			}
			return 0
		})
		untilDrained(t, f, true)
	})
}

func untilDrained(t *testing.T, f *nodes.Fleet, force bool) {
	t.Helper()
	ctx := deadline(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f.Drain("i-1", force) {
		select {
		case <-ctx.Done():
			t.Fatalf("want the node drained; console:\n%s", f.Console("i-1"))
		case <-tick.C:
		}
	}
}

func TestEKSDrainsANodeFromBeforeARestart(t *testing.T) {
	t.Parallel()
	s, dir := server(t, served.Options{}), t.TempDir()
	m := managed(s, "")
	joinedBefore(t, s, dir, m)
	put(t, s, pod("web"))
	f := fleet(t, nodes.Options{Dir: dir})
	f.PowerOn(m)
	if f.Drain("i-1", false) {
		t.Error("want a drain that is not done before the kubelet has come back")
	}
	// A cloud that closes the node with every look keeps nothing from being drained.
	ctx := deadline(t)
	for ; !f.Drain("i-1", false); time.Sleep(time.Millisecond) {
		if f.Cordon("i-1", true); ctx.Err() != nil {
			t.Fatalf("want the node drained; console:\n%s", f.Console("i-1"))
		}
	}
	if !s.Await(deadline(t), "pods", "default", "web", func(o apiruntime.Object) bool { return o == nil }) {
		t.Error("want the pod gone")
	}
}

func TestEKSMarksANode(t *testing.T) {
	t.Parallel()
	s, dir := server(t, served.Options{}), t.TempDir()
	f := nodes.New(nodes.Options{Speed: 500, Dir: dir})
	m := managed(s, "")
	f.PowerOn(m)
	// What is asked before the node is there is done when it comes.
	f.Mark("i-1", sim.Marks{Labels: map[string]string{"early": ""}, Unlabel: []string{"team"},
		Untaint: []sim.Taint{{Key: "dedicated", Effect: "NoSchedule"}}, Taints: []sim.Taint{{Key: "other", Value: "1", Effect: "NoExecute"}}})
	f.Mark("outsider", sim.Marks{})
	awaitNode(t, s, f, "the labels and taints changed", func(n *corev1.Node) bool {
		_, early := n.Labels["early"]
		_, team := n.Labels["team"]
		return early && !team && fmt.Sprint(n.Spec.Taints) == fmt.Sprint([]corev1.Taint{{Key: "other", Value: "1", Effect: "NoExecute"}})
	})
	f.Close()
	// A process that was away while the group's labels changed puts them right.
	m.Managed.Labels["late"] = "yes"
	again := fleet(t, nodes.Options{Dir: dir})
	again.PowerOn(m)
	awaitNode(t, s, again, "the group's labels again", func(n *corev1.Node) bool {
		return n.Labels["late"] == "yes" &&
			n.Labels["team"] == "blue"
	})
}

// TestAKSDeletesANode holds that the node of a machine is deleted, also when the machine is powered off at once.
func TestAKSDeletesANode(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(managed(s, ""))
	awaitNode(t, s, f, "a Ready node", func(n *corev1.Node) bool { return ready(n) })
	f.Unregister("other")
	f.Unregister("i-1")
	f.PowerOff("i-1")
	if !s.Await(deadline(t), "nodes", "", hostname, func(o apiruntime.Object) bool { return o == nil }) {
		t.Fatalf("want the node gone; console:\n%s", f.Console("i-1"))
	}
}

func TestReadyFollowsTheKubelet(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	await := func(want bool) {
		t.Helper()
		ctx := deadline(t)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for f.Ready("i-1") != want {
			select {
			case <-ctx.Done():
				t.Fatalf("want ready %v; console:\n%s", want, f.Console("i-1"))
			case <-tick.C:
			}
		}
	}
	if f.Ready("i-1") {
		t.Error("want a machine that is not on not ready")
	}
	f.PowerOn(managed(s, ""))
	await(true)
	f.Hang("i-1")
	await(false)
	f.Resume("i-1")
	await(true)
	f.PowerOff("i-1")
	await(false)
}

package kubelet

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func tenfold(d time.Duration) time.Duration { return d / 10 }

func TestPlan(t *testing.T) {
	t.Parallel()
	terminating := func(grace int64, phase corev1.PodPhase, requested time.Time) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.NewTime(requested.Add(time.Duration(grace) * time.Second))),
				DeletionGracePeriodSeconds: ptr.To(grace)},
			Status: corev1.PodStatus{Phase: phase},
		}
	}
	served := func(ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: ready}}}}
	}
	gated := served(corev1.ConditionTrue)
	gated.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "gate"}}
	phase := func(p corev1.PodPhase) *corev1.Pod { return &corev1.Pod{Status: corev1.PodStatus{Phase: p}} }
	for _, c := range []struct {
		reason string
		pod    *corev1.Pod
		do     action
		after  time.Duration
	}{
		{"a new pod takes three seconds of life to start", phase(corev1.PodPending), start, 300 * time.Millisecond},
		{"a pod without a status yet, too", phase(""), start, 300 * time.Millisecond},
		{"a pod that runs and is ready needs nothing", served(corev1.ConditionTrue), nothing, 0},
		{"one that was called not ready while its node was lost is ready again at once", served(corev1.ConditionFalse), start, 0},
		{"one whose gate was shut is not ready any more", gated, start, 0},
		{"a pod that has ended needs nothing", phase(corev1.PodSucceeded), nothing, 0},
		{"a terminating pod gets its grace period, sped up", terminating(30, corev1.PodRunning, noon), remove, 3 * time.Second},
		{"counted from when it was asked to stop", terminating(30, corev1.PodRunning, noon.Add(-2*time.Second)), remove, time.Second},
		{"also when it never started", terminating(30, corev1.PodPending, noon), remove, 3 * time.Second},
		{"but not when it has ended before", terminating(30, corev1.PodFailed, noon), remove, 0},
		{"no grace means at once", terminating(0, corev1.PodRunning, noon), remove, 0},
		{"a day of grace is cut to an hour", terminating(86400, corev1.PodRunning, noon), remove, 6 * time.Minute},
	} {
		do, at := plan(c.pod, noon, tenfold)
		if do != c.do || !at.Equal(noon.Add(c.after)) {
			t.Errorf("%s: want action %d after %v, got %d after %v", c.reason, c.do, c.after, do, at.Sub(noon))
		}
	}
}

func TestSetFlags(t *testing.T) {
	t.Parallel()
	kept := []corev1.Taint{{Key: "kept", Effect: corev1.TaintEffectNoSchedule}}
	for _, c := range []struct {
		reason string
		flags  map[string]string
		want   Registration
		fails  string
	}{
		{reason: "no flags change nothing", want: Registration{Name: "n", ProviderID: "p", Taints: kept}},
		{reason: "labels", flags: map[string]string{"node-labels": "a=b,c="},
			want: Registration{Name: "n", ProviderID: "p", Taints: kept, Labels: map[string]string{"a": "b", "c": ""}}},
		{reason: "the kubelet's flag for taints replaces kubeadm's field",
			flags: map[string]string{"register-with-taints": "a=b:NoExecute,c:PreferNoSchedule"},
			want: Registration{Name: "n", ProviderID: "p", Taints: []corev1.Taint{{Key: "a", Value: "b", Effect: "NoExecute"},
				{Key: "c", Effect: "PreferNoSchedule"}}}},
		{reason: "provider ID, name and pods", flags: map[string]string{"provider-id": "x:///1", "hostname-override": "Other", "max-pods": "7"},
			want: Registration{Name: "other", ProviderID: "x:///1", MaxPods: 7, Taints: kept}},
		{reason: "a taint without an effect", flags: map[string]string{"register-with-taints": "a=b"}, fails: `invalid taint "a=b"`},
		{reason: "a taint with an unknown effect", flags: map[string]string{"register-with-taints": "a=b:Never"},
			fails: `invalid taint "a=b:Never"`},
		{reason: "pods that are no number", flags: map[string]string{"max-pods": "many"}, fails: `--max-pods: want a number, found "many"`},
	} {
		r := Registration{Name: "n", ProviderID: "p", Taints: kept}
		err := r.SetFlags(c.flags)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: want %q, got %v", c.reason, c.fails, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, r); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.reason, err, diff)
		}
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	k := &kubelet{Options: Options{Node: Registration{Name: "n", Version: "v1.30.0", CPUs: 2, MemoryMiB: 1024, Address: "10.0.0.1",
		Hostname: "n"}}}
	fresh := func(change func(*corev1.Node)) *corev1.Node {
		n := k.Node.node(noon)
		n.Status = k.Node.status(noon, nil, true)
		if change != nil {
			change(n)
		}
		return n
	}
	for _, c := range []struct {
		reason string
		node   *corev1.Node
		now    time.Time
		want   bool
	}{
		{"as it should be: nothing is written", fresh(nil), noon.Add(4 * time.Minute), false},
		{"five minutes old: written again", fresh(nil), noon.Add(5 * time.Minute), true},
		{"just registered, so not Ready", k.Node.node(noon), noon, true},
		{"marked Unknown while the machine was cut off", fresh(func(n *corev1.Node) { n.Status.Conditions[3].Status = corev1.ConditionUnknown }),
			noon, true},
		{"a condition is gone", fresh(func(n *corev1.Node) { n.Status.Conditions = n.Status.Conditions[1:] }), noon, true},
		{"a condition of another client is not the kubelet's", fresh(func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "Mine", Status: corev1.ConditionFalse})
		}), noon, false},
		{"another version, after the image changed", fresh(func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.29.0" }), noon, true},
		{"no addresses", fresh(func(n *corev1.Node) { n.Status.Addresses = nil }), noon, true},
	} {
		if got := k.stale(c.node, c.now); got != c.want {
			t.Errorf("%s: want %v, got %v", c.reason, c.want, got)
		}
	}
}

func TestTransitionTimesStayWhileTheStatusDoes(t *testing.T) {
	t.Parallel()
	r := Registration{Name: "n"}
	before := r.conditions(noon, nil, false)
	after := r.conditions(noon.Add(time.Minute), before, true)
	for i := range after {
		want := noon
		if after[i].Type == corev1.NodeReady {
			want = noon.Add(time.Minute)
		}
		if !after[i].LastTransitionTime.Time.Equal(want) || !after[i].LastHeartbeatTime.Time.Equal(noon.Add(time.Minute)) {
			t.Errorf("%s: want transition at %v and heartbeat a minute later, got %v and %v", after[i].Type, want, after[i].LastTransitionTime,
				after[i].LastHeartbeatTime)
		}
	}
}

func TestLabelsWithoutValues(t *testing.T) {
	t.Parallel()
	r := Registration{Name: "n", Hostname: "h", Arch: "arm64", Labels: map[string]string{"node-role.example.com/x": ""}}
	want := map[string]string{"kubernetes.io/hostname": "h", "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm64", "node-role.example.com/x": ""}
	if diff := cmp.Diff(want, r.labels()); diff != "" {
		t.Errorf("a cloud that names no zone gives no zone label, the user's empty ones stay (-want +got):\n%s", diff)
	}
}

func TestRunningStatus(t *testing.T) {
	t.Parallel()
	r := Registration{Name: "n", Address: "10.0.0.1"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}, Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "init"}, {Name: "sidecar", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
		Containers:     []corev1.Container{{Name: "main", Image: "x"}},
	}}
	s := r.running(pod, noon)
	if s.InitContainerStatuses[0].State.Terminated == nil || s.InitContainerStatuses[1].State.Running == nil ||
		s.ContainerStatuses[0].State.Running == nil {
		t.Errorf("want init done, sidecar and main running, got %+v, %+v", s.InitContainerStatuses, s.ContainerStatuses)
	}
	if !strings.HasPrefix(s.PodIP, "10.") || s.PodIP == s.HostIP || s.PodIP != r.running(pod, noon).PodIP {
		t.Errorf("pod IP: want one of its own that stays, got %q on host %q", s.PodIP, s.HostIP)
	}
	pod.Spec.HostNetwork = true
	if got := r.running(pod, noon).PodIP; got != "10.0.0.1" {
		t.Errorf("pod IP on the host's network: want the host's, got %q", got)
	}
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "gate"}}
	status := func() corev1.ConditionStatus {
		for _, c := range r.running(pod, noon).Conditions {
			if c.Type == corev1.PodReady {
				return c.Status
			}
		}
		return ""
	}
	if got := status(); got != corev1.ConditionFalse {
		t.Errorf("a gate that is not open: want not Ready, got %q", got)
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: "gate", Status: corev1.ConditionTrue}}
	if got := status(); got != corev1.ConditionTrue {
		t.Errorf("an open gate: want Ready, got %q", got)
	}
}

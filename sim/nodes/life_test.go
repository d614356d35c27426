package nodes_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// joinedBefore runs a machine in a process of its own until its node is Ready, and ends that process.
func joinedBefore(t *testing.T, s *served.Server, dir string, m sim.Machine) {
	t.Helper()
	first := nodes.New(nodes.Options{Speed: 500, Dir: dir})
	defer first.Close()
	first.PowerOn(m)
	if !s.Await(deadline(t), "nodes", "", hostname, ready) {
		t.Fatalf("no Ready node; console:\n%s", first.Console(m.ID))
	}
}

func TestMachineComesBackWithoutItsToken(t *testing.T) {
	t.Parallel()
	s, dir := server(t, served.Options{}), t.TempDir()
	m := machine("i-1", userData(t, joinConfig(s), "1.25.0", nil))
	joinedBefore(t, s, dir, m)
	if err := s.ExpireToken(served.Token); err != nil {
		t.Fatal(err)
	}
	put(t, s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: hostname, UID: "n"},
		Spec:   corev1.NodeSpec{ProviderID: m.ProviderID, Taints: []corev1.Taint{{Key: "mine", Effect: "NoSchedule"}}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}})

	second := fleet(t, nodes.Options{Dir: dir})
	second.PowerOn(m)
	if !s.Await(deadline(t), "nodes", "", hostname, func(o apiruntime.Object) bool {
		return ready(o) && o.(*corev1.Node).Spec.Taints[0].Key == "mine"
	}) {
		t.Fatalf("want the node Ready again, its taints as others left them; console:\n%s", second.Console("i-1"))
	}
	if c := string(second.Console("i-1")); !strings.Contains(c, "This node has joined the cluster") ||
		!strings.Contains(c, "continues as node") {
		t.Errorf("want the console of both lives, got:\n%s", c)
	}
}

func TestKeptFiles(t *testing.T) {
	t.Parallel()
	s, dir := server(t, served.Options{}), t.TempDir()
	m := machine("i-1", userData(t, joinConfig(s), "1.25.0", nil))
	joinedBefore(t, s, dir, m)
	count := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		count++
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: want mode 0600, got %v", path, info.Mode())
		}
		return err
	})
	if err != nil || count == 0 {
		t.Fatalf("want files with the machine's identity, got %d and %v", count, err)
	}
	f := fleet(t, nodes.Options{Dir: dir})
	f.PowerOff("i-1") // The machine was on in the process before.
	if _, err := os.Stat(filepath.Join(dir, "i-1")); !os.IsNotExist(err) {
		t.Errorf("want the files of a machine that was powered off removed, got %v", err)
	}
	f.PowerOff("../" + filepath.Base(dir))
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("an ID that is a path must not reach outside of the fleet's folder: %v", err)
	}
}

func TestFirstBootThatCameToNothingIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m := machine("i-1", []byte("#cloud-config\nruncmd: [kubeadm join --config /nowhere]\n"))
		day := func() string {
			f := nodes.New(nodes.Options{Dir: dir})
			defer f.Close()
			f.PowerOn(m)
			time.Sleep(24 * time.Hour)
			return string(f.Console("i-1"))
		}
		first := day()
		if !strings.Contains(first, "has not joined a cluster") {
			t.Fatalf("want a first boot that comes to nothing, got:\n%s", first)
		}
		if second := day(); second != first {
			t.Errorf("want the console of the first boot unchanged, got:\n%s", second)
		}
	})
}

func TestPowerOffKeepsNodeAndConsole(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	if !s.Await(deadline(t), "nodes", "", hostname, ready) {
		t.Fatalf("no Ready node; console:\n%s", f.Console("i-1"))
	}
	f.PowerOff("i-1")
	if !s.Await(deadline(t), "nodes", "", hostname, exists) {
		t.Error("want the Node to stay when its machine is powered off")
	}
	if len(f.Console("i-1")) == 0 {
		t.Error("want the console readable after power-off")
	}
}

func TestHeartbeatStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	f.PowerOn(machine("i-1", nil)) // A machine that runs goes on: the second power-on changes nothing.
	if !s.Await(deadline(t), "nodes", "", hostname, ready) {
		t.Fatalf("no Ready node; console:\n%s", f.Console("i-1"))
	}
	f.Hang("i-1")
	put(t, s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: hostname, UID: "n"}, Spec: corev1.NodeSpec{ProviderID: "aws:///eu-west-1a/i-1"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}}})
	f.Resume("i-1")
	if !s.Await(deadline(t), "nodes", "", hostname, ready) {
		t.Fatalf("want the node Ready after Resume; console:\n%s", f.Console("i-1"))
	}
	f.Hang("outsider")
	f.PowerOff("outsider")
	if got := f.Console("outsider"); len(got) != 0 {
		t.Errorf("console of an unknown machine: want nothing, got %q", got)
	}
}

func TestNodeOfAnotherMachineIsNotTakenOver(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	put(t, s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: hostname, UID: "old"},
		Spec: corev1.NodeSpec{ProviderID: "aws:///eu-west-1a/i-old"}})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	awaitConsole(t, f, "belongs to aws:///eu-west-1a/i-old")
	if err := s.DeleteNode(t.Context(), hostname); err != nil {
		t.Fatal(err)
	}
	if !s.Await(deadline(t), "nodes", "", hostname, func(o apiruntime.Object) bool {
		return ready(o) && o.(*corev1.Node).Spec.ProviderID == "aws:///eu-west-1a/i-1"
	}) {
		t.Fatalf("want the machine's own node once the old one is gone; console:\n%s", f.Console("i-1"))
	}
}

func TestPods(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	gone := func(o apiruntime.Object) bool { return o == nil }
	put(t, s, pod("early")) // It was bound before the machine was there.
	if !s.Await(deadline(t), "pods", "default", "early", running) {
		t.Fatalf("want the pod Running; console:\n%s", f.Console("i-1"))
	}
	other := pod("other")
	other.Spec.NodeName = "another-node"
	put(t, s, other)
	put(t, s, pod("late"))
	if !s.Await(deadline(t), "pods", "default", "late", running) {
		t.Fatal("want a pod that is bound later Running")
	}
	terminating := pod("late")
	terminating.Status.Phase = corev1.PodRunning
	terminating.DeletionTimestamp, terminating.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(time.Now().Add(30*time.Second))),
		ptr.To[int64](30)
	put(t, s, terminating)
	if !s.Await(deadline(t), "pods", "default", "late", gone) {
		t.Fatal("want a terminating pod deleted")
	}
	now, cancel := context.WithCancel(t.Context())
	cancel() // An ended context looks once and does not wait.
	if s.Await(now, "pods", "default", "other", running) {
		t.Error("a pod of another node was run")
	}
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := served.Start(served.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := nodes.New(nodes.Options{Speed: 500})
	const count = 5
	for i := range count {
		m := machine(fmt.Sprintf("i-%d", i), userData(t, joinConfig(s), "1.25.0", nil))
		m.Hostname = fmt.Sprintf("host-%d", i)
		f.PowerOn(m)
	}
	for i := range count {
		if !s.Await(deadline(t), "nodes", "", fmt.Sprintf("host-%d", i), ready) {
			t.Fatalf("machine %d is not Ready; console:\n%s", i, f.Console(fmt.Sprintf("i-%d", i)))
		}
	}
	f.Close()
	f.PowerOn(machine("i-late", nil)) // After Close nothing starts.
	s.Close()
	ctx := deadline(t)
	for runtime.NumGoroutine() > before+1 && ctx.Err() == nil {
		runtime.Gosched()
	}
	if got := runtime.NumGoroutine(); got > before+1 {
		b := make([]byte, 1<<20)
		t.Errorf("goroutines: want at most %d after Close, got %d:\n%s", before+1, got, b[:runtime.Stack(b, true)])
	}
}

// TestBootTakesItsTime runs in virtual time: what is on the console is a question of the moment and the speed alone.
func TestBootTakesItsTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason   string
		speed    float64
		launched time.Duration
		at       time.Duration
		want     string
		not      string
	}{
		{reason: "before the kernel", speed: 1, at: time.Second, not: "Linux version"},
		{reason: "the kernel is up after two seconds", speed: 1, at: 3 * time.Second, want: "Linux version", not: "running 'init'"},
		{reason: "user data is read within half a minute", speed: 1, at: 21 * time.Second, want: "user data is empty"},
		{reason: "ten times faster", speed: 10, at: 2100 * time.Millisecond, want: "user data is empty"},
		{reason: "the default is ten", speed: 0, at: 2100 * time.Millisecond, want: "user data is empty"},
		{reason: "but not before", speed: 10, at: 1700 * time.Millisecond, not: "user data is empty"},
		{reason: "a process that was restarted does not boot its machines anew", speed: 1, launched: -time.Minute, at: time.Millisecond,
			want: "user data is empty"},
		{reason: "a launch in the future counts from now", speed: 1, launched: time.Hour, at: 21 * time.Second, want: "user data is empty"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := nodes.New(nodes.Options{Speed: c.speed})
				defer f.Close()
				m := machine("i-1", nil)
				m.Launched = time.Now().Add(c.launched)
				f.PowerOn(m)
				time.Sleep(c.at)
				synctest.Wait()
				got := string(f.Console("i-1"))
				if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
					t.Errorf("after %v at speed %v: want %q and not %q, got:\n%s", c.at, c.speed, c.want, c.not, got)
				}
			})
		})
	}
}

func TestPowerOffEndsABootAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := nodes.New(nodes.Options{Speed: 1})
		defer f.Close()
		f.PowerOn(machine("i-1", []byte("#cloud-config\nruncmd: [hello]\n")))
		time.Sleep(5 * time.Second)
		f.PowerOff("i-1")
		time.Sleep(time.Hour)
		if got := string(f.Console("i-1")); !strings.Contains(got, "Linux version") || strings.Contains(got, "hello") {
			t.Errorf("want the console of the first five seconds, got:\n%s", got)
		}
		f.PowerOn(machine("i-1", []byte("#cloud-config\nruncmd: [hello]\n")))
		time.Sleep(time.Minute)
		if got := string(f.Console("i-1")); !strings.Contains(got, "runcmd: + hello") || strings.Count(got, "Linux version") != 1 {
			t.Errorf("want a new console after a new power-on, got:\n%s", got)
		}
	})
}

func TestConsoleIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := nodes.New(nodes.Options{})
		defer f.Close()
		f.PowerOn(machine("i-1", []byte("#cloud-config\nruncmd:\n"+strings.Repeat("- "+strings.Repeat("x", 2000)+"\n", 1000)+"- the last one\n")))
		time.Sleep(time.Minute)
		got := string(f.Console("i-1"))
		if len(got) > 64<<10 || !strings.Contains(got, "the last one") {
			t.Errorf("want at most 64 KiB with the newest lines, got %d bytes that end in %q", len(got), got[max(0, len(got)-200):])
		}
	})
}

func TestLostConnectionsAreMadeAnew(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	awaitConsole(t, f, "is Ready") // The reply to the node's status has arrived: only the watch of pods is open, and tells of the outage.
	s.Refuse(func(user, _, path string) int {
		if strings.HasPrefix(user, "system:node:") && strings.HasSuffix(path, "/pods") {
			return 503
		}
		return 0
	})
	s.Drop()
	awaitConsole(t, f, "Failed to watch pods, will retry")
	s.Refuse(nil)
	put(t, s, pod("after"))
	if !s.Await(deadline(t), "pods", "default", "after", running) {
		t.Fatalf("want a pod that came after the outage Running; console:\n%s", f.Console("i-1"))
	}
	awaitConsole(t, f, "connection to the API server is back")
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("p-" + name)},
		Spec:       corev1.PodSpec{NodeName: hostname, Containers: []corev1.Container{{Name: "c", Image: "x"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func running(o apiruntime.Object) bool {
	p, ok := o.(*corev1.Pod)
	return ok && p != nil && p.Status.Phase == corev1.PodRunning && p.Status.PodIP != "" && p.Status.StartTime != nil &&
		p.Status.ContainerStatuses[0].Ready &&
		slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady &&
				c.Status == corev1.ConditionTrue
		})
}

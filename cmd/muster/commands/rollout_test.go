package commands

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/view/rollout"
)

// rolloutObjects are a pool in a rollout, with annotations that its changes meet.
func rolloutObjects() (*clusterv1.MachinePool, *unstructured.Unstructured) {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "workers",
		Annotations: map[string]string{"muster.dev/approve": "go@0w", "other": "stays"}}, Spec: clusterv1.MachinePoolSpec{ClusterName: "demo"}}
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io",
		Kind: "AWSMachinePool", Name: "workers"}
	infra := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
		"kind":     "AWSMachinePool",
		"metadata": map[string]any{"namespace": "team", "name": "workers", "annotations": map[string]any{"muster.dev/rollout": "paused"}},
		"status": map[string]any{"rollout": map[string]any{"id": "1x", "state": "Soaking", "wave": int64(1), "of": int64(2), "entered": true},
			"instances": []any{map[string]any{"instanceID": "i-1", "node": "n1"}}}}}
	return mp, infra
}

// managementFake returns a client of a management cluster with objects.
func managementFake(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	_, infra := rolloutObjects()
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{infra.GroupVersionKind().GroupVersion()})
	mapper.Add(infra.GroupVersionKind(), meta.RESTScopeNamespace)
	return fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper).WithObjects(objects...).Build()
}

// shellWords returns the words of a command line, as a shell takes it apart.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `for word in `+line+`; do printf '%s\0' "$word"; done`).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// annotated returns the annotations that an object has after the "kubectl annotate" with the words of a command line.
func annotated(t *testing.T, c client.Client, o client.Object, words []string) map[string]string {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	last := words[len(words)-1]
	key, value, set := strings.Cut(last, "=")
	all := map[string]string{}
	for k, v := range o.GetAnnotations() {
		all[k] = v
	}
	if set {
		all[key] = value
	} else {
		delete(all, strings.TrimSuffix(last, "-"))
	}
	return all
}

// TestRolloutChanges holds that the printed command, as a shell and kubectl take it, changes what the command has changed, and that nothing
// else is changed.
func TestRolloutChanges(t *testing.T) {
	t.Parallel()
	mp, infra := rolloutObjects()
	p := rollout.Pool{MachinePool: mp, Infra: infra}
	restart := func(reason string) (rollout.Edit, error) { return p.Restart(reason, time.Now()) }
	promote := func() (rollout.Edit, error) { return p.Promote(false) }
	for _, c := range []struct {
		why  string
		edit func() (rollout.Edit, error)
		want string
	}{
		{"what the infrastructure object pauses", p.Resume,
			"kubectl --context prod annotate awsmachinepool/workers --namespace team muster.dev/rollout-"},
		{"a reason with quotes", func() (rollout.Edit, error) { return restart(`it's "$HOME" \ new`) },
			`kubectl --context prod annotate --overwrite machinepool/workers --namespace team 'muster.dev/restart-now=it'\''s "$HOME" \ new'`},
		{"a reason in two lines", func() (rollout.Edit, error) { return restart("a\nb=c-") },
			"kubectl --context prod annotate --overwrite machinepool/workers --namespace team 'muster.dev/restart-now=a\nb=c-'"},
		{"a promotion", promote, "kubectl --context prod annotate --overwrite machinepool/workers --namespace team muster.dev/promote=1x/1"},
	} {
		for _, dry := range []bool{true, false} {
			e, err := c.edit()
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			mp, infra := rolloutObjects()
			fakes := managementFake(t, mp, infra)
			object := client.Object(mp)
			if e.Object.GetKind() == infra.GetKind() {
				object = infra
			}
			var out bytes.Buffer
			r := &rolloutEditor{dryRun: dry, out: &out, management: management{kubeContext: "prod"}}
			before := object.GetAnnotations()
			line := c.want + "\n"
			words := shellWords(t, c.want)
			want := annotated(t, fakes, object, words)
			if err := r.apply(t.Context(), fakes, e, r.kubectl()); err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			if dry {
				want = before
			} else {
				line += e.Says + "\n"
			}
			if err := fakes.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if got := object.GetAnnotations(); !sameAnnotations(got, want) || out.String() != line {
				t.Errorf("%s, dry %v: want %v and\n%s\ngot %v and\n%s", c.why, dry, want, line, got, &out)
			}
		}
	}
}

func sameAnnotations(a, b map[string]string) bool {
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return len(a) == len(b)
}

// TestHoldNode holds that the Node of the workload cluster is annotated, whatever name its machine is given by.
func TestHoldNode(t *testing.T) {
	t.Parallel()
	mp, infra := rolloutObjects()
	management := managementFake(t, mp, infra)
	workload := managementFake(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
	until, err := time.Parse(time.RFC3339, "2126-12-01T06:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	hold := func(n *corev1.Node) (rollout.Edit, error) { return rollout.Hold(n, until) }
	const line = "kubectl --kubeconfig workload.kubeconfig annotate "
	for _, c := range []struct {
		name, want string
		edit       func(*corev1.Node) (rollout.Edit, error)
	}{
		{"i-1", line + "--overwrite node/n1 muster.dev/hold=2126-12-01T06:00:00Z\n", hold},
		{"n1", line + "node/n1 muster.dev/hold-\n", rollout.Release},
	} {
		var out bytes.Buffer
		n := &nodeEditor{rolloutEditor: rolloutEditor{out: &out}, connect: func(client.Client) preview.Connect {
			return func(_ context.Context, cluster client.ObjectKey) (client.Client, error) {
				if cluster.String() != "team/demo" {
					return nil, errors.New("want team/demo, got " + cluster.String())
				}
				return workload, nil
			}
		}}
		node := &corev1.Node{}
		err := n.run(t.Context(), management, "team", c.name, c.edit)
		if err := errors.Join(err, workload.Get(t.Context(), client.ObjectKey{Name: "n1"}, node)); err != nil {
			t.Fatal(err)
		}
		words := shellWords(t, strings.TrimSpace(c.want))
		_, value, set := strings.Cut(words[len(words)-1], "=")
		if got, has := node.Annotations["muster.dev/hold"]; got != value || has != set || !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s: want %s, got %v and\n%s", c.name, c.want, node.Annotations, &out)
		}
	}
}

// TestRolloutOutcome holds the exit codes of "muster rollout status".
func TestRolloutOutcome(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	for _, c := range []struct {
		why     string
		status  rollout.Status
		watched bool
		want    error
	}{
		{"no rollout", rollout.Status{}, true, nil},
		{"it has ended", rollout.Status{State: rollout.Ended}, true, nil},
		{"it goes on", rollout.Status{State: "Replacing"}, false, nil},
		{"it goes on, and the watch was ended", rollout.Status{State: "Replacing"}, true, interrupted},
		{"it is halted", rollout.Status{State: "Halted"}, true, haltedCode},
		{"it is halted, without a watch", rollout.Status{State: "Halted"}, false, haltedCode},
		{"it was rolled back", rollout.Status{State: rollout.Ended, Rollback: &common.RollbackStatus{}}, true, haltedCode},
		{"it can't be rolled back", rollout.Status{State: "Waiting", Rollback: &common.RollbackStatus{}}, true, haltedCode},
	} {
		err := outcome(c.status, c.watched)
		var code exitCode
		if (err == nil) != (c.want == nil) || errors.As(c.want, &code) != errors.Is(err, haltedCode) {
			t.Errorf("%s: want %v, got %v", c.why, c.want, err)
		}
	}
}

// TestRolloutRequests holds that invalid requests are rejected before any call.
func TestRolloutRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, args, want string }{
		{"a pool has to be named", "pause", "accepts between 1 and 2 arg"},
		{"so has a gate", "approve machinepool/workers", "accepts between 2 and 3 arg"},
		{"a name alone does not say what it is", "status workers", "want KIND/NAME"},
		{"there are two forms", "status machinepool/a -o yaml", "want text or json"},
		{"nothing is changed in a cluster that is not there", "restart machinepool a --kubeconfig no-such-file", "no-such-file does not exist"},
	} {
		cmd := root()
		cmd.SetArgs(append([]string{"rollout"}, strings.Fields(c.args)...))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want an error with %q, got %v", c.why, c.want, err)
		}
	}
}

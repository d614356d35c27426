package infrapool_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// bootData is a bootstrap data secret of another name.
func bootData(name, text string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data: map[string][]byte{"value": []byte("#cloud-config\n" + text)}}
}

func uses(name string) func(*clusterv1.MachinePool) {
	return func(mp *clusterv1.MachinePool) { mp.Spec.Template.Spec.Bootstrap.DataSecretName = &name }
}

func holds(text string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Data["value"] = []byte("#cloud-config\n" + text) }
}

func rolloutOnChange(value string) func(*clusterv1.MachinePool) {
	return func(mp *clusterv1.MachinePool) {
		mp.Annotations = map[string]string{settings.BootstrapRolloutAnnotation: value}
	}
}

// TestBootstrapReplaces: which changes of what machines boot with replace those that exist.
func TestBootstrapReplaces(t *testing.T) {
	t.Parallel()
	const token, other = "token: abcdef.0123456789abcdef\n", "token: ghijkl.0123456789abcdef\n"
	for name, tc := range map[string]struct {
		reason string
		change func(w *world)
		want   bool
	}{
		"token": {"it is another every few minutes", func(w *world) { change(w, data(), holds(other)) }, false},
		"content": {"it is for new machines, unless the user requests more",
			func(w *world) { change(w, data(), holds(token+"x")) }, false},
		"another configuration": {"that is how a pool is told to boot all its machines with something else",
			func(w *world) { change(w, machinePool(), uses("other")) }, true},
		"the same in another secret": {"the name is what counts, as with other providers",
			func(w *world) { change(w, machinePool(), uses("same")) }, true},
		"one that is not there yet": {"the pool goes on with what it has", func(w *world) { change(w, machinePool(), uses("missing")) }, false},
		"one that is broken":        {"likewise", func(w *world) { change(w, machinePool(), uses("broken")) }, false},
		"asked, token": {"a token is no content",
			func(w *world) {
				change(w, machinePool(), rolloutOnChange("true"))
				w.passes(2)
				change(w, data(), holds(other))
			}, false},
		"asked": {"what is asked for counts from now on", func(w *world) { change(w, machinePool(), rolloutOnChange("true")) }, false},
		"asked, changed before": {"likewise", func(w *world) {
			change(w, data(), holds(token+"x"))
			w.passes(4)
			change(w, machinePool(), rolloutOnChange("true"))
		}, false},
		"asked, content": {"then a change replaces machines", func(w *world) {
			change(w, machinePool(), rolloutOnChange("true"))
			w.passes(2)
			change(w, data(), holds(token+"x"))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(everythingByCloud(), bootData("other", "y"), bootData("same", token), bootData("broken", "x"))...)
			change(w, bootData("broken", ""), func(s *corev1.Secret) { s.Data = nil })
			w.account.rolls = true
			w.restart()
			change(w, data(), holds(token))
			w.settled()
			w.join()
			w.settle()
			w.account.take()
			tc.change(w)
			w.passes(6)
			rolled := w.account.rolled != nil && w.account.rolled.State == pool.ProviderRolloutRunning
			if rolled != tc.want {
				t.Errorf("%s: want machines replaced %t, got %+v, steps %v\n%s", tc.reason, tc.want, w.account.rolled, w.account.take(), w.say())
			}
			if text := w.get().Annotations[stored.Annotation]; strings.Contains(text, "0123456789abcdef") {
				t.Errorf("what is remembered shows a token: %s", text)
			}
		})
	}
}

// TestSwapTakenBack: machines that are left of the configuration before are as they should be when it is wanted again.
func TestSwapTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, append(everythingByCloud(), bootData("other", "y"))...)
	w.account.rolls = true
	w.restart()
	w.settled()
	w.join()
	w.settle()
	change(w, machinePool(), uses("other"))
	w.passes(4)
	w.restart()
	w.account.take()
	change(w, machinePool(), uses("data"))
	w.passes(6)
	if w.account.rolled == nil || w.account.rolled.State != pool.ProviderRolloutCancelled {
		t.Errorf("want the roll to the other configuration ended, and no other begun, got %+v, steps %v\n%s", w.account.rolled, w.account.take(),
			w.say())
	}
}

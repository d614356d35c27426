package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy/gates/address"
	"github.com/muster-project/muster/kube/policy/gates/health"
)

func limits(t *testing.T, addresses, kinds []string) Limits {
	t.Helper()
	list, err := address.Parse(addresses)
	if err != nil {
		t.Fatal(err)
	}
	of, err := health.Parse(kinds)
	if err != nil {
		t.Fatal(err)
	}
	return Limits{Addresses: list, Kinds: of}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	query := func(address string) musterv1.RolloutGate {
		return musterv1.RolloutGate{Name: "q", Prometheus: &musterv1.PrometheusGate{Address: address, Query: "up"}}
	}
	object := func(kind string) musterv1.RolloutGate {
		return musterv1.RolloutGate{Name: "c", Condition: &musterv1.ConditionGate{APIVersion: "argoproj.io/v1alpha1", Kind: kind, Name: "x"}}
	}
	const at = "https://prometheus.monitoring:9090"
	listed := limits(t, []string{"prometheus.monitoring:9090"}, []string{"Application.argoproj.io"})
	for _, c := range []struct {
		why    string
		limits Limits
		gates  []musterv1.RolloutGate
		want   []string
	}{
		{why: "gates that can be asked", limits: listed,
			gates: []musterv1.RolloutGate{query(at), object("Application"), {Name: "ok", Approval: &musterv1.ApprovalGate{}}}},
		{why: "the operator lists nothing", gates: []musterv1.RolloutGate{query(at), object("Application")},
			want: []string{"spec.gates[0].prometheus.address: Forbidden: no address is allowed: have the operator set --gate-addresses",
				"spec.gates[1].condition.kind: Forbidden: no kind is allowed: have the operator set --gate-kinds"}},
		{why: "the API server", limits: listed, gates: []musterv1.RolloutGate{query("https://kubernetes.default.svc")},
			want: []string{"spec.gates[0].prometheus.address: Forbidden: the address is not allowed"}},
		{why: "the metadata", limits: limits(t, []string{"0.0.0.0/0:*"}, nil), gates: []musterv1.RolloutGate{query("http://169.254.169.254")},
			want: []string{"spec.gates[0].prometheus.address: Forbidden: the address is a link-local address"}},
		{why: "a password is not repeated", limits: listed, gates: []musterv1.RolloutGate{query("https://u:secret@prometheus.monitoring:9090")},
			want: []string{"spec.gates[0].prometheus.address: Invalid value: want an http or https address"}},
		{why: "Secrets", limits: listed, gates: []musterv1.RolloutGate{object("Secret")},
			want: []string{"spec.gates[0].condition.kind: Forbidden: the kind is not allowed"}},
	} {
		var errs field.ErrorList
		for k := range c.gates {
			errs = append(errs, c.limits.Check(field.NewPath("spec", "gates").Index(k), &c.gates[k])...)
		}
		if len(errs) != len(c.want) {
			t.Errorf("%s: want %d errors, got %v", c.why, len(c.want), errs)
			continue
		}
		for k, err := range errs {
			if !strings.HasPrefix(err.Error(), c.want[k]) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: want %q, got %q", c.why, c.want[k], err)
			}
		}
	}
}

package infrapool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

func TestRemediationAnnotations(t *testing.T) {
	t.Parallel()
	type annotations map[string]string
	after := func(d time.Duration, value int, percent bool) *pool.Remediation {
		return &pool.Remediation{After: d, MaxUnhealthy: pool.IntOrPercent{Value: value, Percent: percent}}
	}
	for name, c := range map[string]struct {
		reason      string
		infra, pool annotations
		machines    bool
		want        *pool.Remediation
		rolls       bool
		invalid     []string
	}{
		"nothing": {reason: "there is no annotation"},
		"asked": {reason: "40 % is what health checks of the ecosystem have", infra: annotations{settings.RemediationAnnotation: "10m"},
			want: after(10*time.Minute, 40, true)},
		"by the pool": {reason: "its users know the MachinePool", pool: annotations{settings.RemediationAnnotation: "1h"},
			want: after(time.Hour, 40, true)},
		"by both": {reason: "the nearer object counts, each annotation for itself", infra: annotations{settings.RemediationAnnotation: "10m"},
			pool: annotations{settings.RemediationAnnotation: "1h", settings.MaxUnhealthyAnnotation: "3"}, want: after(10*time.Minute, 3, false)},
		"a share": {reason: "as a percentage", infra: annotations{settings.RemediationAnnotation: "10m", settings.MaxUnhealthyAnnotation: "100%"},
			want: after(10*time.Minute, 100, true)},
		"the least": {reason: "a kubelet that starts again is no reason", infra: annotations{settings.RemediationAnnotation: "2m"},
			want: after(2*time.Minute, 40, true)},
		"too soon": {reason: "less would replace what is about to come back", infra: annotations{settings.RemediationAnnotation: "1m59s"},
			invalid: []string{`[muster.dev/replace-unhealthy-after] of the AWSMachinePool is "1m59s", allowed is a duration of 2m at least, such as 10m, or no such annotation`}},
		"no duration": {reason: "nothing is guessed", pool: annotations{settings.RemediationAnnotation: "600"},
			invalid: []string{`of the MachinePool is "600"`}},
		"no share": {reason: "an invalid bound replaces nothing",
			infra:   annotations{settings.RemediationAnnotation: "10m", settings.MaxUnhealthyAnnotation: "most"},
			invalid: []string{`[muster.dev/max-unhealthy] of the AWSMachinePool is "most", allowed is a number or a percentage such as 40%`}},
		"too large": {reason: "more than all is none",
			infra:   annotations{settings.RemediationAnnotation: "10m", settings.MaxUnhealthyAnnotation: "101%"},
			invalid: []string{`is "101%"`}},
		"negative": {reason: "nor is less than none",
			infra:   annotations{settings.RemediationAnnotation: "10m", settings.MaxUnhealthyAnnotation: "-1"},
			invalid: []string{`is "-1"`}},
		"bound alone": {reason: "a bound asks for nothing", infra: annotations{settings.MaxUnhealthyAnnotation: "50%"}},
		"with Machines": {reason: "two that replace by health would each have a budget of their own",
			infra: annotations{settings.RemediationAnnotation: "10m"}, machines: true,
			invalid: []string{"means nothing: every machine of the pool has a Machine, whose health is the matter of a MachineHealthCheck"}},
		"skipped": {reason: "Cluster API's annotation excludes the pool", infra: annotations{settings.RemediationAnnotation: "10m"},
			pool: annotations{clusterv1.MachineSkipRemediationAnnotation: ""}},
		"content": {reason: "it replaces machines where that is asked for", pool: annotations{settings.BootstrapRolloutAnnotation: "true"},
			rolls: true},
		"content, off": {reason: "the nearer object counts", infra: annotations{settings.BootstrapRolloutAnnotation: "false"},
			pool: annotations{settings.BootstrapRolloutAnnotation: "true"}},
		"content, what": {reason: "nothing is guessed", infra: annotations{settings.BootstrapRolloutAnnotation: "yes"},
			invalid: []string{`is "yes", allowed is true or false`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := settingsOf(c.infra, c.pool, c.machines)
			if diff := cmp.Diff(c.want, got.Remediation); diff != "" || got.BootstrapRolls != c.rolls {
				t.Errorf("%s: want -, got +, and %t, got %t\n%s", c.reason, c.rolls, got.BootstrapRolls, diff)
			}
			if len(got.Invalid) != len(c.invalid) {
				t.Fatalf("%s: want %d values refused, got %q", c.reason, len(c.invalid), got.Invalid)
			}
			for k, want := range c.invalid {
				if !strings.Contains(got.Invalid[k], want) {
					t.Errorf("%s: want %q refused, got %q", c.reason, want, got.Invalid[k])
				}
			}
		})
	}
}

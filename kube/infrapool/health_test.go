package infrapool

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/pool"
)

func TestHealAnnotations(t *testing.T) {
	t.Parallel()
	type annotations map[string]string
	heal := func(after time.Duration, value int, percent bool) *pool.Remediation {
		return &pool.Remediation{After: after, MaxUnhealthy: pool.IntOrPercent{Value: value, Percent: percent}}
	}
	for name, c := range map[string]struct {
		reason      string
		infra, pool annotations
		machines    bool
		want        *pool.Remediation
		rolls       bool
		invalid     []string
	}{
		"nothing":        {reason: "nobody asks"},
		"asked":          {reason: "40 % is what health checks of the ecosystem have", infra: annotations{HealAnnotation: "10m"}, want: heal(10*time.Minute, 40, true)},
		"by the pool":    {reason: "its users know the MachinePool", pool: annotations{HealAnnotation: "1h"}, want: heal(time.Hour, 40, true)},
		"by both":        {reason: "the nearer object counts, each annotation for itself", infra: annotations{HealAnnotation: "10m"}, pool: annotations{HealAnnotation: "1h", MaxUnhealthyAnnotation: "3"}, want: heal(10*time.Minute, 3, false)},
		"a share":        {reason: "as a percentage", infra: annotations{HealAnnotation: "10m", MaxUnhealthyAnnotation: "100%"}, want: heal(10*time.Minute, 100, true)},
		"the least":      {reason: "a kubelet that starts again is no reason", infra: annotations{HealAnnotation: "2m"}, want: heal(2*time.Minute, 40, true)},
		"too soon":       {reason: "less would replace what is about to come back", infra: annotations{HealAnnotation: "1m59s"}, invalid: []string{`[muster.dev/replace-unhealthy-after] of the AWSMachinePool is "1m59s", allowed is a duration of 2m at least, such as 10m, or no such annotation`}},
		"no duration":    {reason: "nothing is guessed", pool: annotations{HealAnnotation: "600"}, invalid: []string{`of the MachinePool is "600"`}},
		"no share":       {reason: "a bound that means nothing replaces nothing", infra: annotations{HealAnnotation: "10m", MaxUnhealthyAnnotation: "most"}, invalid: []string{`[muster.dev/max-unhealthy] of the AWSMachinePool is "most", allowed is a number or a percentage such as 40%`}},
		"too large":      {reason: "more than all is none", infra: annotations{HealAnnotation: "10m", MaxUnhealthyAnnotation: "101%"}, invalid: []string{`is "101%"`}},
		"negative":       {reason: "nor is less than none", infra: annotations{HealAnnotation: "10m", MaxUnhealthyAnnotation: "-1"}, invalid: []string{`is "-1"`}},
		"bound alone":    {reason: "a bound asks for nothing", infra: annotations{MaxUnhealthyAnnotation: "50%"}},
		"with Machines":  {reason: "two that replace by health would each have a budget of their own", infra: annotations{HealAnnotation: "10m"}, machines: true, invalid: []string{"means nothing: every machine of the pool has a Machine, whose health is the matter of a MachineHealthCheck"}},
		"somebody looks": {reason: "cluster-api's word for it holds here too", infra: annotations{HealAnnotation: "10m"}, pool: annotations{clusterv1.MachineSkipRemediationAnnotation: ""}},
		"content":        {reason: "it replaces machines where that is asked for", pool: annotations{BootstrapRolloutAnnotation: "true"}, rolls: true},
		"content, off":   {reason: "the nearer object counts", infra: annotations{BootstrapRolloutAnnotation: "false"}, pool: annotations{BootstrapRolloutAnnotation: "true"}},
		"content, what":  {reason: "nothing is guessed", infra: annotations{BootstrapRolloutAnnotation: "yes"}, invalid: []string{`is "yes", allowed is true or false`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: c.infra}}
			mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: c.pool}}
			got := settingsOf(annotated{"AWSMachinePool", keyRestart, o}, &annotated{"MachinePool", keyRestartPool, mp}, standsMaybe, c.machines)
			if diff := cmp.Diff(c.want, got.healing); diff != "" || got.bootstrapRolls != c.rolls {
				t.Errorf("%s: want -, got +, and %t, got %t\n%s", c.reason, c.rolls, got.bootstrapRolls, diff)
			}
			if len(got.invalid) != len(c.invalid) {
				t.Fatalf("%s: want %d values refused, got %q", c.reason, len(c.invalid), got.invalid)
			}
			for k, want := range c.invalid {
				if !strings.Contains(got.invalid[k], want) {
					t.Errorf("%s: want %q refused, got %q", c.reason, want, got.invalid[k])
				}
			}
		})
	}
}

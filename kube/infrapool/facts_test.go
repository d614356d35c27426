package infrapool

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/bootstrap"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

// TestDelayed holds that Muster replaces no machine before the cloud has had its time, and changes nothing else.
func TestDelayed(t *testing.T) {
	t.Parallel()
	requested := &pool.Remediation{After: 10 * time.Minute, MaxUnhealthy: pool.IntOrPercent{Value: 40, Percent: true}}
	for delay, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, 5 * time.Minute: 10 * time.Minute,
		45 * time.Minute: 45 * time.Minute} {
		if got := delayed(requested, delay); got.After != want || got.MaxUnhealthy != requested.MaxUnhealthy {
			t.Errorf("%s: want %s, got %+v", delay, want, got)
		}
	}
	if requested.After != 10*time.Minute || delayed(nil, time.Hour) != nil {
		t.Errorf("want the annotation's value as it was, and no remediation that was not asked for, got %+v", requested)
	}
}

// TestDisableRollout holds how annotations and a field that disables rollouts combine.
func TestDisableRollout(t *testing.T) {
	t.Parallel()
	disabled := &pool.Cause{Reason: "Disabled"}
	for name, c := range map[string]struct {
		reason      string
		annotations map[string]string
		disabled    *pool.Cause
		held        string
		skip        bool
		restart     bool
	}{
		"nothing": {reason: "a changed template replaces machines"},
		"paused": {reason: "until it is removed", annotations: map[string]string{settings.RolloutAnnotation: "paused"},
			held: settings.ReasonPaused},
		"disabled": {reason: "the object's own field", disabled: disabled, held: "Disabled"},
		"disabled and paused": {reason: "the pause is named, and the field still applies", disabled: disabled,
			annotations: map[string]string{settings.RolloutAnnotation: "paused"}, held: settings.ReasonPaused, skip: true},
		"restart": {reason: "all are replaced", annotations: map[string]string{settings.RestartAnnotation: "CVE"}, restart: true},
		"disabled, restart": {reason: "those that exist are replaced, and no changed template replaces others later", disabled: disabled,
			annotations: map[string]string{settings.RestartAnnotation: "CVE"}, restart: true, skip: true},
		"paused, restart": {reason: "a restart waits for the pause to end",
			annotations: map[string]string{settings.RestartAnnotation: "CVE", settings.RolloutAnnotation: "paused"}, held: settings.ReasonPaused,
			restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings.Of(settings.Pool{Object: &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}}})
			d := pool.Desired{RolloutPaused: s.RolloutPaused}
			d.Restart, _, _ = settings.Restarting(s.Restarts, nil, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
			disableRollout(&d, c.disabled)
			if held := cmp.Or(d.RolloutPaused, d.RolloutDisabled); (held == nil) != (c.held == "") || held != nil && held.Reason != c.held {
				t.Errorf("%s: want held for %q, got %+v", c.reason, c.held, held)
			}
			if d.SkipModel != c.skip || (d.Restart != nil) != c.restart {
				t.Errorf("%s: want templates skipped %t and a restart %t, got %t and %+v", c.reason, c.skip, c.restart, d.SkipModel, d.Restart)
			}
		})
	}
}

func TestMinReady(t *testing.T) {
	t.Parallel()
	mp := &clusterv1.MachinePool{}
	if got := minReady(mp) + minReady(nil); got != 0 {
		t.Errorf("want none without a value, got %s", got)
	}
	mp.Spec.Template.Spec.MinReadySeconds = new(int32(30))
	if got := minReady(mp); got != 30*time.Second {
		t.Errorf("want 30s of template.spec.minReadySeconds, got %s", got)
	}
}

// TestReasonsAreDocumented holds that the page of conditions lists the reasons for which nothing is created, and the annotations.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	known := string(text)
	for _, reason := range []string{
		reasonNoOwner, reasonNoCluster, reasonNoInfraCluster, reasonWaitInfraCluster, bootstrap.ReasonWaiting, bootstrap.ReasonMissing,
		bootstrap.ReasonInvalid,
		reasonOwnerIDTaken, reasonNotTranslated, settings.RolloutAnnotation, settings.RestartAnnotation, settings.JoinDeadlineAnnotation,
		settings.ProgressDeadlineAnnotation,
	} {
		if !strings.Contains(known, "`"+reason+"`") && !strings.Contains(known, "`"+reason+":") {
			t.Errorf("want docs/conditions.md to list %s", reason)
		}
	}
}

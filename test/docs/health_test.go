package docs

import (
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

// TestHealthIsTold: the annotations and reasons that the pages name are those that there are.
func TestHealthIsTold(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	traits := pool.Traits{Group: "group", Template: "template", RemoveBatch: 1, CanCancelRollout: true, ReplaceKeepsSize: true}
	plan := func(unready ...time.Duration) pool.Plan {
		o := pool.Observed{Group: &pool.Group{Size: len(unready)}}
		for k, since := range unready {
			o.Instances = append(o.Instances, pool.Instance{ID: string(rune('a' + k)), State: pool.Running, Created: now.Add(-24 * time.Hour),
				Node: &pool.Node{Name: "n", Joined: now.Add(-24 * time.Hour), Ready: since == 0, ReadySince: now.Add(-since)}})
		}
		heal := &pool.Remediation{After: 10 * time.Minute, MaxUnhealthy: pool.IntOrPercent{Value: 40, Percent: true}}
		return pool.Decide(pool.Desired{Replicas: len(unready), Remediation: heal}, o, traits, now)
	}
	health, conditions := read(t, "docs/health.md"), read(t, "docs/conditions.md")
	one := plan(0, 0, time.Hour)
	if one.Step == nil || one.Step.Kind != pool.Drain || !strings.Contains(conditions, "`"+one.Step.Cause.Reason+"`") {
		t.Errorf("want the reason for which an unhealthy machine goes among the reasons, got %+v", one.Step)
	}
	too := plan(0, 0, time.Hour, 2*time.Hour, 3*time.Hour)
	if too.Step != nil || !strings.Contains(health, too.Waiting[0].Message) || !strings.Contains(conditions, "`"+too.Waiting[0].Reason+"`") {
		t.Errorf("want the sentence for a pool in which too many are unhealthy on the page, got %+v", too.Waiting)
	}
	for _, annotation := range []string{settings.RemediationAnnotation, settings.MaxUnhealthyAnnotation} {
		if !strings.Contains(health, "`"+annotation+": ") || !strings.Contains(conditions, "`"+annotation+": ") {
			t.Errorf("want %s on both pages", annotation)
		}
	}
	if bootstrap := read(t, "docs/bootstrap-data.md"); !strings.Contains(bootstrap, "`"+settings.BootstrapRolloutAnnotation+": ") ||
		!strings.Contains(conditions, "`"+settings.BootstrapRolloutAnnotation+": ") {
		t.Errorf("want %s on both pages", settings.BootstrapRolloutAnnotation)
	}
}

package report_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// misfortunes are circumstances that may meet in one pool.
func misfortunes() []func(*scene) {
	var list []func(*scene)
	for _, kind := range []pool.StepKind{pool.Resize, pool.UpdateGroup, pool.PutTemplate, pool.StartProviderRollout, pool.Apply, pool.Drain,
		pool.PruneTemplates, pool.Replace} {
		list = append(list, func(s *scene) {
			if s.refused == nil {
				s.refused = map[pool.StepKind]error{}
			}
			s.refused[kind] = &cloud.Error{Kind: cloud.Denied, Op: "cloud:" + string(kind), Code: "AccessDenied", Message: "not authorized"}
		})
	}
	return append(list, replicas(1), replicas(2), replicas(5), replicas(99), size(5), external, away, issue, drift("tags"), rolling, native,
		changes, paused, restart, failedGroup, stiff, busy, first(draining), first(stale), second(stale), second(late), first(unready),
		rollsUnseen,
		cloudRolls(pool.ProviderRolloutFailed, 40, "PodEvictionFailure"), cloudRolls(pool.ProviderRolloutRunning, 40, ""), wanted("", ""),
		wanted("v1:b", "d"))
}

// TestEveryCauseIsShown holds, for pools that several things are wrong with, that each refusal and failure and each drain that can't end is
// messages by some condition, that Ready is not True while something is refused or has failed, and that the state is not Error beside it.
func TestEveryCauseIsShown(t *testing.T) {
	all := misfortunes()
	rapid.Check(t, func(rt *rapid.T) {
		s := aScene()
		for range rapid.IntRange(1, 5).Draw(rt, "how many") {
			if s.o.Instances[0].Node != nil && s.o.Instances[1].Node != nil {
				rapid.SampledFrom(all).Draw(rt, "what")(s)
			}
		}
		out := s.outcome()
		d := s.d
		d.StepsInBackoff = nil
		rep := report.Build(d, out, s.traits())
		var messages []string
		for _, c := range rep.Conditions {
			messages = append(messages, c.Message)
		}
		shown := strings.Join(messages, "\n")
		for _, cause := range causesOf(out) {
			if !strings.Contains(shown, cause) {
				rt.Errorf("want %q told by some condition, got\n%s", cause, shown)
			}
		}
		wrong := rep.State == report.StateError || out.Plan.Refused != nil || len(out.Refused) > 0 || s.o.Group.Failed != nil
		if ready := rep.Condition(report.Ready); wrong && ready.Status == report.True {
			rt.Errorf("want Ready not True with the state %s, refusals %v, got %+v", rep.State, out.Refused, ready)
		}
	})
}

// causesOf are the messages of what is wrong.
func causesOf(out engine.Outcome) []string {
	var list []string
	for _, err := range out.Refused {
		list = append(list, err.Error())
	}
	if out.Plan.Refused != nil {
		list = append(list, out.Plan.Refused.Message)
	}
	if failed := out.Observed.Group.Failed; failed != nil {
		list = append(list, failed.Message)
	}
	if r := out.Plan.Rollout; r.Cause.Message != "" {
		list = append(list, r.Cause.Message)
	}
	for _, w := range out.Plan.Waiting {
		if w.Reason == "DrainBlocked" {
			list = append(list, w.Message)
		}
	}
	return list
}

// TestCausesAreReportedOnce holds that no text stands in Ready twice.
func TestCausesAreReportedOnce(t *testing.T) {
	all := misfortunes()
	for a := range all {
		for b := range all {
			s := aScene(all[a])
			if s.o.Instances[0].Node != nil && s.o.Instances[1].Node != nil {
				all[b](s)
			}
			seen := map[string]bool{}
			for _, part := range strings.Split(s.report().Condition(report.Ready).Message, "; ") {
				if seen[part] {
					t.Errorf("circumstances %d and %d: want %q once, got %s", a, b, part, fmt.Sprint(s.report().Condition(report.Ready)))
				}
				seen[part] = true
			}
		}
	}
}

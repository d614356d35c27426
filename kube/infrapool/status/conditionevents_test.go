package status

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

func TestConditionEvents(t *testing.T) {
	t.Parallel()
	condition := func(name, status, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: name, Status: metav1.ConditionStatus(status), Reason: reason, Message: "m"}}
	}
	for name, c := range map[string]struct {
		why           string
		before, after []metav1.Condition
		want          []report.Event
	}{
		"halted": {"the user has to act", condition(report.UpToDate, "False", "TemplateChanged"),
			condition(report.UpToDate, "False", "RolloutHalted"), []report.Event{{Warning: true, Reason: "RolloutHalted", Message: "m"}}},
		"still halted": {"once is enough", condition(report.UpToDate, "False", "RolloutHalted"),
			condition(report.UpToDate, "False", "RolloutHalted"), nil},
		"refresh failed": {"a failed refresh is never forgotten", condition(report.UpToDate, "False", "ProviderRolloutRunning"),
			condition(report.UpToDate, "False", "ProviderRolloutFailed"),
			[]report.Event{{Warning: true, Reason: "ProviderRolloutFailed", Message: "m"}}},
		"refresh by others": {"a rollout that another client started is reported", condition(report.UpToDate, "True", "AllUpToDate"),
			condition(report.UpToDate, "False", "ProviderRolloutRunning"), []report.Event{{Reason: "ProviderRolloutRunning", Message: "m"}}},
		"begins": {"the start of a rollout is reported, with how many and why", condition(report.UpToDate, "False", "TemplateOutOfDate"),
			condition(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"restart": {"so is that of a restart", condition(report.UpToDate, "True", "AllUpToDate"),
			condition(report.UpToDate, "False", settings.ReasonRestart), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"goes on": {"after a pause it is reported again", condition(report.UpToDate, "False", settings.ReasonPaused),
			condition(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"version served": {"so is one that waited for the control plane", condition(report.UpToDate, "False", pool.ControlPlaneUpgradePending),
			condition(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"goes on by itself": {"another cause in its middle begins none", condition(report.UpToDate, "False", "NeverJoined"),
			condition(report.UpToDate, "False", "TemplateChanged"), nil},
		"completed": {"the end of a rollout is reported", condition(report.UpToDate, "False", "TemplateChanged"),
			condition(report.UpToDate, "True", "AllUpToDate"), []report.Event{{Reason: "RolloutCompleted", Message: "m"}}},
		"nothing replaced": {"a pool that is created has no rollout", condition(report.UpToDate, "False", "WaitingForBootstrapData"),
			condition(report.UpToDate, "True", "AllUpToDate"), nil},
		"at once": {"nor has one that was never observed", nil, condition(report.UpToDate, "True", "AllUpToDate"), nil},
		"no capacity": {"the cloud's error of failed launches", condition(report.InstancesReady, "False", "InstancesLaunching"),
			condition(report.InstancesReady, "False", "Capacity"), []report.Event{{Warning: true, Reason: "Capacity", Message: "m"}}},
		"no such image": {"a refused look-up is no step with an event of its own", condition(report.TemplateReady, "True", "UpToDate"),
			condition(report.TemplateReady, "False", "Invalid"), []report.Event{{Warning: true, Reason: "Invalid", Message: "m"}}},
		"joining": {"normal progress is no event", condition(report.InstancesReady, "False", "InstancesLaunching"),
			condition(report.InstancesReady, "False", "NodesJoining"), nil},
		"drain blocked": {"pod and budget", nil, condition(report.Draining, "True", "DrainBlocked"),
			[]report.Event{{Warning: true, Reason: "DrainBlocked", Message: "m"}}},
		"draining": {"the start of a drain is reported by its step", nil, condition(report.Draining, "True", "Draining"), nil},
		"bad annotation": {"the user who sets it looks at the events", nil, condition(settings.Valid, "False", settings.ReasonInvalid),
			[]report.Event{{Warning: true, Reason: settings.ReasonInvalid, Message: "m"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, conditionEvents(c.before, c.after)); diff != "" {
				t.Errorf("%s: want -, got +\n%s", c.why, diff)
			}
		})
	}
}

// TestReasonsAreDocumented holds that the page of conditions lists the reasons that cause events.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	known := string(text)
	reasons := append([]string{rolloutCompleted, settings.ReasonRestart}, replacing...)
	for condition, list := range notable {
		reasons = append(reasons, condition)
		for reason := range list {
			reasons = append(reasons, reason)
		}
	}
	for _, reason := range reasons {
		if !strings.Contains(known, "`"+reason+"`") && !strings.Contains(known, "`"+reason+":") {
			t.Errorf("want docs/conditions.md to list %s", reason)
		}
	}
}

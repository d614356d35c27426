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
	said := func(name, status, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: name, Status: metav1.ConditionStatus(status), Reason: reason, Message: "m"}}
	}
	for name, c := range map[string]struct {
		why           string
		before, after []metav1.Condition
		want          []report.Event
	}{
		"halted": {"the user has to act", said(report.UpToDate, "False", "TemplateChanged"),
			said(report.UpToDate, "False", "RolloutHalted"), []report.Event{{Warning: true, Reason: "RolloutHalted", Message: "m"}}},
		"still halted": {"once is enough", said(report.UpToDate, "False", "RolloutHalted"),
			said(report.UpToDate, "False", "RolloutHalted"), nil},
		"refresh failed": {"a failed refresh is never forgotten", said(report.UpToDate, "False", "ProviderRolloutRunning"),
			said(report.UpToDate, "False", "ProviderRolloutFailed"), []report.Event{{Warning: true, Reason: "ProviderRolloutFailed", Message: "m"}}},
		"refresh by others": {"a rollout that another client started is reported", said(report.UpToDate, "True", "AllUpToDate"),
			said(report.UpToDate, "False", "ProviderRolloutRunning"), []report.Event{{Reason: "ProviderRolloutRunning", Message: "m"}}},
		"begins": {"the start of a rollout is reported, with how many and why", said(report.UpToDate, "False", "TemplateOutOfDate"),
			said(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"restart": {"so is that of a restart", said(report.UpToDate, "True", "AllUpToDate"),
			said(report.UpToDate, "False", settings.ReasonRestart), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"goes on": {"after a pause it is reported again", said(report.UpToDate, "False", settings.ReasonPaused),
			said(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"version served": {"so is one that waited for the control plane", said(report.UpToDate, "False", pool.ControlPlaneUpgradePending),
			said(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"goes on by itself": {"another cause in its middle begins none", said(report.UpToDate, "False", "NeverJoined"),
			said(report.UpToDate, "False", "TemplateChanged"), nil},
		"completed": {"the end of a rollout is reported", said(report.UpToDate, "False", "TemplateChanged"),
			said(report.UpToDate, "True", "AllUpToDate"), []report.Event{{Reason: "RolloutCompleted", Message: "m"}}},
		"nothing replaced": {"a pool that is created has no rollout", said(report.UpToDate, "False", "WaitingForBootstrapData"),
			said(report.UpToDate, "True", "AllUpToDate"), nil},
		"at once": {"nor has one that was never observed", nil, said(report.UpToDate, "True", "AllUpToDate"), nil},
		"no capacity": {"the cloud's error of failed launches", said(report.InstancesReady, "False", "InstancesLaunching"),
			said(report.InstancesReady, "False", "Capacity"), []report.Event{{Warning: true, Reason: "Capacity", Message: "m"}}},
		"no such image": {"a refused look-up is no step with an event of its own", said(report.TemplateReady, "True", "UpToDate"),
			said(report.TemplateReady, "False", "Invalid"), []report.Event{{Warning: true, Reason: "Invalid", Message: "m"}}},
		"joining": {"normal progress is no event", said(report.InstancesReady, "False", "InstancesLaunching"),
			said(report.InstancesReady, "False", "NodesJoining"), nil},
		"drain blocked": {"pod and budget", nil, said(report.Draining, "True", "DrainBlocked"),
			[]report.Event{{Warning: true, Reason: "DrainBlocked", Message: "m"}}},
		"draining": {"the start of a drain is reported by its step", nil, said(report.Draining, "True", "Draining"), nil},
		"bad annotation": {"the user who sets it looks at the events", nil, said(settings.Valid, "False", settings.ReasonInvalid),
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

package infrapool

import (
	gocmp "cmp"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// asked are the settings of an object and its MachinePool with these annotations.
func asked(infra, machinePool map[string]string) settings {
	o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: infra}}
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: machinePool}}
	return settingsOf(annotated{"AWSMachinePool", keyRestart, o}, &annotated{"MachinePool", keyRestartPool, mp}, standsMaybe, false)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	type annotations map[string]string
	for name, c := range map[string]struct {
		reason      string
		infra, pool annotations
		// held is part of what holds the rollout, invalid parts of what is said of each value that means nothing.
		held           string
		invalid        []string
		join, progress time.Duration
		restarts       []restart
	}{
		"nothing":      {reason: "nobody steers"},
		"paused":       {reason: "the object holds its rollout", infra: annotations{RolloutAnnotation: "paused"}, held: "AWSMachinePool has the annotation muster.dev/rollout: paused"},
		"pool paused":  {reason: "so does the MachinePool, which its users know", pool: annotations{RolloutAnnotation: "paused"}, held: "MachinePool has the annotation muster.dev/rollout: paused"},
		"both paused":  {reason: "the nearer one is named", infra: annotations{RolloutAnnotation: "paused"}, pool: annotations{RolloutAnnotation: "paused"}, held: "AWSMachinePool has"},
		"paused badly": {reason: "who writes this wants no machine replaced, and is told how to say it", infra: annotations{RolloutAnnotation: "Pause"}, held: `is "Pause", allowed is paused`, invalid: []string{`metadata.annotations[muster.dev/rollout] of the AWSMachinePool is "Pause", allowed is paused, or no such annotation`}},
		"empty":        {reason: "the same", pool: annotations{RolloutAnnotation: ""}, held: `is ""`, invalid: []string{`metadata.annotations[muster.dev/rollout] of the MachinePool is ""`}},
		"deadlines":    {reason: "Go durations", infra: annotations{JoinDeadlineAnnotation: "90s", ProgressDeadlineAnnotation: "1h30m"}, join: 90 * time.Second, progress: 90 * time.Minute},
		"of the pool":  {reason: "deadlines belong to the infrastructure", pool: annotations{JoinDeadlineAnnotation: "90s"}},
		"bad deadlines": {reason: "a deadline that means nothing is none, so that the default stays", infra: annotations{JoinDeadlineAnnotation: "600", ProgressDeadlineAnnotation: "-1m"},
			invalid: []string{`[muster.dev/join-deadline] of the AWSMachinePool is "600", allowed is a positive duration such as 20m`, `[muster.dev/progress-deadline] of the AWSMachinePool is "-1m"`}},
		"restart":       {reason: "the reason is kept", infra: annotations{RestartAnnotation: " CVE-1 "}, restarts: []restart{{keyRestart, "CVE-1"}}},
		"both restart":  {reason: "each stands for itself", infra: annotations{RestartAnnotation: "a"}, pool: annotations{RestartAnnotation: "b"}, restarts: []restart{{keyRestart, "a"}, {keyRestartPool, "b"}}},
		"empty restart": {reason: "a restart has a reason", infra: annotations{RestartAnnotation: " "}, invalid: []string{`[muster.dev/restart-now] of the AWSMachinePool is "", allowed is the reason in words`}},
		"long value":    {reason: "messages stay readable", infra: annotations{JoinDeadlineAnnotation: strings.Repeat("x", 5000)}, invalid: []string{strings.Repeat("x", reasonLimit) + `..."`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := asked(c.infra, c.pool)
			if (got.held != nil) != (c.held != "") || got.held != nil && !strings.Contains(got.held.Message, c.held) {
				t.Errorf("%s: want held by %q, got %+v", c.reason, c.held, got.held)
			}
			if got.join != c.join || got.progress != c.progress {
				t.Errorf("%s: want deadlines %s and %s, got %s and %s", c.reason, c.join, c.progress, got.join, got.progress)
			}
			if diff := cmp.Diff(c.restarts, got.restarts, cmp.AllowUnexported(restart{})); diff != "" {
				t.Errorf("%s: restarts, want -, got +\n%s", c.reason, diff)
			}
			if len(got.invalid) != len(c.invalid) {
				t.Fatalf("%s: want %d values refused, got %q", c.reason, len(c.invalid), got.invalid)
			}
			for k, want := range c.invalid {
				if !strings.Contains(got.invalid[k], want) {
					t.Errorf("%s: want %q refused, got %q", c.reason, want, got.invalid[k])
				}
			}
			if conditions := got.conditions(); (len(conditions) == 1) != (len(c.invalid) > 0) || len(conditions) == 1 && conditions[0].Status != report.False {
				t.Errorf("%s: want a condition exactly when something means nothing, got %+v", c.reason, conditions)
			}
		})
	}
}

func TestRestarting(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 678, time.UTC)
	hour := now.Add(-time.Hour).Format(time.RFC3339Nano)
	at := func(moment, reason string) string { return moment + " " + restart{reason: reason}.token() }
	for name, c := range map[string]struct {
		reason     string
		asked      []restart
		remembered map[string]string
		before     time.Time
		keep       map[string]string
		drop       []string
	}{
		"nobody asks":      {reason: "nothing is remembered for nobody", remembered: map[string]string{"region": "x"}},
		"first seen":       {reason: "the moment is this one, and is kept", asked: []restart{{keyRestart, "CVE 1"}}, before: now, keep: map[string]string{keyRestart: at(now.Format(time.RFC3339Nano), "CVE 1")}},
		"seen earlier":     {reason: "what was made since then stays", asked: []restart{{keyRestart, "CVE 1"}}, remembered: map[string]string{keyRestart: at(hour, "CVE 1")}, before: now.Add(-time.Hour)},
		"another reason":   {reason: "another value begins another", asked: []restart{{keyRestart, "CVE 2"}}, remembered: map[string]string{keyRestart: at(hour, "CVE 1")}, before: now, keep: map[string]string{keyRestart: at(now.Format(time.RFC3339Nano), "CVE 2")}},
		"taken away":       {reason: "the same value later begins another", remembered: map[string]string{keyRestart: at(hour, "CVE 1"), "region": "x"}, drop: []string{keyRestart}},
		"two of different": {reason: "the later one covers both", asked: []restart{{keyRestart, "a"}, {keyRestartPool, "b"}}, remembered: map[string]string{keyRestart: at(hour, "a")}, before: now, keep: map[string]string{keyRestartPool: at(now.Format(time.RFC3339Nano), "b")}},
		"one of two ends":  {reason: "the other is not begun anew", asked: []restart{{keyRestartPool, "b"}}, remembered: map[string]string{keyRestart: at(hour, "a"), keyRestartPool: at(hour, "b")}, before: now.Add(-time.Hour), drop: []string{keyRestart}},
		"unreadable":       {reason: "a moment that nobody can read was never seen", asked: []restart{{keyRestart, "a"}}, remembered: map[string]string{keyRestart: at("yesterday", "a")}, before: now, keep: map[string]string{keyRestart: at(now.Format(time.RFC3339Nano), "a")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, keep, drop := restarting(c.asked, c.remembered, now)
			if (got == nil) != c.before.IsZero() || got != nil && !got.Before.Equal(c.before) {
				t.Errorf("%s: want those before %s restarted, got %+v", c.reason, c.before, got)
			}
			if diff := cmp.Diff(c.keep, keep); diff != "" {
				t.Errorf("%s: kept, want -, got +\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(c.drop, drop); diff != "" {
				t.Errorf("%s: dropped, want -, got +\n%s", c.reason, diff)
			}
			if len(keep) == 0 {
				return
			}
			all := merged(keep, c.remembered)
			again, more, _ := restarting(c.asked, all, now.Add(time.Minute))
			if diff := cmp.Diff(got, again); diff != "" || len(more) != 0 {
				t.Errorf("%s: want the same restart a minute later, and nothing more to keep, got %v\n%s", c.reason, more, diff)
			}
		})
	}
}

func TestNews(t *testing.T) {
	t.Parallel()
	said := func(name, status, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: name, Status: metav1.ConditionStatus(status), Reason: reason, Message: "m"}}
	}
	for name, c := range map[string]struct {
		why           string
		before, after []metav1.Condition
		want          []report.Event
	}{
		"halted":            {"somebody has to look", said(report.UpToDate, "False", "TemplateChanged"), said(report.UpToDate, "False", "RolloutHalted"), []report.Event{{Warning: true, Reason: "RolloutHalted", Message: "m"}}},
		"still halted":      {"once is enough", said(report.UpToDate, "False", "RolloutHalted"), said(report.UpToDate, "False", "RolloutHalted"), nil},
		"refresh failed":    {"a failed refresh is never forgotten", said(report.UpToDate, "False", "ProviderRolloutRunning"), said(report.UpToDate, "False", "ProviderRolloutFailed"), []report.Event{{Warning: true, Reason: "ProviderRolloutFailed", Message: "m"}}},
		"refresh by others": {"who rolls what is told", said(report.UpToDate, "True", "AllUpToDate"), said(report.UpToDate, "False", "ProviderRolloutRunning"), []report.Event{{Reason: "ProviderRolloutRunning", Message: "m"}}},
		"begins":            {"the beginning of a rollout is told, with how many and why", said(report.UpToDate, "False", "TemplateOutOfDate"), said(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"restart":           {"so is that of a restart", said(report.UpToDate, "True", "AllUpToDate"), said(report.UpToDate, "False", reasonRestart), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"goes on":           {"after a pause it is told again", said(report.UpToDate, "False", reasonPaused), said(report.UpToDate, "False", "TemplateChanged"), []report.Event{{Reason: "RolloutStarted", Message: "m"}}},
		"goes on by itself": {"another cause in its middle begins none", said(report.UpToDate, "False", "NeverJoined"), said(report.UpToDate, "False", "TemplateChanged"), nil},
		"completed":         {"the end of a rollout is told", said(report.UpToDate, "False", "TemplateChanged"), said(report.UpToDate, "True", "AllUpToDate"), []report.Event{{Reason: "RolloutCompleted", Message: "m"}}},
		"nothing replaced":  {"a pool that is made has no rollout", said(report.UpToDate, "False", reasonWaitBootstrap), said(report.UpToDate, "True", "AllUpToDate"), nil},
		"at once":           {"nor has one that was never looked at", nil, said(report.UpToDate, "True", "AllUpToDate"), nil},
		"no capacity":       {"the cloud's words on launches that failed", said(report.InstancesReady, "False", "InstancesLaunching"), said(report.InstancesReady, "False", "Capacity"), []report.Event{{Warning: true, Reason: "Capacity", Message: "m"}}},
		"no such image":     {"a look-up that is refused is no step that could tell it", said(report.TemplateReady, "True", "UpToDate"), said(report.TemplateReady, "False", "Invalid"), []report.Event{{Warning: true, Reason: "Invalid", Message: "m"}}},
		"joining":           {"what goes its way is no news", said(report.InstancesReady, "False", "InstancesLaunching"), said(report.InstancesReady, "False", "NodesJoining"), nil},
		"drain blocked":     {"pod and budget", nil, said(report.Draining, "True", "DrainBlocked"), []report.Event{{Warning: true, Reason: "DrainBlocked", Message: "m"}}},
		"draining":          {"the drain's beginning is told by its step", nil, said(report.Draining, "True", "Draining"), nil},
		"bad annotation":    {"who writes it looks at the events", nil, said(SettingsValid, "False", reasonInvalidAnnotation), []report.Event{{Warning: true, Reason: reasonInvalidAnnotation, Message: "m"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, conditionEvents(c.before, c.after)); diff != "" {
				t.Errorf("%s: want -, got +\n%s", c.why, diff)
			}
		})
	}
}

// FuzzSettings holds that whatever annotations say, each is followed or refused by name, deadlines are positive, and a restart
// that was remembered is the same restart in the next pass.
func FuzzSettings(f *testing.F) {
	f.Add("paused", "CVE-1", "90s", "1h")
	f.Add("", "", "", "")
	f.Add("Paused ", " \n", "-1s", "9223372036854775807ns")
	f.Add("x", "two words \xff", "1e3s", "0")
	f.Fuzz(func(t *testing.T, rollout, why, join, progress string) {
		got := asked(map[string]string{RolloutAnnotation: rollout, RestartAnnotation: why, JoinDeadlineAnnotation: join, ProgressDeadlineAnnotation: progress}, nil)
		if got.held == nil || got.join < 0 || got.progress < 0 {
			t.Errorf("want the rollout held and no negative deadline, got %+v", got)
		}
		if refused := strings.Join(got.invalid, "\n"); (got.join == 0) != strings.Contains(refused, "["+JoinDeadlineAnnotation+"]") ||
			(rollout == RolloutPaused) == strings.Contains(refused, "["+RolloutAnnotation+"]") ||
			(len(got.restarts) == 0) != strings.Contains(refused, "["+RestartAnnotation+"]") {
			t.Errorf("want exactly what means nothing refused by name, got %+v", got)
		}
		now := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
		first, keep, _ := restarting(got.restarts, nil, now)
		again, more, drop := restarting(got.restarts, keep, now.Add(time.Hour))
		if diff := cmp.Diff(first, again); diff != "" || len(more)+len(drop) != 0 {
			t.Errorf("want the same restart an hour later, got %v, %v\n%s", more, drop, diff)
		}
	})
}

// TestSteer holds what annotations and a disabled roll make of each other.
func TestSteer(t *testing.T) {
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
		"nothing":             {reason: "a changed template replaces machines"},
		"paused":              {reason: "until it is taken away", annotations: map[string]string{RolloutAnnotation: "paused"}, held: reasonPaused},
		"disabled":            {reason: "the object's own field", disabled: disabled, held: "Disabled"},
		"disabled and paused": {reason: "he who pauses is named, and the field still holds", disabled: disabled, annotations: map[string]string{RolloutAnnotation: "paused"}, held: reasonPaused, skip: true},
		"restart":             {reason: "all are replaced", annotations: map[string]string{RestartAnnotation: "CVE"}, restart: true},
		"disabled, restart":   {reason: "those that exist are replaced, and no changed template replaces others later", disabled: disabled, annotations: map[string]string{RestartAnnotation: "CVE"}, restart: true, skip: true},
		"paused, restart":     {reason: "a restart waits for the pause to end", annotations: map[string]string{RestartAnnotation: "CVE", RolloutAnnotation: "paused"}, held: reasonPaused, restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scope[*awsv1.AWSMachinePool]{object: &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations}}}
			s.settings = kindOf{}.Kind().settings(s, false)
			f := &facts[string]{}
			f.Now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
			f.steer(s.settings, nil, c.disabled)
			d := f.Desired
			if held := gocmp.Or(d.RolloutPaused, d.RolloutDisabled); (held == nil) != (c.held == "") || held != nil && held.Reason != c.held {
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
		t.Errorf("want none where nothing is said, got %s", got)
	}
	mp.Spec.Template.Spec.MinReadySeconds = new(int32(30))
	if got := minReady(mp); got != 30*time.Second {
		t.Errorf("want 30s of template.spec.minReadySeconds, got %s", got)
	}
}

// TestReasonsAreDocumented holds that people find what they read on an object.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	known := string(text)
	reasons := append([]string{rolloutCompleted, reasonRestart, reasonNoOwner, reasonNoCluster, reasonNoInfraCluster, reasonWaitInfraCluster, reasonWaitBootstrap, reasonNoBootstrap,
		reasonBadBootstrap, reasonOwnerIDTaken, reasonNotTranslated}, replacing...)
	for condition, list := range notable {
		reasons = append(reasons, condition)
		for reason := range list {
			reasons = append(reasons, reason)
		}
	}
	for _, reason := range append(reasons, RolloutAnnotation, RestartAnnotation, JoinDeadlineAnnotation, ProgressDeadlineAnnotation) {
		if !strings.Contains(known, "`"+reason+"`") && !strings.Contains(known, "`"+reason+":") {
			t.Errorf("want docs/conditions.md to tell about %s", reason)
		}
	}
}

package infrapool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// settingsOf returns the settings of an object and its MachinePool with these annotations.
func settingsOf(infra, machinePool map[string]string, machines bool) settings.Settings {
	return settings.Of(settings.Pool{
		Kind: "AWSMachinePool", Object: &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: infra}},
		MachinePool: &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: machinePool}}, Machines: settings.MachinesOptional,
		HasMachines: machines,
	})
}

func TestSettings(t *testing.T) {
	t.Parallel()
	type annotations map[string]string
	for name, c := range map[string]struct {
		reason      string
		infra, pool annotations
		// held is part of the message of the pause, invalid has a part of the message for each invalid value.
		held           string
		invalid        []string
		join, progress time.Duration
		restarts       []settings.Restart
	}{
		"nothing": {reason: "there is no annotation"},
		"paused": {reason: "the object holds its rollout", infra: annotations{settings.RolloutAnnotation: "paused"},
			held: "AWSMachinePool has the annotation muster.dev/rollout: paused"},
		"pool paused": {reason: "so does the MachinePool, which its users know", pool: annotations{settings.RolloutAnnotation: "paused"},
			held: "MachinePool has the annotation muster.dev/rollout: paused"},
		"both paused": {reason: "the nearer one is named", infra: annotations{settings.RolloutAnnotation: "paused"},
			pool: annotations{settings.RolloutAnnotation: "paused"}, held: "AWSMachinePool has"},
		"paused badly": {reason: "the user wants no machine replaced, and is shown the right value",
			infra: annotations{settings.RolloutAnnotation: "Pause"}, held: `is "Pause", allowed is paused`,
			invalid: []string{`metadata.annotations[muster.dev/rollout] of the AWSMachinePool is "Pause", allowed is paused, now or aborted, or no such annotation`}},
		"empty": {reason: "the same", pool: annotations{settings.RolloutAnnotation: ""}, held: `is ""`,
			invalid: []string{`metadata.annotations[muster.dev/rollout] of the MachinePool is ""`}},
		"deadlines": {reason: "Go durations",
			infra: annotations{settings.JoinDeadlineAnnotation: "90s", settings.ProgressDeadlineAnnotation: "1h30m"},
			join:  90 * time.Second, progress: 90 * time.Minute},
		"of the pool": {reason: "deadlines belong to the infrastructure", pool: annotations{settings.JoinDeadlineAnnotation: "90s"}},
		"bad deadlines": {reason: "an invalid deadline leaves the default",
			infra: annotations{settings.JoinDeadlineAnnotation: "600", settings.ProgressDeadlineAnnotation: "-1m"},
			invalid: []string{`[muster.dev/join-deadline] of the AWSMachinePool is "600", allowed is a positive duration such as 20m`,
				`[muster.dev/progress-deadline] of the AWSMachinePool is "-1m"`}},
		"restart": {reason: "the reason is kept", infra: annotations{settings.RestartAnnotation: " CVE-1 "},
			restarts: []settings.Restart{{Key: stored.Restart, Reason: "CVE-1"}}},
		"both restart": {reason: "each stands for itself", infra: annotations{settings.RestartAnnotation: "a"},
			pool:     annotations{settings.RestartAnnotation: "b"},
			restarts: []settings.Restart{{Key: stored.Restart, Reason: "a"}, {Key: stored.RestartPool, Reason: "b"}}},
		"empty restart": {reason: "a restart has a reason", infra: annotations{settings.RestartAnnotation: " "},
			invalid: []string{`[muster.dev/restart-now] of the AWSMachinePool is "", allowed is the reason in words`}},
		"long value": {reason: "messages stay readable", infra: annotations{settings.JoinDeadlineAnnotation: strings.Repeat("x", 5000)},
			invalid: []string{strings.Repeat("x", 200) + `..."`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := settingsOf(c.infra, c.pool, false)
			if (got.RolloutPaused != nil) != (c.held != "") || got.RolloutPaused != nil && !strings.Contains(got.RolloutPaused.Message, c.held) {
				t.Errorf("%s: want held by %q, got %+v", c.reason, c.held, got.RolloutPaused)
			}
			if got.JoinDeadline != c.join || got.ProgressDeadline != c.progress {
				t.Errorf("%s: want deadlines %s and %s, got %s and %s", c.reason, c.join, c.progress, got.JoinDeadline, got.ProgressDeadline)
			}
			if diff := cmp.Diff(c.restarts, got.Restarts); diff != "" {
				t.Errorf("%s: restarts, want -, got +\n%s", c.reason, diff)
			}
			if len(got.Invalid) != len(c.invalid) {
				t.Fatalf("%s: want %d values refused, got %q", c.reason, len(c.invalid), got.Invalid)
			}
			for k, want := range c.invalid {
				if !strings.Contains(got.Invalid[k], want) {
					t.Errorf("%s: want %q refused, got %q", c.reason, want, got.Invalid[k])
				}
			}
			if conditions := got.Conditions(); (len(conditions) == 1) != (len(c.invalid) > 0) || len(conditions) == 1 &&
				conditions[0].Status != report.False {
				t.Errorf("%s: want a condition exactly if a value is invalid, got %+v", c.reason, conditions)
			}
		})
	}
}

func TestRestarting(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 678, time.UTC)
	hour := now.Add(-time.Hour).Format(time.RFC3339Nano)
	// at returns the stored value of a restart that was first seen at a moment.
	at := func(moment, reason string) string {
		_, keep, _ := settings.Restarting([]settings.Restart{{Key: stored.Restart, Reason: reason}}, nil, now)
		_, token, _ := strings.Cut(keep[stored.Restart], " ")
		return moment + " " + token
	}
	for name, c := range map[string]struct {
		reason     string
		restarts   []settings.Restart
		remembered map[string]string
		before     time.Time
		keep       map[string]string
		drop       []string
	}{
		"no restart": {reason: "nothing is stored for it", remembered: map[string]string{"region": "x"}},
		"first seen": {reason: "the moment is this one, and is kept", restarts: []settings.Restart{{Key: stored.Restart, Reason: "CVE 1"}},
			before: now, keep: map[string]string{stored.Restart: at(now.Format(time.RFC3339Nano), "CVE 1")}},
		"seen earlier": {reason: "instances created since then stay", restarts: []settings.Restart{{Key: stored.Restart, Reason: "CVE 1"}},
			remembered: map[string]string{stored.Restart: at(hour, "CVE 1")}, before: now.Add(-time.Hour)},
		"another reason": {reason: "another value begins another", restarts: []settings.Restart{{Key: stored.Restart, Reason: "CVE 2"}},
			remembered: map[string]string{stored.Restart: at(hour, "CVE 1")}, before: now,
			keep: map[string]string{stored.Restart: at(now.Format(time.RFC3339Nano), "CVE 2")}},
		"taken away": {reason: "the same value later begins another",
			remembered: map[string]string{stored.Restart: at(hour, "CVE 1"), "region": "x"}, drop: []string{stored.Restart}},
		"two of different": {reason: "the later one covers both",
			restarts:   []settings.Restart{{Key: stored.Restart, Reason: "a"}, {Key: stored.RestartPool, Reason: "b"}},
			remembered: map[string]string{stored.Restart: at(hour, "a")}, before: now,
			keep: map[string]string{stored.RestartPool: at(now.Format(time.RFC3339Nano), "b")}},
		"one of two ends": {reason: "the other is not begun anew", restarts: []settings.Restart{{Key: stored.RestartPool, Reason: "b"}},
			remembered: map[string]string{stored.Restart: at(hour, "a"), stored.RestartPool: at(hour, "b")}, before: now.Add(-time.Hour),
			drop: []string{stored.Restart}},
		"unreadable": {reason: "a stored time that cannot be parsed was never seen",
			restarts:   []settings.Restart{{Key: stored.Restart, Reason: "a"}},
			remembered: map[string]string{stored.Restart: at("yesterday", "a")}, before: now,
			keep: map[string]string{stored.Restart: at(now.Format(time.RFC3339Nano), "a")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, keep, drop := settings.Restarting(c.restarts, c.remembered, now)
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
			all := stored.Merged(keep, c.remembered)
			again, more, _ := settings.Restarting(c.restarts, all, now.Add(time.Minute))
			if diff := cmp.Diff(got, again); diff != "" || len(more) != 0 {
				t.Errorf("%s: want the same restart a minute later, and nothing more to keep, got %v\n%s", c.reason, more, diff)
			}
		})
	}
}

// FuzzSettings holds that each annotation is followed or refused by name, whatever its value is, that deadlines are positive, and that a
// restart that was stored is the same restart in the next pass.
func FuzzSettings(f *testing.F) {
	f.Add("paused", "CVE-1", "90s", "1h")
	f.Add("", "", "", "")
	f.Add("Paused ", " \n", "-1s", "9223372036854775807ns")
	f.Add("x", "two words \xff", "1e3s", "0")
	f.Fuzz(func(t *testing.T, rollout, why, join, progress string) {
		got := settingsOf(map[string]string{settings.RolloutAnnotation: rollout, settings.RestartAnnotation: why,
			settings.JoinDeadlineAnnotation: join, settings.ProgressDeadlineAnnotation: progress}, nil, false)
		if got.RolloutPaused == nil || got.JoinDeadline < 0 || got.ProgressDeadline < 0 {
			t.Errorf("want the rollout held and no negative deadline, got %+v", got)
		}
		refused := strings.Join(got.Invalid, "\n")
		if (got.JoinDeadline == 0) != strings.Contains(refused, "["+settings.JoinDeadlineAnnotation+"]") ||
			(rollout == settings.RolloutPaused) == strings.Contains(refused, "["+settings.RolloutAnnotation+"]") ||
			(len(got.Restarts) == 0) != strings.Contains(refused, "["+settings.RestartAnnotation+"]") {
			t.Errorf("want exactly the invalid values refused by name, got %+v", got)
		}
		now := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
		first, keep, _ := settings.Restarting(got.Restarts, nil, now)
		again, more, drop := settings.Restarting(got.Restarts, keep, now.Add(time.Hour))
		if diff := cmp.Diff(first, again); diff != "" || len(more)+len(drop) != 0 {
			t.Errorf("want the same restart an hour later, got %v, %v\n%s", more, drop, diff)
		}
	})
}

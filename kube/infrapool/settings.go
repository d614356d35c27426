package infrapool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// The annotations by which people steer a rollout. Those of the first two are read on the infrastructure object and on its
// MachinePool, the others on the infrastructure object alone.
const (
	// RolloutAnnotation with the value RolloutPaused holds the replacement of instances until it is taken away.
	RolloutAnnotation = "muster.dev/rollout"
	// RolloutPaused is the one value of RolloutAnnotation.
	RolloutPaused = "paused"
	// RestartAnnotation asks for a replacement of every instance that exists when its value is first seen. The value says
	// why. Taking it away ends that; another value begins another.
	RestartAnnotation = "muster.dev/restart-now"
	// JoinDeadlineAnnotation is how long after its launch a machine that was never Ready is said to serve nobody, as a Go
	// duration.
	JoinDeadlineAnnotation = "muster.dev/join-deadline"
	// ProgressDeadlineAnnotation is how long after its launch a new machine that was never Ready halts a rollout, as a Go
	// duration.
	ProgressDeadlineAnnotation = "muster.dev/progress-deadline"
)

// SettingsValid is the condition that says which annotation means nothing. It is there while there is such a one.
const SettingsValid = "SettingsValid"

const (
	reasonPaused            = "RolloutPaused"
	reasonRestart           = "RestartRequested"
	reasonInvalidAnnotation = "InvalidAnnotation"
	// reasonLimit bounds how much of somebody's words goes into messages.
	reasonLimit = 200
)

// settings are what annotations ask of a pool's rollouts.
type settings struct {
	// held says why no instance is replaced now.
	held *pool.Cause
	// restarts are the reasons for a replacement of all, by where they were found; several may stand at once.
	restarts []restart
	// join and progress are zero where nothing is said.
	join, progress time.Duration
	// healing is nil where nobody asks for it.
	healing *pool.Remediation
	// healHint is what a user can do about a machine without a node; empty where an annotation says what is done.
	healHint string
	// bootstrapRolls says that the content of bootstrap data replaces machines.
	bootstrapRolls bool
	// invalid says of each value that means nothing where it is, what was found and what is allowed.
	invalid []string
}

// restart is one reason for a replacement of all.
type restart struct {
	// key is where the moment is remembered at which it was first seen.
	key    string
	reason string
}

// The keys of ResolvedAnnotation for the moments at which restarts were first seen.
const (
	keyRestart     = "restart"
	keyRestartPool = "restart-machinepool"
)

// annotated is an object with the name of its kind, as messages have it.
type annotated struct {
	kind, restartKey string
	object           client.Object
}

// stoodFor says which values of MachinesAnnotation mean something for a kind.
type stoodFor struct {
	values []string
	why    string
}

// The kinds whose instances have no Machines, have Machines where somebody wants that, and always have them.
var (
	standsNever  = stoodFor{[]string{machinesOff}, ", because instances of this kind have no Machines"}
	standsMaybe  = stoodFor{[]string{machinesOn, machinesOff}, ""}
	standsAlways = stoodFor{[]string{machinesOn}, ", because every instance of this kind is stood for"}
)

// settingsOf reads the annotations; machines says which kind it is in this, and on whether the pool's instances have Machines. A value that means nothing
// changes nothing, but for one that looks as if a rollout was to be held: then it is.
func settingsOf(infra annotated, machinePool *annotated, machines stoodFor, on bool) settings {
	var s settings
	s.read(infra)
	s.join = s.duration(infra, JoinDeadlineAnnotation)
	s.progress = s.duration(infra, ProgressDeadlineAnnotation)
	if value, ok := infra.object.GetAnnotations()[MachinesAnnotation]; ok && !slices.Contains(machines.values, value) {
		s.refuse(infra, MachinesAnnotation, value, strings.Join(machines.values, " or ")+machines.why)
	}
	objects := []annotated{infra}
	if machinePool != nil {
		s.read(*machinePool)
		objects = append(objects, *machinePool)
	}
	s.heal(on, objects...)
	s.bootstrap(objects...)
	return s
}

// read reads what both objects may say.
func (s *settings) read(a annotated) {
	annotations := a.object.GetAnnotations()
	if value, ok := annotations[RolloutAnnotation]; ok {
		s.hold(a, value)
	}
	reason, ok := annotations[RestartAnnotation]
	if !ok {
		return
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		s.refuse(a, RestartAnnotation, reason, "the reason in words")
		return
	}
	s.restarts = append(s.restarts, restart{a.restartKey, reason})
}

func (s *settings) hold(a annotated, value string) {
	cause := pool.Cause{Reason: reasonPaused, Message: fmt.Sprintf("no machine is replaced: %s has the annotation %s: %s", a.kind, RolloutAnnotation, RolloutPaused)}
	if value != RolloutPaused {
		cause = pool.Cause{Reason: reasonInvalidAnnotation, Message: "no machine is replaced: " + s.refuse(a, RolloutAnnotation, value, RolloutPaused)}
	}
	if s.held == nil {
		s.held = &cause
	}
}

// duration is a positive Go duration, or zero.
func (s *settings) duration(a annotated, name string) time.Duration {
	value, ok := a.object.GetAnnotations()[name]
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		s.refuse(a, name, value, "a positive duration such as 20m")
		return 0
	}
	return d
}

// refuse notes a value that means nothing, and says so.
func (s *settings) refuse(a annotated, name, value, allowed string) string {
	text := fmt.Sprintf("metadata.annotations[%s] of the %s is %q, allowed is %s, or no such annotation", name, a.kind, cut(value), allowed)
	s.invalid = append(s.invalid, text)
	return text
}

// conditions are those that the annotations alone give rise to.
func (s settings) conditions() []report.Condition {
	if len(s.invalid) == 0 {
		return nil
	}
	return []report.Condition{{Type: SettingsValid, Status: report.False, Reason: reasonInvalidAnnotation, Message: strings.Join(s.invalid, "; ")}}
}

func cut(value string) string {
	if len(value) <= reasonLimit {
		return value
	}
	return strings.ToValidUTF8(value[:reasonLimit], "") + "..."
}

// restarting says which instances are to be replaced because somebody asked for it, with what has to be remembered and
// what not any more. The moment at which a reason was first seen is kept on the object, so that no pass and no restart of
// the process begins it anew.
func restarting(asked []restart, remembered map[string]string, now time.Time) (out *pool.Restart, keep map[string]string, drop []string) {
	stands := map[string]bool{}
	for _, r := range asked {
		stands[r.key] = true
		seen, known := firstSeen(remembered[r.key], r.token())
		if !known {
			seen = now.UTC().Round(0)
			if keep == nil {
				keep = map[string]string{}
			}
			keep[r.key] = seen.Format(time.RFC3339Nano) + " " + r.token()
		}
		if out == nil || seen.After(out.Before) {
			out = &pool.Restart{Before: seen, Cause: pool.Cause{Reason: reasonRestart,
				Message: fmt.Sprintf("asked to be replaced by the annotation %s: %s", RestartAnnotation, cut(r.reason))}}
		}
	}
	for _, key := range []string{keyRestart, keyRestartPool} {
		if _, ok := remembered[key]; ok && !stands[key] {
			drop = append(drop, key)
		}
	}
	return out, keep, drop
}

// token stands for the reason, however long it is.
func (r restart) token() string {
	sum := sha256.Sum256([]byte(r.reason))
	return hex.EncodeToString(sum[:8])
}

// firstSeen is the moment that was remembered for a reason.
func firstSeen(text, token string) (time.Time, bool) {
	moment, of, _ := strings.Cut(text, " ")
	seen, err := time.Parse(time.RFC3339Nano, moment)
	return seen.UTC(), err == nil && of == token
}

// Package settings reads the annotations by which users control a pool. It is pure: annotations in, values out, and for each invalid
// value what was found and what is allowed.
package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// The annotations that control rollouts. The first two are read on the infrastructure object and on its MachinePool, the others on the
// infrastructure object alone.
const (
	// RolloutAnnotation controls the replacement of instances until it is removed: RolloutPaused, RolloutNow or RolloutAborted.
	RolloutAnnotation = "muster.dev/rollout"
	// RolloutPaused is the value of RolloutAnnotation that pauses replacements.
	RolloutPaused = "paused"
	// RolloutNow is the value of RolloutAnnotation that has replacements begin outside of windows and in exclusions. Budgets, gates and
	// PodDisruptionBudgets hold.
	RolloutNow = "now"
	// RolloutAborted is the value of RolloutAnnotation that has rollouts end before they have: the pool returns to the last template whose
	// rollout ended, and stays there until the annotation is removed.
	RolloutAborted = "aborted"
	// RetryAnnotation has a rollout that was rolled back begin again, by its ID (status.rollback.rollout). If it fails again, it halts. It is
	// read on the infrastructure object and on its MachinePool.
	RetryAnnotation = "muster.dev/retry"
	// PromoteAnnotation skips the rest of a soak: <rollout ID>/<wave>, or <rollout ID>/full for all that is left of the rollout. It is read on
	// the infrastructure object and on its MachinePool.
	PromoteAnnotation = "muster.dev/promote"
	// RestartAnnotation requests the replacement of every instance that exists when its value is first seen. The value is the reason.
	// Removing it ends the restart; another value begins another.
	RestartAnnotation = "muster.dev/restart-now"
	// JoinDeadlineAnnotation sets the time after launch at which a machine that was never Ready counts as not serving, as a Go duration.
	JoinDeadlineAnnotation = "muster.dev/join-deadline"
	// ProgressDeadlineAnnotation sets the time after launch at which a new machine that was never Ready halts a rollout, as a Go duration.
	ProgressDeadlineAnnotation = "muster.dev/progress-deadline"
	// BootstrapRolloutAnnotation with the value "true", on the infrastructure object or its MachinePool, replaces machines when the content
	// of the bootstrap data changes; tokens are not content. Without it they are replaced when the pool is given another bootstrap
	// configuration, by name, and for nothing else in it.
	BootstrapRolloutAnnotation = "muster.dev/rollout-on-bootstrap-change"
	// MachinesAnnotation with the value "true" or "false" on the infrastructure object sets whether each instance of the pool has a
	// Machine, whatever the feature gate is.
	MachinesAnnotation = "muster.dev/machines"
)

const (
	// MachinesOn is the value of MachinesAnnotation for a pool with Machines.
	MachinesOn = "true"
	// MachinesOff is the value of MachinesAnnotation for a pool without Machines.
	MachinesOff = "false"
)

// Valid is the condition that names invalid annotations. It is absent while there are none.
const Valid = "SettingsValid"

const (
	// ReasonPaused is the reason of a rollout that RolloutAnnotation pauses.
	ReasonPaused = "RolloutPaused"
	// ReasonRestart is the reason of instances that RestartAnnotation replaces.
	ReasonRestart = "RestartRequested"
	// ReasonInvalid is the reason of an annotation whose value is invalid.
	ReasonInvalid = "InvalidAnnotation"
	// valueLimit bounds how much of a user's text goes into messages.
	valueLimit = 200
)

// Settings holds the parsed annotations of a pool.
type Settings struct {
	// RolloutPaused, when set, is the reason why no instance is replaced.
	RolloutPaused *pool.Cause
	// RolloutNow is true if replacements begin outside of windows. RolloutNowBy is the client that requested it; Of leaves it empty.
	RolloutNow   bool
	RolloutNowBy string
	// RolloutAborted is true if rollouts are aborted. Retried is the value of RetryAnnotation.
	RolloutAborted bool
	Retried        string
	// Promoted is the value of PromoteAnnotation.
	Promoted string
	// Restarts are the requested restarts; there may be one on each object.
	Restarts []Restart
	// JoinDeadline and ProgressDeadline are zero without an annotation.
	JoinDeadline, ProgressDeadline time.Duration
	// Remediation is nil without an annotation.
	Remediation *pool.Remediation
	// RemediationHint advises the user about a machine without a node; empty if an annotation covers it.
	RemediationHint string
	// BootstrapRolls is true if changed content of bootstrap data replaces machines.
	BootstrapRolls bool
	// Invalid has for each invalid value where it is, what was found and what is allowed.
	Invalid []string
}

// Restart is one request to replace all instances.
type Restart struct {
	// Key is the stored value with the time at which it was first seen.
	Key string
	// Reason is the user's text.
	Reason string
}

// Machines are the values of MachinesAnnotation that a kind allows.
type Machines struct {
	values []string
	reason string
}

// The kinds whose instances never have Machines, have them on request, and always have them.
var (
	MachinesNever    = Machines{[]string{MachinesOff}, ", because instances of this kind have no Machines"}
	MachinesOptional = Machines{[]string{MachinesOn, MachinesOff}, ""}
	MachinesAlways   = Machines{[]string{MachinesOn}, ", because every instance of this kind has a Machine"}
)

// Pool is a pool whose annotations are read.
type Pool struct {
	// Kind is the kind of the infrastructure object.
	Kind   string
	Object client.Object
	// MachinePool is nil while there is none.
	MachinePool *clusterv1.MachinePool
	// Machines holds the values that the kind allows. HasMachines is true if the instances of this pool have Machines.
	Machines    Machines
	HasMachines bool
}

// annotated is one object of a pool, with the name of its kind for messages.
type annotated struct {
	kind, restartKey string
	object           client.Object
}

// Of returns the settings of a pool. An invalid value changes nothing, except that any value of RolloutAnnotation pauses the rollout.
func Of(p Pool) Settings {
	var s Settings
	infra := annotated{p.Kind, stored.Restart, p.Object}
	s.read(infra)
	s.JoinDeadline = s.duration(infra, JoinDeadlineAnnotation)
	s.ProgressDeadline = s.duration(infra, ProgressDeadlineAnnotation)
	if value, ok := p.Object.GetAnnotations()[MachinesAnnotation]; ok && !slices.Contains(p.Machines.values, value) {
		s.refuse(infra, MachinesAnnotation, value, strings.Join(p.Machines.values, " or ")+p.Machines.reason)
	}
	objects := []annotated{infra}
	if p.MachinePool != nil {
		machinePool := annotated{"MachinePool", stored.RestartPool, p.MachinePool}
		s.read(machinePool)
		objects = append(objects, machinePool)
	}
	s.readRemediation(p.HasMachines, objects...)
	s.readBootstrap(objects...)
	return s
}

// read reads the annotations that both objects may have.
func (s *Settings) read(a annotated) {
	annotations := a.object.GetAnnotations()
	switch value, ok := annotations[RolloutAnnotation]; {
	case ok && value == RolloutNow:
		s.RolloutNow = true
	case ok && value == RolloutAborted:
		s.RolloutAborted = true
	case ok:
		s.pause(a, value)
	}
	if value, ok := annotations[PromoteAnnotation]; ok {
		s.promote(a, value)
	}
	if value, ok := annotations[RetryAnnotation]; ok {
		s.retry(a, value)
	}
	reason, ok := annotations[RestartAnnotation]
	if !ok {
		return
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		s.refuse(a, RestartAnnotation, reason, "the reason in words")
		return
	}
	s.Restarts = append(s.Restarts, Restart{a.restartKey, reason})
}

func (s *Settings) pause(a annotated, value string) {
	cause := pool.Cause{Reason: ReasonPaused, Message: fmt.Sprintf("no machine is replaced: %s has the annotation %s: %s", a.kind,
		RolloutAnnotation, RolloutPaused)}
	if value != RolloutPaused {
		cause = pool.Cause{Reason: ReasonInvalid, Message: "no machine is replaced: " +
			s.refuse(a, RolloutAnnotation, value, RolloutPaused+", "+RolloutNow+" or "+RolloutAborted)}
	}
	if s.RolloutPaused == nil {
		s.RolloutPaused = &cause
	}
}

// rolloutID is the form of RetryAnnotation.
var rolloutID = regexp.MustCompile(`^[a-z0-9]{1,64}$`)

// retry reads the request to try a rollout again.
func (s *Settings) retry(a annotated, value string) {
	if !rolloutID.MatchString(value) {
		s.refuse(a, RetryAnnotation, value, "status.rollback.rollout")
		return
	}
	s.Retried = value
}

// promotion is the form of PromoteAnnotation.
var promotion = regexp.MustCompile(`^[a-z0-9]{1,64}/([1-9][0-9]{0,2}|` + rollouts.Full + `)$`)

// promote reads a promotion.
func (s *Settings) promote(a annotated, value string) {
	if !promotion.MatchString(value) {
		s.refuse(a, PromoteAnnotation, value, "status.rollout.id, a slash and the number of the wave or "+rollouts.Full)
		return
	}
	s.Promoted = value
}

// SetBy returns the client that set an annotation of one of the objects last, and when, as the API server recorded it; empty if it did not.
// Objects from a cache may have no record.
func SetBy(annotation string, objects ...client.Object) (by string, at time.Time) {
	for _, o := range objects {
		for _, m := range o.GetManagedFields() {
			if m.FieldsV1 == nil || !strings.Contains(m.FieldsV1.GetRawString(), `"f:`+annotation+`"`) {
				continue
			}
			if set := ptr.Deref(m.Time, metav1.Time{}).Time; by == "" || set.After(at) {
				by, at = m.Manager, set
			}
		}
	}
	return by, at
}

// duration returns a positive Go duration, or zero.
func (s *Settings) duration(a annotated, name string) time.Duration {
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

// refuse notes an invalid value and returns the message.
func (s *Settings) refuse(a annotated, name, value, allowed string) string {
	text := fmt.Sprintf("metadata.annotations[%s] of the %s is %q, allowed is %s, or no such annotation", name, a.kind, truncate(value),
		allowed)
	s.Invalid = append(s.Invalid, text)
	return text
}

// Conditions returns the conditions that the annotations alone cause.
func (s Settings) Conditions() []report.Condition {
	if len(s.Invalid) == 0 {
		return nil
	}
	return []report.Condition{{Type: Valid, Status: report.False, Reason: ReasonInvalid, Message: strings.Join(s.Invalid, "; ")}}
}

func truncate(value string) string {
	if len(value) <= valueLimit {
		return value
	}
	return strings.ToValidUTF8(value[:valueLimit], "") + "..."
}

// Restarting returns which instances the restarts replace, the values to store for it, and the keys of those to drop. The time at which a
// restart was first seen is stored, so that no pass and no restart of the process begins it again.
func Restarting(requested []Restart, values map[string]string, now time.Time) (out *pool.Restart, keep map[string]string, drop []string) {
	current := map[string]bool{}
	for _, r := range requested {
		current[r.Key] = true
		seen, known := firstSeen(values[r.Key], r.token())
		if !known {
			seen = now.UTC().Round(0)
			if keep == nil {
				keep = map[string]string{}
			}
			keep[r.Key] = seen.Format(time.RFC3339Nano) + " " + r.token()
		}
		if out == nil || seen.After(out.Before) {
			out = &pool.Restart{Before: seen, Cause: pool.Cause{Reason: ReasonRestart,
				Message: fmt.Sprintf("asked to be replaced by the annotation %s: %s", RestartAnnotation, truncate(r.Reason))}}
		}
	}
	for _, key := range []string{stored.Restart, stored.RestartPool} {
		if _, ok := values[key]; ok && !current[key] {
			drop = append(drop, key)
		}
	}
	return out, keep, drop
}

// token is a hash of the reason, which may be long.
func (r Restart) token() string {
	sum := sha256.Sum256([]byte(r.Reason))
	return hex.EncodeToString(sum[:8])
}

// firstSeen returns the time that was stored for a reason.
func firstSeen(text, token string) (time.Time, bool) {
	moment, of, _ := strings.Cut(text, " ")
	seen, err := time.Parse(time.RFC3339Nano, moment)
	return seen.UTC(), err == nil && of == token
}

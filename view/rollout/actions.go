package rollout

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates/approval"
	"github.com/muster-project/muster/pool/rollouts"
)

// machinePool is the MachinePool as an object that is changed.
func (p Pool) machinePool() target {
	return target{clusterv1.GroupVersion.WithKind("MachinePool"), p.MachinePool.Namespace, p.MachinePool.Name, p.MachinePool.Annotations}
}

// infra is the infrastructure object as one that is changed.
func (p Pool) infra() target {
	return target{p.Infra.GroupVersionKind(), p.Infra.GetNamespace(), p.Infra.GetName(), p.Infra.GetAnnotations()}
}

// named is the object that the user named, and other the other one.
func (p Pool) named() (named, other target) {
	if p.ByInfra {
		return p.infra(), p.machinePool()
	}
	return p.machinePool(), p.infra()
}

// Pause returns the change that pauses the rollouts of a pool.
func (p Pool) Pause() (Edit, error) {
	named, other := p.named()
	for _, t := range []target{named, other} {
		if t.annotations[settings.RolloutAnnotation] == settings.RolloutPaused {
			return Edit{}, fmt.Errorf("%s is already paused", t)
		}
	}
	return named.annotate(settings.RolloutAnnotation, settings.RolloutPaused, "no machine is replaced until the rollout is resumed")
}

// Resume returns the change that ends a pause, on the object that has the annotation.
func (p Pool) Resume() (Edit, error) {
	named, other := p.named()
	var paused []target
	for _, t := range []target{named, other} {
		switch value, set := t.annotations[settings.RolloutAnnotation]; {
		case value == settings.RolloutPaused:
			paused = append(paused, t)
		case set:
			return Edit{}, fmt.Errorf("%s has the annotation %s: %s, which is no pause", t, settings.RolloutAnnotation, value)
		}
	}
	switch len(paused) {
	case 0:
		return Edit{}, fmt.Errorf("%s is not paused", named)
	case 1:
		return paused[0].remove(settings.RolloutAnnotation, "machines are replaced again")
	}
	return named.remove(settings.RolloutAnnotation, "the annotation is removed; "+other.String()+" pauses the rollout too: resume it as well")
}

// Abort returns the change that has the pool return to the last template whose rollout ended.
func (p Pool) Abort() (Edit, error) {
	named, other := p.named()
	for _, t := range []target{named, other} {
		if t.annotations[settings.RolloutAnnotation] == settings.RolloutAborted {
			return Edit{}, fmt.Errorf("%s is already aborted", t)
		}
	}
	switch r := p.rollout(); {
	case r == nil:
		return Edit{}, fmt.Errorf("%s has no rollout to abort", named)
	case r.State == Ended:
		return Edit{}, fmt.Errorf("rollout %s of %s has ended: muster rollout undo returns to a former template", r.ID, named)
	}
	return named.annotate(settings.RolloutAnnotation, settings.RolloutAborted, "the pool returns to the last template whose rollout ended")
}

// Retry returns the change that begins a rollout again that was rolled back or aborted.
func (p Pool) Retry() (Edit, error) {
	named, other := p.named()
	for _, t := range []target{named, other} {
		if t.annotations[settings.RolloutAnnotation] == settings.RolloutAborted {
			return t.remove(settings.RolloutAnnotation, "machines are launched from the template of the specification again")
		}
	}
	b := p.rollback()
	if b == nil {
		return Edit{}, fmt.Errorf("no rollout of %s was rolled back or aborted", named)
	}
	if named.annotations[settings.RetryAnnotation] == b.Rollout || other.annotations[settings.RetryAnnotation] == b.Rollout {
		return Edit{}, fmt.Errorf("rollout %s of %s is tried again already", b.Rollout, named)
	}
	return named.annotate(settings.RetryAnnotation, b.Rollout, "rollout "+b.Rollout+" begins again")
}

// Restart returns the change that has every machine of the pool replaced that exists.
func (p Pool) Restart(reason string, now time.Time) (Edit, error) {
	named, _ := p.named()
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "muster rollout restart at " + now.UTC().Format(time.RFC3339)
	}
	if named.annotations[settings.RestartAnnotation] == reason {
		return Edit{}, fmt.Errorf("%s was restarted for this reason before, and each reason restarts it once: give another --reason", named)
	}
	return named.annotate(settings.RestartAnnotation, reason, "every machine that exists now is replaced")
}

// gateReasons are the reasons of a rollout that waits for a gate, which a promotion passes.
var gateReasons = []string{"GateFailed", "GateUnknown", "AwaitingApproval"}

// Promote returns the change that skips the rest of a soak, or of everything if full is true.
func (p Pool) Promote(full bool) (Edit, error) {
	named, _ := p.named()
	r := p.rollout()
	switch {
	case r == nil:
		return Edit{}, fmt.Errorf("%s has no rollout to promote", named)
	case r.State == Ended:
		return Edit{}, fmt.Errorf("rollout %s of %s has ended, so that nothing is left to promote", r.ID, named)
	case full:
		return named.annotate(settings.PromoteAnnotation, r.ID+"/"+rollouts.Full,
			"all soaks and gates that are left of rollout "+r.ID+" are skipped")
	case !r.Entered && r.Wave > 1:
		return named.annotate(settings.PromoteAnnotation, promotion(r.ID, r.Wave-1), fmt.Sprintf("wave %d of %d of rollout %s waits for no gate",
			r.Wave, r.Of, r.ID))
	case !r.Entered && !slices.Contains(gateReasons, r.Reason):
		return Edit{}, fmt.Errorf("rollout %s of %s has not begun: no soak and no gate can be skipped (%s: %s)", r.ID, named, r.Reason, r.Message)
	}
	return named.annotate(settings.PromoteAnnotation, promotion(r.ID, max(1, r.Wave)), fmt.Sprintf(
		"the soak after wave %d of %d of rollout %s is skipped", r.Wave, r.Of, r.ID))
}

// promotion returns the value that promotes a rollout past a wave.
func promotion(id string, wave int32) string { return id + "/" + strconv.Itoa(int(wave)) }

// Approve returns the change that approves a gate for the rollout that the pool is in. known are the gates of the policies of the pool.
func (p Pool) Approve(gate string, known []policy.Gate) (Edit, error) {
	named, other := p.named()
	r := p.rollout()
	switch {
	case r == nil:
		return Edit{}, fmt.Errorf("%s has no rollout to approve", named)
	case r.State == Ended:
		return Edit{}, fmt.Errorf("rollout %s of %s has ended: the next one has another ID, and waits for its own approval", r.ID, named)
	}
	if err := approvable(gate, known, named); err != nil {
		return Edit{}, err
	}
	if _, approved := approval.Of(gate, r.ID, named.annotations, other.annotations); approved {
		return Edit{}, fmt.Errorf("gate %s has been approved already for rollout %s of %s", gate, r.ID, named)
	}
	return named.annotate(approval.Annotation, approval.With(named.annotations, approval.Approval{Gate: gate, Rollout: r.ID}),
		fmt.Sprintf("gate %s is approved for rollout %s", gate, r.ID))
}

// approvable returns why users can't approve a gate of a pool.
func approvable(gate string, known []policy.Gate, of target) error {
	var names []string
	for _, g := range known {
		switch {
		case g.Approval == nil && g.Name == gate:
			return fmt.Errorf("gate %s of %s is asked by the manager, and takes no approval: muster rollout promote skips it", gate, g.Policy)
		case g.Approval != nil && g.Name == gate:
			return nil
		case g.Approval != nil && !slices.Contains(names, g.Name):
			names = append(names, g.Name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no policy that selects %s has a gate %s, nor another one that waits for approval", of, gate)
	}
	return fmt.Errorf("no policy that selects %s has a gate %s: the gates that wait for approval are %s", of, gate, strings.Join(names, ", "))
}

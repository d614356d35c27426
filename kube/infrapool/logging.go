package infrapool

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/pool"
)

// The verbosities of log messages about passes other than errors. Controllers of the ecosystem run with 2.
const (
	// levelStep is for changes, and for errors of the cloud.
	levelStep = 0
	// levelLook is for every pass.
	levelLook = 4
)

// logPass records what a pass observed and started, in logs and in the span of the pass.
func logPass(ctx context.Context, out engine.Outcome) {
	log := ctrl.LoggerFrom(ctx)
	pass := control.PassFrom(ctx)
	if out.NewError != nil {
		log.V(levelStep).Info(refuser(out), "reason", out.NewError.Error())
	}
	step := out.Plan.Step
	switch {
	case step != nil && out.Started:
		pass.Decided(string(step.Kind), step.Cause.Reason)
		values := stepValues(*step)
		if step.Kind == pool.PutTemplate {
			values = append(values, "wanted", out.Observed.Wanted.Content, "data", out.Observed.Wanted.Data)
		}
		log.V(levelStep).Info("step begun", values...)
	case len(out.Plan.Waiting) > 0:
		pass.Decided("", out.Plan.Waiting[0].Reason)
	}
	if !log.V(levelLook).Enabled() || !out.Seen {
		return
	}
	values := []any{"instances", len(out.Observed.Instances), "wanted", out.Observed.Wanted.Content, "data", out.Observed.Wanted.Data,
		"latest", out.Observed.Latest().Ref, "versions", len(out.Observed.Versions), "again", out.RequeueAfter.String()}
	if g := out.Observed.Group; g != nil {
		values = append(values, "group", g.ID, "size", g.Size, "template", g.Template, "drift", g.Drift)
	}
	if len(out.Plan.Waiting) > 0 {
		values = append(values, "waiting", out.Plan.Waiting)
	}
	log.V(levelLook).Info("pool seen", values...)
}

// refuser returns which of both sides has refused, for a log.
func refuser(out engine.Outcome) string {
	if s := out.Plan.Step; s != nil && !out.Started && engine.OnNodes(s.Kind) {
		return "the workload cluster refuses"
	}
	return "the cloud refuses"
}

// stepValues returns the values of a step for a log. No step holds data of machines.
func stepValues(s pool.Step) []any {
	values := []any{"step", s.Kind, "reason", s.Cause.Reason, "message", s.Cause.Message}
	if s.Template != "" {
		values = append(values, "template", s.Template)
	}
	if s.Size != 0 {
		values = append(values, "size", s.Size)
	}
	if len(s.Refs) > 0 {
		values = append(values, "versions", s.Refs)
	}
	if len(s.Fields) > 0 {
		values = append(values, "fields", s.Fields)
	}
	var instances []string
	for _, t := range s.Targets {
		instances = append(instances, t.ID)
	}
	if len(instances) > 0 {
		values = append(values, "instances", instances)
	}
	return values
}
